package expr

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// take is the rows of an array at idx, in memory of its own; -1 gives NULL.
func take(arr arrow.Array, idx []int32) arrow.Array {
	alloc := memory.DefaultAllocator
	switch a := arr.(type) {
	case *array.List, *array.Map, *array.Struct:
		return TakeNested(alloc, a, idx, func(_ memory.Allocator, arr arrow.Array, idx []int32) arrow.Array { return take(arr, idx) })
	case *array.Null:
		return array.NewNull(len(idx))
	}
	b := array.NewBuilder(alloc, arr.DataType())
	defer b.Release()
	b.Reserve(len(idx))
	for _, i := range idx {
		if i < 0 || arr.IsNull(int(i)) {
			b.AppendNull()
			continue
		}
		switch a := arr.(type) {
		case *array.Boolean:
			b.(*array.BooleanBuilder).UnsafeAppend(a.Value(int(i)))
		case *array.Int32:
			b.(*array.Int32Builder).UnsafeAppend(a.Value(int(i)))
		case *array.Date32:
			b.(*array.Date32Builder).UnsafeAppend(a.Value(int(i)))
		case *array.Int64:
			b.(*array.Int64Builder).UnsafeAppend(a.Value(int(i)))
		case *array.Timestamp:
			b.(*array.TimestampBuilder).UnsafeAppend(a.Value(int(i)))
		case *array.Float64:
			b.(*array.Float64Builder).UnsafeAppend(a.Value(int(i)))
		case *array.Decimal128:
			b.(*array.Decimal128Builder).UnsafeAppend(a.Value(int(i)))
		case *array.String:
			b.(*array.StringBuilder).Append(a.Value(int(i)))
		case *array.Binary:
			b.(*array.BinaryBuilder).Append(a.Value(int(i)))
		}
	}
	return b.NewArray()
}

// TakeNested is the rows of a list, map or struct array at idx, in that order; an index below 0 gives NULL. The
// parts are taken by take, which does the same for arrays of any type. The caller owns the result. It panics
// where more than 2^31 elements would come together.
func TakeNested(alloc memory.Allocator, arr arrow.Array, idx []int32, take func(memory.Allocator, arrow.Array, []int32) arrow.Array) arrow.Array {
	valid := memory.NewResizableBuffer(alloc)
	valid.Resize((len(idx) + 7) / 8)
	bits := valid.Bytes()
	clear(bits)
	nulls := 0
	for k, i := range idx {
		if i < 0 || arr.IsNull(int(i)) {
			nulls++
			continue
		}
		bits[k>>3] |= 1 << (k & 7)
	}
	bufs := []*memory.Buffer{valid}
	if nulls == 0 {
		valid.Release()
		bufs[0] = nil
	}
	var parts []arrow.Array
	if s, ok := arr.(*array.Struct); ok {
		for f := range s.NumField() {
			parts = append(parts, take(alloc, s.Field(f), idx))
		}
	} else {
		offs, places := takeList(alloc, arr, idx)
		bufs = append(bufs, offs)
		values := array.MakeFromData(arr.Data().Children()[0])
		parts = append(parts, take(alloc, values, places))
		values.Release()
	}
	children := make([]arrow.ArrayData, len(parts))
	for i, p := range parts {
		children[i] = p.Data()
	}
	d := array.NewData(arr.DataType(), len(idx), bufs, children, nulls, 0)
	defer d.Release()
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	for _, p := range parts {
		p.Release()
	}
	return array.MakeFromData(d)
}

// takeList makes the offsets of taken lists and says which elements they have.
func takeList(alloc memory.Allocator, arr arrow.Array, idx []int32) (*memory.Buffer, []int32) {
	rows, ok := arr.(interface {
		ValueOffsets(i int) (start, end int64)
	})
	if !ok {
		panic(fmt.Sprintf("expr.TakeNested: %s is not a type of the engine", arr.DataType()))
	}
	buf := memory.NewResizableBuffer(alloc)
	buf.Resize((len(idx) + 1) * 4)
	offs := arrow.Int32Traits.CastFromBytes(buf.Bytes())
	total := int64(0)
	for k, i := range idx {
		offs[k] = int32(total)
		if i >= 0 && !arr.IsNull(int(i)) {
			from, to := rows.ValueOffsets(int(i))
			total += to - from
		}
		if total > math.MaxInt32 {
			panic("expr.TakeNested: more than 2^31 elements do not fit one column")
		}
	}
	offs[len(idx)] = int32(total)
	places := make([]int32, 0, total)
	for _, i := range idx {
		if i >= 0 && !arr.IsNull(int(i)) {
			from, to := rows.ValueOffsets(int(i))
			for p := from; p < to; p++ {
				places = append(places, int32(p))
			}
		}
	}
	return buf, places
}
