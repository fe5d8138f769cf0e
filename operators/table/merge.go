package table

import (
	"container/heap"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A cursor is the next row of a run that is being merged.
type cursor struct {
	run    *Run
	place  int // among the runs: equal rows come in this order
	batch  *sortBatch
	row    int
	prefix uint64
}

// next goes to the next row; io.EOF after the last.
func (c *cursor) next(by []expr.SortKey) error {
	c.row++
	if c.batch == nil || c.row == int(c.batch.rec.NumRows()) {
		c.release()
		rec, err := c.run.Next()
		if err != nil {
			return err
		}
		if c.batch, err = newSortBatch(rec); err != nil {
			rec.Release()
			return err
		}
		c.row = 0
	}
	if len(by) > 0 {
		c.prefix = c.batch.prefix(by[0], c.row)
	}
	return nil
}

func (c *cursor) release() {
	if c.batch != nil {
		c.batch.rec.Release()
		c.batch = nil
	}
}

type cursors struct {
	by   []expr.SortKey
	list []*cursor
}

func (h *cursors) Len() int      { return len(h.list) }
func (h *cursors) Swap(i, j int) { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *cursors) Less(i, j int) bool {
	a, b := h.list[i], h.list[j]
	if a.prefix != b.prefix {
		return a.prefix < b.prefix
	}
	if c := compareRows(h.by, a.batch, a.row, b.batch, b.row); c != 0 {
		return c < 0
	}
	return a.place < b.place
}

// Push is part of heap.Interface.
func (h *cursors) Push(x any) {
	if c, ok := x.(*cursor); ok {
		h.list = append(h.list, c)
	}
}

// Pop is part of heap.Interface.
func (h *cursors) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}

// merge gives out the rows of sorted runs in order, in records of at most per rows, as many as are
// needed.
func (s *Sorter) merge(runs []*Run, per int, each func(rec arrow.Record) error) error {
	h := &cursors{by: s.by}
	defer func() {
		for _, c := range h.list {
			c.release()
		}
	}()
	for i, run := range runs {
		if err := run.Rewind(); err != nil {
			return err
		}
		c := &cursor{run: run, place: i}
		if err := c.next(s.by); err == io.EOF {
			continue
		} else if err != nil {
			return err
		}
		h.list = append(h.list, c)
	}
	heap.Init(h)
	g := newGatherer(s.schema, s.task.Alloc, per)
	defer g.release()
	for left := s.keep; len(h.list) > 0 && left != 0; left-- {
		c := h.list[0]
		g.add(c.batch, c.row)
		err := c.next(s.by)
		switch {
		case err == io.EOF:
			heap.Pop(h)
		case err != nil:
			return err
		default:
			heap.Fix(h, 0)
		}
		if g.rows == int64(per) {
			if err := each(g.record()); err != nil {
				return err
			}
		}
	}
	if g.rows > 0 {
		return each(g.record())
	}
	return nil
}
