// Package rowtext writes rows as text, one a line: what the csv, json and print sinks share.
package rowtext

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// flushAt is how many bytes are gathered before they are handed on.
const flushAt = 64 << 10

// A CSVDialect is how rows become CSV.
type CSVDialect struct {
	Delimiter byte     `json:"delimiter"`
	Header    bool     `json:"header"`
	Null      string   `json:"null"`  // stands for NULL, without quotes
	Nulls     []string `json:"nulls"` // what a reader takes for NULL where it is not quoted
	// Wary quotes what a reader may take for something else that does not know the dialect, or knows of
	// comments: a text that begins with a single quote, or with # at the beginning of a line, words that often
	// stand for NULL, and common delimiters in a file of one column.
	Wary bool `json:"wary,omitempty"`
}

// CSV writes rows as RFC 4180 with LF line ends. A field is quoted where it must be: it holds the
// delimiter, a quote or a line break, would read as NULL, is empty, or has a blank, a tab or a byte-order
// mark at its edge. So NULL and the empty text differ, and so do NULL and a text that spells it.
type CSV struct {
	CSVDialect
	schema  expr.Schema
	out     io.Writer
	buf     []byte
	started bool
	special [256]bool           // bytes that need quotes
	isNull  map[string]struct{} // texts that would read as NULL
	cells   []cell
}

// A cell appends one field of a row.
type cell func(dst []byte, row int) []byte

// NewCSV makes an encoder of rows of a schema.
func NewCSV(d CSVDialect, in expr.Schema, w io.Writer) *CSV {
	e := &CSV{CSVDialect: d, schema: in, out: w, isNull: map[string]struct{}{}, cells: make([]cell, len(in.Fields))}
	for _, b := range []byte{d.Delimiter, '"', '\r', '\n'} {
		e.special[b] = true
	}
	words := slices.Concat(d.Nulls, []string{d.Null})
	if d.Wary {
		words = append(words, columntext.NullWords()...)
	}
	if d.Wary && len(in.Fields) == 1 {
		for _, b := range []byte(",;|\t") {
			e.special[b] = true
		}
	}
	for _, n := range words {
		e.isNull[n] = struct{}{}
	}
	return e
}

// Write appends the live rows; it owns the batch's reference.
func (e *CSV) Write(b operators.Batch) error {
	defer b.Rec.Release()
	e.start()
	for c := range e.cells {
		e.cells[c] = e.cellOf(b.Rec.Column(c), e.schema.Fields[c].Type, c == 0)
	}
	for i := range b.Rows() {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		for c, add := range e.cells {
			if c > 0 {
				e.buf = append(e.buf, e.Delimiter)
			}
			e.buf = add(e.buf, row)
		}
		e.buf = append(e.buf, '\n')
		if len(e.buf) >= flushAt {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *CSV) start() {
	if e.started {
		return
	}
	e.started = true
	if !e.Header {
		return
	}
	for c, f := range e.schema.Fields {
		if c > 0 {
			e.buf = append(e.buf, e.Delimiter)
		}
		e.buf = e.appendText(e.buf, f.Name, c == 0)
	}
	e.buf = append(e.buf, '\n')
}

// cellOf is the way from a column to its fields; first says that they begin the lines.
func (e *CSV) cellOf(arr arrow.Array, t expr.Type, first bool) cell {
	if at := textOf(arr); at != nil {
		return func(dst []byte, row int) []byte {
			if arr.IsNull(row) {
				return append(dst, e.Null...)
			}
			return e.appendText(dst, at(row), first)
		}
	}
	var tmp []byte
	return func(dst []byte, row int) []byte {
		if arr.IsNull(row) {
			return append(dst, e.Null...)
		}
		tmp = column.AppendText(tmp[:0], arr, t, row)
		if _, null := e.isNull[string(tmp)]; null || e.anySpecial(tmp) {
			return e.appendText(dst, string(tmp), first)
		}
		return append(dst, tmp...)
	}
}

// textOf gives a STRING column's texts, plain or dictionary-coded; nil for other columns.
func textOf(arr arrow.Array) func(row int) string {
	switch a := arr.(type) {
	case *array.String:
		return a.Value
	case *array.Dictionary:
		if words, ok := a.Dictionary().(*array.String); ok {
			return func(row int) string { return words.Value(a.GetValueIndex(row)) }
		}
	}
	return nil
}

func (e *CSV) anySpecial(b []byte) bool {
	for _, c := range b {
		if e.special[c] {
			return true
		}
	}
	return false
}

func (e *CSV) appendText(dst []byte, s string, first bool) []byte {
	if !e.quotes(s) && !(e.Wary && (s[0] == '\'' || first && s[0] == '#')) {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for {
		before, after, found := strings.Cut(s, `"`)
		dst = append(dst, before...)
		if !found {
			return append(dst, '"')
		}
		dst = append(dst, `""`...)
		s = after
	}
}

func (e *CSV) quotes(s string) bool {
	if s == "" || blank(s[0]) || blank(s[len(s)-1]) || strings.HasPrefix(s, "\ufeff") {
		return true
	}
	for i := range len(s) {
		if e.special[s[i]] {
			return true
		}
	}
	_, null := e.isNull[s]
	return null
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

func (e *CSV) flush() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// Finish writes what is held, and the header even where no row came.
func (e *CSV) Finish() error {
	e.start()
	return e.flush()
}

// Close has nothing to free.
func (e *CSV) Close() error { return nil }

// Flat refuses nested columns, for which CSV has no form that a reader would take for the same again.
func Flat(in expr.Schema) error {
	for _, f := range in.Fields {
		if f.Type.Nested() {
			return fmt.Errorf("column %s is %s, which CSV cannot hold: write its parts, CAST(%s AS STRING), or to a json sink", f.Name, f.Type, expr.Quote(f.Name))
		}
	}
	return nil
}
