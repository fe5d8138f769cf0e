package column

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/cespare/xxhash/v2"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// The primes of xxHash64.
const (
	prime1 = 0x9E3779B185EBCA87
	prime2 = 0xC2B2AE3D27D4EB4F
	prime3 = 0x165667B19E3779F9
	prime4 = 0x85EBCA77C2B2AE63
	prime5 = 0x27D4EB2F165667C5
)

// nullHash stands for NULL of any type.
const nullHash = 0x9AE16A3B2F90404F

// A Hasher hashes the keys of rows. It belongs to one goroutine.
//
// The hash of a key depends on its logical value alone, in every process and version. Each column
// gives xxHash64 of the value's canonical bytes:
//
//	INT, BIGINT, DATE, TIMESTAMP, BOOLEAN   the value as 8 bytes, little endian
//	DECIMAL                                 trailing zeros of the fraction cut; then, where the unscaled value
//	                                        fits 64 bits, 8 bytes of it plus scale * 0x165667B19E3779F9, so that
//	                                        an integer is as above; else 16 bytes of it and 8 of the scale
//	DOUBLE                                  8 bytes of IEEE 754, one NaN, -0.0 as 0.0
//	STRING, BYTES                           the bytes
//	NULL                                    a constant
//
// The columns' hashes are folded by xxHash64's step for 8 bytes each, and murmur3's finalizer ends it.
type Hasher struct {
	types []expr.Type
	vals  values
	tmp   []uint64
}

// NewHasher hashes keys of the given types.
func NewHasher(types []expr.Type) *Hasher { return &Hasher{types: types, vals: newValues(len(types))} }

// Hash writes the hash of each selected row (nil: all) to out, aligned to sel. dict holds the
// dictionary ids of the columns as in [operators.Batch]; entries of a dictionary with an id are
// hashed once in the Hasher's life.
func (h *Hasher) Hash(keys []arrow.Array, dict []uint64, sel []int32, out []uint64) {
	if len(keys) == 0 {
		for i := range out {
			out[i] = finish(prime5)
		}
		return
	}
	n := len(sel)
	if sel == nil {
		n = keys[0].Len()
	}
	out = out[:n]
	h.vals.hash(0, keys[0], h.types[0], idOf(dict, 0), sel, out)
	if len(keys) == 1 {
		for i, v := range out {
			out[i] = finish(fold(prime5, v))
		}
		return
	}
	for i, v := range out {
		out[i] = fold(prime5, v)
	}
	h.tmp = grow(h.tmp, n)
	for c, arr := range keys[1:] {
		c++
		h.vals.hash(c, arr, h.types[c], idOf(dict, c), sel, h.tmp)
		for i, v := range h.tmp {
			out[i] = fold(out[i], v)
		}
	}
	for i, v := range out {
		out[i] = finish(v)
	}
}

// KeyGroup is the key group, 0 to max-1, of a hash.
func KeyGroup(hash uint64, max int) int { return int(hash % uint64(max)) }

func idOf(dict []uint64, c int) uint64 {
	if dict == nil {
		return 0
	}
	return dict[c]
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n+n/4)[:n]
	}
	return s[:n]
}

func fold(acc, v uint64) uint64 {
	acc ^= bits.RotateLeft64(v*prime2, 31) * prime1
	return bits.RotateLeft64(acc, 27)*prime1 + prime4
}

func finish(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// word is xxHash64 of 8 bytes with seed 0.
func word(v uint64) uint64 {
	var h uint64 = prime5
	h = fold(h+8, v)
	h ^= h >> 33
	h *= prime2
	h ^= h >> 29
	h *= prime3
	return h ^ h>>32
}

// values hashes the values of columns, and keeps what it knows of dictionaries.
type values struct {
	known []map[uint64][]uint64 // per column, by dictionary id: the hashes of its entries
	tmp   []uint64
}

func newValues(cols int) values { return values{known: make([]map[uint64][]uint64, cols)} }

// mostDictionaries bounds what is remembered per column; a reader has one dictionary for each.
const mostDictionaries = 64

// hash writes the hash of each selected value to out, which is aligned to sel.
func (v *values) hash(c int, arr arrow.Array, t expr.Type, id uint64, sel []int32, out []uint64) {
	d := arr.Data()
	switch arr.DataType().ID() {
	case arrow.NULL:
		for i := range out {
			out[i] = nullHash
		}
		return
	case arrow.BOOL:
		hashBools(arr, sel, out)
	case arrow.INT32, arrow.DATE32:
		each(fixed[int32](d), sel, out, func(x int32) uint64 { return word(uint64(int64(x))) })
	case arrow.INT64, arrow.TIMESTAMP:
		if t.Kind == expr.Decimal && t.Scale > 0 {
			scale := t.Scale
			each(fixed[int64](d), sel, out, func(x int64) uint64 { return hashDecimal64(x, scale) })
			break
		}
		longs(fixed[int64](d), sel, out)
	case arrow.FLOAT64:
		each(fixed[float64](d), sel, out, hashDouble)
	case arrow.DECIMAL128:
		scale := t.Scale
		each(fixed[decimal128.Num](d), sel, out, func(x decimal128.Num) uint64 { return hashDecimal128(x, scale) })
	case arrow.STRING, arrow.BINARY:
		hashTexts(d, sel, out)
	case arrow.LIST, arrow.MAP, arrow.STRUCT:
		v.nested(c, arr, t, sel, out)
	case arrow.DICTIONARY:
		v.dictionary(c, arr.(*array.Dictionary), id, sel, out)
	}
	nulls(arr, sel, out)
}

func longs(x []int64, sel []int32, out []uint64) {
	if sel == nil {
		x = x[:len(out)]
		for i, v := range x {
			out[i] = word(uint64(v))
		}
		return
	}
	for i, r := range sel {
		out[i] = word(uint64(x[r]))
	}
}

func each[T any](x []T, sel []int32, out []uint64, f func(T) uint64) {
	if sel == nil {
		for i, v := range x {
			out[i] = f(v)
		}
		return
	}
	for i, r := range sel {
		out[i] = f(x[r])
	}
}

// nulls puts the hash of NULL where the array has one; what stood there was unspecified.
func nulls(arr arrow.Array, sel []int32, out []uint64) {
	valid, off := bitmap(arr)
	if valid == nil {
		return
	}
	for i := range out {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if !bit(valid, off+r) {
			out[i] = nullHash
		}
	}
}

func hashBools(arr arrow.Array, sel []int32, out []uint64) {
	if arr.Len() == 0 {
		return
	}
	b, off := arr.Data().Buffers()[1].Bytes(), arr.Data().Offset()
	pair := [2]uint64{word(0), word(1)}
	for i := range out {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		p := off + r
		out[i] = pair[b[p>>3]>>(p&7)&1]
	}
}

func hashTexts(d arrow.ArrayData, sel []int32, out []uint64) {
	offs, data := texts(d)
	for i := range out {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		out[i] = xxhash.Sum64(data[offs[r]:offs[r+1]])
	}
}

// dictionary hashes entries, not rows, where entries are fewer or known by the dictionary's id.
func (v *values) dictionary(c int, arr *array.Dictionary, id uint64, sel []int32, out []uint64) {
	entries := arr.Dictionary()
	codes := fixed[int32](arr.Data())
	if id == 0 && entries.Len() > len(out) {
		v.rows(arr, entries, codes, sel, out)
		return
	}
	hashes := v.entries(c, entries, id)
	valid, off := bitmap(arr)
	if sel == nil && valid == nil {
		for i, k := range codes {
			out[i] = hashes[k]
		}
		return
	}
	for i := range out {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if valid == nil || bit(valid, off+r) {
			out[i] = hashes[codes[r]]
		}
	}
}

// rows hashes each row's text: for a large dictionary of which a batch uses little.
func (v *values) rows(arr *array.Dictionary, entries arrow.Array, codes, sel []int32, out []uint64) {
	offs, data := texts(entries.Data())
	valid, off := bitmap(arr)
	for i := range out {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if valid != nil && !bit(valid, off+r) {
			continue
		}
		k := int(codes[r])
		if entries.IsNull(k) {
			out[i] = nullHash
			continue
		}
		out[i] = xxhash.Sum64(data[offs[k]:offs[k+1]])
	}
}

// entries are the hashes of a dictionary's entries; a dictionary with an id only grows.
func (v *values) entries(c int, dict arrow.Array, id uint64) []uint64 {
	var h []uint64
	if id != 0 {
		h = v.known[c][id]
	} else {
		h = v.tmp[:0]
	}
	have := len(h)
	if have >= dict.Len() {
		return h
	}
	offs, data := texts(dict.Data())
	for k := have; k < dict.Len(); k++ {
		if dict.IsNull(k) {
			h = append(h, nullHash)
			continue
		}
		h = append(h, xxhash.Sum64(data[offs[k]:offs[k+1]]))
	}
	if id == 0 {
		v.tmp = h
		return h
	}
	if v.known[c] == nil || len(v.known[c]) >= mostDictionaries {
		v.known[c] = map[uint64][]uint64{}
	}
	v.known[c][id] = h
	return h
}

func hashDouble(x float64) uint64 {
	switch {
	case x == 0:
		return word(0)
	case x != x:
		return word(math.Float64bits(math.NaN()))
	}
	return word(math.Float64bits(x))
}

func hashDecimal64(x int64, scale int) uint64 {
	for scale > 0 && x%10 == 0 {
		x /= 10
		scale--
		if x == 0 {
			scale = 0
		}
	}
	return word(uint64(x) + uint64(scale)*prime3)
}

func wide(lo, hi uint64, scale int) uint64 {
	var b [24]byte
	for i := range 8 {
		b[i] = byte(lo >> (8 * i))
		b[8+i] = byte(hi >> (8 * i))
	}
	b[16] = byte(scale)
	return xxhash.Sum64(b[:])
}

func hashDecimal128(x decimal128.Num, scale int) uint64 {
	ten := decimal128.FromU64(10)
	for scale > 0 && !fits64(x) {
		q, r := x.Div(ten)
		if r != (decimal128.Num{}) {
			return wide(x.LowBits(), uint64(x.HighBits()), scale)
		}
		x, scale = q, scale-1
	}
	if fits64(x) {
		return hashDecimal64(int64(x.LowBits()), scale)
	}
	return wide(x.LowBits(), uint64(x.HighBits()), scale)
}

func fits64(x decimal128.Num) bool { return x.HighBits() == int64(x.LowBits())>>63 }
