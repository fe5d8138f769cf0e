package json

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// A record that was found again: its text as it stands in the file, and where that is.
type standing struct {
	raw    []byte
	line   int64 // from 1; 0: to be counted in the file
	column int64 // of its first byte in the line, from 1
	offset int64 // in the unpacked file
}

// standing is the record whose copy begins at a place in the chunk's bytes.
func (k *chunk) standing(at int) standing {
	if k.pieces != nil {
		p := k.pieceAt(at)
		s := p.standing
		if s.raw == nil {
			s.raw = k.lineAt(at)
		}
		return s
	}
	s := standing{raw: k.lineAt(at), column: 1, offset: k.base + int64(at)}
	if k.stream != nil {
		before := k.bytes(0, at)
		s.line = k.line + int64(bytes.Count(before, []byte{'\n'}))
		s.offset += k.away + k.stream.Wider(before)
	}
	return s
}

// lineAt is the line that begins at a place in the chunk's bytes.
func (k *chunk) lineAt(at int) []byte {
	b := (*k.store.mem)[text.Slack+at:]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	return b
}

// place finds what is meant by spot, a place in a record, or where that is -1 the value at a path. s is
// the record; h is the file, for one whose lines have to be counted.
func (r *reader) place(s standing, in *input, spot int, path []step) (p connectors.Place, err error) {
	p = connectors.Place{File: in.Path}
	if spot < 0 {
		spot = 0
		if path != nil {
			var end int
			spot, end = find(s.raw, path)
			p.Value = value(s.raw[spot:end])
		}
	}
	if p.Line = s.line; p.Line == 0 {
		if p.Line, err = r.lines.At(r.file.File, in.Path, in.Bytes, s.offset); err != nil {
			return p, err
		}
	}
	before := s.raw[:spot]
	p.Line += int64(bytes.Count(before, []byte{'\n'}))
	p.Column = s.column + int64(spot)
	if i := lastLine(before); i > 0 {
		p.Column = int64(spot-i) + 1
	}
	return p, nil
}

// located makes a fault of the chunk an error with line and column.
func (r *reader) located(f *fault) error {
	spot := f.spot
	if spot >= 0 {
		spot -= f.at
	}
	path := f.path
	if path == nil && f.col >= 0 {
		path = r.src.paths[f.col]
	}
	p, err := r.place(r.standing(f), &r.src.Files[f.file-1], spot, path)
	if err != nil {
		return errors.Join(err, fmt.Errorf("looking for the place of: %s", f.message))
	}
	return f.placed(p)
}

// standing is the record that a fault is of.
func (r *reader) standing(f *fault) standing {
	if f.alone != nil {
		return *f.alone
	}
	return r.chunk.standing(f.at)
}

// value is a value to show: of a string its text.
func value(raw []byte) string {
	if len(raw) >= 2 && raw[0] == '"' {
		if text, half := appendUnescaped(nil, raw[1:len(raw)-1]); !half {
			raw = text
		}
	}
	return string(raw)
}

// find is where the value of a path stands in a record whose syntax is right. What is not there is
// the last value on the way that is.
func find(raw []byte, path []step) (start, end int) {
	for n := len(path); n > 0; n-- {
		var k chunk
		k.wants(Columns{{}}, [][]step{path[:n]}, []int{0}, true)
		k.whole = true
		k.begin(&k.alt, k.copies(bytes.ReplaceAll(raw, []byte{'\n'}, []byte{' '})), 0)
		i := k.blanks(0)
		k.begins()
		if k.record(i) < 0 {
			return 0, 0
		}
		if s, e := int(k.spans[0])+1, int(k.spans[1]); e > s {
			return s, e
		}
	}
	return 0, 0
}

// Locate finds a row again.
func (r *reader) Locate(ctx context.Context, o operators.Origin, row int64, field string) (connectors.Place, error) {
	if o.File < 1 || o.File > int64(len(r.src.Files)) {
		return connectors.Place{}, fmt.Errorf("no file has number %d", o.File)
	}
	in := &r.src.Files[o.File-1]
	p := connectors.Place{File: in.Path}
	s, err := r.seek(ctx, in, o, row)
	if err != nil {
		return p, err
	}
	var path []step
	if col := r.src.Schema().Index(field); col >= 0 {
		path = r.src.paths[col]
	}
	if p, err = r.place(s, in, -1, path); path == nil {
		p.Column = 0
	}
	return p, err
}

// seek reads records from an origin on up to a row.
func (r *reader) seek(ctx context.Context, in *input, o operators.Origin, row int64) (s standing, err error) {
	if in.Only != nil {
		return r.seekListed(ctx, in, o, row)
	}
	t, err := openInOrder(r.src, in, o.Offset)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	var k chunk
	k.wants(r.src.Columns, r.src.paths, r.set.Used(), r.src.Last)
	for left := int(o.Row + row); ; {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		more, err := t.load(&k, o.File, r.src.Skip)
		if err != nil {
			return s, err
		}
		if left < k.records {
			return k.standing(int(k.starts[left])), nil
		}
		if !more || k.fault != nil {
			return s, fmt.Errorf("%s has no row %d behind byte %d", in.Path, row, o.Offset)
		}
		left -= k.records
	}
}

// Order is where the record stands.
func (f *fault) Order() [2]int64 { return [2]int64{f.file, f.record} }

// Advice gives what cures it, once.
func (f *fault) Advice() func() string {
	a := f.advice
	f.advice = nil
	return a
}

// rejected books rows that are left out.
func (r *reader) rejected(bad []*fault) error {
	return text.Leave(&r.Reading, r.tally(r.cur), bad, r.reject)
}

// reject is what a fault's record is handed out as.
func (r *reader) reject(f *fault) (x connectors.Reject, err error) {
	var d *connectors.DataError
	if err := r.located(f); !errors.As(err, &d) {
		return x, err
	}
	s := r.standing(f)
	x = connectors.Reject{
		Class: d.Kind, Message: d.Message, File: d.File, Line: d.Line, Column: d.Column, Field: d.Field, Value: d.Value,
		Order: d.Order, Offset: s.offset,
	}
	if r.Wanted {
		x.Raw = text.Plain(text.WithoutEnd(append(bytes.Clone(s.raw), '\n')))
	}
	return x, nil
}
