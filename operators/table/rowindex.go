package table

import (
	"bytes"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// rowIndex finds slots of keys of any columns: open addressing over hashes of their canonical
// bytes, which are kept one after the other in an arena.
type rowIndex struct {
	entries []rowEntry
	shift   uint
	used    int
	ends    []uint64 // by slot: where its key ends in the arena
	arena   []byte
	encoded []byte // scratch of a chunk: its keys, where each ends, their hashes
	keyEnds []int
	hashes  []uint64
	oneText bool // the key is a single text
}

type rowEntry struct {
	hash uint64
	slot uint32 // slot + 1, 0 = empty
}

const rowEntrySize = 16

func newRowIndex(oneText bool) *rowIndex { return &rowIndex{oneText: oneText} }

func (x *rowIndex) key(slot uint32) []byte {
	from := uint64(0)
	if slot > 0 {
		from = x.ends[slot-1]
	}
	return x.arena[from:x.ends[slot]]
}

func (x *rowIndex) reserve(acc *account, n int) error {
	var err error
	x.ends, err = resize(acc, x.ends, n, 8)
	return err
}

func (x *rowIndex) lookup(t *Table, r rows, slots []uint32, add bool) error {
	if len(x.entries) == 0 {
		if !add {
			return fillNoSlot(slots)
		}
		if err := x.grow(t, 64); err != nil {
			return err
		}
	}
	if x.hashes == nil {
		x.hashes, x.keyEnds = make([]uint64, chunk), make([]int, chunk)
	}
	if x.oneText && !r.cols[0].nulls() {
		return x.texts(t, r, slots, add)
	}
	x.encode(r, len(slots))
	return x.run(t, x.hashes[:len(slots)], x.keyEnds[:len(slots)], slots, add)
}

// run finds each encoded key; the first pass touches the entries so that cache misses overlap.
func (x *rowIndex) run(t *Table, hashes []uint64, ends []int, slots []uint32, add bool) error {
	mask, shift := uint64(len(x.entries)-1), x.shift&63
	var touched uint32
	for _, h := range hashes {
		touched |= x.entries[h>>shift&mask].slot
	}
	if touched == 0 && !add {
		return fillNoSlot(slots)
	}
	from := 0
	for i, h := range hashes {
		key := x.encoded[from:ends[i]]
		from = ends[i]
		s, err := x.find(t, h, key, add)
		if err != nil {
			return err
		}
		slots[i] = s
	}
	return nil
}

func (x *rowIndex) find(t *Table, h uint64, key []byte, add bool) (uint32, error) {
	for {
		mask := uint64(len(x.entries) - 1)
		at := h >> x.shift
		for {
			e := &x.entries[at&mask]
			if e.slot == 0 {
				break
			}
			if e.hash == h && bytes.Equal(x.key(e.slot-1), key) {
				return e.slot - 1, nil
			}
			at++
		}
		if !add {
			return operators.NoSlot, nil
		}
		if 2*(x.used+1) <= len(x.entries) {
			return x.put(t, &x.entries[at&mask], h, key)
		}
		if err := x.grow(t, 2*len(x.entries)); err != nil {
			return 0, err
		}
	}
}

// put makes a new slot for a key at its empty entry.
func (x *rowIndex) put(t *Table, e *rowEntry, h uint64, key []byte) (uint32, error) {
	arena, err := resize(&t.acc, x.arena, len(x.arena)+len(key), 1)
	if err != nil {
		return 0, err
	}
	x.arena = arena
	if err := t.addSlot(); err != nil {
		return 0, err
	}
	x.arena = append(x.arena, key...)
	x.ends = append(x.ends, uint64(len(x.arena)))
	*e = rowEntry{h, uint32(t.n)}
	x.used++
	return uint32(t.n - 1), nil
}

func (x *rowIndex) grow(t *Table, n int) error {
	if err := t.acc.grow(int64(n) * rowEntrySize); err != nil {
		return err
	}
	old := x.entries
	x.entries = make([]rowEntry, n)
	clear(x.entries) // written before it is read: reading fresh memory first costs a second fault a page
	x.shift = uint(64 - bits.TrailingZeros(uint(n)))
	for _, e := range old {
		if e.slot != 0 {
			x.insert(e)
		}
	}
	t.acc.shrink(int64(len(old)) * rowEntrySize)
	return nil
}

func (x *rowIndex) insert(e rowEntry) {
	mask := uint64(len(x.entries) - 1)
	at := e.hash >> x.shift
	for x.entries[at&mask].slot != 0 {
		at++
	}
	x.entries[at&mask] = e
}

func (x *rowIndex) truncate(n int) {
	n = min(n, len(x.ends))
	x.ends = x.ends[:n]
	if n == 0 {
		x.arena = x.arena[:0]
	} else {
		x.arena = x.arena[:x.ends[n-1]]
	}
	x.rebuild()
}

func (x *rowIndex) keep(slots []uint32) {
	ends := make([]uint64, len(slots), cap(x.ends))
	end := 0
	for to, s := range slots {
		end += copy(x.arena[end:], x.key(s)) // a kept key never moves up
		ends[to] = uint64(end)
	}
	x.ends, x.arena = ends, x.arena[:end]
	x.rebuild()
}

func (x *rowIndex) rebuild() {
	clear(x.entries)
	x.used = len(x.ends)
	for s := range x.ends {
		x.insert(rowEntry{x.hash(x.key(uint32(s))), uint32(s) + 1})
	}
}

// columns decodes the keys of the given slots, column by column.
func (x *rowIndex) columns(key expr.Schema, alloc memory.Allocator, slots []uint32) []arrow.Array {
	rest := make([][]byte, len(slots))
	for i, s := range slots {
		rest[i] = x.key(s)
	}
	cols := make([]arrow.Array, len(key.Fields))
	for c, f := range key.Fields {
		b := newKeyBuilder(f.Type, alloc)
		b.Reserve(len(slots))
		for i := range rest {
			rest[i] = appendDecoded(b, rest[i])
		}
		cols[c] = b.NewArray()
		b.Release()
	}
	return cols
}
