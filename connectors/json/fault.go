package json

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A fault is a fault of the data as it is found: by byte offset. Lines are counted only when it is
// reported.
type fault struct {
	kind, message, wanted string
	file                  int64     // place in the list, from 1
	record                int64     // offset of the record
	at                    int       // place of its copy in the chunk's bytes
	alone                 *standing // a fault of a text without records
	spot                  int       // place of the byte at fault there; -1: where the column's value begins
	row                   int32     // of the batch, for a fault found in one
	col                   int       // the column at fault; -1: the record as a whole
	field, value          string
	path                  []step // of the value at fault, where it is within the column's one
	cause                 error
	advice                func() string // what cures it; nil: nothing is said. Costly, and only for what a person reads
	syntax                bool          // nobody knows where the record ends, unless a line feed says so
}

// broken is the fault of the record at i whose syntax is wrong; limit is where the bytes end. The lines of
// an array are its elements.
func (s *scanner) broken(i, limit int, array bool) *fault {
	f := &fault{kind: formatError, syntax: true, spot: s.at, col: -1, wanted: s.wanted}
	switch rest := s.bytes(s.at, max(s.at, limit)); {
	case s.wanted == tooDeep:
		f.message = "the record is nested too deep"
	case len(rest) == 0 || rest[0] == '\n':
		f.message = "the line ends in the middle of the record"
		if array && s.wanted != notControl {
			f.message = "the text ends in the middle of the record"
		} else if only := bytes.TrimRight(s.bytes(i, s.at), " \t\r"); len(only) == 1 {
			f.wanted += "; a record stands on one line"
		}
	default:
		f.message = fmt.Sprintf("%q is no JSON here", around(rest))
	}
	return f
}

// doubled is the fault of a key that a column reads and that stands twice.
func (s *scanner) doubled() *fault {
	return &fault{
		kind: formatError, spot: s.doubleAt, col: -1,
		message: fmt.Sprintf("%s stands twice in its object", s.double.path), wanted: "each key once, or `duplicate_keys: last`",
	}
}

// around is the beginning of some bytes, to show.
func around(b []byte) string {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	const most = 20
	if len(b) > most {
		b = b[:most]
	}
	for len(b) > 0 && !utf8.Valid(b[len(b)-1:]) && !utf8.Valid(b) {
		b = b[:len(b)-1]
	}
	return strings.TrimRight(string(b), "\r")
}

// notObject is the fault of a record that is another value.
func notObject(v []byte, at int, array bool) *fault {
	f := &fault{kind: formatError, spot: at, col: -1, wanted: "an object", value: shortened(v)}
	f.message = fmt.Sprintf("the record is %s", kindOf(v))
	if kindOf(v) == anArray && !array {
		f.wanted += "; a file that is one array needs `format: array`"
	}
	return f
}

// kindOf tells the kind of a value by its first byte.
func kindOf(v []byte) kind {
	switch v[0] {
	case '"':
		return aString
	case '{':
		return anObject
	case '[':
		return anArray
	case 't', 'f':
		return aBoolean
	case 'n':
		return 0
	}
	return aNumber
}

// notText is the fault of a byte that is not UTF-8.
func notText(c byte, at int) *fault {
	return &fault{
		kind: formatError, spot: at, col: -1, message: fmt.Sprintf("the byte %#02x is not UTF-8", c),
		wanted: "UTF-8, or the `encoding` that the file has",
	}
}

// tooLong is the fault of a record without an end.
func tooLong(at int64) *fault {
	return &fault{kind: formatError, record: at, col: -1, message: "a record is longer than 64 MiB", wanted: "a shorter record"}
}

// flawed is the fault of a column's value.
func (c Column) flawed(f *columntext.Flaw, x *slip, col int, format *columntext.Pattern) *fault {
	t := c.Type.Nullable(true)
	out := &fault{kind: "CastError", spot: -1, col: col, field: c.Name, value: string(f.Value), wanted: t.String()}
	switch {
	case x != nil && x.half:
		out.value = ""
		out.message = fmt.Sprintf("%s: the string has half of a surrogate pair, which is no text", c.said())
	case x != nil && x.path != c.path():
		out.message = fmt.Sprintf("%s: %s is %s, and the path goes on in it", c.said(), x.path, x.got)
	case x != nil:
		out.message = fmt.Sprintf("%s: cannot cast %s to %s", c.said(), x.got, t)
	case f.Message != "":
		at := c.path() + f.Within
		out.message = fmt.Sprintf("column %s (%s): %s", c.Name, at, f.Message)
		if f.Null {
			out.kind = "NullViolation"
		}
		if steps, err := parsePath(at); err == nil {
			out.path = steps
		}
	case f.Lossy:
		out.message = fmt.Sprintf("%s: '%s' would not stay what it is as %s", c.said(), shortened(f.Value), t)
	case f.Null:
		out.kind, out.wanted = "NullViolation", c.Type.String()
		out.message = fmt.Sprintf("%s is NOT NULL and ", c.said())
	default:
		out.message = fmt.Sprintf("%s: cannot cast '%s' to %s: %s", c.said(), shortened(f.Value), t, f.Status.Cause(t))
		if format != nil && f.Status == expr.Malformed {
			out.message = fmt.Sprintf("%s: cannot cast '%s' to %s: expected %s", c.said(), shortened(f.Value), t, format)
		}
	}
	return out
}

// path is where a column's values stand.
func (c Column) path() string {
	steps, err := c.steps()
	if err != nil {
		return c.Path
	}
	return writePath(steps)
}

// placed makes the fault an error at a place.
func (f *fault) placed(p connectors.Place) error {
	e := &connectors.DataError{
		Kind: f.kind, Message: f.message, File: p.File, Line: p.Line, Column: p.Column, Field: f.field,
		Value: f.value, Wanted: f.wanted, Order: [2]int64{f.file, f.record}, Cause: f.cause,
	}
	if f.col >= 0 && f.value == "" {
		e.Value = p.Value
	}
	if f.kind == "NullViolation" && f.path == nil {
		e.Message += map[bool]string{true: "the value is null", false: "the record does not have it"}[p.Value == "null"]
		if p.Value != "null" {
			e.Value = ""
		}
	}
	if f.wanted != "" && f.kind == formatError {
		e.Message += ": expected " + f.wanted
	}
	if f.advice != nil {
		e.Message += f.advice()
	}
	return e
}
