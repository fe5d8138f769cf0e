package parquet

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// leavesOf are the places of the file's leaf columns that a used column reads.
func leavesOf(c *fileColumn) []int {
	if c.absent {
		return nil
	}
	if c.nested == nil {
		return []int{c.leaf.index}
	}
	var out []int
	for _, l := range c.nested.leaves {
		out = append(out, l.index)
	}
	return out
}

// passedOver books the row group that the reader stands at, of which nothing is read.
func (r *reader) passedOver() error {
	p := r.pruning()
	p.RowGroups++
	g := r.doc.meta.RowGroup(r.group)
	for _, c := range r.cols {
		for _, i := range leavesOf(c) {
			m, err := g.ColumnChunk(i)
			if err != nil {
				return r.doc.damaged("the footer's row groups cannot be decoded", err)
			}
			p.Bytes += m.TotalCompressedSize()
		}
	}
	return nil
}

// Foresee gives what the filter that was pushed passes over by statistics, per file with rows. It is nil where
// there is no filter.
func (s *source) Foresee(ctx context.Context) ([]connectors.Tally, error) {
	if s.where == nil {
		return nil, nil
	}
	r, err := newReader(s, &operators.Task{Ctx: ctx, Alloc: memory.NewGoAllocator()})
	if err != nil {
		return nil, err
	}
	for i := range s.Files {
		if err == nil {
			err = r.foresee(ctx, i+1)
		}
	}
	return r.tallies.All(), errors.Join(err, r.Close())
}

// foresee judges the row groups of a file and their pages.
func (r *reader) foresee(ctx context.Context, file int) error {
	f := &r.src.Files[file-1]
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("reading the statistics of %s: %w", f.Path, err)
	}
	r.split = &splitState{File: file, To: len(f.Rows)}
	if err := r.openFile(file); err != nil {
		return err
	}
	t := r.tally(file)
	t.Rows = f.rows()
	r.start = 0
	for r.group = range f.Rows {
		if err := r.enter(f.Rows[r.group]); err != nil {
			return err
		}
		for _, g := range r.gaps {
			t.Pruned += g.to - g.from
		}
		r.start += f.Rows[r.group]
	}
	return nil
}
