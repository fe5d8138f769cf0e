package table

import (
	"slices"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Limits of dense caches, so that keys they do not suit cost little.
const (
	maxDense  = 8       // combinations of dictionaries remembered at a time
	maxCells  = 4 << 20 // cells of one cache
	maxWindow = 1 << 16 // range of an integer column
	cellSize  = 4
	pageSize  = 24
)

// denseCaches go from dictionary codes straight to slots, in front of a table's index. They are
// only a shortcut: without memory, or for keys that do not suit, the index does the work.
type denseCaches struct {
	usable bool // every key column may be dense
	all    []*dense
	off    bool
}

func usableColumns(key expr.Schema) bool {
	for _, f := range key.Fields {
		switch f.Type.Kind.Storage() {
		case expr.String, expr.Int, expr.BigInt, expr.Date, expr.Boolean:
		default:
			return false
		}
	}
	return len(key.Fields) > 0
}

// dense is the cache of one combination of dictionaries. The first dictionary's code is the
// number to start from; each further column is a level, from that number and the column's
// value to the next number, and the last level's numbers are slot + 1.
type dense struct {
	ids     []uint64 // per key column, 0 for one that is not a dictionary
	first   int      // the column to start from, a dictionary
	levels  []level  // one per other column; a single column has one level of one page
	cells   int
	passing bool // its dictionary has no id, so it is only good for one batch

	missing []int32 // scratch of a chunk: rows whose cells are empty, as a selection, their slots
	sel     []int32
	found   []uint32
}

// A level maps (number, value of a column) to a number: a page of cells per value. Pages are found
// by value - base + 1; page 0 is NULL's.
type level struct {
	col   int // -1: the single page
	base  int64
	pages [][]uint32
	next  uint32
}

// open finds or makes the cache for a batch's columns; nil where there is none.
func (d *denseCaches) open(acc *account, cols []keyColumn, dict []uint64, n int) *dense {
	if !d.usable || d.off {
		return nil
	}
	ids := make([]uint64, len(cols))
	first := -1
	for i := range cols {
		if cols[i].codes == nil {
			if cols[i].i32 == nil && cols[i].i64 == nil && cols[i].bools == nil {
				return nil
			}
			continue
		}
		if i < len(dict) {
			ids[i] = dict[i]
		}
		if ids[i] == 0 && (len(cols) > 1 || cols[i].dict.Len() > n) {
			return nil
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	for _, c := range d.all {
		if slices.Equal(c.ids, ids) && !c.passing {
			return c
		}
	}
	if len(d.all) == maxDense {
		d.reset(acc)
	}
	return d.add(cols, ids, first)
}

func (d *denseCaches) add(cols []keyColumn, ids []uint64, first int) *dense {
	c := &dense{ids: ids, first: first, passing: len(ids) == 1 && ids[0] == 0}
	for i := range cols {
		if i != first {
			c.levels = append(c.levels, level{col: i})
		}
	}
	if len(c.levels) == 0 {
		c.levels = []level{{col: -1}}
	}
	d.all = append(d.all, c)
	return c
}

// drop gives up dense caches for this table: its keys do not suit them.
func (d *denseCaches) drop(acc *account, c *dense) {
	d.reset(acc)
	d.off = !c.passing
}

// done forgets a cache whose dictionary has no id: the next batch's codes mean something else.
func (d *denseCaches) done(acc *account, c *dense) {
	if c == nil || !c.passing {
		return
	}
	acc.shrink(c.size())
	d.all = slices.DeleteFunc(d.all, func(o *dense) bool { return o == c })
}

// reset forgets all caches and gives their memory back.
func (d *denseCaches) reset(acc *account) {
	for _, c := range d.all {
		acc.shrink(c.size())
	}
	d.all = nil
}

func (c *dense) size() int64 {
	n := int64(c.cells) * cellSize
	for i := range c.levels {
		n += int64(cap(c.levels[i].pages)) * pageSize
	}
	return n
}

// forget empties the last levels, whose numbers are slots, and keeps the memory.
func (d *denseCaches) forget() {
	for _, c := range d.all {
		for _, p := range c.levels[len(c.levels)-1].pages {
			clear(p)
		}
	}
}

// lookup writes the slots of a chunk's rows, adding absent keys to the table. Without ok the keys
// do not suit the cache and nothing was written that counts.
func (c *dense) lookup(t *Table, r rows, slots []uint32) (ok bool, err error) {
	var buf [chunk]uint32
	nums := buf[:len(slots)]
	first := &r.cols[c.first]
	first.codeNumbers(r, nums)
	last := len(c.levels) - 1
	for i := range c.levels {
		l := &c.levels[i]
		if !c.widen(t, l, first, r) {
			return false, nil
		}
		if i == last {
			return c.finish(t, l, r, nums, slots)
		}
		if !c.step(t, l, r, nums) {
			return false, nil
		}
	}
	return true, nil
}

// codeNumbers writes each row's code + 1, and 0 for NULL.
func (c *keyColumn) codeNumbers(r rows, out []uint32) {
	switch {
	case c.nulls():
		for i := range out {
			out[i] = 0
			if row := r.at(i); !c.null(row) {
				out[i] = uint32(c.codes[row]) + 1
			}
		}
	case r.sel == nil:
		for i, code := range c.codes[r.from:r.to] {
			out[i] = uint32(code) + 1
		}
	default:
		for i, row := range r.sel[r.from:r.to] {
			out[i] = uint32(c.codes[row]) + 1
		}
	}
}
