package aggregate

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

const (
	partBits   = 7
	partCount  = 1 << partBits
	partFactor = 0x9FB21C651E98DF25 // odd, and another than the tables' own hash has
)

// partitions are the groups of a local phase that has many: the rows of a batch are gathered by a
// hash of their keys, and each part of them has a table that stays in the processor's cache while
// its rows are added. Only rows of numbers without NULL are gathered, which is the common case.
//
// Where the keys are integers that lie close together, parts are by blocks of the keys themselves. Between the blocks
// of a part its tables leave out those of the others, so that their keys lie close together again.
type partitions struct {
	layout  *layout
	blocks  bool
	wide    bool // and the keys have 64 bits
	task    *operators.Task
	columns []gathered
	parts   [partCount]part
	room    int // rows gathered for a part at most
	rowSize int64
	groups  int
	rows    int // in the groups
	target  []uint8
	order   []int32
	start   [partCount + 1]int32
	slots   []uint32
}

// gathered is a column of the original input that rows are gathered of.
type gathered struct {
	place int
	width int // bytes
	typ   arrow.DataType
	words []byte // of all parts, one after the other
}

// A part has its table and so many gathered rows, which its columns (by their place in the original
// input) are views of.
type part struct {
	number int
	table  operators.Table
	cols   []arrow.Array
	n      int
}

// newPartitions makes partitions; nil where keys or arguments do not suit them, or memory is short. Close
// keys are single integers that lie close together.
func newPartitions(l *layout, t *operators.Task, room int, closeKeys bool) (*partitions, error) {
	p := &partitions{layout: l, task: t, room: room, slots: make([]uint32, room)}
	if len(l.distinct) > 0 || len(l.keys) == 0 {
		return nil, nil
	}
	need := append([]int(nil), l.keys...)
	for i := range l.states[:l.plain] {
		s := &l.states[i]
		if s.filter >= 0 {
			return nil, nil
		}
		if s.arg >= 0 {
			need = append(need, s.arg)
			closeKeys = closeKeys && s.arg != l.keys[0] // whose values are needed as they are
		}
	}
	for _, place := range need {
		if !p.gather(place) {
			return nil, nil
		}
	}
	if closeKeys && p.columns[0].typ.ID() != arrow.FLOAT64 {
		p.byBlocks()
	}
	if t.Memory != nil && !t.Memory.Reserve(p.size()) {
		return nil, nil
	}
	for i := range p.columns {
		c := &p.columns[i]
		c.words = t.Alloc.Allocate(partCount * room * c.width)
	}
	key := expr.Schema{Fields: l.keyField}
	for i := range p.parts {
		tab, err := table.New(key, l.tableOptions(l.plain), t.Memory, 1, t.Alloc)
		if err != nil {
			p.close()
			return nil, fmt.Errorf("local aggregate: %w", err)
		}
		p.parts[i].number, p.parts[i].table = i, tab
		p.parts[i].cols = p.views(i, room)
	}
	return p, nil
}

// gather adds a column to those gathered, unless it is one; false where its type does not suit.
func (p *partitions) gather(place int) bool {
	for _, c := range p.columns {
		if c.place == place {
			return true
		}
	}
	c := gathered{place: place, typ: p.layout.input.Fields[place].Type.Arrow()}
	switch c.typ.ID() {
	case arrow.INT64, arrow.FLOAT64, arrow.TIMESTAMP:
		c.width = 8
	case arrow.INT32, arrow.DATE32:
		c.width = 4
	default:
		return false
	}
	p.columns = append(p.columns, c)
	p.rowSize += int64(c.width)
	return true
}

func (p *partitions) size() int64 { return p.rowSize * int64(partCount*p.room) }

// views are the first n gathered rows of a part as columns.
func (p *partitions) views(i, n int) []arrow.Array {
	cols := make([]arrow.Array, len(p.layout.input.Fields))
	for _, c := range p.columns {
		words := memory.NewBufferBytes(c.words[i*p.room*c.width:][:n*c.width])
		typ := c.typ
		if p.blocks && c.place == p.layout.keys[0] {
			typ = arrow.PrimitiveTypes.Int32
		}
		d := array.NewData(typ, n, []*memory.Buffer{nil, words}, nil, 0, 0)
		cols[c.place] = array.MakeFromData(d)
	}
	return cols
}

// suit reports whether a batch's rows can be gathered.
func (p *partitions) suit(b operators.Batch) bool {
	for _, c := range p.columns {
		a := b.Rec.Column(c.place)
		if a.NullN() > 0 || !arrow.TypeEqual(a.DataType(), c.typ) {
			return false
		}
	}
	return !p.blocks || p.near(b.Rec.Column(p.layout.keys[0]), b.Sel)
}

// add gathers the rows of a batch. Parts that have enough of them take them into their table; full is
// what to do for one whose table has no memory for them.
func (p *partitions) add(b operators.Batch, full func(*part) error) error {
	n := b.Rows()
	p.spread(b.Rec, b.Sel, n)
	for i := range p.parts {
		q := &p.parts[i]
		rows := p.order[p.start[i]:p.start[i+1]]
		for len(rows) > 0 {
			some := rows[:min(len(rows), p.room-q.n)]
			rows = rows[len(some):]
			for k := range p.columns {
				c, from := &p.columns[k], b.Rec.Column(p.columns[k].place)
				if p.blocks && k == 0 {
					p.takeKeys(from, some, i*p.room+q.n)
				} else {
					c.take(from, some, i*p.room+q.n)
				}
			}
			q.n += len(some)
			if q.n == p.room {
				if err := p.settle(q, full); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// spread orders the rows of a batch by part.
func (p *partitions) spread(rec arrow.Record, sel []int32, n int) {
	if cap(p.order) < n {
		p.order, p.target = make([]int32, n), make([]uint8, n)
	}
	p.order, p.target = p.order[:n], p.target[:n]
	if p.blocks {
		p.spreadBlocks(rec.Column(p.layout.keys[0]), sel)
	} else if len(p.layout.keys) == 1 && p.columns[0].width == 8 {
		v := words[uint64](rec.Column(p.layout.keys[0]))
		if sel == nil {
			for i, x := range v[:n] {
				p.target[i] = uint8(x * partFactor >> (64 - partBits))
			}
		} else {
			for i, row := range sel {
				p.target[i] = uint8(v[row] * partFactor >> (64 - partBits))
			}
		}
	} else {
		p.spreadAny(rec, sel)
	}
	var count [partCount + 1]int32
	for _, t := range p.target {
		count[t]++
	}
	at := int32(0)
	for i := range p.parts {
		p.start[i] = at
		at += count[i]
		count[i] = p.start[i]
	}
	p.start[partCount] = at
	for i, t := range p.target {
		row := int32(i)
		if sel != nil {
			row = sel[i]
		}
		p.order[count[t&(partCount-1)]] = row
		count[t&(partCount-1)]++
	}
}

// spreadAny is the first half of spread for any keys.
func (p *partitions) spreadAny(rec arrow.Record, sel []int32) {
	for i := range p.target {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		h := uint64(0)
		for k := range p.layout.keys {
			c := &p.columns[k]
			var x uint64
			if c.width == 8 {
				x = words[uint64](rec.Column(c.place))[row]
			} else {
				x = uint64(words[uint32](rec.Column(c.place))[row])
			}
			h = (h ^ x) * partFactor
			h ^= h >> 32
		}
		p.target[i] = uint8(h * partFactor >> (64 - partBits))
	}
}

// take copies rows of a batch to the place at.
func (c *gathered) take(from arrow.Array, rows []int32, at int) {
	if c.width == 8 {
		column.Gather(view[uint64](c.words)[at:][:len(rows)], words[uint64](from), rows)
		return
	}
	column.Gather(view[uint32](c.words)[at:][:len(rows)], words[uint32](from), rows)
}

// words are the values of a column of numbers.
func words[T int32 | int64 | uint32 | uint64](a arrow.Array) []T {
	d := a.Data()
	if d.Len() == 0 {
		return nil
	}
	return view[T](d.Buffers()[1].Bytes())[d.Offset() : d.Offset()+d.Len()]
}

func view[T int32 | int64 | uint32 | uint64](b []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

// settle adds a part's gathered rows to its table.
func (p *partitions) settle(q *part, full func(*part) error) error {
	if q.n == 0 {
		return nil
	}
	err := p.group(q, p.columnsOf(q))
	if errors.Is(err, operators.ErrMemory) {
		err = full(q)
	}
	q.n = 0
	return err
}

// columnsOf are a part's gathered rows, by place in the original input.
func (p *partitions) columnsOf(q *part) []arrow.Array {
	if q.n == p.room {
		return q.cols
	}
	cols := make([]arrow.Array, len(q.cols))
	for _, c := range p.columns {
		cols[c.place] = array.NewSlice(q.cols[c.place], 0, int64(q.n))
	}
	return cols
}

func (p *partitions) group(q *part, cols []arrow.Array) error {
	slots := p.slots[:q.n]
	keys := make([]arrow.Array, len(p.layout.keys))
	for i, k := range p.layout.keys {
		keys[i] = cols[k]
	}
	table.Warm(q.table)
	fresh, err := q.table.Upsert(keys, nil, nil, slots)
	if err != nil {
		return err
	}
	p.groups += fresh
	p.rows += q.n
	return newUpdater(cols, nil, slots).add(p.layout.states[:p.layout.plain], q.table)
}

// drop gives the room for gathered rows back, when there are none and no more will come.
func (p *partitions) drop() {
	if p.columns[0].words == nil {
		return
	}
	for i := range p.columns {
		p.task.Alloc.Free(p.columns[i].words)
		p.columns[i].words = nil
	}
	if p.task.Memory != nil {
		p.task.Memory.Release(p.size())
	}
}

// close gives everything back.
func (p *partitions) close() {
	for i := range p.parts {
		if t := p.parts[i].table; t != nil {
			t.Close()
		}
	}
	p.drop()
}
