package rowtext

import (
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// JSON writes rows as JSON lines: one object a row, keys in the order of the columns, NULL as null.
// Whole numbers and DECIMAL are numbers with all their digits (a reader that takes numbers for doubles
// loses some beyond 2^53), DOUBLE is the shortest number that reads back equal. JSON has no NaN and
// no infinity: they are the texts "NaN", "Infinity" and "-Infinity". DATE and TIMESTAMP are texts. An ARRAY is an
// array, a ROW an object, and a MAP an object whose keys are the texts of the MAP's keys.
type JSON struct {
	schema expr.Schema
	out    io.Writer
	buf    []byte
	keys   [][]byte // `{"a":`, `,"b":`
	cells  []cell
	bad    error // a text that JSON cannot hold
	// lenient: what such a text is shown as is enough.
	lenient bool
}

// NewJSON makes an encoder of rows of a schema.
func NewJSON(in expr.Schema, w io.Writer) *JSON {
	e := &JSON{schema: in, out: w, cells: make([]cell, len(in.Fields)), keys: make([][]byte, len(in.Fields))}
	for i, f := range in.Fields {
		k := []byte{','}
		if i == 0 {
			k[0] = '{'
		}
		e.keys[i] = append(appendJSON(k, f.Name), ':')
	}
	return e
}

// Write appends the live rows; it owns the batch's reference.
func (e *JSON) Write(b operators.Batch) error {
	defer b.Rec.Release()
	for c := range e.cells {
		e.cells[c] = e.cellOf(b.Rec.Column(c), e.schema.Fields[c])
	}
	for i := range b.Rows() {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		for c, add := range e.cells {
			e.buf = add(append(e.buf, e.keys[c]...), row)
		}
		if e.bad != nil {
			return e.bad
		}
		if len(e.cells) == 0 {
			e.buf = append(e.buf, '{')
		}
		e.buf = append(e.buf, '}', '\n')
		if len(e.buf) >= flushAt {
			if err := e.Finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// cellOf is the way from a column to its values, NULL included.
func (e *JSON) cellOf(arr arrow.Array, f expr.Field) cell {
	value := e.valueOf(arr, f)
	return func(dst []byte, row int) []byte {
		if arr.IsNull(row) || f.Type.Kind == expr.Null {
			return append(dst, "null"...)
		}
		return value(dst, row)
	}
}

func (e *JSON) valueOf(arr arrow.Array, f expr.Field) cell {
	if f.Type.Nested() {
		return e.nestedOf(arr, f)
	}
	if at := textOf(arr); at != nil {
		return func(dst []byte, row int) []byte {
			s := at(row)
			if !utf8.ValidString(s) {
				if e.lenient {
					return AppendText(dst, s)
				}
				e.bad = fmt.Errorf("column %s holds %q, which is no UTF-8 text and cannot stand in JSON", f.Name, s)
				return dst
			}
			return appendJSON(dst, s)
		}
	}
	text := func(dst []byte, row int) []byte { return column.AppendText(dst, arr, f.Type, row) }
	quoted := func(dst []byte, row int) []byte { return append(text(append(dst, '"'), row), '"') }
	if k := f.Type.Kind; k == expr.Time || k == expr.Bytes {
		return quoted
	}
	switch f.Type.Kind.Storage() {
	case expr.Date, expr.Timestamp:
		return quoted
	case expr.Double:
		d, ok := arr.(*array.Float64)
		if !ok {
			return text
		}
		return func(dst []byte, row int) []byte {
			if v := d.Value(row); math.IsNaN(v) || math.IsInf(v, 0) {
				return quoted(dst, row)
			}
			return text(dst, row)
		}
	}
	return text
}

// Finish hands on what is held.
func (e *JSON) Finish() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// Close has nothing to free.
func (e *JSON) Close() error { return nil }

// appendJSON writes a JSON string with no more escapes than JSON asks for.
func appendJSON(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
