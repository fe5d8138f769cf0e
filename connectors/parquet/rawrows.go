package parquet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors/files/rowtext"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// The text of a row that is left out is a JSON object of the columns that the plan reads, in the order of
// the source's schema, each as the file has it whatever the plan declares. So it does not depend on filters and
// types, and a later plan may hold it against the file. The values are read a second time for it, from the batches
// that have bad rows alone, so that reading good rows costs nothing.

// rawRows reads the texts of rows.
type rawRows struct {
	names []string
	cols  []*fileColumn
	keys  [][]byte // `{"a":`, `,"b":`
	alloc memory.Allocator
	file  int
	group int
	at    int64 // row of the group at which the columns stand
}

// newRawRows is for the columns that a reader uses.
func newRawRows(r *reader) *rawRows {
	places := make([]int, 0, len(r.cols))
	for _, c := range r.cols {
		places = append(places, c.place)
	}
	slices.Sort(places)
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = r.src.Columns[p].Name
	}
	return rawRowsOf(names, r.alloc)
}

func rawRowsOf(names []string, alloc memory.Allocator) *rawRows {
	return &rawRows{names: names, alloc: alloc}
}

// read gives the texts of some of the next n rows that the reader stands at.
func (w *rawRows) read(r *reader, n int, rows []int32) ([]string, error) {
	if err := w.turn(r); err != nil {
		return nil, err
	}
	for _, c := range w.cols {
		c.owed += r.at - w.at
	}
	w.at = r.at + int64(n)
	texts := make([][]byte, len(rows))
	for i, c := range w.cols {
		if err := w.append(texts, w.keys[i], c, r, n, rows); err != nil {
			return nil, err
		}
	}
	out := make([]string, len(rows))
	for i, t := range texts {
		if t == nil {
			t = []byte{'{'}
		}
		out[i] = string(append(t, '}'))
	}
	return out, nil
}

// append adds what a column has in rows to their texts.
func (w *rawRows) append(texts [][]byte, key []byte, c *fileColumn, r *reader, n int, rows []int32) error {
	p, err := c.read(r.doc, r.group, n, nil)
	if err != nil {
		return err
	}
	defer p.arr.Release()
	odd := map[int]string{} // values that the array cannot have
	for _, b := range p.bad {
		if _, twice := odd[b.row]; b.kind == "Overflow" && !twice {
			odd[b.row] = b.value
		}
	}
	cell := rowtext.Raw(p.arr, expr.Field{Name: c.Name, Type: c.Type})
	for i, row := range rows {
		texts[i] = append(texts[i], key...)
		if v, is := odd[int(row)]; is {
			texts[i] = rowtext.AppendRaw(texts[i], v)
		} else {
			texts[i] = cell(texts[i], int(row))
		}
	}
	return nil
}

// turn goes to the file and the row group of the reader.
func (w *rawRows) turn(r *reader) error {
	if w.file != r.docFile {
		w.leave()
		w.cols, w.keys, w.file = nil, nil, r.docFile
		if err := r.doc.guard("the footer's schema cannot be decoded", func() error { return w.attach(r.doc) }); err != nil {
			return err
		}
	} else if w.group == r.group && w.at <= r.at {
		return nil
	}
	w.leave()
	w.group, w.at = r.group, 0
	return nil
}

// attach finds the columns in a file; one that it has not, or that cannot be read as it has it, has no part in
// the texts.
func (w *rawRows) attach(d *document) error {
	has := d.leaves()
	for _, name := range w.names {
		l := find(has, name)
		if l == nil || l.index < 0 {
			continue
		}
		t := l.typ
		switch {
		case l.nest != nil:
		case l.bare: // text mostly
			t = expr.Of(expr.String)
		case l.wide:
			t = expr.DecimalOf(20, 0)
		}
		texts := newWords()
		texts.giveUp()
		c := &fileColumn{boundCol: boundCol{Name: name, Type: t.Nullable(true), From: t}}
		if err := c.attach(d, has, w.alloc, texts); err != nil {
			return err
		}
		k := []byte{','}
		if len(w.cols) == 0 {
			k[0] = '{'
		}
		w.cols, w.keys = append(w.cols, c), append(w.keys, append(rowtext.AppendText(k, name), ':'))
	}
	return nil
}

// leave ends the row group.
func (w *rawRows) leave() {
	for _, c := range w.cols {
		c.leave()
	}
}

// rawNames are the columns of the text of a row, in their order.
func rawNames(raw string) (names []string, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(raw)))
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("it is no JSON object: %w", err)
		}
		name, ok := t.(string)
		if !ok {
			return nil, errors.New("it is no JSON object")
		}
		names = append(names, name)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("column %s of it is no JSON: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	return names, nil
}
