package aggregate

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// global groups rows (single phase) or merges partial states (global phase) and gives the results
// out at the end. Without memory it writes its states to partitions on disk by the hash of their
// keys, and works those off one by one at the end.
type global struct {
	layout *layout
	task   *operators.Task
	table  operators.Table
	seen   []operators.Table // per distinct argument: the pairs of key and value met
	slots  []uint32
	spill  *spill
	least  *OverflowError

	pairs     *spill // pairs of group and value that went to disk by themselves
	pairDepth int    // how often the pairs at hand were spread
	base      *saved // distinct states before the partition of pairs that is being counted; nil: none
	counting  bool   // pairs are being counted: the groups may not go any more
}

func (a *global) Open(t *operators.Task) error {
	a.task = t
	l := a.layout
	n := len(l.states)
	var err error
	a.table, err = t.States.Table("groups", expr.Schema{Fields: l.keyField}, expr.Schema{Fields: l.stateFields(n)}, l.tableOptions(n))
	if err != nil {
		return fmt.Errorf("aggregate: %w", err)
	}
	pair := l.groupFields()
	for i := range l.distinct {
		key := append(pair[:len(l.keys):len(l.keys)], pair[len(l.keys)+i])
		seen, err := t.States.Table("distinct"+strconv.Itoa(i), expr.Schema{Fields: key}, expr.Schema{}, operators.TableOptions{})
		if err != nil {
			return fmt.Errorf("aggregate: %w", err)
		}
		a.seen = append(a.seen, seen)
	}
	return nil
}

// Process adds a batch: of rows, or of partial states.
func (a *global) Process(_ int, b operators.Batch, out operators.Collector) error {
	defer b.Rec.Release()
	out.Count(operators.Absorbed, int64(b.Rows()))
	if err := a.absorb(b, a.layout.phase == Global, 0); err != nil {
		return fmt.Errorf("aggregate: %w", err)
	}
	return nil
}

// absorb adds a batch to the tables; depth is how often its rows have been spilled. Without
// memory everything spills and the batch is tried again, if need be in halves.
func (a *global) absorb(b operators.Batch, partial bool, depth int) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	err := a.addBatch(b, partial)
	if !errors.Is(err, operators.ErrMemory) {
		return err
	}
	if a.manyPairs() || a.counting && a.anySeen() {
		if err := a.spillPairs(); err != nil {
			return err
		}
		if err := a.addBatch(b, partial); !errors.Is(err, operators.ErrMemory) {
			return err
		}
		if err := a.spillPairs(); err != nil { // what the attempt left behind
			return err
		}
	}
	if !a.counting && (a.table.Len() > 0 || a.anySeen()) {
		if err := a.spillAll(depth); err != nil {
			return err
		}
		if err := a.addBatch(b, partial); !errors.Is(err, operators.ErrMemory) {
			return err
		}
		if err := a.spillAll(depth); err != nil { // what the attempt left behind
			return err
		}
	}
	if n == 1 {
		return table.Full("the state of a single group")
	}
	sel := b.Sel
	if sel == nil {
		sel = make([]int32, n)
		for i := range sel {
			sel[i] = int32(i)
		}
	}
	for _, half := range [][]int32{sel[:n/2], sel[n/2:]} {
		h := b
		h.Sel = half
		if err := a.absorb(h, partial, depth); err != nil {
			return err
		}
	}
	return nil
}

// addBatch adds a batch, or fails with ErrMemory before any state has changed.
func (a *global) addBatch(b operators.Batch, partial bool) error {
	l := a.layout
	var group []arrow.Array
	var dict []uint64
	if partial {
		group, dict = firstColumns(b, len(l.keys)+len(l.distinct))
	} else {
		group, dict = l.groupColumns(a.task.Alloc, b, nil, nil)
	}
	defer release(group)
	k := len(l.keys)
	a.slots = sized(a.slots, b.Rows())
	if _, err := a.table.Upsert(group[:k], dict[:k], b.Sel, a.slots); err != nil {
		return err
	}
	fresh := make([]pick, len(l.distinct))
	for i := range l.distinct {
		var err error
		if fresh[i], err = a.meet(i, group, dict, b.Sel); err != nil {
			return err
		}
	}
	if partial {
		if err := l.merge(b, a.slots, a.table); err != nil {
			return err
		}
	} else if err := newUpdater(b.Rec.Columns(), b.Sel, a.slots).add(l.states[:l.plain], a.table); err != nil {
		return err
	}
	for i := l.plain; i < len(l.states); i++ {
		s := &l.states[i]
		if err := addValues(s, group[k+s.from], fresh[s.from], a.table); err != nil {
			return err
		}
	}
	return nil
}

// firstColumns are the first n columns of a batch, retained, and their dictionaries.
func firstColumns(b operators.Batch, n int) (cols []arrow.Array, dict []uint64) {
	dict = make([]uint64, n)
	copy(dict, b.Dict)
	for i := range n {
		c := b.Rec.Column(i)
		c.Retain()
		cols = append(cols, c)
	}
	return cols, dict
}

// meet tells which rows bring a value of a distinct argument that their group has not met, and
// remembers it.
func (a *global) meet(i int, group []arrow.Array, dict []uint64, sel []int32) (pick, error) {
	k := len(a.layout.keys)
	arg := group[k+i]
	p := pick{sel, a.slots}
	if mayBeNull(arg) {
		p = p.where(notNull(arg))
	}
	keys := append(group[:k:k], arg)
	slots := make([]uint32, len(p.slots))
	next := uint32(a.seen[i].Len())
	if _, err := a.seen[i].Upsert(keys, append(dict[:k:k], dict[k+i]), p.rows, slots); err != nil {
		return pick{}, err
	}
	out := pick{rows: []int32{}}
	for j, s := range slots { // new slots are numbered in the order of first sight
		if s == next {
			next++
			out.rows = append(out.rows, int32(p.row(j)))
			out.slots = append(out.slots, p.slots[j])
		}
	}
	return out, nil
}

func (a *global) anySeen() bool {
	for _, s := range a.seen {
		if s.Len() > 0 {
			return true
		}
	}
	return false
}

func (a *global) clear() {
	a.table.Clear()
	for _, s := range a.seen {
		s.Clear()
	}
}

// EndBucket gives the groups out that there are, and forgets them.
func (a *global) EndBucket(out operators.Collector) error {
	if err := a.finish(out); err != nil {
		return fmt.Errorf("aggregate: %w", err)
	}
	a.clear()
	return nil
}

// EndInput gives the groups out. Without keys there is one, whether rows came or not.
func (a *global) EndInput(_ int, out operators.Collector) error {
	err := a.finish(out)
	if err == nil && a.least != nil {
		err = a.least
	}
	if err != nil {
		return fmt.Errorf("aggregate: %w", err)
	}
	return nil
}

// finish gives out all groups, in memory and on disk.
func (a *global) finish(out operators.Collector) error {
	var err error
	switch {
	case a.spill != nil:
		err = a.drainAll(out)
	case a.pairs != nil:
		err = a.countPairs()
	}
	if err == nil && len(a.layout.keys) == 0 {
		_, err = a.table.Upsert(nil, nil, nil, make([]uint32, 1))
	}
	if err != nil {
		return err
	}
	return a.emit(out)
}

// emit gives out the groups of the table. After an overflow it only looks for the least key that
// overflows, so that the same one is reported whatever the order of the groups.
func (a *global) emit(out operators.Collector) error {
	l := a.layout
	fields := l.resultSchema().Fields
	return table.Coded(a.table, func(keys arrow.Record, dict []uint64, slots []uint32) error {
		cols := append([]arrow.Array(nil), keys.Columns()...)
		for _, c := range cols {
			c.Retain()
		}
		defer func() { release(cols) }()
		for i := range l.measures {
			c, err := a.measure(&l.measures[i], keys, slots)
			if err != nil {
				return err
			}
			if c != nil {
				cols = append(cols, c)
			}
		}
		if a.least != nil {
			return nil
		}
		out.Count(operators.Released, int64(len(slots)))
		for len(dict) > 0 && len(dict) < len(cols) {
			dict = append(dict, 0)
		}
		return out.Emit(operators.Batch{Rec: column.NewRecord(fields, cols, int64(len(slots))), Dict: dict})
	})
}

// measure computes a measure's column; nil after an overflow, the least of which is kept.
func (a *global) measure(m *measure, keys arrow.Record, slots []uint32) (arrow.Array, error) {
	for from := 0; ; {
		c, bad, err := a.layout.result(a.task.Alloc, m, slots[from:], a.table)
		var o *OverflowError
		if !errors.As(err, &o) {
			if err == nil && from > 0 {
				c.Release()
				return nil, nil
			}
			return c, err
		}
		o.Group = a.groupText(keys, from+bad)
		if a.least == nil || o.Group < a.least.Group {
			a.least = o
		}
		from += bad + 1
	}
}

// groupText is a group's key in canonical text: "country=de, day=2024-01-01".
func (a *global) groupText(keys arrow.Record, row int) string {
	var b []byte
	for i, f := range a.layout.keyField {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, f.Name...), '=')
		if keys.Column(i).IsNull(row) {
			b = append(b, "NULL"...)
		} else {
			b = column.AppendText(b, keys.Column(i), f.Type, row)
		}
	}
	return string(b)
}

// Close removes what was spilled; the tables belong to the task's state.
func (a *global) Close() error {
	var errs []error
	for _, s := range []*spill{a.spill, a.pairs} {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}
