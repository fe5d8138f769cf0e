package table

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-4b0e9f7c/runner/operators"
)

// textHeader is the mark and the length before the bytes of a text in a canonical key.
const textHeader = 5

// hash is the hash of a canonical key.
func (x *rowIndex) hash(key []byte) uint64 {
	if x.oneText && key[0] != 0 {
		return hashText(key[textHeader:])
	}
	return xxhash.Sum64(key)
}

// hashText hashes short texts by two overlapping words.
func hashText(v []byte) uint64 {
	var a, b uint64
	switch n := len(v); {
	case n > 16:
		return xxhash.Sum64(v)
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(v)), uint64(binary.LittleEndian.Uint32(v[n-4:]))
	case n > 0:
		a = uint64(v[0])<<16 | uint64(v[n>>1])<<8 | uint64(v[n-1])
	}
	hi, lo := bits.Mul64(a^0x9E3779B97F4A7C15, b^0xD6E8FEB86659FD93^uint64(len(v))<<56)
	return (hi ^ lo) * 0x9E3779B97F4A7C15
}

// encode writes the canonical keys of a chunk, where each ends and their hashes.
func (x *rowIndex) encode(r rows, n int) {
	if !x.encodeFixed(r, n) {
		buf := x.encoded[:0]
		for i := range n {
			row := r.at(i)
			for c := range r.cols {
				buf = r.cols[c].appendKey(buf, row)
			}
			x.keyEnds[i] = len(buf)
		}
		x.encoded = buf
	}
	from := 0
	for i, end := range x.keyEnds[:n] {
		x.hashes[i] = x.hash(x.encoded[from:end])
		from = end
	}
}

// encodeFixed is encode for columns of eight bytes without NULL, column by column.
func (x *rowIndex) encodeFixed(r rows, n int) bool {
	for i := range r.cols {
		c := &r.cols[i]
		if c.nulls() || c.i64 == nil && c.i32 == nil && c.f64 == nil && c.bools == nil {
			return false
		}
	}
	const width = 9
	size := width * len(r.cols)
	if cap(x.encoded) < n*size {
		x.encoded = make([]byte, chunk*size)
	}
	x.encoded = x.encoded[:n*size]
	var buf [chunk]int64
	vs := buf[:n]
	for i := range r.cols {
		r.cols[i].ints(r, vs)
		at := x.encoded[width*i:]
		for _, v := range vs {
			at[0] = 1
			binary.LittleEndian.PutUint64(at[1:width], uint64(v))
			at = at[min(size, len(at)):]
		}
	}
	for i := range n {
		x.keyEnds[i] = (i + 1) * size
	}
	return true
}

// texts is lookup for a single text without NULL, which is only encoded when it is new.
func (x *rowIndex) texts(t *Table, r rows, slots []uint32, add bool) error {
	c := &r.cols[0]
	hashes := x.hashes[:len(slots)]
	mask, shift := uint64(len(x.entries)-1), x.shift&63
	var touched uint32
	for i := range hashes {
		h := hashText(c.textAt(r.at(i)))
		hashes[i] = h
		touched |= x.entries[h>>shift&mask].slot
	}
	if touched == 0 && !add {
		return fillNoSlot(slots)
	}
	for i, h := range hashes {
		v := c.textAt(r.at(i))
		if s := x.findText(h, v); s != operators.NoSlot || !add {
			slots[i] = s
			continue
		}
		x.encoded = appendText(append(x.encoded[:0], 1), v)
		s, err := x.find(t, h, x.encoded, true)
		if err != nil {
			return err
		}
		slots[i] = s
	}
	return nil
}

func (x *rowIndex) findText(h uint64, v []byte) uint32 {
	mask := uint64(len(x.entries) - 1)
	for at := h >> (x.shift & 63); ; at++ {
		e := &x.entries[at&mask]
		if e.slot == 0 {
			return operators.NoSlot
		}
		if e.hash == h && string(x.key(e.slot - 1)[textHeader:]) == string(v) {
			return e.slot - 1
		}
	}
}
