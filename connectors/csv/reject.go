package csv

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Where the plan says that bad rows are skipped, a row is bad if a value that is parsed is none of its
// type, or if it has too few or too many fields. Faulty quotes stay failures: behind them nobody knows
// where records begin.

// SkipsBadRows reports whether the source leaves bad rows out, as the plan asked.
func (s *source) SkipsBadRows() bool { return s.Skip }

// check looks at one field the way parse does, without making a value of it.
func (c *column) check(r int32) *flaw {
	b, null := c.fields.get(r)
	if null {
		if c.field.Type.NotNull {
			return &flaw{row: r, null: true, value: bytes.Clone(b)}
		}
		return nil
	}
	t := c.field.Type
	if t.Kind == expr.String {
		if utf8.Valid(b) {
			return nil
		}
		return invalidText(r, b)
	}
	s := expr.OK
	switch {
	case c.format != nil:
		_, s = c.format.parse(b, 6)
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
		return &flaw{row: r, status: s, value: bytes.Clone(b)}
	}
	return nil
}

func (c *column) checkNumber(b []byte) (s expr.Status) {
	if c.marks != (marks{}) {
		var ok bool
		if b, ok = c.marks.number(nil, b); !ok {
			return expr.Malformed
		}
	}
	switch t := c.field.Type; t.Kind {
	case expr.TinyInt, expr.SmallInt:
		_, s = small(t)(b)
	case expr.Int:
		_, s = expr.ParseInt32(b)
	case expr.BigInt:
		_, s = expr.ParseInt64(b)
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

// weed parses a column again without the rows whose field is bad. first is the first of those, and f
// what is wrong with it.
func (r *reader) weed(i, from, rows int, sel []int32, first *flaw) (kept []int32, left *flaw) {
	c := r.cols[i]
	kept = make([]int32, 0, len(sel))
	for _, row := range sel {
		if row >= first.row {
			if bad := c.check(row); bad != nil {
				f := r.flawed(i, bad)
				f.file, f.record, f.row = r.cur.file, r.chunk.offset(from+int(row)), row
				r.bad = append(r.bad, f)
				continue
			}
		}
		kept = append(kept, row)
	}
	if r.arrs[i] != nil {
		r.arrs[i].Release()
		r.arrs[i] = nil
	}
	return kept, r.column(i, from, rows, kept)
}

// rejected books the bad rows of a batch, or of what was brought together.
func (r *reader) rejected(bad []*fault) error {
	t := r.tally(r.cur)
	t.Rejected += int64(len(bad))
	var least *fault
	for _, f := range bad {
		if least == nil || f.record < least.record {
			least = f
		}
	}
	if least == nil || t.FirstReject != nil && t.FirstReject.Order[1] <= least.record {
		return nil
	}
	var d *connectors.DataError
	if err := r.located(least); !errors.As(err, &d) {
		return err
	}
	t.FirstReject = &connectors.Reject{
		Class: d.Kind, Message: d.Message, File: d.File, Line: d.Line, Column: d.Column, Field: d.Field, Value: d.Value, Order: d.Order,
	}
	return nil
}
