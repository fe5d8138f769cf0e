package aggregate

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// spill is the partial states of groups on disk, in partitions by hash. Records have the partial
// schema: a group's row has NULL for the arguments of DISTINCT, and each pair of group and
// value met has a row of its own with states to which nothing was added. Keys in the same
// partition are worked off together, so the states of distinct arguments can be computed anew.
type spill struct {
	parts [table.Fanout]*table.Run
}

func (s *spill) close() error {
	var errs []error
	for _, r := range s.parts {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	return errors.Join(errs...)
}

// spillAll writes all groups to the partitions of their depth and empties the tables. Without keys
// the one group stays: only the pairs go, and what they had been counted for is taken back.
func (a *global) spillAll(depth int) error {
	if a.spill == nil {
		a.spill = &spill{}
	}
	if a.pairs != nil { // they follow their groups
		if err := a.pairsByKey(depth); err != nil {
			return err
		}
	}
	l := a.layout
	keyed := len(l.keys) > 0
	groups := max(a.task.MaxParallelism, 1)
	if keyed {
		err := a.table.Scan(0, groups, func(keys arrow.Record, slots []uint32) error {
			return a.write(keys.Columns(), -1, slots, depth)
		})
		if err != nil {
			return err
		}
		table.Release(a.table)
	} else {
		a.zeroDistinct()
	}
	for i, seen := range a.seen {
		err := seen.Scan(0, groups, func(keys arrow.Record, slots []uint32) error {
			return a.write(keys.Columns(), i, slots, depth)
		})
		if err != nil {
			return err
		}
		table.Release(seen)
	}
	return nil
}

// write spreads rows over the partitions: groups with their states, or pairs of distinct argument
// number arg, whose value is the last of cols.
func (a *global) write(cols []arrow.Array, arg int, slots []uint32, depth int) error {
	l := a.layout
	var from store
	if arg < 0 {
		from = a.table
	}
	rec, free := a.partialRows(cols, arg, slots, from)
	defer free()
	hashed, types := cols[:len(l.keys)], l.keyField
	if len(l.keys) == 0 {
		hashed, types = cols[:1], []expr.Field{{Type: l.distinct[arg].typ}}
	}
	return table.Scatter(a.task, rec, hashed, types, depth, a.part)
}

// partialRows are groups with their states from a store, or pairs of distinct argument number arg, whose
// value is the last of cols, as a record of the partial schema; free releases it.
func (a *global) partialRows(cols []arrow.Array, arg int, slots []uint32, from store) (rec arrow.Record, free func()) {
	l := a.layout
	k := len(l.keys)
	group := append([]arrow.Array(nil), cols[:k]...)
	for i, d := range l.distinct {
		if i == arg {
			cols[k].Retain()
			group = append(group, cols[k])
			continue
		}
		group = append(group, array.MakeArrayOfNull(a.task.Alloc, d.typ.Arrow(), len(slots)))
	}
	rec = l.partials(a.task.Alloc, group, slots, from)
	return rec, func() {
		rec.Release()
		release(group[k:])
	}
}

// part is a partition's run, opened on first use.
func (a *global) part(i int) (*table.Run, error) {
	if a.spill.parts[i] == nil {
		a.spill.parts[i] = table.NewRun(a.task, fmt.Sprintf("aggregate-%d", i))
	}
	return a.spill.parts[i], nil
}

// drainAll works off all partitions and gives their groups out, except without keys, where the one
// group ends up in the table.
func (a *global) drainAll(out operators.Collector) error {
	if err := a.spillAll(0); err != nil {
		return err
	}
	total := newFlatStore(a.layout.tableOptions(len(a.layout.states)))
	total.reset(1)
	if err := a.drain(0, &total, out); err != nil {
		return err
	}
	if len(a.layout.keys) == 0 {
		a.moveDistinct(&total, a.table)
	}
	return nil
}

func (a *global) drain(depth int, total *flatStore, out operators.Collector) error {
	s := a.spill
	defer func() { _ = s.close() }()
	for i, run := range s.parts {
		if run == nil {
			continue
		}
		a.spill = nil
		if err := a.load(run, depth+1); err != nil {
			return err
		}
		if a.spill != nil {
			if err := a.spillAll(depth + 1); err != nil {
				return err
			}
			if err := a.drain(depth+1, total, out); err != nil {
				return err
			}
		} else {
			if a.pairs != nil {
				if err := a.countPairs(); err != nil {
					return err
				}
			}
			if err := a.settle(total, out); err != nil {
				return err
			}
		}
		if err := run.Close(); err != nil {
			return err
		}
		s.parts[i] = nil
	}
	a.spill = nil
	return nil
}

// load absorbs a partition.
func (a *global) load(run *table.Run, depth int) error {
	if depth > table.MaxDepth {
		return table.Full("the state of a single group")
	}
	return run.Each(func(rec arrow.Record) error {
		return a.absorb(operators.Batch{Rec: rec}, true, depth)
	})
}

// settle ends a partition that fitted in memory.
func (a *global) settle(total *flatStore, out operators.Collector) error {
	if len(a.layout.keys) > 0 {
		if err := a.emit(out); err != nil {
			return err
		}
		a.clear()
		return nil
	}
	a.moveDistinct(a.table, total)
	a.zeroDistinct()
	for _, s := range a.seen {
		s.Clear()
	}
	return nil
}

// moveDistinct adds the distinct states of slot 0 of one store to those of another.
func (a *global) moveDistinct(from, to store) {
	l := a.layout
	for i := l.plain; i < len(l.states); i++ {
		s := &l.states[i]
		var words [4][]int64
		for w := range kindWords[s.kind] {
			words[w] = []int64{int64(from.Words(s.word + w)[0])}
		}
		odd := func(int) []byte { return from.Bytes(s.bytes).Get(0) }
		s.merge(pick{slots: []uint32{0}}, &words, odd, to)
	}
}

// zeroDistinct takes back what was added to the distinct states of the one group.
func (a *global) zeroDistinct() {
	if a.table.Len() == 0 {
		return
	}
	l := a.layout
	for i := l.plain; i < len(l.states); i++ {
		s := &l.states[i]
		for w := range kindWords[s.kind] {
			a.table.Words(s.word + w)[0] = 0
		}
		if s.kind.bytes() > 0 {
			a.table.Bytes(s.bytes).Set(0, nil)
		}
	}
}
