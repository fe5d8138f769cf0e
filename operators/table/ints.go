package table

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// intIndex finds slots of single 64-bit keys: by cells while the keys lie close together, else by open
// addressing. An entry is the upper half of a
// key's hash and, below, slot + 1 (0 = empty): small, so that much of an index fits in a cache, and
// nearly always enough to know that a key is another one. The load stays at or under one half.
type intIndex struct {
	cells   cells // none while there are entries
	entries []uint64
	shift   uint
	used    int     // keys but NULL
	keys    []int64 // by slot
	null    uint32  // slot + 1 of the NULL key, 0 while there is none
}

const intEntrySize = 8

// entryOf is the entry of a slot whose key has hash h.
func entryOf(h uint64, slot int) uint64 { return h&^math.MaxUint32 | uint64(slot+1) }

func newIntIndex() *intIndex { return &intIndex{} }

// hashInt spreads a key over 64 bits; the index uses the highest.
func hashInt(k int64) uint64 {
	x := uint64(k) * 0x9E3779B97F4A7C15
	x ^= x >> 32
	return x * 0xD6E8FEB86659FD93
}

func (x *intIndex) reserve(acc *account, n int) error {
	var err error
	x.keys, err = resize(acc, x.keys, n, 8)
	return err
}

func (x *intIndex) lookup(t *Table, r rows, slots []uint32, add bool) error {
	if len(x.keys) == 0 && !add {
		return fillNoSlot(slots)
	}
	var keys [chunk]int64
	n := len(slots)
	ks := keys[:n]
	c := &r.cols[0]
	if c.i64 != nil && r.sel == nil {
		ks = c.i64[r.from:r.to]
	} else {
		c.ints(r, ks)
	}
	if c.nulls() {
		return x.withNulls(t, r, ks, slots, add)
	}
	return x.run(t, ks, slots, add)
}

func fillNoSlot(slots []uint32) error {
	for i := range slots {
		slots[i] = operators.NoSlot
	}
	return nil
}

// run looks keys up, and makes room whenever an absent one has none.
func (x *intIndex) run(t *Table, ks []int64, slots []uint32, add bool) error {
	for len(ks) > 0 {
		n := 0
		switch {
		case x.entries != nil:
			n = x.probe(t, ks, slots, add)
		case x.cells.all != nil:
			n = x.direct(t, ks, slots, add)
		case !add: // there is no key but NULL
			return fillNoSlot(slots)
		}
		if ks, slots = ks[n:], slots[n:]; len(ks) == 0 {
			break
		}
		if err := x.widen(t, ks); err != nil {
			return err
		}
	}
	return nil
}

// widen makes room for the first of some keys, which has none.
func (x *intIndex) widen(t *Table, ks []int64) error {
	switch {
	case t.n == t.room:
		return t.reserve(max(16, 2*t.room))
	case x.entries == nil && x.reach(t, ks):
		return nil
	case x.entries == nil:
		n := 64
		for n < 4*(x.used+1) {
			n *= 2
		}
		return x.grow(t, n)
	}
	lo, hi, some := x.bounds()
	if n := uint64(hi) - uint64(lo); some && n < uint64(cellsPerKey*x.used) && x.makeCells(t, lo, int(n)+1) {
		return nil
	}
	return x.grow(t, 2*len(x.entries))
}

// probe is the loop over a chunk. A first pass touches the entries so that their cache misses
// overlap. It stops at the first absent key there is no room for and returns how far it came.
func (x *intIndex) probe(t *Table, ks []int64, slots []uint32, add bool) int {
	entries, shift := x.entries, x.shift&63
	mask := uint64(len(entries) - 1)
	var hashes [chunk]uint64
	var touched uint64
	for i, k := range ks {
		h := hashInt(k)
		hashes[i&(chunk-1)] = h
		touched |= entries[h>>shift&mask]
	}
	if touched == 0 && !add {
		_ = fillNoSlot(slots[:len(ks)])
		return len(ks)
	}
	slots = slots[:len(ks)]
	for i, k := range ks {
		h := hashes[i&(chunk-1)]
		at := h >> shift
		for {
			e := entries[at&mask]
			if (e^h)>>32 == 0 && uint32(e) != 0 && x.keys[uint32(e)-1] == k {
				slots[i] = uint32(e) - 1
				break
			}
			if uint32(e) == 0 {
				if !add {
					slots[i] = operators.NoSlot
					break
				}
				if 2*(x.used+1) > len(entries) || t.n == t.room {
					return i
				}
				x.used++
				slots[i] = uint32(t.n)
				x.keys = append(x.keys, k)
				entries[at&mask] = entryOf(h, t.n)
				t.push()
				break
			}
			at++
		}
	}
	return len(ks)
}

// withNulls looks up a chunk some of whose keys are NULL: runs of others between them.
func (x *intIndex) withNulls(t *Table, r rows, ks []int64, slots []uint32, add bool) error {
	from := 0
	for i := range ks {
		if !r.cols[0].null(r.at(i)) {
			continue
		}
		if err := x.run(t, ks[from:i], slots[from:i], add); err != nil {
			return err
		}
		from = i + 1
		if x.null == 0 && add {
			if err := t.addSlot(); err != nil {
				return err
			}
			x.keys = append(x.keys, 0)
			x.null = uint32(t.n)
		}
		slots[i] = x.null - 1 // NoSlot while there is none
	}
	return x.run(t, ks[from:], slots[from:], add)
}

// grow makes n entries, instead of those or the cells there are.
func (x *intIndex) grow(t *Table, n int) error {
	if err := t.acc.grow(int64(n) * intEntrySize); err != nil {
		return err
	}
	t.acc.shrink(int64(len(x.entries))*intEntrySize + int64(len(x.cells.all))*cellSize)
	old := x.entries
	x.entries = make([]uint64, n)
	x.shift = uint(64 - bits.TrailingZeros(uint(n)))
	if x.cells.all != nil {
		x.cells = cells{}
		x.fillEntries()
		return nil
	}
	for _, e := range old {
		if uint32(e) != 0 {
			x.insert(e, hashInt(x.keys[uint32(e)-1]))
		}
	}
	return nil
}

func (x *intIndex) insert(e, h uint64) {
	mask := uint64(len(x.entries) - 1)
	at := h >> x.shift
	for uint32(x.entries[at&mask]) != 0 {
		at++
	}
	x.entries[at&mask] = e
}

func (x *intIndex) truncate(n int) {
	n = min(n, len(x.keys))
	if x.entries == nil {
		x.truncateCells(n)
	}
	x.keys = x.keys[:n]
	if int(x.null) > n {
		x.null = 0
	}
	if x.entries != nil {
		x.fillEntries()
	}
}

func (x *intIndex) keep(slots []uint32) {
	null := uint32(0)
	for to, s := range slots {
		x.keys[to] = x.keys[s]
		if s+1 == x.null {
			null = uint32(to) + 1
		}
	}
	x.keys, x.null = x.keys[:len(slots)], null
	if x.entries != nil {
		x.fillEntries()
		return
	}
	clear(x.cells.all)
	x.used = len(x.keys)
	if null != 0 {
		x.used--
	}
	x.fillCells()
}

// fillEntries enters all keys anew.
func (x *intIndex) fillEntries() {
	clear(x.entries)
	x.used = 0
	for s, k := range x.keys {
		if uint32(s)+1 != x.null {
			h := hashInt(k)
			x.insert(entryOf(h, s), h)
			x.used++
		}
	}
}

func (x *intIndex) columns(key expr.Schema, alloc memory.Allocator, slots []uint32) []arrow.Array {
	b := newKeyBuilder(key.Fields[0].Type, alloc)
	defer b.Release()
	b.Reserve(len(slots))
	for _, s := range slots {
		if s+1 == x.null {
			b.AppendNull()
		} else {
			appendInt(b, x.keys[s])
		}
	}
	return []arrow.Array{b.NewArray()}
}

// doubleKey is the key of a DOUBLE: its bits, with one NaN and no negative zero.
func doubleKey(f float64) int64 {
	if f != f {
		return 0x7FF8000000000001
	}
	return int64(math.Float64bits(f + 0)) // -0.0 + 0 = 0.0
}
