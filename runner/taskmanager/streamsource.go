package taskmanager

import (
	"context"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// runStreamSource reads splits until there are no more, gives watermarks and puts barriers in.
func (t *task) runStreamSource() error {
	var queue []connectors.Split
	noMore := false
	for {
		if err := t.putBarriers(); err != nil {
			return err
		}
		status, err := t.readOn(t.reading())
		if err != nil {
			return err
		}
		switch status {
		case connectors.More:
			if t.skipping && t.members[0].desc.Source.Unbounded {
				t.noteReading()
				return nil // it would never say so itself
			}
			err = t.flushInTime()
		case connectors.NeedSplit:
			if noMore {
				return nil
			}
			if err = t.flushOutputs(); err == nil {
				queue, noMore, err = t.moreSplits(queue)
			}
		case connectors.Idle:
			err = t.waitForSource()
		default:
			return nil
		}
		if err != nil {
			return err
		}
		t.noteReading()
		if err := t.sourceMark(false); err != nil {
			return err
		}
	}
}

// waitForSource waits until the reader has something again.
func (t *task) waitForSource() error {
	if err := t.sourceMark(true); err != nil {
		return err
	}
	if err := t.flushOutputs(); err != nil {
		return err
	}
	t.idle.start(t.tm.cfg.Now())
	defer func() { t.idle.stop(t.tm.cfg.Now()) }()
	ctx := t.reading()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.reader.Wake():
		return nil
	case n := <-t.barriers:
		return t.pass(n, 0)
	}
}

// sourceMark gives on what the reader knows of the event time of its splits: from time to time, since every
// watermark makes those behind it give out what they hold, or at once where nothing else is to be done.
func (t *task) sourceMark(now bool) error {
	r, ok := t.reader.(connectors.Timed)
	if !ok {
		return nil
	}
	if at := t.tm.cfg.Now(); now || at.Sub(t.stream.marked) >= t.stream.markEvery {
		t.stream.marked = at
		ms, idle, known := splitMarks(r.Times())
		if known {
			return t.advance(ms, idle)
		}
	}
	return nil
}
