package table

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/operators"
)

// timers holds the timers of a table, per kind in order of time.
type timers struct {
	due [2][]timer
}

type timer struct {
	ms   int64
	slot uint32
}

// At sets a timer for each slot; it moves with its slot when others are deleted.
func (t *Table) At(k operators.TimeKind, ms int64, slots []uint32) error {
	if int(k) >= len(t.timer.due) {
		return fmt.Errorf("there is no kind of time with number %d", k)
	}
	due := t.timer.due[k]
	at, _ := slices.BinarySearchFunc(due, ms+1, func(e timer, ms int64) int { return cmp.Compare(e.ms, ms) })
	fresh := make([]timer, len(slots))
	for i, s := range slots {
		fresh[i] = timer{ms, s}
	}
	t.timer.due[k] = slices.Insert(due, at, fresh...)
	return nil
}

// Due takes out the slots whose timers are set for ms or earlier, in order of time and, at one
// time, in the order in which they were set.
func (t *Table) Due(k operators.TimeKind, ms int64) []uint32 {
	due := t.timer.due[k]
	n := 0
	for n < len(due) && due[n].ms <= ms {
		n++
	}
	slots := make([]uint32, n)
	for i := range slots {
		slots[i] = due[i].slot
	}
	t.timer.due[k] = slices.Delete(due, 0, n)
	return slots
}

// keep renumbers the timers of the slots that are left of n, and drops the others.
func (t *timers) keep(alive []uint32, n int) {
	if len(t.due[0])+len(t.due[1]) == 0 {
		return
	}
	to := make([]uint32, n)
	for i := range to {
		to[i] = operators.NoSlot
	}
	for i, s := range alive {
		to[s] = uint32(i)
	}
	for k := range t.due {
		left := t.due[k][:0]
		for _, e := range t.due[k] {
			if to[e.slot] != operators.NoSlot {
				left = append(left, timer{e.ms, to[e.slot]})
			}
		}
		t.due[k] = left
	}
}

func (t *timers) clear() { t.due = [2][]timer{} }
