package csv

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A rowsOfChunk is the records of a chunk from a row on, of a file whose columns stand in places.
type rowsOfChunk struct {
	*chunk
	from   int
	places []int
}

// Layout says where the fields of a column are.
func (r rowsOfChunk) Layout(col int) columntext.Layout { return r.layout(r.from, r.places[col]) }

// Unfit finds nothing: any field may be looked at.
func (r rowsOfChunk) Unfit(_ int, sel []int32) int { return len(sel) }

// batch parses rows of the chunk. The first fault in file order is given.
func (r *reader) batch(from, rows int) (b operators.Batch, bad *fault, err error) {
	p := r.set.Parse(rows, rowsOfChunk{&r.chunk, from, r.cur.in.Places}, r.src.Skip)
	defer r.set.Drop()
	if p.Fault != nil {
		return b, r.faulty(p.Fault, from), nil
	}
	t := r.tally(r.cur)
	t.Rows += int64(rows)
	t.Read += int64(rows)
	t.Filtered += int64(p.Filtered)
	if len(p.Left) > 0 {
		left := make([]*fault, len(p.Left))
		for i := range p.Left {
			left[i] = r.faulty(&p.Left[i], from)
			left[i].text = r.chunk.keptOf(from + int(p.Left[i].Row))
		}
		if err := r.rejected(left); err != nil {
			return b, nil, err
		}
	}
	return r.set.Batch(p, rows, operators.Origin{File: r.cur.file, Offset: r.chunk.offset(from)}), nil, nil
}

// faulty is the fault of a row of the batch that begins with a row of the chunk.
func (r *reader) faulty(b *columntext.Bad, from int) *fault {
	var f *fault
	if b.Col >= 0 {
		f = r.flawed(b.Col, b.Flaw)
	} else {
		f = &fault{kind: "EvaluationError", message: "the filter failed: " + b.Err.Error(), spot: -1, place: -1, cause: b.Err}
		var e *expr.EvalError
		if errors.As(b.Err, &e) {
			f.kind, f.message, f.field, f.value = e.Kind, e.Error(), e.Field, e.Value
			if i := r.src.Schema().Index(e.Field); i >= 0 {
				f.place = r.cur.in.Places[i]
			}
		}
	}
	f.file, f.record, f.row = r.cur.file, r.chunk.offset(from+int(b.Row)), b.Row
	return f
}

// flawed is the fault of a column's field.
func (r *reader) flawed(i int, f *columntext.Flaw) *fault {
	c := r.src.Columns[i]
	var out *fault
	switch {
	case f.Null:
		out = nullFault(c, f.Value)
	case f.UTF8:
		out = textFault(c, f.Value, f.At)
	default:
		out = castFault(c, f.Value, f.Status)
		if p := r.set.Column(i).Format; p != nil && f.Status == expr.Malformed {
			out.message = fmt.Sprintf("column %s: cannot cast '%s' to %s: expected %s", c.Name, shorten(f.Value), c.Type.Nullable(true), p)
		}
		if m := r.set.Column(i).Marks; m != (columntext.Marks{}) && f.Status == expr.Malformed {
			out.message += m.Said()
		}
		if f.Lossy {
			out.message = fmt.Sprintf("column %s: '%s' would not stay what it is as %s", c.Name, shorten(f.Value), c.Type)
		}
		out.advice = func() string { return r.src.hint(c, r.set.Column(i).Style, f) }
	}
	out.place = r.cur.in.Places[i]
	return out
}

// Locate finds a row again.
func (r *reader) Locate(ctx context.Context, o operators.Origin, row int64, field string) (connectors.Place, error) {
	if o.File < 1 || o.File > int64(len(r.src.Files)) {
		return connectors.Place{}, fmt.Errorf("no file has number %d", o.File)
	}
	in := &r.src.Files[o.File-1]
	if in.InOrder != "" {
		return r.findInOrder(ctx, in, o, row, field)
	}
	h, err := r.src.fs.Open(in.Abs)
	if err != nil {
		return connectors.Place{File: in.Path}, files.ReadFailure(err, in.Path, "cannot open "+in.Path)
	}
	p, err := r.find(ctx, h, in, o, row, field)
	return p, errors.Join(err, h.Close())
}

func (r *reader) find(ctx context.Context, h files.ReadFile, in *input, o operators.Origin, row int64, field string) (connectors.Place, error) {
	none := connectors.Place{File: in.Path}
	rr := &recordReader{file: h, path: in.Path, size: in.Bytes, delimiter: r.src.Delimiter, pos: o.Offset}
	at, err := int64(0), error(nil)
	if in.Only != nil {
		at, err = r.findListed(ctx, in, o, row)
	} else {
		at, err = r.seek(ctx, in, o, row, rr.next)
	}
	if err != nil {
		return none, err
	}
	k := r.fieldPlace(in, field)
	p, begins, err := place(h, in, &r.src.bound, at, k)
	if err != nil {
		return none, err
	}
	p.Line, err = text.LineAt(h, in.Path, in.Bytes, begins)
	return p, err
}

// seek reads records from an origin on up to a row, and gives the offset of its record.
func (r *reader) seek(ctx context.Context, in *input, o operators.Origin, row int64, next func() (record, []byte, int64, error)) (int64, error) {
	at := o.Offset
	for left := o.Row + row; left >= 0; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		rec, raw, offset, err := next()
		if err != nil {
			return 0, err
		}
		if raw == nil || rec.verdict != whole {
			of := ""
			if in.InOrder != "" {
				of = " of its text"
			}
			return 0, fmt.Errorf("%s has no row %d after byte %d%s", in.Path, row, o.Offset, of)
		}
		if r.src.judge(rec, in.Fields) != take {
			continue
		}
		at = offset
		left--
	}
	return at, nil
}

// fieldPlace is where a column of the schema stands in a file's records, -1 for none of that name.
func (r *reader) fieldPlace(in *input, field string) int {
	if i := r.src.Schema().Index(field); i >= 0 {
		return in.Places[i]
	}
	return -1
}

// findInOrder finds a row of a file that is read in order.
func (r *reader) findInOrder(ctx context.Context, in *input, o operators.Origin, row int64, field string) (_ connectors.Place, err error) {
	none := connectors.Place{File: in.Path}
	s, err := openStream(r.src.fs, in, r.src.Dialect)
	if err != nil {
		return none, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if in.Only != nil {
		at, err := r.findListed(ctx, in, o, row)
		if err != nil {
			return none, err
		}
		return streamPlace(r.src.fs, in, &r.src.bound, at, -1, r.fieldPlace(in, field))
	}
	if err := s.SkipTo(o.Offset); err != nil {
		return none, err
	}
	at, err := r.seek(ctx, in, o, row, func() (record, []byte, int64, error) {
		rec, raw, offset, _, err := s.next()
		return rec, raw, offset, err
	})
	if err != nil {
		return none, err
	}
	k := r.fieldPlace(in, field)
	return streamPlace(r.src.fs, in, &r.src.bound, at, -1, k)
}

// Snapshot is what was not read. A split that was begun goes on at the next record.
func (r *reader) Snapshot() ([]connectors.Split, error) {
	c := r.cur
	if c == nil {
		return r.Unread()
	}
	st := text.State{File: c.file, Start: c.start, End: c.end, Pos: c.pos, Ends: uint8(c.ends), Read: int64(c.read)}
	switch {
	case c.in.Only != nil:
		var err error
		if st.Pos, err = r.unread(c); err != nil {
			return nil, err
		}
	case r.next < r.chunk.records:
		st.Pos = r.chunk.offset(r.next)
	}
	return r.Unread(st)
}

// TryCasts is for how many rows a TRY_CAST of the filter gave NULL.
func (r *reader) TryCasts() []expr.TryCast {
	if r.set == nil {
		return nil
	}
	return r.set.TryCasts()
}

// Close frees what is held.
func (r *reader) Close() error {
	if r.set != nil { // one that only finds records again has none
		r.set.Release()
	}
	return errors.Join(r.closeStream(), r.file.Close(), r.list.Close())
}
