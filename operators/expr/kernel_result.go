package expr

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// result makes an Arrow array of a vec.
func result(c *ctx, v *vec, t Type, sel []int32) (arrow.Array, uint64, error) {
	alloc, n := c.alloc, c.n
	switch {
	case v.src != nil:
		v.src.Retain()
		return v.src, v.id, nil
	case t.Kind == Null:
		return array.NewNull(n), 0, nil
	case t.Nested():
		return nullsOf(alloc, t, n), 0, nil
	case v.codes != nil:
		return codedResult(alloc, v, n), v.id, nil
	case t.Kind == String && v.one():
		arr := constantText(alloc, v, n)
		return arr, v.id, nil
	}
	valid, nulls := validityOf(alloc, v, n)
	bufs := []*memory.Buffer{valid}
	if c.buf != nil && v == &c.root.out {
		c.buf.Retain()
		bufs = append(bufs, c.buf)
	} else {
		bufs = append(bufs, dataOf(alloc, v, n, sel)...)
	}
	d := array.NewData(t.Arrow(), n, bufs, nil, nulls, 0)
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	defer d.Release()
	return array.MakeFromData(d), 0, nil
}

// nullsOf is n rows that are NULL.
func nullsOf(alloc memory.Allocator, t Type, n int) arrow.Array {
	b := array.NewBuilder(alloc, t.Arrow())
	defer b.Release()
	b.AppendNulls(n)
	return b.NewArray()
}

// validityOf is a bitmap with as many NULLs as it has; nil where there are none.
func validityOf(alloc memory.Allocator, v *vec, n int) (*memory.Buffer, int) {
	bits := spread(v, n)
	if bits == nil {
		return nil, 0
	}
	nulls := n - count(bits, n)
	if nulls == 0 {
		return nil, 0
	}
	return bitsBuffer(alloc, bits, n), nulls
}

func bitsBuffer(alloc memory.Allocator, bits []uint64, n int) *memory.Buffer {
	b := memory.NewResizableBuffer(alloc)
	b.Resize((n + 7) / 8)
	copy(b.Bytes(), arrow.Uint64Traits.CastToBytes(bits))
	return b
}

func dataOf(alloc memory.Allocator, v *vec, n int, sel []int32) []*memory.Buffer {
	switch t := v.t; t.Kind.Storage() {
	case Boolean:
		if !v.one() {
			return []*memory.Buffer{bitsBuffer(alloc, v.bits, n)}
		}
		all := make([]uint64, words(n))
		for i := range all {
			all[i] = -(v.bits[0] & 1)
		}
		return []*memory.Buffer{bitsBuffer(alloc, all, n)}
	case Int, Date:
		return []*memory.Buffer{fixedBuffer(alloc, arrow.Int32Traits.CastFromBytes, v.i32, v, n, 4)}
	case Double:
		return []*memory.Buffer{fixedBuffer(alloc, arrow.Float64Traits.CastFromBytes, v.f64, v, n, 8)}
	case String, Bytes:
		return textBuffers(alloc, v, n, sel)
	default:
		if t.wide() {
			return []*memory.Buffer{fixedBuffer[decimal128.Num](alloc, arrow.Decimal128Traits.CastFromBytes, v.dec, v, n, 16)}
		}
		return []*memory.Buffer{fixedBuffer(alloc, arrow.Int64Traits.CastFromBytes, v.i64, v, n, 8)}
	}
}

func fixedBuffer[T any](alloc memory.Allocator, cast func([]byte) []T, from []T, v *vec, n, width int) *memory.Buffer {
	b := memory.NewResizableBuffer(alloc)
	b.Resize(n * width)
	to := cast(b.Bytes())
	if !v.one() {
		copy(to, from[:n])
		return b
	}
	for i := range to {
		to[i] = from[0]
	}
	return b
}

// textBuffers copies the texts of the selected rows that are not NULL; the others are empty.
func textBuffers(alloc memory.Allocator, v *vec, n int, sel []int32) []*memory.Buffer {
	if v.whole && !v.one() {
		ob, db := memory.NewResizableBuffer(alloc), memory.NewResizableBuffer(alloc)
		ob.Resize((n + 1) * 4)
		db.Resize(len(v.data))
		copy(arrow.Int32Traits.CastFromBytes(ob.Bytes()), v.offs)
		copy(db.Bytes(), v.data)
		return []*memory.Buffer{ob, db}
	}
	total := 0
	valid := spread(v, n)
	each(n, sel, valid, func(i int) bool {
		total += len(v.str(i))
		return true
	})
	ob, db := memory.NewResizableBuffer(alloc), memory.NewResizableBuffer(alloc)
	ob.Resize((n + 1) * 4)
	db.Resize(total)
	offs, data := arrow.Int32Traits.CastFromBytes(ob.Bytes()), db.Bytes()
	at, next := 0, 0
	each(n, sel, valid, func(i int) bool {
		for ; next <= i; next++ {
			offs[next] = int32(at)
		}
		at += copy(data[at:], v.str(i))
		return true
	})
	for ; next <= n; next++ {
		offs[next] = int32(at)
	}
	return []*memory.Buffer{ob, db}
}

// stringDictionary is the physical type of coded texts.
func stringDictionary() *arrow.DictionaryType {
	return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
}

// codedResult shares the codes with the column they come from where it can.
func codedResult(alloc memory.Allocator, v *vec, n int) arrow.Array {
	var valid, codes *memory.Buffer
	nulls, offset := 0, 0
	if v.from != nil && v.from.Len() == n && (v.from.Data().Offset() == 0 || v.valid == nil) {
		codes = v.from.Data().Buffers()[1]
		codes.Retain()
		offset = v.from.Data().Offset()
	} else {
		codes = memory.NewResizableBuffer(alloc)
		codes.Resize(n * 4)
		copy(arrow.Int32Traits.CastFromBytes(codes.Bytes()), v.codes[:n])
	}
	valid, nulls = validityOf(alloc, v, n)
	d := array.NewDataWithDictionary(stringDictionary(), n, []*memory.Buffer{valid, codes}, nulls, offset, v.dict.Data().(*array.Data))
	codes.Release()
	if valid != nil {
		valid.Release()
	}
	defer d.Release()
	return array.NewDictionaryData(d)
}

// constantText is one text for all rows, as a dictionary of one entry that keeps its identity.
func constantText(alloc memory.Allocator, v *vec, n int) arrow.Array {
	if v.dict == nil {
		v.dict, v.id = textArray([]int32{0, int32(v.offs[1] - v.offs[0])}, v.data[v.offs[0]:v.offs[1]]), NewDictID()
	}
	w := *v
	w.m, w.codes = -1, make([]int32, n)
	w.valid = spread(v, n)
	return codedResult(alloc, &w, n)
}
