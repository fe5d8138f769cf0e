package distinct

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// global gives a row out when it is first seen. Without memory the rows already given out go to
// partitions on disk by hash, marked as seen, and all further rows behind them; at the end
// each partition is worked off alone.
type global struct {
	schema expr.Schema
	task   *operators.Task
	table  operators.Table
	slots  []uint32
	sel    []int32
	parts  *parts
}

type parts [table.Fanout]*table.Run

func (p *parts) close() error {
	var errs []error
	for _, r := range p {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	return errors.Join(errs...)
}

func (d *global) Open(t *operators.Task) error {
	d.task = t
	tab, err := t.States.Table("rows", d.schema, expr.Schema{}, operators.TableOptions{})
	if err != nil {
		return fmt.Errorf("distinct: %w", err)
	}
	d.table = tab
	return nil
}

func (d *global) Process(_ int, b operators.Batch, out operators.Collector) error {
	if d.parts == nil {
		sel, err := fresh(d.table, b, &d.slots, d.sel)
		if err == nil {
			d.sel = sel
			return emit(b, sel, out)
		}
		if !errors.Is(err, operators.ErrMemory) {
			b.Rec.Release()
			return fmt.Errorf("distinct: %w", err)
		}
		if err := d.spillSeen(0); err != nil {
			b.Rec.Release()
			return fmt.Errorf("distinct: %w", err)
		}
	}
	out.Count(operators.Absorbed, int64(b.Rows()))
	rec := column.Compact(d.task.Alloc, b)
	defer rec.Release()
	if err := d.write(rec.Columns(), rec.NumRows(), false, 0); err != nil {
		return fmt.Errorf("distinct: %w", err)
	}
	return nil
}

// spillSeen moves the rows of the table to partitions, marked as given out.
func (d *global) spillSeen(depth int) error {
	d.parts = &parts{}
	err := d.table.Scan(0, max(d.task.MaxParallelism, 1), func(keys arrow.Record, _ []uint32) error {
		return d.write(keys.Columns(), keys.NumRows(), true, depth)
	})
	table.Release(d.table)
	return err
}

// write spreads rows over the partitions, with a last column that says whether they were given out.
func (d *global) write(cols []arrow.Array, n int64, seen bool, depth int) error {
	plain := make([]arrow.Array, 0, len(cols)+1)
	for _, c := range cols {
		plain = append(plain, column.Plain(d.task.Alloc, c))
	}
	mark := array.NewBooleanBuilder(d.task.Alloc)
	defer mark.Release()
	mark.Reserve(int(n))
	for range n {
		mark.UnsafeAppend(seen)
	}
	plain = append(plain, mark.NewArray())
	defer func() {
		for _, c := range plain {
			c.Release()
		}
	}()
	fields := append(append([]expr.Field(nil), d.schema.Fields...), expr.Field{Name: "$seen", Type: expr.Of(expr.Boolean)})
	rec := column.NewRecord(fields, plain, n)
	defer rec.Release()
	return table.Scatter(d.task, rec, plain[:len(cols)], d.schema.Fields, depth, func(i int) (*table.Run, error) {
		if d.parts[i] == nil {
			d.parts[i] = table.NewRun(d.task, fmt.Sprintf("distinct-%d", i))
		}
		return d.parts[i], nil
	})
}

func (d *global) EndInput(_ int, out operators.Collector) error {
	if d.parts == nil {
		return nil
	}
	if err := d.drain(0, out); err != nil {
		return fmt.Errorf("distinct: %w", err)
	}
	return nil
}

// drain works off the partitions, each in turn; one that does not fit is divided again.
func (d *global) drain(depth int, out operators.Collector) error {
	p := d.parts
	defer func() { _ = p.close() }()
	for i, run := range p {
		if run == nil {
			continue
		}
		d.parts = nil
		d.table.Clear()
		if err := d.load(run, depth+1, out); err != nil {
			return err
		}
		if d.parts != nil {
			if err := d.drain(depth+1, out); err != nil {
				return err
			}
		}
		p[i] = nil
		if err := run.Close(); err != nil {
			return err
		}
	}
	d.parts = nil
	return nil
}

func (d *global) load(run *table.Run, depth int, out operators.Collector) error {
	return run.Each(func(rec arrow.Record) error { return d.again(rec, depth, out) })
}

// again takes up rows that had been spilled. All rows of a record are marked alike.
func (d *global) again(rec arrow.Record, depth int, out operators.Collector) error {
	k := len(d.schema.Fields)
	cols := rec.Columns()[:k]
	mark, _ := rec.Column(k).(*array.Boolean)
	seen := mark.Value(0)
	if d.parts != nil {
		return d.write(cols, rec.NumRows(), seen, depth)
	}
	b := operators.Batch{Rec: rec}
	sel, err := freshKeys(d.table, cols, b, &d.slots, d.sel)
	if errors.Is(err, operators.ErrMemory) {
		if depth > table.MaxDepth {
			return table.Full("the rows of one hash")
		}
		if err := d.spillSeen(depth); err != nil {
			return err
		}
		return d.write(cols, rec.NumRows(), seen, depth)
	}
	if err != nil {
		return err
	}
	d.sel = sel
	if seen || len(sel) == 0 {
		return nil
	}
	out.Count(operators.Released, int64(len(sel)))
	return out.Emit(operators.Batch{Rec: column.NewRecord(d.schema.Fields, cols, rec.NumRows()), Sel: sel})
}

func (d *global) Close() error {
	if d.parts == nil {
		return nil
	}
	return d.parts.close()
}
