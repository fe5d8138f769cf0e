package datagen

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// random makes any value of the type, within the field's bounds.
func (b *bound) random(c expr.Field, f Field) (m maker, err error) {
	values := stream(b.Options.Seed, c.Name, "value")
	switch kind := c.Type.Kind; {
	case kind == expr.String:
		m, err = randomText(c.Type, f, values)
	case kind == expr.Bytes && len(f.Values) == 0:
		m, err = randomBytes(c.Type, f, values)
	case f.Length != nil || f.VarLen || len(f.Values) > 0:
		err = errors.New("length, var_len and values are for STRING, and this is " + c.Type.String())
	case c.Type.Whole():
		m, err = randomWhole(c.Type, f, values)
	case f.Skew > 0:
		err = wrong("skew", "it orders whole numbers, and values of a STRING; this is %s", c.Type)
	case kind == expr.Boolean:
		if f.Min != "" || f.Max != "" {
			err = errors.New("min and max: a BOOLEAN has no bounds")
		}
		m.width = 1
		m.make = func(b array.Builder, row int64) { b.(*array.BooleanBuilder).Append(at(values, row).word(0)&1 != 0) }
	case kind == expr.Decimal:
		m, err = randomDecimal(c.Type, f, values)
	case kind.Storage() == expr.Double:
		m, err = randomDouble(c.Type, f, values)
	case kind == expr.Date:
		m, err = randomDate(c.Type, f, values)
	case kind == expr.Time:
		m, err = randomClock(c.Type, f, values)
	case kind.Storage() == expr.Timestamp:
		m, err = randomTimestamp(c.Type, f, values)
	default:
		err = fmt.Errorf("values of %s cannot be made up: expected BOOLEAN, a number, STRING, BYTES, DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ", c.Type)
	}
	if err != nil {
		return m, err
	}
	m.end, m.reach = math.MaxInt64, math.MaxInt64
	return m.withNulls(c, f, stream(b.Options.Seed, c.Name, "null"))
}

// withNulls leaves values out.
func (m maker) withNulls(c expr.Field, f Field, nulls uint64) (maker, error) {
	switch {
	case f.NullRate == 0:
		return m, nil
	case !(f.NullRate > 0 && f.NullRate <= 1):
		return m, wrong("null_rate", "%g: expected a share from 0 to 1", f.NullRate)
	case c.Type.NotNull:
		return m, wrong("null_rate", "%s is %s", c.Name, c.Type)
	}
	value := m.make
	m.make = func(b array.Builder, row int64) {
		if at(nulls, row).unit(0) < f.NullRate {
			b.AppendNull()
			return
		}
		value(b, row)
	}
	return m, nil
}

// within gives the bounds of a field as numbers, the type's own where they are left out.
func within(f Field, t expr.Type, least, most int64, parse func([]byte) (int64, expr.Status)) (lo, hi int64, err error) {
	lo, hi = least, most
	for _, x := range []struct {
		option, text string
		to           *int64
	}{{"min", f.Min, &lo}, {"max", f.Max, &hi}} {
		if x.text == "" {
			continue
		}
		v, s := parse([]byte(x.text))
		if s != expr.OK || v < least && t.Whole() || v > most && t.Whole() {
			return 0, 0, wrong(x.option, "%q is no %s", x.text, t.Nullable(true))
		}
		*x.to = v
	}
	if lo > hi {
		return 0, 0, wrong("min", "it is larger than max")
	}
	return lo, hi, nil
}

func randomWhole(t expr.Type, f Field, s uint64) (m maker, err error) {
	most := int64(1<<(t.Bits()-1) - 1)
	lo, hi, err := within(f, t, -most-1, most, expr.ParseInt64)
	if err != nil {
		return m, err
	}
	n := uint64(hi-lo) + 1 // 0: all 2^64
	draw, err := ranks(n, f.Skew)
	if err != nil {
		return m, err
	}
	if t.Bits() == 64 {
		m.width = 8
		m.make = func(b array.Builder, row int64) { b.(*array.Int64Builder).Append(lo + int64(draw(at(s, row)))) }
		return m, nil
	}
	m.width = 4
	m.make = func(b array.Builder, row int64) { b.(*array.Int32Builder).Append(int32(lo + int64(draw(at(s, row))))) }
	return m, nil
}

// ranks draws numbers below n; with a skew small ones more often.
func ranks(n uint64, skew float64) (func(draw) uint64, error) {
	switch {
	case skew == 0:
		return func(d draw) uint64 { return d.below(0, n) }, nil
	case !(skew > 0 && skew <= 20):
		return nil, wrong("skew", "%g: expected a number from 0 to 20", skew)
	case n == 0 || n > 1<<53:
		return nil, wrong("skew", "there are too many values to skew: expected min and max with at most 2^53 between them")
	}
	z := newZipf(n, skew)
	return func(d draw) uint64 { return z.rank(d) - 1 }, nil
}

func randomDecimal(t expr.Type, f Field, s uint64) (m maker, err error) {
	if t.Precision <= expr.MaxDecimal64 {
		most := tenTo(t.Precision) - 1
		lo, hi, err := within(f, t, -most, most, func(b []byte) (int64, expr.Status) { return expr.ParseDecimal64(b, t.Precision, t.Scale) })
		if err != nil {
			return m, err
		}
		n := uint64(hi-lo) + 1
		m.width = 8
		m.make = func(b array.Builder, row int64) { b.(*array.Int64Builder).Append(lo + int64(at(s, row).below(0, n))) }
		return m, nil
	}
	most := decimal128.GetMaxValue(int32(t.Precision))
	lo, hi := most.Negate(), most
	for _, x := range []struct {
		option, text string
		to           *decimal128.Num
	}{{"min", f.Min, &lo}, {"max", f.Max, &hi}} {
		if x.text == "" {
			continue
		}
		var st expr.Status
		if *x.to, st = expr.ParseDecimal128([]byte(x.text), t.Precision, t.Scale); st != expr.OK {
			return m, wrong(x.option, "%q is no %s", x.text, t.Nullable(true))
		}
	}
	if lo.Greater(hi) {
		return m, wrong("min", "it is larger than max")
	}
	span := hi.Sub(lo) // at most 2 * 10^38 - 2, which 128 bits hold without a sign
	m.width = 16
	m.make = func(b array.Builder, row int64) { b.(*array.Decimal128Builder).Append(lo.Add(upTo(at(s, row), span))) }
	return m, nil
}

// upTo is a random number from 0 to most, both read without a sign. Numbers of as many bits are drawn
// until one is small enough.
func upTo(d draw, most decimal128.Num) decimal128.Num {
	hi, lo := uint64(most.HighBits()), most.LowBits()
	hiMask, loMask := uint64(1)<<bits.Len64(hi)-1, uint64(math.MaxUint64)
	if hi == 0 {
		loMask = uint64(1)<<bits.Len64(lo) - 1
	}
	for k := uint64(0); ; k += 2 {
		h, l := d.word(k)&hiMask, d.word(k+1)&loMask
		if h < hi || h == hi && l <= lo {
			return decimal128.New(int64(h), l)
		}
	}
}

func randomDouble(t expr.Type, f Field, s uint64) (m maker, err error) {
	lo, hi := 0.0, 1.0
	parse := expr.ParseDouble
	if t.Kind == expr.Float {
		parse = expr.ParseFloat
	}
	for _, x := range []struct {
		option, text string
		to           *float64
	}{{"min", f.Min, &lo}, {"max", f.Max, &hi}} {
		if x.text == "" {
			continue
		}
		v, st := parse([]byte(x.text))
		if st != expr.OK || math.IsNaN(v) || math.IsInf(v, 0) {
			return m, wrong(x.option, "%q is no finite %s", x.text, t.Nullable(true))
		}
		*x.to = v
	}
	switch {
	case lo > hi:
		return m, wrong("min", "it is larger than max")
	case math.IsInf(hi-lo, 0):
		return m, wrong("max", "min and max are further apart than a DOUBLE can say")
	}
	narrow := t.Kind == expr.Float
	m.width = 8
	m.make = func(b array.Builder, row int64) {
		v := min(lo+float64(at(s, row).unit(0)*(hi-lo)), hi)
		if narrow {
			v = float64(float32(v))
		}
		b.(*array.Float64Builder).Append(v)
	}
	return m, nil
}

func randomDate(t expr.Type, f Field, s uint64) (m maker, err error) {
	const first, last = 19723, 20088 // of 2024
	lo, hi, err := within(f, t, first, last, func(b []byte) (int64, expr.Status) { v, st := expr.ParseDate(b); return int64(v), st })
	if err != nil {
		return m, err
	}
	n := uint64(hi-lo) + 1
	m.width = 4
	m.make = func(b array.Builder, row int64) {
		b.(*array.Date32Builder).Append(arrow.Date32(lo + int64(at(s, row).below(0, n))))
	}
	return m, nil
}

func randomClock(t expr.Type, f Field, s uint64) (m maker, err error) {
	const day = 24 * 60 * 60 * 1_000_000
	grain := tenTo(6 - t.Precision)
	lo, hi, err := within(f, t, 0, day-grain, func(b []byte) (int64, expr.Status) { return expr.ParseTime(b, t.Precision) })
	if err != nil {
		return m, err
	}
	n := uint64(hi-lo)/uint64(grain) + 1
	m.width = 8
	m.make = func(b array.Builder, row int64) {
		b.(*array.Int64Builder).Append(lo + int64(at(s, row).below(0, n))*grain)
	}
	return m, nil
}

func randomTimestamp(t expr.Type, f Field, s uint64) (m maker, err error) {
	grain := tenTo(6 - t.Precision)
	lo, err := timestamp("min", f.Min, "2024-01-01 00:00:00", t)
	if err != nil {
		return m, err
	}
	hi, err := timestamp("max", f.Max, "2024-12-31 23:59:59.999999", t)
	if err != nil {
		return m, err
	}
	if lo > hi {
		return m, wrong("min", "it is later than max")
	}
	n := uint64(hi-lo)/uint64(grain) + 1
	m.width = 8
	m.make = func(b array.Builder, row int64) {
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(lo + int64(at(s, row).below(0, n))*grain))
	}
	return m, nil
}

// timestamp reads an option as microseconds since 1970-01-01. Of a TIMESTAMP_LTZ it is the time in UTC, or
// an instant where a zone stands behind it.
func timestamp(option, text, unset string, t expr.Type) (int64, error) {
	if text == "" {
		text = unset
	}
	v, s := expr.ParseTimestamp([]byte(text), t.Precision)
	if t.Kind == expr.TimestampLTZ {
		utc, err := expr.LoadZone("")
		if err != nil {
			return 0, err
		}
		v, s = expr.ParseTimestampLTZ([]byte(text), t.Precision, utc)
	}
	if s != expr.OK {
		return 0, wrong(option, "%q is no %s, such as 2024-01-01 12:30:00", text, t.Nullable(true))
	}
	return v, nil
}
