package json

import (
	"context"
	"errors"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

const (
	defaultRead = 512 << 10
	// lookahead is how much of the next split is read along with the end of one, for the record that
	// begins before the end.
	lookahead = 4 << 10
)

// A cursor is a split being read. A record belongs to the split that its line begins in.
type cursor struct {
	in         *input
	file       int64 // place in the list, from 1
	start, end int64
	pos        int64 // where the next line begins
	read       int
	tallied    int64
	next, upto int // of single records, those to read
}

// A reader reads splits one after the other.
type reader struct {
	text.Reading
	src *source
	cur *cursor

	file text.Opened
	win  text.Window
	text *inOrder // of a file that is read in order
	list text.Lister

	chunk   chunk
	next    int    // first row of the chunk that was not given out
	pending *fault // of the row behind the last one given out

	set   *columntext.Set
	lines text.LineCounter
}

func newReader(s *source, t *operators.Task) (*reader, error) {
	r := &reader{src: s, Reading: text.Reading{Name: "json", Version: stateVersion, Wanted: s.rejects, Tallies: connectors.Tallies{}}}
	for _, f := range s.Files {
		r.Paths = append(r.Paths, f.Path)
	}
	nulls := columntext.NewNullTokens([]string{""})
	var err error
	r.set, err = columntext.NewSet(s.Schema().Fields, s.columns, s.where, s.CheckAll, func(i int) *columntext.Column {
		return s.column(i, nulls, t.Alloc)
	})
	if err != nil {
		return nil, err
	}
	r.chunk.wants(s.Columns, s.paths, r.set.Used(), s.Last)
	return r, nil
}

// wants makes the chunk look for the used columns.
func (k *chunk) wants(columns Columns, paths [][]step, used []int, last bool) {
	k.root, k.width, k.last = newTree(columns, paths, used), len(used), last
	k.used, k.slips = used, make([][]slip, len(used))
	k.place = make([]int, len(columns))
	for n, i := range used {
		k.place[i] = n
	}
}

// Next gives the next batch.
func (r *reader) Next(ctx context.Context) (operators.Batch, connectors.Status, error) {
	return r.Batch(ctx, func() bool { return r.cur != nil }, r.start, r.step)
}

// start opens a split.
func (r *reader) start(st text.State) error {
	in := &r.src.Files[st.File-1]
	c := &cursor{in: in, file: st.File, start: st.Start, end: st.End, pos: max(st.Pos, st.Start), tallied: st.Start, read: defaultRead}
	if st.Read > 0 {
		c.read = int(st.Read)
	}
	r.tally(c)
	r.chunk.records, r.next, r.chunk.fault = 0, 0, nil
	var err error
	if in.Only != nil {
		c.tallied = c.end
		err = errors.Join(r.closeText(), r.startListed(c, st))
		r.cur = c
		return err
	}
	if in.InOrder != "" {
		if err = r.closeText(); err == nil {
			r.text, err = openInOrder(r.src, in, st.Pos)
		}
	} else if err = r.turn(st.File, in); err == nil && st.Pos == 0 {
		err = r.begin(c)
	}
	if err != nil {
		return err
	}
	switch {
	case in.InOrder != "":
	case st.Pos > 0: // the reader before has booked them
		c.tallied = min(c.pos, c.end)
	default:
		r.account(c, min(c.pos, c.end))
	}
	r.cur = c
	return nil
}

// begin finds the first line that begins in a split.
func (r *reader) begin(c *cursor) (err error) {
	if c.start > c.in.Data {
		c.pos, err = r.win.NextLine(c.start, c.end, c.read)
		return err
	}
	c.pos = min(c.in.Data, c.end)
	return nil
}

// turn opens a file unless it is open.
func (r *reader) turn(number int64, in *input) error {
	fresh, err := r.file.Turn(r.src.fs, number, in.Abs, in.Path, in.Bytes, in.Time)
	if fresh {
		r.win.Open(r.file.File, in.Path, in.Bytes)
	}
	return err
}

func (r *reader) closeText() error {
	if r.text == nil {
		return nil
	}
	t := r.text
	r.text = nil
	return t.Close()
}

// step gives the next batch of the split, or moves on without one.
func (r *reader) step() (b operators.Batch, err error) {
	c := r.cur
	if r.pending != nil {
		return b, r.report(r.pending)
	}
	if r.next < r.chunk.records {
		n := min(r.chunk.records-r.next, maxRows)
		b, f, err := r.batch(r.next, n)
		if f != nil && f.row > 0 {
			// The rows before the fault go on first: an operator may find one of them at fault.
			r.pending = f
			n = int(f.row)
			b, f, err = r.batch(r.next, n)
		}
		r.next += n
		if f != nil {
			err = r.report(f)
		}
		return b, err
	}
	if r.chunk.fault != nil {
		return b, r.report(r.chunk.fault)
	}
	r.next = 0
	more, err := r.load(c)
	if err != nil {
		return b, err
	}
	if more {
		return b, r.spoil(c)
	}
	r.cur, r.chunk.records = nil, 0
	return b, errors.Join(r.closeText(), r.unchanged(c.in))
}

// unchanged is an error where a file is not the one that was bound.
func (r *reader) unchanged(in *input) error {
	return files.Unchanged(r.src.fs, in.Abs, in.Path, in.Bytes, in.Time)
}

// load reads the next records of the split into the chunk; more is false at its end.
func (r *reader) load(c *cursor) (more bool, err error) {
	if c.in.Only != nil {
		return r.loadListed(c)
	}
	if r.text != nil {
		more, err = r.text.load(&r.chunk, c.file, r.src.Skip)
		var d *connectors.DataError
		if errors.As(err, &d) {
			d.Order = [2]int64{c.file, r.text.Base}
		}
		c.pos = r.chunk.end
		if err == nil && !more {
			r.account(c, c.end)
		}
		return more, err
	}
	if c.pos >= c.end || c.pos >= c.in.Bytes {
		return false, nil
	}
	for want := int(min(int64(c.read), c.end-c.pos+lookahead)); ; want = min(want*2+text.Slack, text.MaxRecord) {
		if err := r.win.Fill(c.pos, want); err != nil {
			return false, err
		}
		data := r.win.Ended()
		limit := lastLine(data)
		r.chunk.begin(&r.win.Store, len(data), r.win.Base)
		if limit == 0 && want >= text.MaxRecord {
			r.chunk.fault = tooLong(c.pos)
			r.chunk.fault.file, r.chunk.fault.alone = c.file, &standing{column: 1, offset: c.pos}
			return true, nil
		}
		if limit > 0 {
			r.chunk.cut(int(min(int64(limit), c.end-c.pos)), limit, c.file, r.src.Skip)
			c.pos = min(r.chunk.end, c.in.Bytes)
			r.account(c, min(c.pos, c.end))
			return true, nil
		}
	}
}

// account books the bytes of the split that are done.
func (r *reader) account(c *cursor, done int64) {
	if done > c.tallied {
		r.tally(c).Bytes += done - c.tallied
		c.tallied = done
	}
}

// spoil books the records that were left out.
func (r *reader) spoil(c *cursor) error {
	n := int64(len(r.chunk.bad))
	if n == 0 {
		return nil
	}
	t := r.tally(c)
	t.Rows += n
	t.Read += n
	return r.rejected(r.chunk.bad)
}

// tally is the books of the cursor's file.
func (r *reader) tally(c *cursor) *connectors.Tally {
	return r.Tallies.Of(c.file, c.in.Path)
}

// batch parses rows of the chunk.
func (r *reader) batch(from, rows int) (b operators.Batch, bad *fault, err error) {
	r.chunk.from = from
	p := r.set.Parse(rows, &r.chunk, r.src.Skip)
	defer r.set.Drop()
	if p.Fault != nil {
		return b, r.faulty(p.Fault, from), nil
	}
	t := r.tally(r.cur)
	t.Rows += int64(rows)
	t.Read += int64(rows)
	t.Filtered += int64(p.Filtered)
	if len(p.Left) > 0 {
		var left []*fault
		for i := range p.Left {
			left = append(left, r.faulty(&p.Left[i], from))
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
		var x *slip
		if b.Flaw.Unfit {
			x = r.chunk.slipOf(b.Col, b.Row)
		}
		f = r.src.Columns[b.Col].flawed(b.Flaw, x, b.Col, r.set.Column(b.Col).Format)
		col, flaw := b.Col, b.Flaw
		f.advice = func() string { return r.src.hint(r.src.Columns[col].Field, r.set.Column(col).Style, flaw) }
	} else {
		f = &fault{kind: "EvaluationError", message: "the filter failed: " + b.Err.Error(), spot: -1, col: -1, cause: b.Err}
		var e *expr.EvalError
		if errors.As(b.Err, &e) {
			f.kind, f.message, f.field, f.value = e.Kind, e.Error(), e.Field, e.Value
			f.col = r.src.Schema().Index(e.Field)
		}
	}
	f.at = int(r.chunk.starts[from+int(b.Row)])
	f.file, f.record, f.row = r.cur.file, r.chunk.offsetAt(f.at), b.Row
	return f
}

// report makes a fault an error with line and column. Damage shows at the end of compressed data, and is
// the reason for what is wrong before.
func (r *reader) report(f *fault) error {
	if r.text != nil {
		if err := r.text.Drain(); err != nil {
			return err
		}
	}
	return r.located(f)
}

// Snapshot is what was not read. A split that was begun goes on at the next record.
func (r *reader) Snapshot() ([]connectors.Split, error) {
	c := r.cur
	if c == nil {
		return r.Unread()
	}
	st := text.State{File: c.file, Start: c.start, End: c.end, Pos: c.pos, Read: int64(c.read)}
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
func (r *reader) TryCasts() []expr.TryCast { return r.set.TryCasts() }

// Close frees what is held.
func (r *reader) Close() error {
	r.set.Release()
	return errors.Join(r.closeText(), r.file.Close(), r.list.Close())
}
