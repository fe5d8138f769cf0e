package table

import (
	"math"
	"slices"

	"github.com/seed-4b0e9f7c/runner/operators"
)

// Limits of direct cells, so that keys they do not suit cost little.
const (
	fewCells    = 8 << 10 // any table may have as many
	cellsPerKey = 8       // as much memory as the entries of a hash index have
)

// cells are the slots + 1 of integer keys by key - base, 0 where there is no such key. They are what an
// intIndex has instead of hash entries while its keys lie close together, as numbers that
// were given out one after the other do: then a slot is found with one access.
type cells struct {
	base int64
	all  []uint32
}

// direct is the loop over a chunk of keys that may be in cells. It stops at the first absent key there
// is no room for and returns how far it came.
func (x *intIndex) direct(t *Table, ks []int64, slots []uint32, add bool) int {
	all, base := x.cells.all, uint64(x.cells.base)
	slots = slots[:len(ks)]
	for i, k := range ks {
		at := uint64(k) - base
		if at < uint64(len(all)) {
			if s := all[at]; s != 0 {
				slots[i] = s - 1
				continue
			}
		}
		if !add {
			slots[i] = operators.NoSlot
			continue
		}
		if at >= uint64(len(all)) || t.n == t.room {
			return i
		}
		x.used++
		slots[i] = uint32(t.n)
		x.keys = append(x.keys, k)
		t.push()
		all[at] = uint32(t.n)
	}
	return len(ks)
}

// reach makes cells for the given keys too, and reports whether they are worth their memory.
func (x *intIndex) reach(t *Table, ks []int64) bool {
	c := &x.cells
	lo, hi := slices.Min(ks), slices.Max(ks)
	if x.used > 0 {
		lo, hi = min(lo, c.base), max(hi, c.base+int64(len(c.all))-1)
	}
	need := uint64(hi) - uint64(lo) // one less than there are, which may be 2^64
	most := uint64(max(fewCells, cellsPerKey*(x.used+1)))
	if need >= most {
		return false
	}
	n := need + 1
	if x.used == 0 && int(n) <= len(c.all) {
		c.base = lo
		return true
	}
	// More of them are made than are needed, on the side to which the keys go.
	n = max(n, min(most, uint64(len(c.all)+len(c.all)/4)))
	base := lo
	if more := int64(n - need - 1); lo < c.base && lo > lo-more {
		base = lo - more
	}
	n = min(n-1, uint64(math.MaxInt64)-uint64(base)) + 1
	return x.makeCells(t, base, int(n))
}

// makeCells makes n cells from base on, which all keys are in, instead of the cells or entries there
// are; false without memory for them.
func (x *intIndex) makeCells(t *Table, base int64, n int) bool {
	if t.acc.grow(int64(n)*cellSize) != nil {
		return false
	}
	t.acc.shrink(int64(len(x.cells.all))*cellSize + int64(len(x.entries))*intEntrySize)
	old := x.cells
	x.cells, x.entries = cells{base, make([]uint32, n)}, nil
	if old.all != nil && x.used > 0 {
		copy(x.cells.all[uint64(old.base)-uint64(base):], old.all)
		return true
	}
	x.fillCells()
	return true
}

// fillCells enters all keys into cells that are empty.
func (x *intIndex) fillCells() {
	for s, k := range x.keys {
		if uint32(s)+1 != x.null {
			x.cells.all[uint64(k)-uint64(x.cells.base)] = uint32(s) + 1
		}
	}
}

// bounds are the least and the greatest key.
func (x *intIndex) bounds() (lo, hi int64, some bool) {
	for s, k := range x.keys {
		switch {
		case uint32(s)+1 == x.null:
		case !some:
			lo, hi, some = k, k, true
		default:
			lo, hi = min(lo, k), max(hi, k)
		}
	}
	return lo, hi, some
}

// truncateCells empties the cells of the keys of slots n and above.
func (x *intIndex) truncateCells(n int) {
	if n == 0 && cellsPerKey*x.used > len(x.cells.all) {
		clear(x.cells.all)
		x.used = 0
		return
	}
	for s, k := range x.keys[n:] {
		if uint32(n+s)+1 != x.null {
			x.cells.all[uint64(k)-uint64(x.cells.base)] = 0
			x.used--
		}
	}
}

// Close reports whether the keys of a table are single integers that lie within so many times their number.
func Close(t operators.Table, times int) bool {
	m, ok := t.(*Table)
	if !ok {
		return false
	}
	x, ok := m.index.(*intIndex)
	if !ok {
		return false
	}
	lo, hi, some := x.bounds()
	return some && (uint64(hi)-uint64(lo))/uint64(times) < uint64(x.used)
}
