package taskmanager

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// openSource makes the reader of a task that begins with a source.
func (t *task) openSource() error {
	m := t.members[0]
	c := t.tm.cfg.Catalogs.Connectors[m.desc.Component]
	if c == nil {
		return fmt.Errorf("this TaskManager has no source %s", m.desc.Component)
	}
	s, err := c.Open(m.desc.Source.State)
	if err != nil {
		return fmt.Errorf("opening source %s: %w", m.desc.Node, err)
	}
	push := m.desc.Source.Push
	if t.journals(s) {
		t.journal = &journal{dir: t.tm.cfg.RejectsDir}
		push.Rejects = true
	}
	left := s.Push(push)
	if left.Where != nil || left.Columns != nil {
		return fmt.Errorf("source %s does not take the filter and columns that the job graph gave it", m.desc.Node)
	}
	t.files = newFileNames(m.desc.Source)
	t.reader, err = s.Reader(t.operatorTask(m.desc))
	return m.failed(err)
}

// runSource reads splits until there are no more.
func (t *task) runSource() error {
	var queue []connectors.Split
	noMore := false
	for {
		status, err := t.readOn(t.ctx)
		if err != nil {
			return err
		}
		switch status {
		case connectors.More:
		case connectors.NeedSplit:
			if noMore {
				return nil
			}
			if queue, noMore, err = t.moreSplits(queue); err != nil {
				return err
			}
		case connectors.Idle:
			if err := t.waitFor(t.reader.Wake()); err != nil {
				return err
			}
		default:
			return nil
		}
		t.noteReading()
	}
}

// readOn takes what the reader has next: rows go down the chain, and what was left out to its port.
func (t *task) readOn(ctx context.Context) (connectors.Status, error) {
	m := t.members[0]
	b, status, err := t.reader.Next(ctx)
	if err != nil {
		return status, m.failed(err)
	}
	if err := t.leftOut(m); err != nil {
		if b.Rec != nil {
			b.Rec.Release()
		}
		return status, err
	}
	if status != connectors.More || b.Rec == nil {
		return status, nil
	}
	if err := t.fromSource(m, b); err != nil {
		return status, err
	}
	if t.sated(0) {
		t.skipping = true
	}
	return status, nil
}

// moreSplits asks for splits and hands them to the reader. done are those read since the last time.
func (t *task) moreSplits(done []connectors.Split) (given []connectors.Split, noMore bool, err error) {
	ids := make([]string, len(done))
	for i, s := range done {
		ids[i] = s.ID
	}
	t.tm.send(t.d.Task.Job, rpc.RequestSplit{Task: t.d.Task, Done: ids})
	t.idle.start(t.tm.cfg.Now())
	defer func() { t.idle.stop(t.tm.cfg.Now()) }()
	select {
	case <-t.ctx.Done():
		return nil, false, context.Cause(t.ctx)
	case a := <-t.splits:
		t.gotSplits.Add(int64(len(a.Splits)))
		if t.skipping {
			t.skip(a.Splits)
		} else {
			t.reader.Add(t.wanted(a.Splits))
		}
		return a.Splits, a.NoMore, nil
	}
}

// skip accounts for splits that nobody needs to read, since a limit below is full.
func (t *task) skip(splits []connectors.Split) {
	files := t.members[0].desc.Source.Inv.Files
	for _, s := range splits {
		if i := s.Order[0] - 1; i >= 0 && i < int64(len(files)) {
			t.skipped = append(t.skipped, connectors.Tally{File: files[i].Path, Rows: s.Rows, Unread: s.Rows, Bytes: s.Bytes, UnreadBytes: s.Bytes})
		}
	}
}

func (t *task) waitFor(wake <-chan struct{}) error {
	t.idle.start(t.tm.cfg.Now())
	defer func() { t.idle.stop(t.tm.cfg.Now()) }()
	select {
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	case <-wake:
		return nil
	}
}

// fromSource sends a batch down the chain. The batch is kept until it is through, so that a row that
// fails can be found again.
func (t *task) fromSource(m *member, b operators.Batch) error {
	m.out.Add(int64(b.Rows()))
	if t.files != nil {
		b = t.files.add(t.alloc, b)
	}
	defer b.Rec.Release()
	parts := cut(b, t.tm.cfg.BatchRows)
	defer func() {
		for _, part := range parts {
			part.Rec.Release()
		}
	}()
	for _, part := range parts {
		part.Rec.Retain()
		if err := t.give(0, part); err != nil {
			return t.atRow(part, err)
		}
	}
	return nil
}

// cut divides a batch into pieces of at most most rows, each with a reference of its own.
func cut(b operators.Batch, most int) []operators.Batch {
	n := int(b.Rec.NumRows())
	if most <= 0 || n <= most {
		b.Rec.Retain()
		return []operators.Batch{b}
	}
	var parts []operators.Batch
	sel := b.Sel
	for from := 0; from < n; from += most {
		to := min(from+most, n)
		p := operators.Batch{Rec: b.Rec.NewSlice(int64(from), int64(to)), Dict: b.Dict, From: b.From}
		p.From.Row += int64(from)
		if b.Sel != nil {
			p.Sel = []int32{}
			for len(sel) > 0 && int(sel[0]) < to {
				p.Sel = append(p.Sel, sel[0]-int32(from))
				sel = sel[1:]
			}
		}
		parts = append(parts, p)
	}
	return parts
}

// noteReading takes over what the reader counted.
func (t *task) noteReading() {
	tally := t.reader.Tally()
	m := t.members[0]
	var read, filtered, rejected, bytes int64
	for _, f := range tally {
		read += f.Read
		filtered += f.Filtered
		rejected += f.Rejected
		bytes += f.Bytes - f.UnreadBytes - f.PrunedBytes()
	}
	m.in.Store(read)
	m.counts[operators.Filtered].Store(filtered)
	m.counts[operators.Rejected].Store(rejected)
	t.bytesIn.Store(bytes)
}

// atRow finds the first row of a source batch that fails by running it again row by row through the
// stateless beginning of the chain, and where it stands in its file.
func (t *task) atRow(b operators.Batch, err error) error {
	var eval *expr.EvalError
	if !errors.As(err, &eval) || b.From.File == 0 {
		return err
	}
	row, first := t.replay(b)
	if first == nil {
		return err
	}
	if !errors.As(first, &eval) {
		return err
	}
	return t.locate(b.From, int64(row), first, eval)
}

// locate adds its place in the input to an evaluation error.
func (t *task) locate(from operators.Origin, row int64, err error, eval *expr.EvalError) error {
	re := &rowError{eval: eval, order: [3]int64{from.File, from.Offset, from.Row + row}}
	place, lerr := t.reader.Locate(context.WithoutCancel(t.ctx), from, row, eval.Field)
	if lerr == nil {
		re.place = place
	}
	var at *memberError
	if errors.As(err, &at) {
		return &memberError{label: at.label, err: re}
	}
	return re
}
