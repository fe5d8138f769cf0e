package aggregate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// batchRows is how many rows a record that is given out has at most.
const batchRows = 16 << 10

// Where more than this many rows are in a group, starting over is cheap.
const goodRows = 8

// limits of the local phase.
type limits struct {
	groups    int // after which it is judged whether to go on, start over or give up
	partition int // from which on a table no longer stays in the processor's cache
	hardly    int // after which rows that are hardly reduced are passed on
	most      int
	pass      int // rows passed on before grouping is tried again, the first time
	gather    int // rows gathered for a partition before they are added to its table
}

func usualLimits() limits {
	return limits{groups: 32 << 10, partition: 64 << 10, hardly: 512 << 10, most: 2 << 20, pass: 1 << 20, gather: 8 << 10}
}

// local reduces rows to partial states. It is only there to make the exchange smaller, so its
// groups are bounded by memory and by what they save: with many rows to a group the table is
// kept small and starts over when it is full; with few it grows, since more rows of the same groups may
// come; and where hardly any row finds its group, rows pass as partial states of their own for a while.
type local struct {
	layout      *layout
	limits      limits
	task        *operators.Task
	table       operators.Table
	parts       *partitions // with many groups, and where the input suits them
	plain       bool        // it does not
	partitioned int         // how often
	blocked     int         // and how often by blocks of close keys
	slots       []uint32
	group       []arrow.Array
	dict        []uint64
	rows        int // in the groups held
	limit       int // of groups
	pass        int // rows still to pass on ungrouped
	passed      int // rows to pass on the next time
	flat        flatStore
}

func (a *local) Open(t *operators.Task) error {
	a.task = t
	key := expr.Schema{Fields: a.layout.groupFields()}
	tab, err := table.New(key, a.layout.tableOptions(a.layout.plain), t.Memory, max(t.MaxParallelism, 1), t.Alloc)
	if err != nil {
		return fmt.Errorf("local aggregate: %w", err)
	}
	a.table = tab
	a.limit, a.passed = a.limits.groups, a.limits.pass
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
		return a.passOn(b.Rec.Columns(), a.group, a.dict, b.Sel, a.slots, out)
	}
	if a.parts != nil && a.parts.suit(b) {
		if err := a.parts.add(b, func(q *part) error { return a.overfull(q, out) }); err != nil {
			return fmt.Errorf("local aggregate: %w", err)
		}
		return a.judge(out)
	}
	err := a.add(b)
	if errors.Is(err, operators.ErrMemory) {
		if err = a.full(out); err != nil {
			return err
		}
		err = a.add(b)
	}
	if errors.Is(err, operators.ErrMemory) { // even an empty table has no room for this batch
		return a.passOn(b.Rec.Columns(), a.group, a.dict, b.Sel, a.slots, out)
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

// held are the groups held, and the rows in them.
func (a *local) held() (groups, rows int) {
	groups, rows = a.table.Len(), a.rows
	if a.parts != nil {
		groups, rows = groups+a.parts.groups, rows+a.parts.rows
	}
	return groups, rows
}

// judge decides how to go on when there are as many groups as were allowed.
func (a *local) judge(out operators.Collector) error {
	groups, rows := a.held()
	if groups <= a.limit {
		return nil
	}
	hardly := a.limit >= a.limits.hardly && 4*rows < 5*groups
	if rows >= goodRows*groups || a.limit >= a.limits.most || hardly {
		return a.full(out)
	}
	a.limit *= 2
	if a.limit <= a.limits.partition || a.parts != nil || a.plain {
		return nil
	}
	var err error
	if a.parts, err = newPartitions(a.layout, a.task, a.limits.gather, table.Close(a.table, closeTimes)); err != nil || a.parts == nil {
		a.plain = true
		return err
	}
	a.rows = 0
	a.partitioned++
	if a.parts.blocks {
		a.blocked++
	}
	return a.giveOut(a.table, nil, out)
}

// full gives the groups out, and has rows passed on for a while where grouping them did not pay.
func (a *local) full(out operators.Collector) error {
	if groups, rows := a.held(); 4*rows < 5*groups {
		a.pass = a.passed
		a.passed *= 4
	}
	return a.Flush(out)
}

// overfull gives all groups out for the sake of a part that has no memory for its gathered rows. If
// they still do not fit they are passed on.
func (a *local) overfull(q *part, out operators.Collector) error {
	if err := a.giveAll(out, true); err != nil {
		return err
	}
	cols := a.parts.columnsOf(q)
	err := a.parts.group(q, cols)
	if !errors.Is(err, operators.ErrMemory) {
		return err
	}
	rows := make([]int32, q.n) // the columns are views of what is overwritten, so they are copied
	for i := range rows {
		rows[i] = int32(i)
	}
	group := a.parts.keysOf(q, cols)
	defer release(group)
	return a.passOn(cols, group, make([]uint64, len(group)), rows, make([]uint32, q.n), out)
}

// passOn gives every row out as a partial state of its own. Slots is scratch, one for each.
func (a *local) passOn(cols, group []arrow.Array, dict []uint64, sel []int32, slots []uint32, out operators.Collector) error {
	for i := range slots {
		slots[i] = uint32(i)
	}
	a.flat.reset(len(slots))
	if err := newUpdater(cols, sel, slots).add(a.layout.states[:a.layout.plain], &a.flat); err != nil {
		return fmt.Errorf("local aggregate: %w", err)
	}
	if sel != nil {
		taken := make([]arrow.Array, len(group))
		for i, g := range group {
			taken[i] = column.Take(a.task.Alloc, g, sel)
		}
		defer release(taken)
		group = taken
	}
	rec := a.layout.partials(a.task.Alloc, group, slots, &a.flat)
	return a.emit(rec, append([]uint64(nil), dict...), out)
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

// giveOut gives the partial states of a table, that of part q or of none, out and releases it.
func (a *local) giveOut(t operators.Table, q *part, out operators.Collector) error {
	err := table.Coded(t, func(keys arrow.Record, dict []uint64, slots []uint32) error {
		if q != nil {
			a.parts.restore(keys.Column(0), q.number)
		}
		return a.emit(a.layout.lastPartials(a.task.Alloc, keys.Columns(), slots, t), slices.Clone(dict), out)
	})
	table.Release(t)
	return err
}

// giveAll gives all partial states out and empties the tables, whose memory the table that stays keeps where it will be
// needed again.
func (a *local) giveAll(out operators.Collector, again bool) error {
	a.rows = 0
	if again {
		err := table.Coded(a.table, func(keys arrow.Record, dict []uint64, slots []uint32) error {
			return a.emit(a.layout.partials(a.task.Alloc, keys.Columns(), slots, a.table), slices.Clone(dict), out)
		})
		if err != nil {
			return err
		}
		a.table.Clear()
	} else if err := a.giveOut(a.table, nil, out); err != nil {
		return err
	}
	if a.parts == nil {
		return nil
	}
	a.parts.rows, a.parts.groups = 0, 0
	for i := range a.parts.parts {
		q := &a.parts.parts[i]
		if err := a.giveOut(q.table, q, out); err != nil {
			return err
		}
	}
	return nil
}

// Flush gives all partial states out and starts over.
func (a *local) Flush(out operators.Collector) error { return a.flush(out, true) }

func (a *local) flush(out operators.Collector, again bool) error {
	a.limit = a.limits.groups
	if p := a.parts; p != nil {
		for i := range p.parts {
			if err := p.settle(&p.parts[i], func(q *part) error { return a.overfull(q, out) }); err != nil {
				return fmt.Errorf("local aggregate: %w", err)
			}
		}
		p.drop()
	}
	if err := a.giveAll(out, again); err != nil {
		return err
	}
	if a.parts != nil {
		a.parts.close()
		a.parts = nil
	}
	return nil
}

// Partial tells the exchange that there may be many keys, if there are keys.
func (a *local) Partial() bool { return len(a.layout.keys) > 0 }

func (a *local) EndInput(_ int, out operators.Collector) error { return a.flush(out, false) }

func (a *local) Close() error {
	if a.table != nil {
		a.table.Close()
	}
	if a.parts != nil {
		a.parts.close()
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
