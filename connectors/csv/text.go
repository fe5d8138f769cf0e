package csv

import (
	"bytes"
	"fmt"
	"io"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
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
		return nil, &files.Error{Kind: files.InvalidOption, Message: err.Error()}
	}
	in := &input{Path: f.Path, Abs: f.Abs, Bytes: f.Bytes}
	if in.Compression, err = Compression(fs, f); err != nil {
		return nil, err
	}
	s, err := openStream(fs, in, d)
	if err != nil {
		return nil, err
	}
	return &Text{s}, s.skipLines(d.Skip)
}

// Compression tells how a file is compressed as a whole, by its first bytes.
func Compression(fs files.FS, f files.File) (string, error) {
	h, err := fs.Open(f.Abs)
	if err != nil {
		return "", files.ReadFailure(err, f.Path, "cannot open "+f.Path)
	}
	defer h.Close()
	head := make([]byte, min(files.CompressionHead, h.Size()))
	if err := readFull(h, f.Path, h.Size(), head, 0); err != nil {
		return "", err
	}
	kind, err := files.Compression(f.Abs, head)
	if err != nil {
		err = &files.Error{Kind: files.ReadError, Path: f.Path, Message: f.Path + ": " + err.Error()}
	}
	return kind, err
}

// NewText goes through a piece of a text that is UTF-8 already.
func NewText(piece []byte, o Options) (*Text, error) {
	d, err := o.dialect()
	if err != nil {
		return nil, err
	}
	n := int64(len(piece))
	r := bytes.NewReader(piece)
	s := &stream{dialect: d, in: &input{Path: "a sample", Bytes: n}, line: 1, packed: &counter{n: n}, plain: r, unpack: io.NopCloser(r), file: nothing{}}
	return &Text{s}, s.skipLines(d.Skip)
}

// nothing is the file of a text in memory.
type nothing struct{}

func (nothing) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }
func (nothing) Close() error                      { return nil }
func (nothing) Size() int64                       { return 0 }

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
	t.s.pass(n)
	return r, true, nil
}

// Close closes the file.
func (t *Text) Close() error { return t.s.close() }

// Matches makes a function that tells whether a text is written as a format of `formats` says.
func Matches(format string) (func(b []byte) bool, error) {
	p, err := newPattern(format)
	if err != nil {
		return nil, fmt.Errorf("reading a format: %w", err)
	}
	return func(b []byte) bool {
		_, s := p.parse(b, 6)
		return s == expr.OK
	}, nil
}
