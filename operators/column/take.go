package column

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Take is the array's rows at idx, in that order; an index below 0 gives NULL. A dictionary column
// keeps its dictionary. It panics on a type outside the engine's and where more than 2 GiB of text
// would come together in one column: both are faults of the caller, not of data.
func Take(alloc memory.Allocator, arr arrow.Array, idx []int32) arrow.Array {
	if isNested(arr) {
		return expr.TakeNested(alloc, arr, idx, Take)
	}
	data := arr.Data()
	valid, nulls := takeValidity(alloc, arr, idx)
	bufs := []*memory.Buffer{valid}
	gaps := nulls > 0
	switch arr.DataType().ID() {
	case arrow.NULL:
		return array.NewNull(len(idx))
	case arrow.BOOL:
		bufs = append(bufs, takeBools(alloc, data, idx, gaps))
	case arrow.INT32, arrow.DATE32, arrow.DICTIONARY:
		bufs = append(bufs, takeFixed[int32](alloc, fixed[int32](data), idx, gaps))
	case arrow.INT64, arrow.FLOAT64, arrow.TIMESTAMP:
		bufs = append(bufs, takeFixed[int64](alloc, fixed[int64](data), idx, gaps))
	case arrow.DECIMAL128:
		bufs = append(bufs, takeFixed[decimal128.Num](alloc, fixed[decimal128.Num](data), idx, gaps))
	case arrow.STRING, arrow.BINARY:
		bufs = append(bufs, takeTexts(alloc, data, idx)...)
	default:
		panic(fmt.Sprintf("column.Take: %s is not a type of the engine", arr.DataType()))
	}
	var out *array.Data
	if d, ok := data.Dictionary().(*array.Data); ok && d != nil {
		out = array.NewDataWithDictionary(arr.DataType(), len(idx), bufs, nulls, 0, d)
	} else {
		out = array.NewData(arr.DataType(), len(idx), bufs, nil, nulls, 0)
	}
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	defer out.Release()
	return array.MakeFromData(out)
}

func newBuffer(alloc memory.Allocator, bytes int) *memory.Buffer {
	b := memory.NewResizableBuffer(alloc)
	b.Resize(bytes)
	return b
}

// takeValidity gives no bitmap where no taken row is NULL.
func takeValidity(alloc memory.Allocator, arr arrow.Array, idx []int32) (*memory.Buffer, int) {
	if arr.DataType().ID() == arrow.NULL {
		return nil, len(idx)
	}
	least := int32(0)
	for _, i := range idx {
		least = min(least, i)
	}
	from, off := bitmap(arr)
	if from == nil && least == 0 {
		return nil, 0
	}
	buf := newBuffer(alloc, (len(idx)+7)/8)
	to := buf.Bytes()
	clear(to)
	live := 0
	for k, i := range idx {
		if i >= 0 && (from == nil || bit(from, off+int(i))) {
			to[k>>3] |= 1 << (k & 7)
			live++
		}
	}
	if live == len(idx) {
		buf.Release()
		return nil, 0
	}
	return buf, len(idx) - live
}

// Gather writes the values of the given rows to the front of to, which has room for them.
func Gather[T any](to, from []T, rows []int32) {
	to = to[:len(rows)]
	for k, row := range rows {
		to[k] = from[row]
	}
}

func takeFixed[T any](alloc memory.Allocator, from []T, idx []int32, gaps bool) *memory.Buffer {
	var t T
	buf := newBuffer(alloc, len(idx)*int(unsafe.Sizeof(t)))
	to := view[T](buf.Bytes())
	if !gaps {
		Gather(to, from, idx)
		return buf
	}
	for k, i := range idx {
		if i < 0 {
			to[k] = t
			continue
		}
		to[k] = from[i]
	}
	return buf
}

func takeBools(alloc memory.Allocator, d arrow.ArrayData, idx []int32, gaps bool) *memory.Buffer {
	buf := newBuffer(alloc, (len(idx)+7)/8)
	to := buf.Bytes()
	clear(to)
	if d.Len() == 0 {
		return buf
	}
	from, off := d.Buffers()[1].Bytes(), d.Offset()
	for k, i := range idx {
		if gaps && i < 0 {
			continue
		}
		p := off + int(i)
		to[k>>3] |= from[p>>3] >> (p & 7) & 1 << (k & 7)
	}
	return buf
}

func takeTexts(alloc memory.Allocator, d arrow.ArrayData, idx []int32) []*memory.Buffer {
	offs, data := texts(d)
	total := 0
	for _, i := range idx {
		if i >= 0 {
			total += int(offs[i+1] - offs[i])
		}
	}
	if total > math.MaxInt32 {
		panic(fmt.Sprintf("column.Take: %d bytes of text do not fit one column of at most 2 GiB", total))
	}
	ob, db := newBuffer(alloc, (len(idx)+1)*4), newBuffer(alloc, total)
	to, out := view[int32](ob.Bytes()), db.Bytes()
	at := int32(0)
	for k, i := range idx {
		to[k] = at
		if i >= 0 {
			at += int32(copy(out[at:], data[offs[i]:offs[i+1]]))
		}
	}
	to[len(idx)] = at
	return []*memory.Buffer{ob, db}
}
