package aggregate

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// Where there are few groups and many values of DISTINCT, the pairs of group and value alone go to disk,
// spread by both, so that one group's values need not fit in memory. The groups stay with the states of
// their other measures, and at the end the partitions of pairs are counted into them one by one.

// pairsPerGroup is how many pairs there are for each group at least where pairs alone are spilled.
const pairsPerGroup = 4

// manyPairs reports whether spilling the pairs alone is to advantage.
func (a *global) manyPairs() bool {
	pairs := 0
	for _, s := range a.seen {
		pairs += s.Len()
	}
	return len(a.layout.keys) > 0 && a.spill == nil && pairs > pairsPerGroup*a.table.Len()
}

// spillPairs writes all pairs to partitions and takes back what they had been counted for.
func (a *global) spillPairs() error {
	if a.pairs == nil {
		a.pairs = &spill{}
	}
	a.restoreDistinct()
	for i, seen := range a.seen {
		err := seen.Scan(0, max(a.task.MaxParallelism, 1), func(keys arrow.Record, slots []uint32) error {
			return a.writePairs(keys.Columns(), i, slots)
		})
		if err != nil {
			return err
		}
		table.Release(seen)
	}
	return nil
}

// writePairs spreads pairs of distinct argument number arg over the partitions.
func (a *global) writePairs(cols []arrow.Array, arg int, slots []uint32) error {
	l := a.layout
	rec, free := a.partialRows(cols, arg, slots, nil)
	defer free()
	k := len(l.keys)
	types := append(append([]expr.Field(nil), l.keyField...), expr.Field{Type: l.distinct[arg].typ})
	return table.Scatter(a.task, rec, cols[:k+1], types, a.pairDepth, func(i int) (*table.Run, error) {
		if a.pairs.parts[i] == nil {
			a.pairs.parts[i] = table.NewRun(a.task, fmt.Sprintf("distinct-%d", i))
		}
		return a.pairs.parts[i], nil
	})
}

// countPairs counts all pairs on disk into the groups in memory.
func (a *global) countPairs() error {
	a.counting = true
	err := a.drainPairs()
	a.counting, a.base, a.pairDepth = false, nil, 0
	return err
}

// drainPairs counts the partitions of pairs into the groups.
func (a *global) drainPairs() error {
	if err := a.spillPairs(); err != nil {
		return err
	}
	s, depth := a.pairs, a.pairDepth
	defer func() { _ = s.close() }()
	for i, run := range s.parts {
		if run == nil {
			continue
		}
		a.pairs, a.pairDepth = nil, depth+1
		a.base = a.saveDistinct()
		if err := a.load(run, depth+1); err != nil {
			return err
		}
		if a.pairs != nil {
			if err := a.drainPairs(); err != nil {
				return err
			}
		}
		for _, seen := range a.seen {
			seen.Clear()
		}
		if err := run.Close(); err != nil {
			return err
		}
		s.parts[i] = nil
	}
	a.pairs, a.pairDepth = nil, depth
	return nil
}

// pairsByKey moves the pairs to the partitions of groups, since the groups went to disk after them.
func (a *global) pairsByKey(depth int) error {
	s := a.pairs
	a.pairs = nil
	for _, run := range s.parts {
		if run == nil {
			continue
		}
		if err := a.moveRun(run, depth); err != nil {
			return errors.Join(err, s.close())
		}
	}
	return s.close()
}

func (a *global) moveRun(run *table.Run, depth int) error {
	if err := run.Rewind(); err != nil {
		return err
	}
	for {
		rec, err := run.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		err = table.Scatter(a.task, rec, rec.Columns()[:len(a.layout.keys)], a.layout.keyField, depth, a.part)
		rec.Release()
		if err != nil {
			return err
		}
	}
}

// saved are the distinct states of all groups at one moment, state by state.
type saved struct {
	words [][]uint64
	odd   [][][]byte
}

func (a *global) saveDistinct() *saved {
	s := &saved{}
	l := a.layout
	n := a.table.Len()
	for i := l.plain; i < len(l.states); i++ {
		st := &l.states[i]
		for w := range kindWords[st.kind] {
			s.words = append(s.words, append([]uint64(nil), a.table.Words(st.word + w)[:n]...))
		}
		if st.kind.bytes() > 0 {
			odd := make([][]byte, n)
			for slot := range odd {
				odd[slot] = append([]byte(nil), a.table.Bytes(st.bytes).Get(uint32(slot))...)
			}
			s.odd = append(s.odd, odd)
		}
	}
	return s
}

// restoreDistinct puts the distinct states back to what they were when this round of pairs began: to
// nothing while rows come in.
func (a *global) restoreDistinct() {
	l := a.layout
	word, odd := 0, 0
	for i := l.plain; i < len(l.states); i++ {
		st := &l.states[i]
		for w := range kindWords[st.kind] {
			now := a.table.Words(st.word + w)[:a.table.Len()]
			clear(now)
			if a.base != nil {
				copy(now, a.base.words[word])
			}
			word++
		}
		if st.kind.bytes() > 0 {
			col := a.table.Bytes(st.bytes)
			for slot := range a.table.Len() {
				var v []byte
				if a.base != nil && slot < len(a.base.odd[odd]) {
					v = a.base.odd[odd][slot]
				}
				col.Set(uint32(slot), v)
			}
			odd++
		}
	}
}
