// Package column works on whole columns of a batch: gathering and joining rows, hashing keys,
// digesting results and printing values.
//
// It understands the physical types of [expr.Type.Arrow] and nothing else: bool, int32, int64,
// float64, decimal128, utf8, binary, date32, timestamp, null, dictionary<int32, utf8>, and list, map and struct
// of them, texts within which are plain. Every
// function gives the same result for a plain and for a dictionary-coded column.
package column

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// NewRecord makes a record of columns, naming them after the fields and taking the types that the
// columns really have: a STRING may be plain or dictionary-coded, and an Arrow schema that disagrees
// with its columns is refused by Arrow. The record retains the columns; the caller keeps its own
// references.
func NewRecord(fields []expr.Field, cols []arrow.Array, rows int64) arrow.Record {
	f := make([]arrow.Field, len(cols))
	for i, c := range cols {
		f[i] = arrow.Field{Name: fields[i].Name, Type: c.DataType(), Nullable: !fields[i].Type.NotNull}
	}
	return array.NewRecord(arrow.NewSchema(f, nil), cols, rows)
}

// Compact is the batch's live rows as a record without a selection; the dictionary ids of the batch
// hold for it too. It takes over the batch's reference, and the caller owns the result's.
func Compact(alloc memory.Allocator, b operators.Batch) arrow.Record {
	if b.Sel == nil || len(b.Sel) == int(b.Rec.NumRows()) {
		return b.Rec
	}
	defer b.Rec.Release()
	cols := make([]arrow.Array, b.Rec.NumCols())
	for i := range cols {
		cols[i] = Take(alloc, b.Rec.Column(i), b.Sel)
	}
	rec := array.NewRecord(b.Rec.Schema(), cols, int64(len(b.Sel)))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

// view is a buffer's bytes as values of a fixed-width type.
func view[T any](b []byte) []T {
	var t T
	n := len(b) / int(unsafe.Sizeof(t))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// fixed are the values of a fixed-width array, its offset taken into account.
func fixed[T any](d arrow.ArrayData) []T {
	b := d.Buffers()[1]
	if b == nil || d.Len() == 0 {
		return nil
	}
	return view[T](b.Bytes())[d.Offset() : d.Offset()+d.Len()]
}

// texts are the offsets (one more than rows) and the bytes of a utf8 or binary array.
func texts(d arrow.ArrayData) (offsets []int32, data []byte) {
	if b := d.Buffers()[1]; b != nil && d.Len() > 0 {
		offsets = view[int32](b.Bytes())[d.Offset() : d.Offset()+d.Len()+1]
	}
	if b := d.Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	return offsets, data
}

// bitmap is the array's validity and the bit at which its first row stands; nil where no row is NULL.
func bitmap(arr arrow.Array) (bits []byte, offset int) {
	d := arr.Data()
	if arr.NullN() == 0 || len(d.Buffers()) == 0 || d.Buffers()[0] == nil {
		return nil, 0
	}
	return d.Buffers()[0].Bytes(), d.Offset()
}

func bit(b []byte, i int) bool { return b[i>>3]>>(i&7)&1 != 0 }
