package csv

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A fault is a fault of the data as it is found: by byte offset. Lines are counted only when it is
// reported.
type fault struct {
	kind, message, wanted string
	file                  int64 // place in the list, from 1
	record                int64 // offset of the record
	spot                  int64 // offset of the byte at fault; -1: where the field begins
	row                   int32 // of the batch, for a fault found in one
	place                 int   // field of the record from 0; -1: the record as a whole
	field, value          string
	cause                 error
	advice                func() string // what cures it; nil: nothing is said. Costly, and only for what a person reads
	text                  *keptText     // the record, of a file that is read in order and may have rows left out
}

// structural is the fault of a record whose quotes are wrong. raw begins with the record.
func structural(r record, raw []byte, offset, file int64, place int) *fault {
	f := &fault{kind: "CsvFormatError", file: file, record: offset, spot: offset + int64(r.at), place: len(r.fields)}
	switch r.verdict {
	case afterQuote:
		f.message = fmt.Sprintf("%q follows a closing quote", around(raw, r.at))
		f.wanted = "the delimiter or the end of the line after a closing quote; quotes inside a quoted field doubled"
		if raw[r.at] == '\r' {
			f.message = "line ending CR: a bare carriage return follows a closing quote"
			f.wanted = "lines that end with LF or CRLF, or `line_ending: cr`"
		}
	case unterminated:
		f.message = "the file ends inside a quoted field that begins here"
		f.wanted = "a closing quote"
	default:
		f.message = fmt.Sprintf("a record is longer than %d MiB", text.MaxRecord>>20)
		f.wanted = "a shorter record, or the quote that is missing"
		f.spot, f.place = offset, -1
		if !bytes.ContainsRune(raw, '\n') && bytes.ContainsRune(raw, '\r') {
			f.message = "line ending CR: the lines of the file end with a bare carriage return"
			f.wanted = "lines that end with LF or CRLF, or `line_ending: cr`"
		}
	}
	return f
}

// around is a piece of raw from a place on, to show.
func around(raw []byte, at int) []byte {
	b := raw[at:min(len(raw), at+20)]
	if i := bytes.IndexAny(b, "\r\n"); i > 0 {
		b = b[:i]
	}
	return b
}

// ragged is the fault of a record with too few or too many fields.
func ragged(r record, raw []byte, offset, file int64, fields int) *fault {
	f := &fault{
		kind: "CsvFormatError", file: file, record: offset, spot: offset, place: -1,
		message: "the record has " + countFields(len(r.fields)), wanted: countFields(fields),
	}
	if i := bytes.IndexByte(raw, '\r'); i >= 0 && i+1 < len(raw) && raw[i+1] != '\n' && !bytes.ContainsRune(raw, quote) {
		f.message += " and bare carriage returns (line ending CR needs `line_ending: cr`)"
	}
	return f
}

func countFields(n int) string {
	if n == 1 {
		return "1 field"
	}
	return fmt.Sprintf("%d fields", n)
}

// locate makes the fault an error with line and column: it reads the file up to there.
func (f *fault) locate(h files.ReadFile, in *input, b *bound) error {
	p, at, err := place(h, in, b, f.record, f.place)
	if err != nil {
		return errors.Join(err, fmt.Errorf("looking for the place of: %s", f.message))
	}
	if f.spot >= 0 {
		at = f.spot
	}
	line, err := text.LineAt(h, in.Path, in.Bytes, at)
	if err != nil {
		return errors.Join(err, fmt.Errorf("looking for the place of: %s", f.message))
	}
	return f.at(in, line, p.Column)
}

// at makes the fault an error at a line and a column.
func (f *fault) at(in *input, line, column int64) error {
	e := &connectors.DataError{
		Kind: f.kind, Message: f.message, File: in.Path, Line: line, Column: column, Field: f.field,
		Value: f.value, Wanted: f.wanted, Order: [2]int64{f.file, f.record}, Cause: f.cause,
	}
	if f.wanted != "" && f.kind == "CsvFormatError" {
		e.Message += ": expected " + f.wanted
	}
	if f.advice != nil {
		e.Message += f.advice()
	}
	return e
}

// place finds a field of the record at an offset: its column, its value, and the offset it begins at.
func place(h files.ReadFile, in *input, b *bound, offset int64, field int) (connectors.Place, int64, error) {
	p := connectors.Place{File: in.Path}
	if field < 0 {
		return p, offset, nil
	}
	p.Column = int64(field) + 1
	r := &recordReader{file: h, path: in.Path, size: in.Bytes, delimiter: b.Delimiter, pos: offset}
	rec, raw, at, err := r.next()
	if err != nil || raw == nil || field >= len(rec.fields) {
		return p, offset, err
	}
	s := rec.fields[field]
	p.Value = string(s.text(raw))
	start := s.start
	if s.quoted {
		start--
	}
	return p, at + int64(start), nil
}

// streamPlace finds a field of the record at an offset of a file that is read in order, with the line
// of the byte at spot, or of the field where spot is -1.
func streamPlace(fs files.FS, in *input, b *bound, record, spot int64, field int) (p connectors.Place, err error) {
	p = connectors.Place{File: in.Path, Column: int64(field) + 1}
	s, err := openStream(fs, in, b.Dialect)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.SkipTo(record); err != nil {
		return p, err
	}
	rec, raw, at, line, err := s.next()
	if err != nil || raw == nil {
		return p, err
	}
	to := 0
	if field >= 0 && field < len(rec.fields) {
		f := rec.fields[field]
		p.Value, to = string(s.text(raw, f)), f.start
	}
	if spot >= at {
		to = int(spot - at)
	}
	p.Line = line + s.Lines(raw[:min(to, len(raw))])
	return p, nil
}

// castFault is the fault of a field that is no value of its column's type.
func castFault(c expr.Field, v []byte, s expr.Status) *fault {
	t := c.Type.Nullable(true)
	return &fault{
		kind: "CastError", spot: -1, field: c.Name, value: string(v), wanted: t.String(),
		message: fmt.Sprintf("column %s: cannot cast '%s' to %s: %s", c.Name, shorten(v), t, s.Cause(t)),
	}
}

// nullFault is the fault of a NULL in a column declared NOT NULL.
func nullFault(c expr.Field, v []byte) *fault {
	return &fault{
		kind: "NullViolation", spot: -1, field: c.Name, value: string(v), wanted: c.Type.String(),
		message: fmt.Sprintf("column %s is NOT NULL and the field is NULL", c.Name),
	}
}

// shorten cuts a value that is too long to show.
func shorten(v []byte) string {
	const most = 80
	if len(v) <= most {
		return string(v)
	}
	return string(bytes.ToValidUTF8(v[:most], nil)) + "…"
}

// textFault is the fault of a STRING that is not UTF-8; the byte at fault is the at-th of the value.
func textFault(c expr.Field, v []byte, at int) *fault {
	return &fault{
		kind: "CsvFormatError", spot: -1, field: c.Name, value: string(bytes.ToValidUTF8(v, []byte("�"))), wanted: "UTF-8",
		message: fmt.Sprintf("column %s: byte %d of the field, %#02x, is not UTF-8", c.Name, at+1, v[at]),
	}
}
