package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// newColumnWriter makes the writer of a column, whose type has a form ([node]).
func newColumnWriter(f expr.Field, out *deflater, l *limits) *columnWriter {
	c := &columnWriter{nullable: !f.Type.NotNull, out: out, limits: l}
	switch f.Type.Kind {
	case expr.Boolean:
		c.values, c.compare = &boolWriter{}, bytes.Compare
	case expr.TinyInt, expr.SmallInt, expr.Int:
		c.values, c.compare = whole32(l, func(a *array.Int32) []int32 { return a.Int32Values() }), compareAs(int32At)
	case expr.Date:
		c.values, c.compare = whole32(l, func(a *array.Date32) []int32 { return alike[int32](a.Date32Values()) }), compareAs(int32At)
	case expr.Float:
		c.values, c.compare = &numberWriter[float32]{load: floats, limits: l}, compareAs(floatAt)
	case expr.Double:
		c.values = &numberWriter[float64]{load: loaded(func(a *array.Float64) []float64 { return a.Float64Values() }, nil), limits: l}
		c.compare = compareAs(doubleAt)
	case expr.Timestamp, expr.TimestampLTZ:
		var change func([]int64)
		if f.Type.Precision <= 3 {
			change = toMillis
		}
		c.values, c.compare = whole64(l, func(a *array.Timestamp) []int64 { return alike[int64](a.TimestampValues()) }, change), compareAs(int64At)
	case expr.Time:
		if f.Type.Precision <= 3 {
			c.values, c.compare = &numberWriter[int32]{load: timesOfDay, delta: appendDeltaPacked[int32], limits: l}, compareAs(int32At)
			break
		}
		c.values, c.compare = whole64(l, func(a *array.Int64) []int64 { return a.Int64Values() }, nil), compareAs(int64At)
	case expr.Bytes:
		c.values, c.compare = &bytesWriter{limits: l}, bytes.Compare
	case expr.String:
		c.values, c.compare = &bytesWriter{text: true, limits: l}, bytes.Compare
	case expr.Decimal:
		if f.Type.Precision > expr.MaxDecimal64 {
			c.values, c.compare = &bytesWriter{fixed: true, bytes: decimalBytes(f.Type.Precision), signed: true, limits: l}, compareSigned
			break
		}
		fallthrough
	default:
		c.values, c.compare = whole64(l, func(a *array.Int64) []int64 { return a.Int64Values() }, nil), compareAs(int64At)
	}
	c.reset()
	return c
}

func whole32[A arrow.Array](l *limits, view func(A) []int32) valueWriter {
	return &numberWriter[int32]{load: loaded(view, nil), delta: appendDeltaPacked[int32], limits: l}
}

func whole64[A arrow.Array](l *limits, view func(A) []int64, change func([]int64)) valueWriter {
	return &numberWriter[int64]{load: loaded(view, change), delta: appendDeltaPacked[int64], limits: l}
}

// loaded gathers the values of arrays of one kind; change, if any, makes them those of the file.
func loaded[A arrow.Array, T number](view func(A) []T, change func([]T)) func([]T, arrow.Array, picked) ([]T, error) {
	return func(to []T, arr arrow.Array, rows picked) ([]T, error) {
		a, ok := arr.(A)
		if !ok {
			return to, errColumn
		}
		values, before := view(a), len(to)
		if rows.list == nil {
			to = append(to, values[rows.from:rows.to]...)
		} else {
			to = gather(to, values, rows.list)
		}
		if change != nil {
			change(to[before:])
		}
		return to, nil
	}
}

func gather[T number](to, values []T, list []int32) []T {
	n := len(to)
	if cap(to)-n < len(list) {
		to = append(make([]T, 0, 2*n+len(list)), to...)
	}
	to = to[:n+len(list)]
	for i, row := range list {
		to[n+i] = values[row]
	}
	return to
}

// floats are FLOATs, which are DOUBLEs in the engine that have no more digits.
func floats(to []float32, arr arrow.Array, rows picked) ([]float32, error) {
	a, ok := arr.(*array.Float64)
	if !ok {
		return to, errColumn
	}
	return narrowed(to, a.Float64Values(), rows, func(v float64) float32 { return float32(v) }), nil
}

// timesOfDay are TIMEs in milliseconds.
func timesOfDay(to []int32, arr arrow.Array, rows picked) ([]int32, error) {
	a, ok := arr.(*array.Int64)
	if !ok {
		return to, errColumn
	}
	return narrowed(to, a.Int64Values(), rows, func(v int64) int32 { return int32(v / 1000) }), nil
}

// narrowed appends values of rows that have another type in the file.
func narrowed[T, V any](to []T, values []V, rows picked, narrow func(V) T) []T {
	for k := range rows.len() {
		row := rows.from + k
		if rows.list != nil {
			row = int(rows.list[k])
		}
		to = append(to, narrow(values[row]))
	}
	return to
}

func toMillis(v []int64) {
	for i, x := range v {
		q := x / 1000
		if x%1000 < 0 {
			q--
		}
		v[i] = q
	}
}

// alike is values of a type that has the same form in memory.
func alike[T, V any](v []V) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// compareAs compares bounds as numbers.
func compareAs[T number](get func([]byte) T) func(x, y []byte) int {
	return func(x, y []byte) int { return cmp.Compare(get(x), get(y)) }
}

// twosComplement gives decimals as big-endian two's complement of some bytes. What it gives holds until the
// next value.
func twosComplement(a *array.Decimal128, size int) func(int) []byte {
	var b [16]byte
	return func(i int) []byte {
		v := a.Value(i)
		binary.BigEndian.PutUint64(b[:], uint64(v.HighBits()))
		binary.BigEndian.PutUint64(b[8:], v.LowBits())
		return b[16-size:]
	}
}
