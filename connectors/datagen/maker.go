package datagen

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A maker makes the values of one column.
type maker struct {
	make  func(b array.Builder, row int64) // a builder of the column's Arrow type
	width int64                            // bytes a value takes, more or less
	end   int64                            // rows after which the source ends; math.MaxInt64: never
	reach int64                            // rows whose values the type holds
}

// maker checks a column's field and makes its maker. An error begins with the option it is about.
func (b *bound) maker(c expr.Field) (maker, error) {
	f, at := b.Options.Fields[c.Name], "fields."+c.Name
	var m maker
	var err error
	switch f.Kind {
	case "", random:
		m, err = b.random(c, f)
	case sequence:
		m, err = sequenceOf(c, f)
	case eventTime:
		m, err = b.eventTime(c, f)
	default:
		return m, fmt.Errorf("%s.kind: %s: expected random, sequence or event_time", at, f.Kind)
	}
	if err == nil {
		err = f.foreign()
	}
	var o *optionError
	switch {
	case errors.As(err, &o):
		return m, fmt.Errorf("%s.%s: %w", at, o.option, o.err)
	case err != nil:
		return m, fmt.Errorf("%s: %w", at, err)
	}
	m.width = max(m.width, 1)
	return m, nil
}

// An optionError is what is wrong with one of a field's options.
type optionError struct {
	option string
	err    error
}

func (e *optionError) Error() string { return e.option + ": " + e.err.Error() }
func (e *optionError) Unwrap() error { return e.err }

func wrong(option, format string, args ...any) error {
	return &optionError{option, fmt.Errorf(format, args...)}
}

// foreign finds an option that belongs to another kind of field, since it would do nothing.
func (f Field) foreign() error {
	for _, o := range []struct {
		name  string
		set   bool
		kinds []string
	}{
		{"min", f.Min != "", []string{random}}, {"max", f.Max != "", []string{random}}, {"length", f.Length != nil, []string{random}},
		{"var_len", f.VarLen, []string{random}}, {"values", len(f.Values) > 0, []string{random}}, {"skew", f.Skew > 0, []string{random}},
		{"null_rate", f.NullRate > 0, []string{random}}, {"start", f.Start != "", []string{sequence, eventTime}}, {"end", f.End != "", []string{sequence}},
		{"interval", f.Interval != 0, []string{eventTime}}, {"disorder", f.Disorder != 0, []string{eventTime}},
	} {
		kind := f.Kind
		if kind == "" {
			kind = random
		}
		if o.set && kind != o.kinds[0] && kind != o.kinds[len(o.kinds)-1] {
			return wrong(o.name, "does nothing in a field of kind %s: it belongs to %s", kind, o.kinds[0])
		}
	}
	return nil
}

// sequenceOf counts from start. The k-th row has start + k.
func sequenceOf(c expr.Field, f Field) (m maker, err error) {
	first, last := int64(1), int64(math.MaxInt64)
	if f.Start != "" {
		if first, err = whole("start", f.Start); err != nil {
			return m, err
		}
	}
	m.end = math.MaxInt64
	if f.End != "" {
		if last, err = whole("end", f.End); err != nil {
			return m, err
		}
		if last < first {
			return m, wrong("end", "%d comes before start, %d", last, first)
		}
		if m.end = last - first + 1; m.end <= 0 {
			return m, wrong("end", "there are more than 2^63 numbers from %d on", first)
		}
	}
	most, ok := mostOf(c.Type)
	if !ok {
		return m, wrong("kind", "%s cannot count: a sequence is of a whole number, DECIMAL, FLOAT, DOUBLE or STRING", c.Type)
	}
	if first < -most || first > most {
		return m, wrong("start", "%d is outside of %s", first, c.Type)
	}
	m.reach = most - first + 1
	if m.reach <= 0 {
		m.reach = math.MaxInt64
	}
	m.width, m.make = 8, counter(c.Type, first)
	return m, nil
}

// mostOf is the largest integer to which a type counts without a gap.
func mostOf(t expr.Type) (int64, bool) {
	switch {
	case t.Whole():
		return 1<<(t.Bits()-1) - 1, true
	case t.Kind == expr.Decimal:
		return tenTo(min(t.Precision-t.Scale, expr.MaxDecimal64)) - 1, true
	case t.Kind == expr.Double:
		return 1 << 53, true
	case t.Kind == expr.Float:
		return 1 << 24, true
	case t.Kind == expr.String:
		return math.MaxInt64, true
	}
	return 0, false
}

func whole(option, text string) (int64, error) {
	v, s := expr.ParseInt64([]byte(text))
	if s != expr.OK {
		return 0, wrong(option, "%q: expected a whole number", text)
	}
	return v, nil
}

func counter(t expr.Type, first int64) func(array.Builder, int64) {
	if t.Kind == expr.Decimal && t.Precision > expr.MaxDecimal64 {
		return func(b array.Builder, row int64) {
			b.(*array.Decimal128Builder).Append(decimal128.FromI64(first + row).IncreaseScaleBy(int32(t.Scale)))
		}
	}
	if t.Kind == expr.Decimal {
		one := tenTo(t.Scale)
		return func(b array.Builder, row int64) { b.(*array.Int64Builder).Append((first + row) * one) }
	}
	switch t.Kind.Storage() {
	case expr.Int:
		return func(b array.Builder, row int64) { b.(*array.Int32Builder).Append(int32(first + row)) }
	case expr.BigInt:
		return func(b array.Builder, row int64) { b.(*array.Int64Builder).Append(first + row) }
	case expr.Double:
		return func(b array.Builder, row int64) { b.(*array.Float64Builder).Append(float64(first + row)) }
	}
	var buf []byte
	return func(b array.Builder, row int64) {
		buf = expr.AppendInt(buf[:0], first+row)
		b.(*array.StringBuilder).BinaryBuilder.Append(buf)
	}
}

func tenTo(n int) int64 {
	v := int64(1)
	for range n {
		v *= 10
	}
	return v
}
