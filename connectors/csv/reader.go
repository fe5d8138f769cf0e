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
)

// maxRows is the most rows of a batch.
const maxRows = 64 << 10

// A reader reads splits one after the other.
type reader struct {
	text.Reading
	src *source
	cur *cursor

	file  text.Opened
	win   window
	probe prober
	text  *stream // of a file that is read in order
	// single reads the single records of a file that may be cut.
	single *recordReader
	list   text.Lister

	chunk   chunk
	next    int    // first row of the chunk that was not given out
	pending *fault // of the row after the last one given out

	set   *columntext.Set
	lines text.LineCounter
}

func newReader(s *source, t *operators.Task) (*reader, error) {
	r := &reader{src: s, Reading: text.Reading{Name: "csv", Version: stateVersion, Wanted: s.rejects, Tallies: connectors.Tallies{}}}
	for _, f := range s.Files {
		r.Paths = append(r.Paths, f.Path)
	}
	r.win.scan, r.win.delimiter, r.win.bound = s.scan, s.Delimiter, &s.bound
	r.probe.w.scan, r.probe.w.delimiter, r.probe.reach = s.scan, s.Delimiter, s.reach
	nulls := columntext.NewNullTokens(s.Nulls)
	var err error
	r.set, err = columntext.NewSet(s.Columns, s.columns, s.where, s.CheckAll, func(i int) *columntext.Column {
		return s.column(i, nulls, t.Alloc)
	})
	return r, err
}

// Next gives the next batch.
func (r *reader) Next(ctx context.Context) (operators.Batch, connectors.Status, error) {
	return r.Batch(ctx, func() bool { return r.cur != nil }, r.start, func() (operators.Batch, error) {
		b, f, err := r.step()
		if f != nil {
			err = r.report(f)
		}
		return b, err
	})
}

// start opens a split.
func (r *reader) start(st text.State) error {
	in := &r.src.Files[st.File-1]
	c := &cursor{in: in, file: st.File, start: st.Start, end: st.End, tallied: st.Start, read: defaultRead}
	if st.Read > 0 {
		c.read = int(st.Read)
	}
	r.tally(c)
	if in.Only != nil {
		return r.startListed(c, st)
	}
	if in.InOrder != "" {
		return r.startInOrder(c, st)
	}
	if err := r.turn(st.File, in); err != nil {
		return err
	}
	r.chunk.records, r.next, r.chunk.fault = 0, 0, nil
	r.cur = c
	if st.Pos > 0 {
		c.resumed, c.pos, c.ends, c.tallied = true, st.Pos, sit(st.Ends), min(st.Pos, c.end)
		return nil
	}
	begins, err := r.probe.ask(c.file, c.start, in)
	if err != nil {
		return err
	}
	c.begins = begins
	return r.win.begin(c)
}

// startInOrder opens the one split of a file that is read in order.
func (r *reader) startInOrder(c *cursor, st text.State) error {
	if err := r.closeStream(); err != nil {
		return err
	}
	s, err := openStream(r.src.fs, c.in, r.src.Dialect)
	if err != nil {
		return err
	}
	r.text = s
	r.chunk.records, r.next, r.chunk.fault = 0, 0, nil
	c.pos = max(st.Pos, c.in.Data)
	if err := s.SkipTo(c.pos); err != nil {
		return err
	}
	r.cur = c
	return nil
}

func (r *reader) closeStream() error {
	if r.text == nil {
		return nil
	}
	s := r.text
	r.text = nil
	return s.Close()
}

// stepInOrder reads the next records of a file that is read in order; at its end the split is done.
func (r *reader) stepInOrder(c *cursor) error {
	more, err := r.text.load(c, &r.src.bound, &r.chunk)
	r.next = 0
	if err != nil {
		var d *connectors.DataError
		if errors.As(err, &d) {
			d.Order = [2]int64{c.file, r.text.Base}
		}
		return err
	}
	c.pos = r.chunk.end
	if err := r.spoil(c); err != nil || more {
		return err
	}
	r.tally(c).Bytes += c.end - c.start
	return r.done(c)
}

// done leaves a split that was read to its end, if its file is still the one that was bound.
func (r *reader) done(c *cursor) error {
	r.cur, r.chunk.records = nil, 0
	return errors.Join(r.closeStream(), r.unchanged(c.in))
}

func (r *reader) unchanged(in *input) error {
	return files.Unchanged(r.src.fs, in.Abs, in.Path, in.Bytes, in.Time)
}

// spoil books the records that were left out or made to fit.
func (r *reader) spoil(c *cursor) error {
	t := r.tally(c)
	t.Padded += r.chunk.padded
	n := int64(len(r.chunk.rejected))
	if n == 0 {
		return nil
	}
	t.Rows += n
	t.Read += n
	return r.rejected(r.chunk.rejected)
}

// turn opens a file unless it is open.
func (r *reader) turn(number int64, in *input) error {
	fresh, err := r.file.Turn(r.src.fs, number, in.Abs, in.Path, in.Bytes, in.Time)
	if err != nil || !fresh {
		return err
	}
	h := r.file.File
	r.win.Open(h, in.Path, in.Bytes)
	r.probe.w.Open(h, in.Path, in.Bytes)
	return nil
}

// step gives the next batch of the split, or moves on without one.
func (r *reader) step() (b operators.Batch, f *fault, err error) {
	c := r.cur
	if r.pending != nil {
		return b, r.pending, nil
	}
	if r.next < r.chunk.records {
		n := min(r.chunk.records-r.next, maxRows)
		if b, f, err = r.batch(r.next, n); f != nil && f.row > 0 {
			// The rows before the fault go on first: an operator may find one of them at fault.
			r.pending = f
			n = int(f.row)
			b, f, err = r.batch(r.next, n)
		}
		r.next += n
		return b, f, err
	}
	if r.chunk.fault != nil {
		return b, r.chunk.fault, nil
	}
	if c.in.Only != nil {
		return b, nil, r.stepListed(c)
	}
	if r.text != nil {
		return b, nil, r.stepInOrder(c)
	}
	more, err := r.win.load(c, &r.chunk)
	r.next = 0
	if err != nil {
		return b, nil, err
	}
	r.account(c)
	if more {
		return b, nil, r.spoil(c)
	}
	if c.doomed {
		f, err := r.misled(c)
		return b, f, err
	}
	if err := r.done(c); err != nil {
		return b, nil, err
	}
	return b, nil, r.verify(c)
}

// verify compares what is known about the end of a split with what the reader of the next one takes
// it for.
func (r *reader) verify(c *cursor) error {
	if c.end >= c.in.Bytes || c.end <= c.in.Data {
		return nil
	}
	guess, err := r.probe.ask(c.file, c.end, c.in)
	if err != nil || guess == c.ends {
		return err
	}
	s, err := survey(&r.probe.w, c.in, c.in.Bytes)
	if err != nil {
		return err
	}
	if s.fault < 0 && s.sit != quoted {
		if s, err = survey(&r.probe.w, c.in, c.end); err != nil {
			return err
		}
		return ambiguous(c.in, c.file, s.record, c.end).locate(r.file.File, c.in, &r.src.bound)
	}
	// There is a fault further on. The next split's reader begins wrongly, so it is looked for here.
	return r.again(&cursor{in: c.in, file: c.file, start: c.end, end: c.in.Bytes, read: c.read, begins: c.ends})
}

// misled is the fault of a split that was read from a wrong beginning to the end of the file: the
// file's own one, wherever it is.
func (r *reader) misled(c *cursor) (*fault, error) {
	s, err := survey(&r.probe.w, c.in, c.in.Bytes)
	switch {
	case err != nil:
		return nil, err
	case s.fault >= 0 || s.sit == quoted:
		return r.broken(c, s.record)
	}
	return ambiguous(c.in, c.file, c.start, c.start), nil
}

// broken is the fault of the record at an offset whose quotes are wrong.
func (r *reader) broken(c *cursor, at int64) (*fault, error) {
	rr := &recordReader{file: r.file.File, path: c.in.Path, size: c.in.Bytes, delimiter: r.src.Delimiter, pos: at}
	rec, raw, offset, err := rr.next()
	if err != nil {
		return nil, err
	}
	return structural(rec, raw, offset, c.file, 0), nil
}

// report makes a fault an error, after making sure that it is one: a split that begins in the middle
// of a file was begun by what its own bytes say, and where the file has faults before it that may be
// wrong. Then the split is read again, and there is no error yet.
func (r *reader) report(f *fault) error {
	c := r.cur
	if r.text != nil {
		// Damage shows at the end of compressed data, and is the reason for what is wrong before.
		if err := r.text.Drain(); err != nil {
			return err
		}
		return r.located(f)
	}
	if c.start > c.in.Data && !c.resumed && !c.doomed {
		s, err := survey(&r.probe.w, c.in, c.start)
		if err != nil {
			return err
		}
		if s.fault >= 0 {
			if f, err = r.broken(c, s.record); err != nil {
				return err
			}
		} else if s.kind() != c.begins {
			return r.again(&cursor{in: c.in, file: c.file, start: c.start, end: c.in.Bytes, read: c.read, begins: s.kind()})
		}
	}
	return r.located(f)
}

// located makes a fault an error with line and column.
func (r *reader) located(f *fault) error {
	in := r.cur.in
	if r.text == nil {
		return f.locate(r.file.File, in, &r.src.bound)
	}
	p, err := streamPlace(r.src.fs, in, &r.src.bound, f.record, f.spot, f.place)
	if err != nil {
		return errors.Join(err, fmt.Errorf("looking for the place of: %s", f.message))
	}
	return f.at(in, p.Line, p.Column)
}

// again reads a part of the file from its true beginning on, up to the fault that the file has. Its
// rows are given out, for an operator may find one of them at fault before; the job fails in any case.
func (r *reader) again(c *cursor) error {
	c.doomed, c.tallied = true, c.end
	r.cur = c
	r.chunk.records, r.next, r.chunk.fault, r.pending = 0, 0, nil, nil
	return r.win.begin(c)
}

// tally is the books of the cursor's file.
func (r *reader) tally(c *cursor) *connectors.Tally {
	return r.Tallies.Of(c.file, c.in.Path)
}

// account books the bytes of the split that are done.
func (r *reader) account(c *cursor) {
	done := min(c.pos, c.end)
	if c.pos >= c.in.Bytes {
		done = c.end
	}
	if done > c.tallied {
		r.tally(c).Bytes += done - c.tallied
		c.tallied = done
	}
}
