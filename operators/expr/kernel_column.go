package expr

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// column is a column of the batch, without a copy.
func (c *ctx) column(i int) (*vec, error) {
	if c.cols[i] != nil {
		return c.cols[i], nil
	}
	t := c.p.in.Fields[i].Type
	arr := c.rec.Column(i)
	if err := fits(arr.DataType(), t); err != nil {
		return nil, fmt.Errorf("column %s: %w", c.p.in.Fields[i].Name, err)
	}
	v := &c.loaded[i]
	loadVec(v, arr, t, &c.bufs[i])
	if v.codes != nil && c.dict != nil {
		v.id = c.dict[i]
	}
	c.cols[i] = v
	return v, nil
}

// fits checks that a physical type is one that the logical type may have.
func fits(d arrow.DataType, t Type) error {
	want := t.Arrow()
	if t.Nested() {
		if !fitsNested(d, want) {
			return fmt.Errorf("the batch holds %s for %s: expected %s", d, t, want)
		}
		return nil
	}
	if d.ID() == want.ID() {
		if ts, ok := d.(*arrow.TimestampType); ok && ts.Unit != arrow.Microsecond {
			return fmt.Errorf("the batch holds %s for %s: expected microseconds", d, t)
		}
		return nil
	}
	if dd, ok := d.(*arrow.DictionaryType); ok && t.Kind == String &&
		dd.IndexType.ID() == arrow.INT32 && dd.ValueType.ID() == arrow.STRING {
		return nil
	}
	return fmt.Errorf("the batch holds %s for %s: expected %s", d, t, want)
}

// loadVec points v at an array. bufs is scratch for validity and BOOLEAN values.
func loadVec(v *vec, arr arrow.Array, t Type, bufs *[2][]uint64) {
	n := arr.Len()
	*v = vec{t: t, m: -1, src: arr}
	d := arr.Data()
	if nulls := arr.NullN(); nulls > 0 && d.Buffers()[0] != nil {
		v.valid = wordsOf(d.Buffers()[0].Bytes(), d.Offset(), n, &bufs[0])
	}
	switch a := arr.(type) {
	case *array.Null:
		v.m = 0
		v.valid = []uint64{0}
	case *array.Boolean:
		if n > 0 {
			v.bits = wordsOf(d.Buffers()[1].Bytes(), d.Offset(), n, &bufs[1])
		}
	case *array.Int32:
		v.i32 = a.Int32Values()
	case *array.Date32:
		v.i32 = arrow.Int32Traits.CastFromBytes(arrow.Date32Traits.CastToBytes(a.Date32Values()))
	case *array.Int64:
		v.i64 = a.Int64Values()
	case *array.Timestamp:
		v.i64 = arrow.Int64Traits.CastFromBytes(arrow.TimestampTraits.CastToBytes(a.TimestampValues()))
	case *array.Float64:
		v.f64 = a.Float64Values()
	case *array.Decimal128:
		v.dec = values[decimal128.Num](d, arrow.Decimal128Traits.CastFromBytes)
	case *array.String:
		v.offs, v.data = a.ValueOffsets(), textBytes(d)
	case *array.Binary:
		v.offs, v.data = a.ValueOffsets(), textBytes(d)
	case *array.Dictionary:
		v.codes = values[int32](d, arrow.Int32Traits.CastFromBytes)
		v.dict, v.from = a.Dictionary(), arr
		loadDictionary(v)
	}
}

func loadDictionary(v *vec) {
	if s, ok := v.dict.(*array.String); ok {
		v.offs, v.data = s.ValueOffsets(), textBytes(s.Data())
	}
	if v.dict.NullN() == 0 {
		return
	}
	// A NULL entry makes its rows NULL, as readers of Arrow agree.
	valid := make([]uint64, words(len(v.codes)))
	for i, k := range v.codes {
		if !v.isNull(i) && v.dict.IsValid(int(k)) {
			valid[i>>6] |= 1 << (i & 63)
		}
	}
	v.valid = valid
}

func values[T any](d arrow.ArrayData, cast func([]byte) []T) []T {
	if d.Len() == 0 || d.Buffers()[1] == nil {
		return nil
	}
	return cast(d.Buffers()[1].Bytes())[d.Offset() : d.Offset()+d.Len()]
}

// textBytes are a text array's bytes, which its offsets count in whatever the array's own offset.
func textBytes(d arrow.ArrayData) []byte {
	if d.Buffers()[2] == nil {
		return nil
	}
	return d.Buffers()[2].Bytes()
}

// literalVec is a literal's value for all rows.
func literalVec(e *Expr) (*vec, error) {
	v := &vec{t: e.Type}
	if e.Value == nil || e.Value.Null {
		v.valid = []uint64{0}
		v.zero()
		return v, nil
	}
	switch x := e.Value; e.Type.Kind.Storage() {
	case Boolean:
		v.bits = []uint64{uint64(x.Int & 1)}
	case Int, Date:
		v.i32 = []int32{int32(x.Int)}
	case BigInt, Timestamp:
		v.i64 = []int64{x.Int}
	case Double:
		v.f64 = []float64{x.Double}
	case String, Bytes:
		v.offs, v.data = []int32{0, int32(len(x.Text))}, []byte(x.Text)
	case Decimal:
		n, s := ParseDecimal128([]byte(x.Text), e.Type.Precision, 0)
		if s != OK {
			return nil, fmt.Errorf("literal %q is no unscaled value of %s", x.Text, e.Type)
		}
		if e.Type.wide() {
			v.dec = []decimal128.Num{n}
		} else {
			v.i64 = []int64{int64(n.LowBits())}
		}
	default:
		return nil, fmt.Errorf("a literal of type %s has no value", e.Type)
	}
	return v, nil
}

// zero gives a NULL for all rows values that kernels may compute with.
func (v *vec) zero() {
	v.bits, v.i32, v.i64 = []uint64{0}, []int32{0}, []int64{0}
	v.f64, v.dec, v.offs = []float64{0}, []decimal128.Num{{}}, []int32{0, 0}
}

// allNull makes a node's result NULL in n rows.
func allNull(nd *node, n int) *vec {
	v := &nd.out
	nd.nulls = sized(nd.nulls, words(n))
	clear(nd.nulls)
	v.valid = nd.nulls
	v.room(n)
	return v
}

// room gives a vec its slices for n rows of fixed width; texts get no room here.
func (v *vec) room(n int) {
	switch k := v.t; k.Kind.Storage() {
	case Boolean:
		v.bits = sized(v.bits, words(n))
	case Int, Date:
		v.i32 = sized(v.i32, n)
	case BigInt, Timestamp:
		v.i64 = sized(v.i64, n)
	case Double:
		v.f64 = sized(v.f64, n)
	case Decimal:
		if k.wide() {
			v.dec = sized(v.dec, n)
		} else {
			v.i64 = sized(v.i64, n)
		}
	case String, Bytes, Null:
		v.offs = sized(v.offs, n+1)
		clear(v.offs)
		v.data = v.data[:0]
	}
}

// room gives the node's result its slices; those of the whole expression lie in the memory that
// the result will have, where they are numbers.
func (nd *node) room(c *ctx) {
	width := nd.e.Type.width()
	if nd != c.root || width == 0 || c.n == 0 {
		nd.out.room(c.n)
		return
	}
	if c.buf == nil {
		c.buf = memory.NewResizableBuffer(c.alloc)
		c.buf.Resize(c.n * width)
	}
	b, v := c.buf.Bytes(), &nd.out
	switch t := nd.e.Type; {
	case width == 4:
		v.i32 = arrow.Int32Traits.CastFromBytes(b)
	case width == 16:
		v.dec = arrow.Decimal128Traits.CastFromBytes(b)
	case t.Kind.Storage() == Double:
		v.f64 = arrow.Float64Traits.CastFromBytes(b)
	default:
		v.i64 = arrow.Int64Traits.CastFromBytes(b)
	}
}

// width is the bytes of a value that stands in an array of numbers, 0 for others.
func (t Type) width() int {
	switch {
	case t.narrow():
		return 4
	case t.wide():
		return 16
	case t.Numeric() || t.Kind == Time || t.Kind.Storage() == Timestamp:
		return 8
	}
	return 0
}
