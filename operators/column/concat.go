package column

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Concat is the rows of all arrays, one after the other; the caller owns the result. The arrays
// have one logical type. Dictionary columns stay coded: with one dictionary, or where each is the
// beginning of the longest, the codes are kept, else the dictionaries are united as long as that
// saves rows. Plain and coded ones together come out plain. More than 2 GiB of text is an error.
func Concat(alloc memory.Allocator, arrs []arrow.Array) (arrow.Array, error) {
	switch len(arrs) {
	case 0:
		return nil, errors.New("joining no columns")
	case 1:
		arrs[0].Retain()
		return arrs[0], nil
	}
	coded := 0
	for _, a := range arrs {
		if a.DataType().ID() == arrow.DICTIONARY {
			coded++
		}
	}
	if coded == 0 {
		return concatPlain(alloc, arrs)
	}
	if coded == len(arrs) {
		if out, err := concatCodes(alloc, arrs); out != nil || err != nil {
			return out, err
		}
	}
	plain := make([]arrow.Array, len(arrs))
	for i, a := range arrs {
		plain[i] = Plain(alloc, a)
	}
	defer release(plain)
	return concatPlain(alloc, plain)
}

// Plain is a STRING column without a dictionary; any other column as it is. The caller owns the
// result.
func Plain(alloc memory.Allocator, arr arrow.Array) arrow.Array {
	d, ok := arr.(*array.Dictionary)
	if !ok {
		arr.Retain()
		return arr
	}
	idx := make([]int32, d.Len())
	codes := fixed[int32](d.Data())
	valid, off := bitmap(d)
	for i := range idx {
		idx[i] = -1
		if valid == nil || bit(valid, off+i) {
			idx[i] = codes[i]
		}
	}
	return Take(alloc, d.Dictionary(), idx)
}

func release(arrs []arrow.Array) {
	for _, a := range arrs {
		if a != nil {
			a.Release()
		}
	}
}

func concatPlain(alloc memory.Allocator, arrs []arrow.Array) (arrow.Array, error) {
	out, err := array.Concatenate(arrs, alloc)
	if err != nil {
		return nil, fmt.Errorf("joining %d columns of %s: %w", len(arrs), arrs[0].DataType(), err)
	}
	return out, nil
}

// concatCodes gives nil where the dictionaries cannot be united to advantage.
func concatCodes(alloc memory.Allocator, arrs []arrow.Array) (arrow.Array, error) {
	longest, rows := arrs[0].(*array.Dictionary), 0
	for _, a := range arrs {
		d := a.(*array.Dictionary)
		rows += d.Len()
		if d.Dictionary().NullN() > 0 {
			return nil, nil
		}
		if d.Dictionary().Len() > longest.Dictionary().Len() {
			longest = d
		}
	}
	codes := make([]arrow.Array, 0, len(arrs))
	defer func() { release(codes) }()
	dict := longest.Dictionary()
	shared := true
	for _, a := range arrs {
		shared = shared && beginsWith(dict, a.(*array.Dictionary).Dictionary())
	}
	if shared {
		for _, a := range arrs {
			ix := a.(*array.Dictionary).Indices()
			ix.Retain()
			codes = append(codes, ix)
		}
		dict.Retain()
	} else {
		var u union
		for _, a := range arrs {
			ix, ok := u.codes(alloc, a.(*array.Dictionary), rows/2)
			if !ok {
				return nil, nil
			}
			codes = append(codes, ix)
		}
		dict = u.array(alloc)
	}
	defer dict.Release()
	joined, err := concatPlain(alloc, codes)
	if err != nil {
		return nil, err
	}
	defer joined.Release()
	return array.NewDictionaryArray(longest.DataType(), joined, dict), nil
}

// beginsWith reports whether the entries of short are the first ones of long.
func beginsWith(long, short arrow.Array) bool {
	if long == short || short.Len() == 0 {
		return true
	}
	lo, ld := texts(long.Data())
	so, sd := texts(short.Data())
	n := short.Len()
	if &lo[0] == &so[0] && unsafe.SliceData(ld) == unsafe.SliceData(sd) {
		return true
	}
	for i := range n + 1 {
		if lo[i]-lo[0] != so[i]-so[0] {
			return false
		}
	}
	return bytes.Equal(ld[lo[0]:lo[n]], sd[so[0]:so[n]])
}

// A union gathers the distinct entries of several dictionaries.
type union struct {
	places map[string]int32
	list   []string
	bytes  int
}

// codes are the column's codes in the united dictionary; false once that exceeds most entries.
func (u *union) codes(alloc memory.Allocator, d *array.Dictionary, most int) (arrow.Array, bool) {
	if u.places == nil {
		u.places = map[string]int32{}
	}
	offs, data := texts(d.Dictionary().Data())
	remap := make([]int32, d.Dictionary().Len())
	for i := range remap {
		s := data[offs[i]:offs[i+1]]
		p, ok := u.places[string(s)]
		if !ok {
			p = int32(len(u.list))
			u.list = append(u.list, string(s))
			u.places[u.list[p]] = p
			u.bytes += len(s)
		}
		remap[i] = p
	}
	if len(u.list) > most || u.bytes > 1<<30 {
		return nil, false
	}
	from := fixed[int32](d.Data())
	valid, off := bitmap(d)
	b := array.NewInt32Builder(alloc)
	defer b.Release()
	b.Reserve(len(from))
	for i, c := range from {
		if valid == nil || bit(valid, off+i) {
			b.UnsafeAppend(remap[c])
		} else {
			b.UnsafeAppendBoolToBitmap(false)
		}
	}
	return b.NewArray(), true
}

func (u *union) array(alloc memory.Allocator) arrow.Array {
	b := array.NewStringBuilder(alloc)
	defer b.Release()
	b.AppendValues(u.list, nil)
	return b.NewArray()
}
