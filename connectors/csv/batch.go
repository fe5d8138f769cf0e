package csv

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// compile builds the filter over a schema of just the columns it reads.
func (r *reader) compile() error {
	place := map[int]int{}
	var in expr.Schema
	for _, i := range r.first {
		place[i] = len(in.Fields)
		in.Fields = append(in.Fields, r.src.Columns[i])
	}
	e := expr.Rewrite(r.src.where, func(n *expr.Expr) *expr.Expr {
		if n.Op == expr.OpColumn {
			n.Col = place[n.Col]
		}
		return n
	})
	p, err := expr.Compile(e, in)
	if err != nil {
		return fmt.Errorf("compiling the filter of a csv source: %w", err)
	}
	r.where = p
	return nil
}

// batch parses rows of the chunk. The first fault in file order is given: within a record the
// columns of the filter come first, then the filter, then the other columns.
func (r *reader) batch(from, rows int) (b operators.Batch, bad *fault, err error) {
	for i := len(r.idents); i < rows; i++ {
		r.idents = append(r.idents, int32(i))
	}
	sel := r.idents[:rows]
	fail := func(f *fault, row int32) {
		f.file, f.record, f.row = r.cur.file, r.chunk.offset(from+int(row)), row
		bad = f
	}
	r.bad = r.bad[:0]
	for _, i := range r.first {
		f := r.column(i, from, rows, sel)
		if f != nil && r.src.Skip {
			sel, f = r.weed(i, from, rows, sel, f)
		}
		if f != nil {
			fail(r.flawed(i, f), f.Row)
			sel = sel[:sort.Search(len(sel), func(k int) bool { return sel[k] >= f.Row })]
		}
	}
	filtered := len(sel)
	if r.where != nil {
		sel = r.filter(rows, sel, fail)
	}
	filtered -= len(sel)
	for _, i := range r.rest {
		f := r.column(i, from, rows, sel)
		if f != nil && r.src.Skip {
			sel, f = r.weed(i, from, rows, sel, f)
		}
		if f != nil {
			fail(r.flawed(i, f), f.Row)
			sel = sel[:sort.Search(len(sel), func(k int) bool { return sel[k] >= f.Row })]
		}
	}
	defer r.drop()
	if bad != nil {
		return b, bad, nil
	}
	t := r.tally(r.cur)
	t.Rows += int64(rows)
	t.Read += int64(rows)
	t.Filtered += int64(filtered)
	if len(r.bad) > 0 {
		if err := r.rejected(r.bad); err != nil {
			return b, nil, err
		}
	}
	passed := sel
	switch {
	case len(sel) == rows:
		passed = nil
	case len(sel) == 0:
		return b, nil, nil
	}
	rec, dicts := r.record(rows)
	return operators.Batch{
		Rec: rec, Sel: passed, Dict: dicts,
		From: operators.Origin{File: r.cur.file, Offset: r.chunk.offset(from)},
	}, nil, nil
}

// column parses one column of rows of the chunk.
func (r *reader) column(i, from, rows int, sel []int32) *columntext.Flaw {
	c := r.cols[i]
	c.Fields.Set(r.chunk.layout(from, r.cur.in.Places[i]))
	arr, dict, bad := c.Parse(rows, sel)
	r.arrs[i], r.dicts[i] = arr, dict
	return bad
}

// filter gives the rows of sel that pass. A row on which the filter fails is the last one looked at:
// rows before it may fail too, so it is asked again about them.
func (r *reader) filter(rows int, sel []int32, fail func(*fault, int32)) []int32 {
	cols := make([]arrow.Array, len(r.first))
	dicts := make([]uint64, len(r.first))
	fields := make([]arrow.Field, len(r.first))
	for k, i := range r.first {
		cols[k], dicts[k] = r.arrs[i], r.dicts[i]
		fields[k] = arrow.Field{Name: r.src.Columns[i].Name, Type: cols[k].DataType(), Nullable: true}
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows))
	defer rec.Release()
	for {
		in := sel
		if len(in) == rows {
			in = nil
		}
		out, err := r.where.Select(rec, dicts, in, r.sel)
		if err == nil {
			r.sel = out
			return out
		}
		f := &fault{kind: "EvaluationError", message: "the filter failed: " + err.Error(), spot: -1, place: -1, cause: err}
		row := int32(0)
		var e *expr.EvalError
		if errors.As(err, &e) && e.Row >= 0 && e.Row < rows {
			row = int32(e.Row)
			f.kind, f.message, f.field, f.value = e.Kind, e.Error(), e.Field, e.Value
			if i := r.src.Schema().Index(e.Field); i >= 0 {
				f.place = r.cur.in.Places[i]
			}
		}
		fail(f, row)
		if sel = sel[:sort.Search(len(sel), func(k int) bool { return sel[k] >= row })]; len(sel) == 0 {
			return sel
		}
	}
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
		if p := r.cols[i].Format; p != nil && f.Status == expr.Malformed {
			out.message = fmt.Sprintf("column %s: cannot cast '%s' to %s: expected %s", c.Name, shorten(f.Value), c.Type.Nullable(true), p)
		}
		if m := r.cols[i].Marks; m != (columntext.Marks{}) && f.Status == expr.Malformed {
			out.message += m.Said()
		}
		if f.Lossy {
			out.message = fmt.Sprintf("column %s: '%s' would not stay what it is as %s", c.Name, shorten(f.Value), c.Type)
		}
		out.message += r.src.hint(c, r.cols[i].Style, f)
	}
	out.place = r.cur.in.Places[i]
	return out
}

// record puts the wanted columns together.
func (r *reader) record(rows int) (arrow.Record, []uint64) {
	cols := make([]arrow.Array, len(r.src.columns))
	var dicts []uint64
	coded := uint64(0)
	for k, i := range r.src.columns {
		cols[k] = r.arrs[i]
		if r.dicts[i] == 0 {
			continue
		}
		if dicts == nil {
			dicts = make([]uint64, len(cols))
		}
		dicts[k] = r.dicts[i]
		coded |= 1 << (k & 63)
	}
	s := r.schemas[coded]
	if s == nil || len(cols) > 64 {
		f := make([]arrow.Field, len(cols))
		for k, i := range r.src.columns {
			c := r.src.Columns[i]
			f[k] = arrow.Field{Name: c.Name, Type: cols[k].DataType(), Nullable: !c.Type.NotNull}
		}
		s = arrow.NewSchema(f, nil)
		r.schemas[coded] = s
	}
	return array.NewRecord(s, cols, int64(rows)), dicts
}

// drop releases the arrays of the batch; a record has its own references.
func (r *reader) drop() {
	for i, a := range r.arrs {
		if a != nil {
			a.Release()
			r.arrs[i] = nil
		}
	}
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

// Wake is never signalled: there is always something to read or nothing left.
func (r *reader) Wake() <-chan struct{} { return nil }

// Snapshot is what was not read. A split that was begun goes on at the next record.
func (r *reader) Snapshot() ([]connectors.Split, error) {
	var out []connectors.Split
	add := func(st splitState) error {
		s, err := newSplit(r.src.Files[st.File-1], st)
		out = append(out, s)
		return err
	}
	if c := r.cur; c != nil {
		st := splitState{File: c.file, Start: c.start, End: c.end, Pos: c.pos, Ends: c.ends, Read: int64(c.read)}
		switch {
		case c.in.Only != nil:
			st.Pos = r.unread(c)
		case r.next < r.chunk.records:
			st.Pos = r.chunk.offset(r.next)
		}
		if err := add(st); err != nil {
			return nil, err
		}
	}
	for _, st := range r.queue {
		if err := add(st); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Tally is the books, by file.
func (r *reader) Tally() []connectors.Tally {
	var out []connectors.Tally
	for i := range r.src.Files {
		if t := r.tallies[int64(i)+1]; t != nil {
			out = append(out, *t)
		}
	}
	return out
}

// Close frees what is held.
func (r *reader) Close() error {
	r.drop()
	for _, c := range r.cols {
		if c != nil {
			c.Release()
		}
	}
	err := r.closeStream()
	if r.file == nil {
		return err
	}
	err = errors.Join(err, r.file.Close())
	r.file, r.open = nil, 0
	return err
}
