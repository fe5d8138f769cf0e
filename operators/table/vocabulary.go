package table

import (
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

const (
	maxWords  = 1 << 16 // different texts of a column that a vocabulary numbers
	maxText   = 1 << 26 // bytes of them
	maxRemaps = 8       // dictionaries whose codes are remembered at a time

	worthwhile = 8 // times as many entries as rows a dictionary may have to be remembered
)

// A vocabulary numbers the texts of a key column from 1, in the order in which they are met. It only
// grows, so that it is a dictionary for the texts as well.
type vocabulary struct {
	id      uint64
	entries []uint64 // open addressing: the upper half of a hash, and the number (0 = empty)
	shift   uint
	ends    []int32 // by number - 1: where its bytes end
	bytes   []byte
	remaps  []*remap
	arr     arrow.Array // all texts, made anew when there are more; nil before
}

// A remap turns the codes of one dictionary into numbers; 0 = not known yet.
type remap struct {
	id   uint64 // of a dictionary that grows
	data arrow.ArrayData
	nums []uint32
}

func newVocabulary() *vocabulary { return &vocabulary{id: expr.NewDictID(), shift: 64} }

func (v *vocabulary) text(num uint32) []byte {
	from := int32(0)
	if num > 1 {
		from = v.ends[num-2]
	}
	return v.bytes[from:v.ends[num-1]]
}

// find is the number of a text, 0 where it has none.
func (v *vocabulary) find(h uint64, text []byte) uint32 {
	if len(v.entries) == 0 {
		return 0
	}
	mask := uint64(len(v.entries) - 1)
	for at := h >> (v.shift & 63); ; at++ {
		e := v.entries[at&mask]
		if uint32(e) == 0 {
			return 0
		}
		if (e^h)>>32 == 0 && string(v.text(uint32(e))) == string(text) {
			return uint32(e)
		}
	}
}

// number is the number of a text, a new one where it has none; errUnsuited where there are too many.
func (v *vocabulary) number(acc *account, text []byte) (uint32, error) {
	h := hashText(text)
	if n := v.find(h, text); n != 0 {
		return n, nil
	}
	if len(v.ends) >= maxWords || len(v.bytes)+len(text) > maxText {
		return 0, errUnsuited
	}
	if 2*(len(v.ends)+1) > len(v.entries) {
		if err := v.grow(acc); err != nil {
			return 0, err
		}
	}
	var err error
	if v.bytes, err = resize(acc, v.bytes, len(v.bytes)+len(text), 1); err != nil {
		return 0, err
	}
	if v.ends, err = resize(acc, v.ends, len(v.ends)+1, 4); err != nil {
		return 0, err
	}
	v.bytes = append(v.bytes, text...)
	v.ends = append(v.ends, int32(len(v.bytes)))
	v.insert(h, uint32(len(v.ends)))
	return uint32(len(v.ends)), nil
}

func (v *vocabulary) grow(acc *account) error {
	n := max(2*len(v.entries), 64)
	if err := acc.grow(int64(n) * 8); err != nil {
		return err
	}
	acc.shrink(int64(len(v.entries)) * 8)
	v.entries = make([]uint64, n)
	v.shift = uint(64 - bits.TrailingZeros(uint(n)))
	for num := range v.ends {
		v.insert(hashText(v.text(uint32(num+1))), uint32(num+1))
	}
	return nil
}

func (v *vocabulary) insert(h uint64, num uint32) {
	mask := uint64(len(v.entries) - 1)
	at := h >> (v.shift & 63)
	for uint32(v.entries[at&mask]) != 0 {
		at++
	}
	v.entries[at&mask] = entryOf(h, int(num)-1)
}

// remapOf is what is known of the dictionary of n rows: by its id, or by its memory, which is kept alive so
// that no other dictionary can come to lie there. It is nil where the rows are too few to get to know it, or memory is
// short.
func (v *vocabulary) remapOf(acc *account, dict arrow.Array, id uint64, n int) *remap {
	at := slices.IndexFunc(v.remaps, func(r *remap) bool { return r.id == id && (id != 0 || r.data == dict.Data()) })
	if at < 0 {
		if id == 0 && dict.Len() > worthwhile*n {
			return nil
		}
		if len(v.remaps) == maxRemaps {
			v.forget(acc, v.remaps[0])
			v.remaps = slices.Delete(v.remaps, 0, 1)
		}
		m := &remap{id: id}
		if id == 0 {
			m.data = dict.Data()
			m.data.Retain()
		}
		at, v.remaps = len(v.remaps), append(v.remaps, m)
	}
	m := v.remaps[at]
	if len(m.nums) < dict.Len() {
		nums, err := resize(acc, m.nums, dict.Len(), 4)
		if err != nil {
			return nil
		}
		m.nums = nums[:dict.Len()]
	}
	return m
}

func (v *vocabulary) forget(acc *account, m *remap) {
	acc.shrink(int64(cap(m.nums)) * 4)
	if m.data != nil {
		m.data.Release()
	}
}

// dictionary is all texts as an array, which the vocabulary keeps.
func (v *vocabulary) dictionary(alloc memory.Allocator) arrow.Array {
	if v.arr != nil && v.arr.Len() == len(v.ends) {
		return v.arr
	}
	v.drop()
	b := array.NewStringBuilder(alloc)
	defer b.Release()
	b.Reserve(len(v.ends))
	b.ReserveData(len(v.bytes))
	for num := range v.ends {
		b.BinaryBuilder.Append(v.text(uint32(num + 1)))
	}
	v.arr = b.NewArray()
	return v.arr
}

func (v *vocabulary) drop() {
	if v.arr != nil {
		v.arr.Release()
		v.arr = nil
	}
}

// release gives all memory back.
func (v *vocabulary) release(acc *account) {
	v.drop()
	for _, m := range v.remaps {
		v.forget(acc, m)
	}
	acc.shrink(int64(cap(v.bytes)) + int64(cap(v.ends))*4 + int64(len(v.entries))*8)
	*v = vocabulary{}
}
