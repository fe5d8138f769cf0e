package csv

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Text goes through the records of a file in order, for tools that look at files. It goes on behind
// records whose quotes are wrong.
type Text struct {
	s *stream
}

// A Record is one record of a text. What it refers to is valid until the next one.
type Record struct {
	Line   int64 // from 1, of its first byte
	Offset int64 // in the text
	Fields [][]byte
	Quoted []bool
	Raw    []byte
	Blank  bool
	Fault  string // what is wrong with its quotes; Fields are those before
}

// OpenText opens a file with the options of a source; only those about the form of the text matter.
func OpenText(fs files.FS, f files.File, o Options) (*Text, error) {
	d, err := o.dialect()
	if err != nil {
		return nil, files.Refused("%v", err)
	}
	in := &input{Path: f.Path, Abs: f.Abs, Bytes: f.Bytes}
	if in.Compression, err = text.Compression(fs, f); err != nil {
		return nil, err
	}
	s, err := openStream(fs, in, d)
	if err != nil {
		return nil, err
	}
	return &Text{s}, s.skipLines(d.Skip)
}

// NewText goes through a piece of a text that is UTF-8 already.
func NewText(piece []byte, o Options) (*Text, error) {
	d, err := o.dialect()
	if err != nil {
		return nil, err
	}
	s := &stream{Stream: text.NewStream(piece, d.CR), dialect: d}
	return &Text{s}, s.skipLines(d.Skip)
}

// Next gives the next record; ok is false at the end.
func (t *Text) Next() (r Record, ok bool, err error) {
	rec, raw, at, line, err := t.s.next()
	if err != nil || raw == nil {
		return r, false, err
	}
	r = Record{Line: line, Offset: at, Raw: raw, Blank: rec.blank}
	for _, f := range rec.fields {
		r.Fields = append(r.Fields, t.s.text(raw, f))
		r.Quoted = append(r.Quoted, f.quoted)
	}
	if rec.verdict == whole {
		return r, true, nil
	}
	f := structural(rec, raw, at, 1, 0)
	r.Fault = f.message
	// Behind the fault records begin again at the next line end.
	n := max(rec.at, 0)
	for n < len(raw) && t.s.lineEnd(raw, n) == 0 {
		n++
	}
	if rec.verdict == unterminated || n >= len(raw) {
		n = len(raw)
	} else {
		n += t.s.lineEnd(raw, n)
	}
	r.Raw = raw[:n]
	t.s.Pass(n)
	return r, true, nil
}

// Close closes the file.
func (t *Text) Close() error { return t.s.Close() }

// Matches makes a function that tells whether a text is written as a format of `formats` says.
func Matches(format string) (func(b []byte) bool, error) {
	p, err := columntext.NewPattern(format)
	if err != nil {
		return nil, fmt.Errorf("reading a format: %w", err)
	}
	return func(b []byte) bool {
		_, s := p.Parse(b, 6)
		return s == expr.OK
	}, nil
}
