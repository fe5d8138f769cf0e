package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A decoder turns the chunks of one column into arrays of the engine's physical types.
type decoder struct {
	alloc memory.Allocator
	node  *schema.PrimitiveNode
	typ   expr.Type // SQL type of the file's column
	words *words    // dictionary of a STRING

	bools  []bool
	int32s []int32
	int64s []int64
	int96s []int96
	floats []float32
	reals  []float64
	bytes  []parquet.ByteArray
	fixed  []parquet.FixedLenByteArray
}

// A piece is some rows of a column. Rows in bad hold values that the type cannot have; they raise
// only when a batch has them, since a filter may drop them.
type piece struct {
	arr  arrow.Array
	dict uint64
	bad  []badValue
}

// A badValue is a value that does not fit its column.
type badValue struct {
	row   int
	kind  string // class
	value string
	why   string
}

var errPhysical = errors.New("its physical type is another than the footer says")

// next decodes n rows of a chunk.
func (d *decoder) next(c *chunk, n int) (p piece, err error) {
	err = c.guard(func() error {
		p, err = d.decode(c, n)
		return err
	})
	return p, err
}

func (d *decoder) decode(c *chunk, n int) (piece, error) {
	switch d.node.PhysicalType() {
	case parquet.Types.Boolean:
		return d.booleans(c, n)
	case parquet.Types.Int32:
		v, levels, err := decode(c, n, d.int32s, int32Ops())
		if err != nil {
			return piece{}, err
		}
		d.int32s = v[:0]
		return d.fromInt32(v, levels, n)
	case parquet.Types.Int64:
		v, levels, err := decode(c, n, d.int64s, int64Ops())
		if err != nil {
			return piece{}, err
		}
		d.int64s = v[:0]
		return d.fromInt64(v, levels, n)
	case parquet.Types.Int96:
		v, levels, err := decode(c, n, d.int96s, int96Ops())
		if err != nil {
			return piece{}, err
		}
		d.int96s = v[:0]
		return spread(d, v, levels, n, fromInt96), nil
	case parquet.Types.Float:
		v, levels, err := decode(c, n, d.floats, floatOps())
		if err != nil {
			return piece{}, err
		}
		d.floats = v[:0]
		return spread(d, v, levels, n, func(f float32) (float64, *badValue) { return float64(f), nil }), nil
	case parquet.Types.Double:
		v, levels, err := decode(c, n, d.reals, doubleOps())
		if err != nil {
			return piece{}, err
		}
		d.reals = v[:0]
		return spread(d, v, levels, n, same[float64]), nil
	case parquet.Types.ByteArray:
		if d.typ.Kind == expr.String {
			return d.strings(c, n)
		}
		v, levels, err := decode(c, n, d.bytes, bytesOps())
		if err != nil {
			return piece{}, err
		}
		defer clear(v)
		d.bytes = v[:0]
		return decimals(d, v, levels, n), nil
	case parquet.Types.FixedLenByteArray:
		v, levels, err := decode(c, n, d.fixed, fixedOps())
		if err != nil {
			return piece{}, err
		}
		defer clear(v)
		d.fixed = v[:0]
		if d.typ.Kind == expr.Decimal {
			return decimals(d, v, levels, n), nil
		}
		return spread(d, v, levels, n, fromFloat16), nil
	}
	return piece{}, errPhysical
}

func (d *decoder) fromInt32(v []int32, levels []int16, n int) (piece, error) {
	switch d.typ.Kind {
	case expr.Int, expr.Date:
		return spread(d, v, levels, n, same[int32]), nil
	case expr.BigInt:
		return spread(d, v, levels, n, func(i int32) (int64, *badValue) { return int64(uint32(i)), nil }), nil
	case expr.Decimal:
		if d.typ.Precision > expr.MaxDecimal64 {
			return spread(d, v, levels, n, func(i int32) (decimal128.Num, *badValue) { return decimal128.FromI64(int64(i)), nil }), nil
		}
		narrow := d.narrow()
		return spread(d, v, levels, n, func(i int32) (int64, *badValue) { return narrow(int64(i)) }), nil
	}
	return piece{}, errPhysical
}

func (d *decoder) fromInt64(v []int64, levels []int16, n int) (piece, error) {
	switch l := d.node.LogicalType().(type) {
	case *schema.TimestampLogicalType:
		switch l.TimeUnit() {
		case schema.TimeUnitMillis:
			return spread(d, v, levels, n, fromMillis), nil
		case schema.TimeUnitMicros:
			return spread(d, v, levels, n, same[int64]), nil
		}
		return spread(d, v, levels, n, func(i int64) (int64, *badValue) { return floorDiv(i, 1000), nil }), nil
	case *schema.IntLogicalType:
		if !l.IsSigned() {
			return spread(d, v, levels, n, fromUint64), nil
		}
	}
	switch d.typ.Kind {
	case expr.BigInt:
		return spread(d, v, levels, n, same[int64]), nil
	case expr.Decimal:
		if d.typ.Precision > expr.MaxDecimal64 {
			return spread(d, v, levels, n, func(i int64) (decimal128.Num, *badValue) { return decimal128.FromI64(i), nil }), nil
		}
		return spread(d, v, levels, n, d.narrow()), nil
	}
	return piece{}, errPhysical
}

// spread puts values in their rows, converting each.
func spread[T, P any](d *decoder, v []T, levels []int16, n int, convert func(T) (P, *badValue)) piece {
	var zero P
	buf := memory.NewResizableBuffer(d.alloc)
	buf.Resize(n * int(unsafe.Sizeof(zero)))
	var out []P
	if n > 0 {
		out = unsafe.Slice((*P)(unsafe.Pointer(unsafe.SliceData(buf.Bytes()))), n)
	}
	var p piece
	next := 0
	for row := range n {
		if levels != nil && levels[row] == 0 {
			out[row] = zero
			continue
		}
		var bad *badValue
		if out[row], bad = convert(v[next]); bad != nil {
			bad.row = row
			p.bad = append(p.bad, *bad)
		}
		next++
	}
	p.arr = d.array(d.typ.Arrow(), n, levels, buf)
	return p
}

// array makes an array of its value buffers, which it takes over.
func (d *decoder) array(t arrow.DataType, n int, levels []int16, buffers ...*memory.Buffer) arrow.Array {
	valid, nulls := d.validity(levels, n)
	data := array.NewData(t, n, append([]*memory.Buffer{valid}, buffers...), nil, nulls, 0)
	defer data.Release()
	if valid != nil {
		valid.Release()
	}
	for _, b := range buffers {
		b.Release()
	}
	return array.MakeFromData(data)
}

// validity is the bitmap of rows that are not NULL, nil where all are not.
func (d *decoder) validity(levels []int16, n int) (*memory.Buffer, int) {
	if levels == nil {
		return nil, 0
	}
	buf := memory.NewResizableBuffer(d.alloc)
	buf.Resize(int(bitutil.BytesForBits(int64(n))))
	b := buf.Bytes()
	clear(b)
	valid := 0
	for row, l := range levels[:n] {
		b[row>>3] |= byte(l&1) << (row & 7)
		valid += int(l & 1)
	}
	return buf, n - valid
}

func (d *decoder) booleans(c *chunk, n int) (piece, error) {
	v, levels, err := decode(c, n, d.bools, boolOps())
	if err != nil {
		return piece{}, err
	}
	d.bools = v[:0]
	buf := memory.NewResizableBuffer(d.alloc)
	buf.Resize(int(bitutil.BytesForBits(int64(n))))
	out := buf.Bytes()
	clear(out)
	next := 0
	for row := range n {
		if levels != nil && levels[row] == 0 {
			continue
		}
		if v[next] {
			out[row>>3] |= 1 << (row & 7)
		}
		next++
	}
	return piece{arr: d.array(d.typ.Arrow(), n, levels, buf)}, nil
}

func same[T any](v T) (T, *badValue) { return v, nil }

func overflow(value string, t expr.Type) *badValue {
	return &badValue{kind: "Overflow", value: value, why: fmt.Sprintf("%s does not fit %s", value, t.Nullable(true))}
}

func fromUint64(v int64) (int64, *badValue) {
	if v < 0 {
		return 0, overflow(fmt.Sprint(uint64(v)), expr.Of(expr.BigInt))
	}
	return v, nil
}

func fromMillis(v int64) (int64, *badValue) {
	if v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
		return 0, overflow(fmt.Sprintf("%d ms since 1970", v), expr.TimestampOf(3))
	}
	return v * 1000, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// fromInt96 reads nanoseconds of the day and the Julian day.
func fromInt96(v int96) (int64, *badValue) {
	const epoch, microsPerDay = 2440588, 86_400_000_000
	nanos := int64(binary.LittleEndian.Uint64(v[:8]))
	days := int64(binary.LittleEndian.Uint32(v[8:])) - epoch
	micros := floorDiv(nanos, 1000)
	if limit := int64(math.MaxInt64/microsPerDay) - 1; days > limit || days < -limit ||
		micros > microsPerDay || micros < -microsPerDay {
		return 0, overflow(fmt.Sprintf("Julian day %d and %d ns", days+epoch, nanos), expr.TimestampOf(6))
	}
	return days*microsPerDay + micros, nil
}

func fromFloat16(v parquet.FixedLenByteArray) (float64, *badValue) {
	return float64(float16.FromLEBytes(v).Float32()), nil
}
