package operatortest

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// collector takes an operator's output and counts like a task.
type collector struct {
	alloc  memory.Allocator
	schema expr.Schema
	recs   []arrow.Record
	in     int64
	out    int64
	counts [operators.NumCounters]int64
}

// Emit keeps a batch, compacted. A selection is only valid until the next batch, so it is used up here.
func (c *collector) Emit(b operators.Batch) error {
	if err := c.check(b); err != nil {
		b.Rec.Release()
		return err
	}
	c.out += int64(b.Rows())
	c.recs = append(c.recs, column.Compact(c.alloc, b))
	return nil
}

func (c *collector) check(b operators.Batch) error {
	if int(b.Rec.NumCols()) != len(c.schema.Fields) {
		return fmt.Errorf("a batch has %d columns, the schema %d", b.Rec.NumCols(), len(c.schema.Fields))
	}
	for i, f := range c.schema.Fields {
		a := b.Rec.Column(i)
		if b.Rec.ColumnName(i) != f.Name {
			return fmt.Errorf("column %d is called %s, in the schema %s", i, b.Rec.ColumnName(i), f.Name)
		}
		if expr.IsDictionary(a.DataType()) && f.Type.Kind == expr.String {
			continue
		}
		if !arrow.TypeEqual(a.DataType(), f.Type.Arrow()) {
			return fmt.Errorf("column %s of %s has Arrow type %s", f.Name, f.Type, a.DataType())
		}
		if f.Type.NotNull && b.Sel == nil && a.NullN() > 0 {
			return fmt.Errorf("column %s of %s holds NULL", f.Name, f.Type)
		}
	}
	last := int32(-1)
	for _, row := range b.Sel {
		if row <= last || int64(row) >= b.Rec.NumRows() {
			return fmt.Errorf("the selection is not ascending rows of the batch: %v", b.Sel)
		}
		last = row
	}
	if b.Dict != nil && len(b.Dict) != len(c.schema.Fields) {
		return fmt.Errorf("%d dictionary ids for %d columns", len(b.Dict), len(c.schema.Fields))
	}
	return nil
}

// Side is not known to any operator here.
func (c *collector) Side(port string, b operators.Batch) error {
	b.Rec.Release()
	return fmt.Errorf("there is no port %s", port)
}

// Count adds to a line of the books.
func (c *collector) Count(k operators.Counter, rows int64) { c.counts[k] += rows }

// balanced checks the books of a subtask that ended well.
func (c *collector) balanced() error {
	passed := c.in - c.counts[operators.Filtered] - c.counts[operators.Rejected] - c.counts[operators.Late] - c.counts[operators.Absorbed]
	if passed < 0 || c.out != passed+c.counts[operators.Released] {
		return fmt.Errorf("the books do not balance: in %d, out %d, filtered, rejected, late, absorbed, released %v", c.in, c.out, c.counts)
	}
	return nil
}

func runSubtask(v variant, s Stage, in []expr.Schema, inputs []arrow.Record, schema expr.Schema, sub, parallelism int) (out []arrow.Record, err error) {
	op, err := s.Component.New([]byte(s.Options), in)
	if err != nil {
		return nil, err
	}
	fake := newTask(v.budget, sub, parallelism)
	c := &collector{alloc: fake.task.Alloc, schema: schema}
	defer func() {
		err = joinErrors(err, op.Close())
		out = moved(c.recs)
		if v.spills != nil {
			*v.spills += fake.memory.Spills
		}
		if err == nil {
			err = c.balanced()
		}
		if leak := fake.finish(); leak != nil {
			err = errors.Join(leak, err)
		}
	}()
	if err := op.Open(fake.task); err != nil {
		return nil, err
	}
	for i, rec := range inputs {
		for _, b := range v.cut(fake.task.Alloc, in[i], rec) {
			c.in += int64(b.Rows())
			if err != nil { // the batches after a failure
				b.Rec.Release()
				continue
			}
			if b.Sel != nil && !s.Component.Traits().TakesSel {
				b.Rec, b.Sel = column.Compact(fake.task.Alloc, b), nil
			}
			err = op.Process(i, b, c)
		}
		if err == nil {
			err = op.EndInput(i, c)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func joinErrors(err, closing error) error {
	if err == nil && closing != nil {
		return fmt.Errorf("closing: %w", closing)
	}
	return err
}

// moved copies records out of a subtask's allocator, which must be empty at the end.
func moved(recs []arrow.Record) []arrow.Record {
	out := make([]arrow.Record, len(recs))
	for i, r := range recs {
		n := int(r.NumRows())
		idx := make([]int32, n)
		for row := range idx {
			idx[row] = int32(row)
		}
		cols := make([]arrow.Array, r.NumCols())
		for c := range cols {
			plain := column.Plain(memory.DefaultAllocator, r.Column(c))
			cols[c] = column.Take(memory.DefaultAllocator, plain, idx)
			plain.Release()
		}
		fields := make([]expr.Field, r.NumCols())
		for c := range fields {
			fields[c].Name = r.ColumnName(c)
		}
		out[i] = column.NewRecord(fields, cols, int64(n))
		r.Release()
		for _, c := range cols {
			c.Release()
		}
	}
	return out
}

func emptyColumn(alloc memory.Allocator, t expr.Type) arrow.Array {
	b := array.NewBuilder(alloc, t.Arrow())
	defer b.Release()
	return b.NewArray()
}
