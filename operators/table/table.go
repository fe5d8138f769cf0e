// Package table holds what aggregates, DISTINCT, sorts and windows keep in memory: hash tables that
// are keyed state at the same time, and sort runs. Both take their memory from the task's slot and
// say so when it is used up, so that their owner can spill.
package table

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// chunk is how many rows are looked up at a time: enough for the cache misses of a chunk to
// overlap, and few enough for its scratch to stay in the first-level cache.
const chunk = 1024

// maxSlots bounds a table, whose slots are 32-bit numbers and whose indexes hold slot + 1.
const maxSlots = 1<<32 - 2

// Table is the in-memory [operators.Table].
type Table struct {
	key    expr.Schema
	groups int
	alloc  memory.Allocator
	acc    account

	n     int        // slots in use
	room  int        // slots there is memory for
	words [][]uint64 // nil: a rare column that nobody has asked for
	rare  []int
	bytes []*bytesColumn
	index index
	timer timers

	unpaid int64  // memory of rare columns that was not asked for yet
	warmed uint64 // keeps the reads of Warm from being optimized away
}

// An index finds the slots of keys. Both methods work on the rows of a batch that are described by
// reader, chunk by chunk.
type index interface {
	// lookup writes the slots of at most chunk rows; with add, absent keys become new slots.
	lookup(t *Table, rows rows, slots []uint32, add bool) error
	// reserve makes room in what the index keeps per slot, for n slots.
	reserve(acc *account, n int) error
	// truncate forgets the keys of slots n and above.
	truncate(n int)
	// keep forgets all keys but those of the given slots, which are renumbered from 0.
	keep(slots []uint32)
	// columns are the keys of the given slots.
	columns(key expr.Schema, alloc memory.Allocator, slots []uint32) []arrow.Array
}

// New makes an empty table whose keys have the types of the fields of key; without fields every row
// has the same key. maxParallelism is the number of key groups, for Scan.
func New(key expr.Schema, o operators.TableOptions, mem operators.Memory, maxParallelism int, alloc memory.Allocator) (operators.Table, error) {
	for _, f := range key.Fields {
		if f.Type.Kind == expr.Invalid {
			return nil, fmt.Errorf("key column %s of a table has no type", f.Name)
		}
		if f.Type.Nested() {
			return nil, fmt.Errorf("key column %s of a table is %s, which is no key", f.Name, f.Type)
		}
	}
	if maxParallelism < 1 {
		return nil, fmt.Errorf("a table needs at least one key group, not %d", maxParallelism)
	}
	t := &Table{key: key, groups: maxParallelism, alloc: alloc, acc: account{mem: mem}, rare: o.Rare}
	t.words = t.noWords(o.Words)
	for range o.BytesCol {
		t.bytes = append(t.bytes, &bytesColumn{acc: &t.acc})
	}
	t.index = newIndex(key)
	return t, nil
}

// noWords are n word columns without values.
func (t *Table) noWords(n int) [][]uint64 {
	words := make([][]uint64, n)
	for i := range words {
		words[i] = []uint64{}
	}
	for _, i := range t.rare {
		words[i] = nil
	}
	return words
}

func newIndex(key expr.Schema) index {
	if len(key.Fields) == 1 {
		switch key.Fields[0].Type.Kind.Storage() {
		case expr.Boolean, expr.Int, expr.BigInt, expr.Double, expr.Date, expr.Timestamp:
			return newIntIndex()
		case expr.Decimal:
			if key.Fields[0].Type.Precision <= expr.MaxDecimal64 {
				return newIntIndex()
			}
		}
	}
	if x := newDenseIndex(key); x != nil {
		return x
	}
	return newRowIndex(false)
}

// Upsert finds or adds the keys of the selected rows; see [operators.Table].
func (t *Table) Upsert(keys []arrow.Array, dict []uint64, sel []int32, slots []uint32) (int, error) {
	if err := t.settle(); err != nil {
		if t.n > 0 {
			return 0, err
		}
		t.release() // what is owed is for keys that it has forgotten
	}
	before, kept := t.n, t.n == 0 && t.acc.held > 0
	err := t.each(keys, dict, sel, slots, true)
	if kept && errors.Is(err, operators.ErrMemory) { // of the keys before, which may have taken what these need
		t.release()
		err = t.each(keys, dict, sel, slots, true)
	}
	if err != nil {
		t.rollback(before)
		return 0, err
	}
	return t.n - before, nil
}

// Find is Upsert that adds nothing; absent keys give NoSlot.
func (t *Table) Find(keys []arrow.Array, dict []uint64, sel []int32, slots []uint32) error {
	return t.each(keys, dict, sel, slots, false)
}

// each looks the rows up chunk by chunk, in order.
func (t *Table) each(keys []arrow.Array, dict []uint64, sel []int32, slots []uint32, add bool) error {
	if len(keys) != len(t.key.Fields) {
		return fmt.Errorf("a table of %d key columns was given %d", len(t.key.Fields), len(keys))
	}
	n := len(slots)
	if len(keys) == 0 {
		return t.single(slots, add)
	}
	all := rows{cols: make([]keyColumn, len(keys)), sel: sel}
	for i, k := range keys {
		if err := all.cols[i].load(k); err != nil {
			return fmt.Errorf("key column %s: %w", t.key.Fields[i].Name, err)
		}
	}
	if x, ok := t.index.(*denseIndex); ok && add {
		x.begin(&t.acc, all.cols, dict, n)
	}
	for from := 0; from < n; from += chunk {
		r := all.part(from, min(from+chunk, n))
		err := t.index.lookup(t, r, slots[from:r.to], add)
		if errors.Is(err, errUnsuited) {
			if err = t.toRows(); err == nil {
				err = t.index.lookup(t, r, slots[from:r.to], add)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// toRows puts an index of rows in place of a dense one.
func (t *Table) toRows() error {
	x, ok := t.index.(*denseIndex)
	if !ok {
		return errUnsuited
	}
	y, err := x.toRows(t)
	if err != nil {
		return err
	}
	x.release(&t.acc)
	t.index = y
	return nil
}

// single is the table without key columns: every row has slot 0.
func (t *Table) single(slots []uint32, add bool) error {
	if len(slots) > 0 && t.n == 0 && add {
		if err := t.addSlot(); err != nil {
			return err
		}
	}
	s := operators.NoSlot
	if t.n > 0 {
		s = 0
	}
	for i := range slots {
		slots[i] = s
	}
	return nil
}

// addSlot numbers a new slot, whose values are zero.
func (t *Table) addSlot() error {
	if t.n == t.room {
		if err := t.reserve(max(16, 2*t.room)); err != nil {
			return err
		}
	}
	t.push()
	return nil
}

// push is addSlot where there is room.
func (t *Table) push() {
	for i, w := range t.words {
		if w != nil {
			t.words[i] = append(w, 0)
		}
	}
	t.n++
}

// reserve makes room for n slots.
func (t *Table) reserve(n int) error {
	if n > maxSlots {
		return operators.ErrMemory
	}
	var err error
	for i := range t.words {
		if t.words[i] == nil {
			continue
		}
		if t.words[i], err = resize(&t.acc, t.words[i], n, 8); err != nil {
			return err
		}
	}
	if err := t.index.reserve(&t.acc, n); err != nil {
		return err
	}
	t.room = n
	return nil
}

// settle reserves what rare and byte columns grew by since the last call, for which Words and Set could not fail.
func (t *Table) settle() error {
	if t.unpaid > 0 {
		if err := t.acc.grow(t.unpaid); err != nil {
			return err
		}
		t.unpaid = 0
	}
	for _, b := range t.bytes {
		if err := b.settle(); err != nil {
			return err
		}
	}
	return nil
}

// rollback takes back the slots that a failed Upsert added. A table that was empty gives back all memory that the
// attempt has taken, so that fewer rows may still fit.
func (t *Table) rollback(n int) {
	if n == 0 {
		t.release()
		return
	}
	if t.n == n {
		return
	}
	t.cut(n)
	t.index.truncate(n)
}

func (t *Table) cut(n int) {
	for i, w := range t.words {
		if w != nil {
			t.words[i] = w[:n]
		}
	}
	for _, b := range t.bytes {
		b.cut(n)
	}
	t.n = n
}

// Len is the number of slots.
func (t *Table) Len() int { return t.n }

// Words is a value column, one word per slot; valid until the next Upsert.
func (t *Table) Words(col int) []uint64 {
	if t.words[col] == nil {
		t.words[col] = make([]uint64, t.n, max(t.room, 1))
		t.unpaid += int64(cap(t.words[col])) * 8
	}
	return t.words[col][:t.n]
}

// Untouched reports whether all values of a word column are zero since nobody has asked for it.
func (t *Table) Untouched(col int) bool { return t.words[col] == nil }

// Bytes is a byte-string value column.
func (t *Table) Bytes(col int) operators.BytesColumn { return t.bytes[col] }

// Delete removes the slots and renumbers the remaining ones from 0, in order; timers move along.
func (t *Table) Delete(slots []uint32) error {
	gone := make([]bool, t.n)
	for _, s := range slots {
		if int(s) >= t.n {
			return fmt.Errorf("slot %d of a table of %d slots cannot be deleted", s, t.n)
		}
		gone[s] = true
	}
	alive := make([]uint32, 0, t.n)
	for s := range t.n {
		if gone[s] {
			continue
		}
		to := len(alive)
		for _, w := range t.words {
			if w != nil {
				w[to] = w[s]
			}
		}
		for _, b := range t.bytes {
			b.move(uint32(to), uint32(s))
		}
		alive = append(alive, uint32(s))
	}
	t.index.keep(alive)
	t.timer.keep(alive, t.n)
	t.cut(len(alive))
	return nil
}

// Clear forgets all keys and keeps the memory.
func (t *Table) Clear() {
	if t.n == 0 {
		return
	}
	t.timer.clear()
	t.cut(0)
	t.index.truncate(0)
}

// Release empties a table whose owner has spilled it, and gives the memory of an in-memory one back.
func Release(t operators.Table) {
	if m, ok := t.(*Table); ok {
		m.release()
		return
	}
	t.Clear()
}

func (t *Table) release() {
	t.Clear()
	if x, ok := t.index.(*denseIndex); ok {
		x.release(&t.acc)
	}
	t.acc.shrink(t.acc.held)
	t.words, t.room, t.index = t.noWords(len(t.words)), 0, newIndex(t.key)
	t.unpaid = 0
	for i := range t.bytes {
		t.bytes[i] = &bytesColumn{acc: &t.acc}
	}
}

// Close gives the memory back.
func (t *Table) Close() { t.release() }
