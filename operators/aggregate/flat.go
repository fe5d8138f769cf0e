package aggregate

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
)

// flatStore holds one group per row, so that rows become partial states by the same kernels.
type flatStore struct {
	words [][]uint64
	bytes []*flatBytes
}

func newFlatStore(o operators.TableOptions) flatStore {
	f := flatStore{words: make([][]uint64, o.Words)}
	for range o.BytesCol {
		f.bytes = append(f.bytes, &flatBytes{})
	}
	return f
}

func (f *flatStore) reset(n int) {
	for i, w := range f.words {
		if cap(w) < n {
			w = make([]uint64, n)
		}
		w = w[:n]
		clear(w)
		f.words[i] = w
	}
	for _, b := range f.bytes {
		b.n, b.values = n, nil
	}
}

// Words is a word column.
func (f *flatStore) Words(col int) []uint64 { return f.words[col] }

// Bytes is a byte-string column.
func (f *flatStore) Bytes(col int) operators.BytesColumn { return f.bytes[col] }

// flatBytes has no values until the first is set: few groups have one.
type flatBytes struct {
	n      int
	values [][]byte
}

// Get is a row's value.
func (f *flatBytes) Get(slot uint32) []byte {
	if f.values == nil {
		return nil
	}
	return f.values[slot]
}

// Set copies v.
func (f *flatBytes) Set(slot uint32, v []byte) {
	if f.values == nil {
		f.values = make([][]byte, f.n)
	}
	f.values[slot] = append([]byte(nil), v...)
}

// Empty reports that no row has a value.
func (f *flatBytes) Empty() bool { return f.values == nil }

// masked is a distinct argument with NULL where its filter is not TRUE. It shares the argument's
// values and only has a validity bitmap of its own.
func (l *layout) masked(alloc memory.Allocator, rec arrow.Record, d distinctArg) arrow.Array {
	arr := rec.Column(d.arg)
	if d.filter < 0 || arr.DataType().ID() == arrow.NULL {
		arr.Retain()
		return arr
	}
	keep := isTrue(rec.Column(d.filter))
	data := arr.Data()
	off, n := data.Offset(), data.Len()
	valid := memory.NewResizableBuffer(alloc)
	defer valid.Release()
	valid.Resize(int(bitutil.BytesForBits(int64(off + n))))
	clear(valid.Bytes())
	nulls := 0
	for row := range n {
		if arr.IsValid(row) && keep(row) {
			bitutil.SetBit(valid.Bytes(), off+row)
		} else {
			nulls++
		}
	}
	buffers := append([]*memory.Buffer{valid}, data.Buffers()[1:]...)
	var masked *array.Data
	if dict, ok := arr.(*array.Dictionary); ok {
		entries, _ := dict.Dictionary().Data().(*array.Data)
		masked = array.NewDataWithDictionary(arr.DataType(), n, buffers, nulls, off, entries)
	} else {
		masked = array.NewData(arr.DataType(), n, buffers, nil, nulls, off)
	}
	defer masked.Release()
	return array.MakeFromData(masked)
}
