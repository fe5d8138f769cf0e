package columntext

import (
	"bytes"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Check looks at one field the way Parse does, without making a value of it; nil says that it fits.
func (c *Column) Check(r int32) *Flaw {
	if c.Fit != nil {
		return c.loses(r)
	}
	return c.reads(r)
}

// reads looks whether a field can be read.
func (c *Column) reads(r int32) *Flaw {
	b, null := c.Fields.Get(r)
	if null {
		if c.Field.Type.NotNull {
			return &Flaw{Row: r, Null: true, Value: bytes.Clone(b)}
		}
		return nil
	}
	if c.Nest != nil {
		bad := c.Nest.Check(b)
		if bad != nil {
			bad.Row = r
		}
		return bad
	}
	t := c.Field.Type
	if t.Kind == expr.String {
		if utf8.Valid(b) {
			return nil
		}
		return InvalidText(r, b)
	}
	s := expr.OK
	switch {
	case c.Format != nil && t.Kind == expr.TimestampLTZ:
		_, s = c.Format.ParseLTZ(b, 6, c.Zone)
	case c.Format != nil:
		_, s = c.Format.Parse(b, 6)
	case t.Kind == expr.Time:
		_, s = expr.ParseTime(b, t.Precision)
	case t.Kind == expr.TimestampLTZ:
		_, s = expr.ParseTimestampLTZ(b, t.Precision, c.Zone)
	case t.Kind == expr.Bytes:
		_, s = expr.ParseBytes(b)
	case t.Kind == expr.Date:
		_, s = expr.ParseDate(b)
	case t.Kind == expr.Timestamp:
		_, s = expr.ParseTimestamp(b, t.Precision)
	case t.Kind == expr.Boolean:
		_, s = expr.ParseBoolean(b)
	default:
		s = c.checkNumber(b)
	}
	if s != expr.OK {
		return &Flaw{Row: r, Status: s, Value: bytes.Clone(b)}
	}
	return nil
}

func (c *Column) checkNumber(b []byte) (s expr.Status) {
	if c.Marks != (Marks{}) {
		var ok bool
		if b, ok = c.Marks.number(nil, b); !ok {
			return expr.Malformed
		}
	}
	switch t := c.Field.Type; t.Kind {
	case expr.TinyInt, expr.SmallInt:
		_, s = c.small()(b)
	case expr.Int:
		_, s = c.whole32()(b)
	case expr.BigInt:
		_, s = c.whole64()(b)
	case expr.Float:
		_, s = expr.ParseFloat(b)
	case expr.Double:
		_, s = expr.ParseDouble(b)
	case expr.Decimal:
		if t.Precision <= expr.MaxDecimal64 {
			_, s = expr.ParseDecimal64(b, t.Precision, t.Scale)
		} else {
			_, s = expr.ParseDecimal128(b, t.Precision, t.Scale)
		}
	}
	return s
}
