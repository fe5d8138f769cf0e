package columntext

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Marks are how numbers are written where it is not with a point and nothing between the digits.
type Marks struct {
	Decimal   string `json:"decimal,omitempty"`   // "" is the point
	Thousands string `json:"thousands,omitempty"` // "" is none
}

// NewMarks reads the options about numbers: the decimal mark, "" for the point, and the mark between
// groups of three digits, "" for none.
func NewMarks(decimal, thousands string) (Marks, error) {
	m := Marks{Thousands: thousands}
	switch decimal {
	case "", ".":
	case ",":
		m.Decimal = ","
	default:
		return m, fmt.Errorf("decimal %q: expected \".\" or \",\"", decimal)
	}
	if t := m.Thousands; t != "" {
		if utf8.RuneCountInString(t) != 1 || strings.ContainsAny(t, "0123456789+-eE\r\n\"") {
			return m, fmt.Errorf("thousands %q: expected one character that is no digit and no sign, such as \".\" or \"'\"", t)
		}
		if t == m.Decimal || t == "." && m.Decimal == "" {
			return m, fmt.Errorf("thousands %q is the decimal mark too: expected two different ones", t)
		}
	}
	return m, nil
}

// Said describes the marks, for a message.
func (m Marks) Said() string {
	s := ", written with the decimal mark \".\""
	if m.Decimal != "" {
		s = fmt.Sprintf(", written with the decimal mark %q", m.Decimal)
	}
	if m.Thousands != "" {
		s += fmt.Sprintf(" and %q between groups of three digits", m.Thousands)
	}
	return s
}

// number writes a number as the functions of package expr read it; ok is false where its marks are
// not where they belong.
func (m Marks) number(dst, b []byte) (_ []byte, ok bool) {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		dst = append(dst, b[0])
		b = b[1:]
	}
	point := "."
	if m.Decimal != "" {
		point = m.Decimal
	}
	whole, frac, has := bytes.Cut(b, []byte(point))
	if m.Thousands != "" && bytes.Contains(whole, []byte(m.Thousands)) {
		for k, g := range bytes.Split(whole, []byte(m.Thousands)) {
			if len(g) != 3 && (k > 0 || len(g) == 0 || len(g) > 3) {
				return dst, false
			}
			for _, c := range g {
				if c < '0' || c > '9' {
					return dst, false
				}
			}
			dst = append(dst, g...)
		}
	} else {
		dst = append(dst, whole...)
	}
	if m.Decimal != "" && m.Thousands != "." && bytes.IndexByte(whole, '.') >= 0 {
		return dst, false
	}
	if !has {
		return dst, true
	}
	if bytes.ContainsAny(frac, ",.") {
		return dst, false
	}
	return append(append(dst, '.'), frac...), true
}

// Formats are how the dates and times of columns are written, in the order of the plan.
type Formats []columnFormat

type columnFormat struct {
	Column string `json:"column"`
	Format string `json:"format"`
}

// SetEntry takes one entry of the mapping.
func (f *Formats) SetEntry(key, value string) error {
	if _, err := NewPattern(value); err != nil {
		return err
	}
	*f = append(*f, columnFormat{key, value})
	return nil
}

// Check finds formats of columns that are not there or no dates.
func (f Formats) Check(cols []expr.Field) error {
	var all []error
	for _, x := range f {
		found := false
		for _, c := range cols {
			if c.Name != x.Column {
				continue
			}
			found = true
			if k := c.Type.Kind; k != expr.Date && k != expr.Timestamp && k != expr.TimestampLTZ {
				all = append(all, fmt.Errorf("formats: column %s is %s: expected DATE, TIMESTAMP or TIMESTAMP_LTZ", x.Column, c.Type))
			}
		}
		if !found {
			all = append(all, fmt.Errorf("formats: column %s is not declared", x.Column))
		}
		if _, err := NewPattern(x.Format); err != nil {
			all = append(all, fmt.Errorf("formats: column %s: %w", x.Column, err))
		}
	}
	return errors.Join(all...)
}

// Of is the pattern of a column, nil where it has none.
func (f Formats) Of(column string) *Pattern {
	for _, x := range f {
		if x.Column == column {
			p, err := NewPattern(x.Format)
			if err != nil {
				return nil // check refused it
			}
			return p
		}
	}
	return nil
}

// written parses a column whose values are written in a way of their own; arr is nil where its type
// has nothing to do with that.
func (c *Column) written(rows int, sel []int32) (arr arrow.Array, bad *Flaw) {
	t := c.Field.Type
	var buf []byte
	text := func(b []byte) ([]byte, bool) {
		var ok bool
		buf, ok = c.Marks.number(buf[:0], b)
		return buf, ok
	}
	switch {
	case c.Format != nil && t.Kind == expr.Date:
		arr, _, bad = fixed(c, rows, sel, func(b []byte) (int32, expr.Status) {
			micros, s := c.Format.Parse(b, 6)
			return int32(floorDays(micros)), s
		})
	case c.Format != nil && t.Kind == expr.Timestamp:
		arr, _, bad = fixed(c, rows, sel, func(b []byte) (int64, expr.Status) { return c.Format.Parse(b, t.Precision) })
	case c.Format != nil && t.Kind == expr.TimestampLTZ:
		arr, _, bad = fixed(c, rows, sel, func(b []byte) (int64, expr.Status) { return c.Format.ParseLTZ(b, t.Precision, c.Zone) })
	case c.Marks == Marks{}:
	case t.Kind == expr.TinyInt || t.Kind == expr.SmallInt:
		arr, _, bad = fixed(c, rows, sel, asWritten(text, c.small()))
	case t.Kind == expr.Float:
		arr, _, bad = fixed(c, rows, sel, asWritten(text, expr.ParseFloat))
	case t.Kind == expr.Int:
		arr, _, bad = fixed(c, rows, sel, asWritten(text, c.whole32()))
	case t.Kind == expr.BigInt:
		arr, _, bad = fixed(c, rows, sel, asWritten(text, c.whole64()))
	case t.Kind == expr.Double:
		arr, _, bad = fixed(c, rows, sel, asWritten(text, expr.ParseDouble))
	case t.Kind == expr.Decimal && t.Precision <= expr.MaxDecimal64:
		arr, _, bad = fixed(c, rows, sel, asWritten(text, func(b []byte) (int64, expr.Status) {
			return expr.ParseDecimal64(b, t.Precision, t.Scale)
		}))
	case t.Kind == expr.Decimal:
		arr, _, bad = fixed(c, rows, sel, asWritten(text, func(b []byte) (decimal128.Num, expr.Status) {
			return expr.ParseDecimal128(b, t.Precision, t.Scale)
		}))
	}
	return arr, bad
}

// asWritten puts the marks of a number right before it is parsed.
func asWritten[T any](text func([]byte) ([]byte, bool), parse func([]byte) (T, expr.Status)) func([]byte) (T, expr.Status) {
	return func(b []byte) (v T, s expr.Status) {
		n, ok := text(b)
		if !ok {
			return v, expr.Malformed
		}
		return parse(n)
	}
}

// floorDays are the whole days of an instant.
func floorDays(micros int64) int64 {
	d := micros / microsPerDay
	if micros%microsPerDay < 0 {
		d--
	}
	return d
}
