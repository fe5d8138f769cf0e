package aggregate

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// Limits of the local phase.
const (
	localGroups = 32 << 10 // after which it is judged whether to go on, start over or give up
	mostGroups  = 2 << 20
	judgeGroups = 512 << 10 // after which rows that are hardly reduced are passed on
	goodRows    = 8         // rows per group that make starting over cheap
	batchRows   = 16 << 10  // of a record given out
	passRows    = 1 << 20   // rows passed on before grouping is tried again; more each time
)

// local reduces rows to partial states. It is only there to make the exchange smaller, so its
// groups are bounded by memory and by what they save: with many rows to a group the table is
// kept small and starts over when it is full; with few it grows, since more rows of the same groups may
// come; and where hardly any row finds its group, rows pass as partial states of their own for a while.
type local struct {
	layout *layout
	task   *operators.Task
	table  operators.Table
	slots  []uint32
	group  []arrow.Array
	dict   []uint64
	rows   int // in the groups held
	limit  int // of groups
	pass   int // rows still to pass on ungrouped
	passed int // rows to pass on the next time
	flat   flatStore
}

func (a *local) Open(t *operators.Task) error {
	a.task = t
	key := expr.Schema{Fields: a.layout.groupFields()}
	tab, err := table.New(key, a.layout.tableOptions(a.layout.plain), t.Memory, max(t.MaxParallelism, 1), t.Alloc)
	if err != nil {
		return fmt.Errorf("local aggregate: %w", err)
	}
	a.table = tab
	a.limit, a.passed = localGroups, passRows
	a.flat = newFlatStore(a.layout.tableOptions(a.layout.plain))
	return nil
}

func (a *local) Process(_ int, b operators.Batch, out operators.Collector) error {
	defer b.Rec.Release()
	n := b.Rows()
	out.Count(operators.Absorbed, int64(n))
	if n == 0 {
		return nil
	}
	a.group, a.dict = a.layout.groupColumns(a.task.Alloc, b, a.group[:0], a.dict[:0])
	defer release(a.group)
	a.slots = sized(a.slots, n)
	if a.pass > 0 {
		a.pass -= n
		return a.passOn(b, out)
	}
	err := a.add(b)
	if errors.Is(err, operators.ErrMemory) {
		if err = a.full(out); err != nil {
			return err
		}
		err = a.add(b)
	}
	if errors.Is(err, operators.ErrMemory) { // even an empty table has no room for this batch
		return a.passOn(b, out)
	}
	if err != nil {
		return fmt.Errorf("local aggregate: %w", err)
	}
	return a.judge(out)
}

// add adds a batch to its groups, or fails with ErrMemory before any state has changed.
func (a *local) add(b operators.Batch) error {
	if _, err := a.table.Upsert(a.group, a.dict, b.Sel, a.slots); err != nil {
		return err
	}
	a.rows += len(a.slots)
	return newUpdater(b.Rec.Columns(), b.Sel, a.slots).add(a.layout.states[:a.layout.plain], a.table)
}

// judge decides how to go on when there are as many groups as were allowed.
func (a *local) judge(out operators.Collector) error {
	groups := a.table.Len()
	if groups <= a.limit {
		return nil
	}
	hardly := a.limit >= judgeGroups && 4*a.rows < 5*groups
	if a.rows >= goodRows*groups || a.limit >= mostGroups || hardly {
		return a.full(out)
	}
	a.limit *= 2
	return nil
}

// full gives the groups out, and has rows passed on for a while where grouping them did not pay.
func (a *local) full(out operators.Collector) error {
	if 4*a.rows < 5*a.table.Len() {
		a.pass = a.passed
		a.passed *= 4
	}
	return a.Flush(out)
}

// passOn gives every row out as a partial state of its own.
func (a *local) passOn(b operators.Batch, out operators.Collector) error {
	for i := range a.slots {
		a.slots[i] = uint32(i)
	}
	a.flat.reset(len(a.slots))
	if err := newUpdater(b.Rec.Columns(), b.Sel, a.slots).add(a.layout.states[:a.layout.plain], &a.flat); err != nil {
		return fmt.Errorf("local aggregate: %w", err)
	}
	group := a.group
	if b.Sel != nil {
		group = make([]arrow.Array, len(a.group))
		for i, g := range a.group {
			group[i] = column.Take(a.task.Alloc, g, b.Sel)
		}
		defer release(group)
	} else if int(b.Rec.NumRows()) != len(a.slots) {
		return fmt.Errorf("local aggregate: a batch of %d rows has %d", b.Rec.NumRows(), len(a.slots))
	}
	rec := a.layout.partials(a.task.Alloc, group, a.slots, &a.flat)
	return a.emit(rec, append([]uint64(nil), a.dict...), out)
}

// emit gives a record out in pieces of at most batchRows.
func (a *local) emit(rec arrow.Record, dict []uint64, out operators.Collector) error {
	n := rec.NumRows()
	out.Count(operators.Released, n)
	for len(dict) < int(rec.NumCols()) {
		dict = append(dict, 0)
	}
	if n <= batchRows {
		return out.Emit(operators.Batch{Rec: rec, Dict: dict})
	}
	defer rec.Release()
	for lo := int64(0); lo < n; lo += batchRows {
		if err := out.Emit(operators.Batch{Rec: rec.NewSlice(lo, min(lo+batchRows, n)), Dict: dict}); err != nil {
			return err
		}
	}
	return nil
}

// Flush gives all partial states out and starts over.
func (a *local) Flush(out operators.Collector) error {
	a.rows, a.limit = 0, localGroups
	err := a.table.Scan(0, max(a.task.MaxParallelism, 1), func(keys arrow.Record, slots []uint32) error {
		return a.emit(a.layout.partials(a.task.Alloc, keys.Columns(), slots, a.table), nil, out)
	})
	a.table.Clear()
	return err
}

func (a *local) EndInput(_ int, out operators.Collector) error { return a.Flush(out) }

func (a *local) Close() error {
	if a.table != nil {
		a.table.Close()
	}
	return nil
}

// groupColumns are the columns by which a batch of the original input is grouped: the keys and the
// arguments of DISTINCT, NULL where their filter is not TRUE. The caller releases them.
func (l *layout) groupColumns(alloc memory.Allocator, b operators.Batch, cols []arrow.Array, dict []uint64) ([]arrow.Array, []uint64) {
	id := func(col int) uint64 {
		if col < len(b.Dict) {
			return b.Dict[col]
		}
		return 0
	}
	for _, k := range l.keys {
		c := b.Rec.Column(k)
		c.Retain()
		cols, dict = append(cols, c), append(dict, id(k))
	}
	for _, d := range l.distinct {
		cols, dict = append(cols, l.masked(alloc, b.Rec, d)), append(dict, id(d.arg))
	}
	return cols, dict
}

func release(cols []arrow.Array) {
	for _, c := range cols {
		c.Release()
	}
}

func sized(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	return s[:n]
}
