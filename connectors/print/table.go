package print

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// sampleRows is how many rows decide how wide the columns are; later rows keep to it and stick out
// where they must.
const sampleRows = 1000

// A table encodes rows as aligned columns: a header, a rule, a line a row; numbers to the right. What
// would move the cursor is written as an escape.
type table struct {
	schema expr.Schema
	out    io.Writer
	sample [][]string // first rows, until the widths are fixed
	widths []int
	buf    []byte
	least  int // width of numbers and texts, where the first rows are too few to go by
}

// leastWidth is what the columns of a stream have at least.
const leastWidth = 10

// width is how many cells of a terminal a text takes, the same in every locale.
func width(s string) int { return (&runewidth.Condition{}).StringWidth(s) }

func newTable(in expr.Schema, w io.Writer, streaming bool) *table {
	t := &table{schema: in, out: w}
	if streaming {
		t.least = leastWidth
	}
	return t
}

func (t *table) Write(b operators.Batch) error {
	defer b.Rec.Release()
	for i := range b.Rows() {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		cells := make([]string, len(t.schema.Fields))
		for c, f := range t.schema.Fields {
			cells[c] = visible(string(column.AppendText(nil, b.Rec.Column(c), f.Type, row)))
		}
		if t.widths == nil {
			if t.sample = append(t.sample, cells); len(t.sample) < sampleRows {
				continue
			}
			t.head()
			continue
		}
		t.line(cells)
	}
	return t.flush()
}

// visible escapes control characters.
func visible(s string) string {
	if strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case isControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isControl also holds for the marks that turn the direction of writing.
func isControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// head fixes the widths and writes header, rule and the sample.
func (t *table) head() {
	names := t.schema.Names()
	t.widths = make([]int, len(names))
	for c := range names {
		names[c] = visible(names[c])
		t.widths[c] = width(names[c])
		if f := t.schema.Fields[c].Type; f.Numeric() || f.Kind == expr.String {
			t.widths[c] = max(t.widths[c], t.least)
		}
		for _, cells := range t.sample {
			t.widths[c] = max(t.widths[c], width(cells[c]))
		}
	}
	rule := make([]string, len(names))
	for c := range rule {
		rule[c] = strings.Repeat("-", t.widths[c])
	}
	t.line(names)
	t.line(rule)
	for _, cells := range t.sample {
		t.line(cells)
	}
	t.sample = nil
}

func (t *table) line(cells []string) {
	from := len(t.buf)
	for c, s := range cells {
		if c > 0 {
			t.buf = append(t.buf, "  "...)
		}
		pad := strings.Repeat(" ", max(t.widths[c]-width(s), 0))
		if t.schema.Fields[c].Type.Numeric() {
			s, pad = pad, s
		}
		t.buf = append(append(t.buf, s...), pad...)
	}
	for len(t.buf) > from && t.buf[len(t.buf)-1] == ' ' {
		t.buf = t.buf[:len(t.buf)-1]
	}
	t.buf = append(t.buf, '\n')
}

func (t *table) flush() error {
	if len(t.buf) == 0 {
		return nil
	}
	_, err := t.out.Write(t.buf)
	t.buf = t.buf[:0]
	return err
}

func (t *table) Finish() error {
	if t.widths == nil {
		t.head()
	}
	return t.flush()
}

func (t *table) Close() error { return nil }
