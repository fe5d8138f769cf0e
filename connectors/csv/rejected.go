package csv

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// A keptText is a record of a file that is read in order. Such a file is not read a second time for every
// record that is left out, so its text and its place are kept until it is known whether it is one.
type keptText struct {
	raw  []byte
	line int64 // from 1
	at   int64 // in the unpacked file
}

// text keeps a record. What it gives is valid until the chunk begins anew.
func (c *chunk) text(raw []byte, line, at int64) keptText {
	from := len(c.raws)
	c.raws = append(c.raws, raw...)
	return keptText{raw: c.raws[from:len(c.raws):len(c.raws)], line: line, at: at}
}

// keptOf is the text of a record, nil where it was not kept.
func (c *chunk) keptOf(record int) *keptText {
	if record >= len(c.kept) {
		return nil
	}
	return &c.kept[record]
}

// Order is where the record stands.
func (f *fault) Order() [2]int64 { return [2]int64{f.file, f.record} }

// Advice gives what cures it, once.
func (f *fault) Advice() func() string {
	a := f.advice
	f.advice = nil
	return a
}

// rejected books the bad rows of a batch, or of what was brought together.
func (r *reader) rejected(bad []*fault) error {
	return text.Leave(&r.Reading, r.tally(r.cur), bad, r.reject)
}

// reject is what a fault's record is handed out as. It is found in memory; only lines are counted in the
// file.
func (r *reader) reject(f *fault) (x connectors.Reject, err error) {
	in := r.cur.in
	var raw []byte
	var line int64
	if f.text != nil {
		raw = f.text.raw
		x.Offset = f.text.at
		if line, err = r.lineOf(f); err != nil {
			return x, err
		}
		line += r.src.Dialect.lines(raw[:f.within(r.src.Dialect.scan(raw, true, nil))])
	} else {
		if raw = r.win.from(f.record); raw == nil {
			return x, fmt.Errorf("%s: the record at byte %d, which is left out, is no longer in memory", in.Path, f.record)
		}
		rec := scanRecord(raw, r.src.Delimiter, r.win.EOF(), nil)
		x.Offset, raw = f.record, raw[:min(rec.length, len(raw))]
		if line, err = r.lines.At(r.file.File, in.Path, in.Bytes, f.record+int64(f.within(rec))); err != nil {
			return x, err
		}
	}
	var d *connectors.DataError
	if !errors.As(f.at(in, line, int64(f.place)+1), &d) {
		return x, fmt.Errorf("%s: a record is left out and nobody knows why", in.Path)
	}
	x.Class, x.Message, x.File, x.Line, x.Column = d.Kind, d.Message, d.File, d.Line, d.Column
	x.Field, x.Value, x.Order = d.Field, d.Value, d.Order
	if r.src.rejects {
		x.Raw = text.Plain(text.WithoutEnd(raw))
	}
	return x, nil
}

// lineOf is the line that the record of a fault begins in.
func (r *reader) lineOf(f *fault) (int64, error) {
	if f.text.line > 0 {
		return f.text.line, nil
	}
	return r.lines.At(r.file.File, r.cur.in.Path, r.cur.in.Bytes, f.record)
}

// lines counts the line ends of the dialect in b.
func (d *dialect) lines(b []byte) int64 {
	if d.CR {
		return int64(bytes.Count(b, []byte{'\r'}))
	}
	return int64(bytes.Count(b, []byte{'\n'}))
}

// within is where in its record a fault is.
func (f *fault) within(rec record) int {
	switch {
	case f.spot >= 0:
		return int(f.spot - f.record)
	case f.place < 0 || f.place >= len(rec.fields):
		return 0
	}
	s := rec.fields[f.place]
	if s.quoted {
		return s.start - 1
	}
	return s.start
}

// from is what the window has from an offset on, nil where that is not in it.
func (w *window) from(offset int64) []byte {
	if offset < w.Base || offset >= w.Base+int64(w.N) {
		return nil
	}
	return w.Store[front : front+w.N][offset-w.Base:]
}
