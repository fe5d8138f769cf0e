package table

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators"
)

// begin learns what a batch's dictionaries are; ids are the batch's, n is how many rows are looked up.
func (x *denseIndex) begin(acc *account, cols []keyColumn, ids []uint64, n int) {
	x.remaps = append(x.remaps[:0], make([]*remap, len(cols))...)
	for c := range cols {
		k, id := &cols[c], uint64(0)
		if c < len(ids) {
			id = ids[c]
		}
		if k.codes != nil {
			x.remaps[c] = x.words[c].remapOf(acc, k.dict, id, n)
		}
	}
}

// locate writes the rows' places in a column, and has its level reach over them.
func (x *denseIndex) locate(t *Table, c int, r rows, out []uint32) error {
	v := x.words[c]
	if v == nil {
		return x.locateInts(t, c, r, out)
	}
	if err := v.locate(&t.acc, x.remaps[c], &r.cols[c], r, out); err != nil {
		return err
	}
	if l := x.levelOf(c); l != nil {
		return l.reach(&t.acc, len(v.ends)+1)
	}
	return nil
}

// known writes the numbers of the first rows, up to one whose text has none yet, and says how many they are.
func (m *remap) known(codes []int32, r rows, out []uint32) int {
	nums := m.nums
	if r.sel == nil {
		for i, code := range codes[r.from:r.to] {
			n := nums[code]
			if n == 0 {
				return i
			}
			out[i] = n
		}
		return len(out)
	}
	for i, row := range r.sel[r.from:r.to] {
		n := nums[codes[row]]
		if n == 0 {
			return i
		}
		out[i] = n
	}
	return len(out)
}

// locate writes the numbers of the rows' texts, and 0 for NULL.
func (v *vocabulary) locate(acc *account, m *remap, k *keyColumn, r rows, out []uint32) error {
	nulls := k.nulls()
	first := 0
	if m != nil && !nulls {
		first = m.known(k.codes, r, out)
	}
	for i := first; i < len(out); i++ {
		row := r.at(i)
		if nulls && k.null(row) {
			out[i] = 0
			continue
		}
		if m != nil && m.nums[k.codes[row]] != 0 {
			out[i] = m.nums[k.codes[row]]
			continue
		}
		n, err := v.number(acc, k.textAt(row))
		if err != nil {
			return err
		}
		out[i] = n
		if m != nil {
			m.nums[k.codes[row]] = n
		}
	}
	return nil
}

func (x *denseIndex) locateInts(t *Table, c int, r rows, out []uint32) error {
	l, k := x.levelOf(c), &r.cols[c]
	var buf [chunk]int64
	vs := buf[:len(out)]
	k.ints(r, vs)
	nulls := k.nulls()
	if !nulls && len(l.pages) > 1 && l.within(vs, out) {
		return nil
	}
	lo, hi, some := int64(math.MaxInt64), int64(math.MinInt64), false
	for i, v := range vs {
		if !nulls || !k.null(r.at(i)) {
			lo, hi, some = min(lo, v), max(hi, v), true
		}
	}
	if !some {
		clear(out)
		return l.reach(&t.acc, 1)
	}
	if err := x.widen(t, l, lo, hi); err != nil {
		return err
	}
	for i, v := range vs {
		out[i] = uint32(v-l.base) + 1
		if nulls && k.null(r.at(i)) {
			out[i] = 0
		}
	}
	return nil
}

// within writes the places of values, and reports whether the level reaches over all of them.
func (l *level) within(vs []int64, out []uint32) bool {
	base, most := l.base, uint64(0)
	out = out[:len(vs)]
	for i, v := range vs {
		d := uint64(v - base)
		most = max(most, d)
		out[i] = uint32(d) + 1
	}
	return most < uint64(len(l.pages)-1)
}

// widen makes the pages of a level of integers reach from lo to hi.
func (x *denseIndex) widen(t *Table, l *level, lo, hi int64) error {
	if len(l.pages) <= 1 {
		l.base = lo
	}
	had := len(l.pages)
	top := max(hi, l.base+int64(had)-2)
	if uint64(top-min(lo, l.base)) >= maxWindow {
		return errUnsuited
	}
	if lo >= l.base {
		return l.reach(&t.acc, int(hi-l.base)+2)
	}
	// Some more than is needed: values may come in descending order.
	if lo > math.MinInt64+maxWindow {
		lo -= min(int64(had/4), maxWindow-1-(top-lo))
	}
	if err := l.reach(&t.acc, int(top-lo)+2); err != nil {
		return err
	}
	by := int(l.base - lo)
	copy(l.pages[1+by:], l.pages[1:had])
	clear(l.pages[1 : 1+by])
	l.base = lo
	places := x.places[l.col]
	for s, p := range places {
		if p != 0 {
			places[s] = p + uint32(by)
		}
	}
	return nil
}

// placeOf is the place of a row's value in a column; false where there is none yet.
func (x *denseIndex) placeOf(c int, k *keyColumn, row int) (uint32, bool) {
	if k.nulls() && k.null(row) {
		return 0, true
	}
	if v := x.words[c]; v != nil {
		text := k.textAt(row)
		n := v.find(hashText(text), text)
		return n, n != 0
	}
	l := x.levelOf(c)
	d := uint64(k.int(row) - l.base)
	return uint32(d) + 1, len(l.pages) > 1 && d < uint64(len(l.pages)-1)
}

// toRows is an index of rows with the same keys in the same slots.
func (x *denseIndex) toRows(t *Table) (_ *rowIndex, err error) {
	y := newRowIndex(len(x.words) == 1)
	held := t.acc.held
	defer func() {
		if err != nil {
			t.acc.shrink(t.acc.held - held)
		}
	}()
	n := len(x.places[0])
	if err := y.reserve(&t.acc, max(n, t.room)); err != nil {
		return nil, err
	}
	for s := range n {
		if y.arena, err = resize(&t.acc, y.arena, len(y.arena)+x.keySize(s), 1); err != nil {
			return nil, err
		}
		y.arena = x.appendKey(y.arena, s)
		y.ends = append(y.ends, uint64(len(y.arena)))
	}
	size := max(64, 1<<bits.Len(uint(2*n)))
	if err := y.grow(t, size); err != nil {
		return nil, err
	}
	y.rebuild()
	return y, nil
}

// keySize is at least how many bytes appendKey writes.
func (x *denseIndex) keySize(slot int) int {
	n := 0
	for c, v := range x.words {
		n += 9
		if p := x.places[c][slot]; v != nil && p != 0 {
			n += len(v.text(p))
		}
	}
	return n
}

// appendKey appends the canonical bytes of a slot's key, as [keyColumn.appendKey] writes them.
func (x *denseIndex) appendKey(dst []byte, slot int) []byte {
	for c, v := range x.words {
		p := x.places[c][slot]
		if p == 0 {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1)
		if v != nil {
			dst = appendText(dst, v.text(p))
			continue
		}
		dst = binary.LittleEndian.AppendUint64(dst, uint64(x.levelOf(c).base+int64(p)-1))
	}
	return dst
}

// release gives all memory back.
func (x *denseIndex) release(acc *account) {
	bytes := int64(x.cells) * cellSize
	for i := range x.levels {
		bytes += int64(cap(x.levels[i].pages)) * pageSize
	}
	for c, v := range x.words {
		bytes += int64(cap(x.places[c])) * 4
		if v != nil {
			v.release(acc)
		}
	}
	acc.shrink(bytes)
	*x = denseIndex{}
}

// coded are the keys of the given slots, and the dictionaries of those columns that are coded: STRING
// ones with far fewer texts than the table has had slots.
func (x *denseIndex) coded(t *Table, slots []uint32) (cols []arrow.Array, ids []uint64) {
	cols, ids = make([]arrow.Array, len(x.words)), make([]uint64, len(x.words))
	for c, v := range x.words {
		typ := t.key.Fields[c].Type
		switch {
		case v == nil:
			cols[c] = x.intColumn(c, typ, t.alloc, slots)
		case len(v.ends) > x.made/fewWords:
			cols[c] = x.textColumn(c, t.alloc, slots)
		default:
			cols[c], ids[c] = x.codedColumn(c, t.alloc, slots), v.id
		}
	}
	return cols, ids
}

var _ index = (*denseIndex)(nil)

// fewWords is how many slots there must have been for each text for a column to be given out coded.
const fewWords = 4

// Coded is like Scan over all key groups, but gives STRING columns coded where that is smaller; dict has
// the ids of their dictionaries, which only grow, as in [operators.Batch].
func Coded(t operators.Table, each func(keys arrow.Record, dict []uint64, slots []uint32) error) error {
	m, ok := t.(*Table)
	if !ok {
		return t.Scan(0, math.MaxInt, func(keys arrow.Record, slots []uint32) error { return each(keys, nil, slots) })
	}
	x, ok := m.index.(*denseIndex)
	return m.pieces(func(slots []uint32) error {
		if !ok {
			return m.visit(m.keyColumns(slots), slots, func(keys arrow.Record, slots []uint32) error { return each(keys, nil, slots) })
		}
		cols, ids := x.coded(m, slots)
		return m.visit(cols, slots, func(keys arrow.Record, slots []uint32) error { return each(keys, ids, slots) })
	})
}
