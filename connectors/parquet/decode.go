package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
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
	int96s []int96
	floats []float32
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
		return d.fromInt32(c, n)
	case parquet.Types.Int64:
		return d.fromInt64(c, n)
	case parquet.Types.Int96:
		return converted(d, c, &d.int96s, n, int96Ops(), fromInt96)
	case parquet.Types.Float:
		return converted(d, c, &d.floats, n, floatOps(), func(f float32) (float64, *badValue) { return float64(f), nil })
	case parquet.Types.Double:
		return inPlace[float64](d, c, n, doubleOps(), nil)
	case parquet.Types.ByteArray:
		if d.typ.Kind == expr.String {
			return d.strings(c, n)
		}
		if d.typ.Kind == expr.Bytes {
			return d.plain(c, n)
		}
		return decimals(d, c, &d.bytes, n, bytesOps())
	case parquet.Types.FixedLenByteArray:
		if d.typ.Kind == expr.Decimal {
			return decimals(d, c, &d.fixed, n, fixedOps())
		}
		if d.typ.Kind == expr.String || d.typ.Kind == expr.Bytes {
			return d.fixedTexts(c, n)
		}
		return converted(d, c, &d.fixed, n, fixedOps(), fromFloat16)
	}
	return piece{}, errPhysical
}

// skip passes over n rows of a chunk.
func (d *decoder) skip(c *chunk, n int64) error {
	return c.guard(func() error {
		most := int(min(n, maxRows))
		switch d.node.PhysicalType() {
		case parquet.Types.Boolean:
			return skip(c, n, scratch(&d.bools, most), boolOps())
		case parquet.Types.Int32:
			return skip(c, n, scratch(&d.int32s, most), int32Ops())
		case parquet.Types.Int64:
			return skip(c, n, make([]int64, most), int64Ops())
		case parquet.Types.Int96:
			return skip(c, n, scratch(&d.int96s, most), int96Ops())
		case parquet.Types.Float:
			return skip(c, n, scratch(&d.floats, most), floatOps())
		case parquet.Types.Double:
			return skip(c, n, make([]float64, most), doubleOps())
		case parquet.Types.ByteArray:
			if d.typ.Kind == expr.String {
				return d.skipStrings(c, n)
			}
			return skip(c, n, scratch(&d.bytes, most), bytesOps())
		case parquet.Types.FixedLenByteArray:
			return skip(c, n, scratch(&d.fixed, most), fixedOps())
		}
		return errPhysical
	})
}

func (d *decoder) fromInt32(c *chunk, n int) (piece, error) {
	switch d.typ.Kind {
	case expr.Time:
		return converted(d, c, &d.int32s, n, int32Ops(), func(i int32) (int64, *badValue) { return timeOfDay(int64(i), 1000, 1) })
	case expr.Int, expr.Date:
		if l, ok := d.node.LogicalType().(*schema.IntLogicalType); ok && l.BitWidth() < 32 {
			return inPlace(d, c, n, int32Ops(), narrowInt(l))
		}
		return inPlace[int32](d, c, n, int32Ops(), nil)
	case expr.BigInt:
		return converted(d, c, &d.int32s, n, int32Ops(), func(i int32) (int64, *badValue) { return int64(uint32(i)), nil })
	case expr.Decimal:
		if d.typ.Precision > expr.MaxDecimal64 {
			return converted(d, c, &d.int32s, n, int32Ops(), func(i int32) (decimal128.Num, *badValue) { return decimal128.FromI64(int64(i)), nil })
		}
		narrow := d.narrow()
		return converted(d, c, &d.int32s, n, int32Ops(), func(i int32) (int64, *badValue) { return narrow(int64(i)) })
	}
	return piece{}, errPhysical
}

func (d *decoder) fromInt64(c *chunk, n int) (piece, error) {
	switch l := d.node.LogicalType().(type) {
	case *schema.TimestampLogicalType:
		switch l.TimeUnit() {
		case schema.TimeUnitMillis:
			return inPlace(d, c, n, int64Ops(), fromMillis)
		case schema.TimeUnitMicros:
			return inPlace[int64](d, c, n, int64Ops(), nil)
		}
		return inPlace(d, c, n, int64Ops(), func(i int64) (int64, *badValue) { return floorDiv(i, 1000), nil })
	case *schema.TimeLogicalType:
		down := int64(1)
		if l.TimeUnit() == schema.TimeUnitNanos {
			down = 1000
		}
		return inPlace(d, c, n, int64Ops(), func(i int64) (int64, *badValue) { return timeOfDay(i, 1, down) })
	case *schema.IntLogicalType:
		if !l.IsSigned() && d.typ.Kind == expr.Decimal {
			var wide []int64
			return converted(d, c, &wide, n, int64Ops(), func(i int64) (decimal128.Num, *badValue) { return decimal128.FromU64(uint64(i)), nil })
		}
		if !l.IsSigned() {
			return inPlace(d, c, n, int64Ops(), fromUint64)
		}
	}
	switch d.typ.Kind {
	case expr.BigInt:
		return inPlace[int64](d, c, n, int64Ops(), nil)
	case expr.Decimal:
		if d.typ.Precision > expr.MaxDecimal64 {
			var wide []int64
			return converted(d, c, &wide, n, int64Ops(), func(i int64) (decimal128.Num, *badValue) { return decimal128.FromI64(i), nil })
		}
		return inPlace(d, c, n, int64Ops(), d.narrow())
	}
	return piece{}, errPhysical
}

// bufferOf is memory for n values of an array.
func bufferOf[T any](d *decoder, n int) (*memory.Buffer, []T) {
	var zero T
	buf := memory.NewResizableBuffer(d.alloc)
	buf.Resize(n * int(unsafe.Sizeof(zero)))
	if n == 0 {
		return buf, nil
	}
	return buf, unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(buf.Bytes()))), n)
}

// scratch is n values of memory that is used again.
func scratch[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	return (*s)[:n]
}

// inPlace decodes values, which the array has as the file has them, straight into it; convert, if any,
// changes them there.
func inPlace[T int32 | int64 | float64](d *decoder, c *chunk, n int, o ops[T], convert func(T) (T, *badValue)) (piece, error) {
	buf, out := bufferOf[T](d, n)
	var p piece
	defer func() { // also where damage makes a panic
		if p.arr == nil {
			buf.Release()
		}
	}()
	valid, levels, err := decode(c, out, o)
	if err != nil {
		return piece{}, err
	}
	scatter(out, valid, levels)
	if convert != nil {
		for row, v := range out {
			if levels != nil && levels[row] == 0 {
				continue
			}
			var bad *badValue
			if out[row], bad = convert(v); bad != nil {
				bad.row = row
				p.bad = append(p.bad, *bad)
			}
		}
	}
	p.arr = d.array(d.typ.Arrow(), n, levels, buf)
	return p, nil
}

// scatter moves the valid values, which stand at the front, to their rows; a NULL's value is zero.
func scatter[T any](v []T, valid int, levels []int16) {
	if levels == nil {
		return
	}
	var zero T
	for row := len(v) - 1; row >= 0; row-- {
		if levels[row] == 0 {
			v[row] = zero
			continue
		}
		valid--
		v[row] = v[valid]
	}
}

// converted decodes values and puts what they become in their rows.
func converted[T, P any](d *decoder, c *chunk, memory *[]T, n int, o ops[T], convert func(T) (P, *badValue)) (piece, error) {
	v := scratch(memory, n)
	if pointsInto[T]() {
		defer clear(v) // they would keep the page alive
	}
	_, levels, err := decode(c, v, o)
	if err != nil {
		return piece{}, err
	}
	buf, out := bufferOf[P](d, n)
	var zero P
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
	return p, nil
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
	valid, levels := 0, levels[:n]
	for ; len(levels) >= 8; b, levels = b[1:], levels[8:] {
		l := levels[:8:8]
		b[0] = byte(l[0] | l[1]<<1 | l[2]<<2 | l[3]<<3 | l[4]<<4 | l[5]<<5 | l[6]<<6 | l[7]<<7)
		valid += bits.OnesCount8(b[0])
	}
	clear(b)
	for row, l := range levels {
		b[0] |= byte(l) << row
		valid += int(l)
	}
	return buf, n - valid
}

func (d *decoder) booleans(c *chunk, n int) (piece, error) {
	v := scratch(&d.bools, n)
	_, levels, err := decode(c, v, boolOps())
	if err != nil {
		return piece{}, err
	}
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

func overflow(value string, t expr.Type) *badValue {
	why := fmt.Sprintf("%s does not fit %s", value, t.Nullable(true))
	if digits := t; t.Kind == expr.Decimal && t.Precision < expr.MaxDecimal {
		digits.Precision = expr.MaxDecimal
		why += fmt.Sprintf("; declared as %s the column may hold it", digits.Nullable(true))
	}
	return &badValue{kind: "Overflow", value: value, why: why}
}

func fromUint64(v int64) (int64, *badValue) {
	if v < 0 {
		bad := overflow(fmt.Sprint(uint64(v)), expr.Of(expr.BigInt))
		bad.why += "; declared as DECIMAL(20, 0) the column holds it"
		return 0, bad
	}
	return v, nil
}

// timeOfDay is a time of day in microseconds, of so many units times up divided by down.
func timeOfDay(v, up, down int64) (int64, *badValue) {
	const day = 86_400_000_000
	if v < 0 || v > day*down/up-1 {
		return 0, overflow(fmt.Sprintf("%d units of the day", v), expr.TimeOf(6))
	}
	return v * up / down, nil
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
	const microsPerDay = 86_400_000_000
	const epoch = 2440588 // the Julian day of 1970-01-01
	nanos := int64(binary.LittleEndian.Uint64(v[:8]))
	days := int64(binary.LittleEndian.Uint32(v[8:])) - epoch
	micros := floorDiv(nanos, 1000)
	// Spark counts in 64 bits from Julian day 0, so that its last 6000 years wrap around; what it writes then
	// can be nothing else, since times of day are not negative.
	if day := int64(int32(binary.LittleEndian.Uint32(v[8:]))); day < 0 && nanos < 0 && nanos > -microsPerDay*1000 {
		if wrapped := (day-epoch)*microsPerDay + micros; wrapped > math.MaxInt64-epoch*microsPerDay {
			return wrapped, nil
		}
	}
	if limit := int64(math.MaxInt64/microsPerDay) - 1; days > limit || days < -limit ||
		micros > microsPerDay || micros < -microsPerDay {
		return 0, overflow(fmt.Sprintf("Julian day %d and %d ns", days+epoch, nanos), expr.TimestampOf(6))
	}
	return days*microsPerDay + micros, nil
}

// fromFloat16 reads IEEE 754's half precision, whose values below 2^-14 are subnormal.
func fromFloat16(v parquet.FixedLenByteArray) (float64, *badValue) {
	bits := binary.LittleEndian.Uint16(v)
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var f float64
	switch {
	case exponent == 0:
		f = math.Ldexp(fraction, -24)
	case exponent < 31:
		f = math.Ldexp(1024+fraction, exponent-25)
	case fraction == 0:
		f = math.Inf(1)
	default:
		return math.NaN(), nil
	}
	if bits>>15 == 1 {
		f = -f
	}
	return f, nil
}
