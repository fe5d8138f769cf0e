package aggregate

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
)

// partials is a record of the partial schema: the group columns, which it does not take over, and
// the plain states of the slots. A nil from gives states to which nothing was added.
func (l *layout) partials(alloc memory.Allocator, group []arrow.Array, slots []uint32, from store) arrow.Record {
	return l.record(alloc, group, slots, from, func(v []uint64) arrow.Array { return wordColumn(alloc, v, slots) })
}

// lastPartials is partials of neighbouring slots of a store that will be released: its words are not copied.
func (l *layout) lastPartials(alloc memory.Allocator, group []arrow.Array, slots []uint32, from store) arrow.Record {
	return l.record(alloc, group, slots, from, func(v []uint64) arrow.Array {
		if len(slots) == 0 {
			return wordView(nil)
		}
		return wordView(v[slots[0]:][:len(slots)])
	})
}

func (l *layout) record(alloc memory.Allocator, group []arrow.Array, slots []uint32, from store, word func([]uint64) arrow.Array) arrow.Record {
	cols := make([]arrow.Array, 0, len(group)+l.words+l.bytes)
	for _, g := range group {
		g.Retain()
		cols = append(cols, g)
	}
	for i := range l.states[:l.plain] {
		s := &l.states[i]
		for w := range kindWords[s.kind] {
			switch {
			case from == nil || untouched(from, s.word+w):
				cols = append(cols, l.zeroColumn(len(slots)))
			default:
				cols = append(cols, word(from.Words(s.word+w)))
			}
		}
		if s.kind.bytes() > 0 {
			var v operators.BytesColumn
			if from != nil {
				v = from.Bytes(s.bytes)
			}
			cols = append(cols, bytesColumn(alloc, v, slots))
		}
	}
	rec := column.NewRecord(l.partialSchema().Fields, cols, int64(len(slots)))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

// int64s makes a column of n values without NULL that fill writes.
func int64s(alloc memory.Allocator, n int, fill func(out []int64)) arrow.Array {
	buf := memory.NewResizableBuffer(alloc)
	buf.Resize(n * 8)
	fill(arrow.Int64Traits.CastFromBytes(buf.Bytes()))
	d := array.NewData(arrow.PrimitiveTypes.Int64, n, []*memory.Buffer{nil, buf}, nil, 0, 0)
	defer d.Release()
	buf.Release()
	return array.NewInt64Data(d)
}

// untouched reports whether a word column of a store is all zero because nothing was ever added to it.
func untouched(s store, col int) bool {
	t, ok := s.(interface{ Untouched(col int) bool })
	return ok && t.Untouched(col)
}

// zeroColumn is a column of n zeros, which share their memory with those of others.
func (l *layout) zeroColumn(n int) arrow.Array {
	if len(l.zeros) < n {
		l.zeros = make([]uint64, max(n, batchRows))
	}
	return wordView(l.zeros[:n])
}

// wordView is a column that shares the memory of words.
func wordView(v []uint64) arrow.Array {
	d := array.NewData(arrow.PrimitiveTypes.Int64, len(v), []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Uint64Traits.CastToBytes(v))}, nil, 0, 0)
	defer d.Release()
	return array.NewInt64Data(d)
}

func wordColumn(alloc memory.Allocator, v []uint64, slots []uint32) arrow.Array {
	return int64s(alloc, len(slots), func(out []int64) {
		for i, s := range slots {
			out[i] = int64(v[s])
		}
	})
}

func bytesColumn(alloc memory.Allocator, v operators.BytesColumn, slots []uint32) arrow.Array {
	if e, ok := v.(interface{ Empty() bool }); v == nil || ok && e.Empty() {
		return emptyBytes(alloc, len(slots))
	}
	b := array.NewBinaryBuilder(alloc, arrow.BinaryTypes.Binary)
	defer b.Release()
	b.Reserve(len(slots))
	for _, s := range slots {
		b.Append(v.Get(s))
	}
	return b.NewArray()
}

// emptyBytes is a column of n empty byte strings.
func emptyBytes(alloc memory.Allocator, n int) arrow.Array {
	offsets := memory.NewResizableBuffer(alloc)
	defer offsets.Release()
	offsets.Resize(4 * (n + 1))
	clear(offsets.Bytes())
	d := array.NewData(arrow.BinaryTypes.Binary, n, []*memory.Buffer{nil, offsets, nil}, nil, 0, 0)
	defer d.Release()
	return array.NewBinaryData(d)
}

// merge adds a batch of the partial schema to the plain states.
func (l *layout) merge(b operators.Batch, slots []uint32, to store) error {
	p := pick{b.Sel, slots}
	col := len(l.keys) + len(l.distinct)
	for i := range l.states[:l.plain] {
		s := &l.states[i]
		var words [4][]int64
		for w := range kindWords[s.kind] {
			a, ok := b.Rec.Column(col).(*array.Int64)
			if !ok {
				return fmt.Errorf("partial state column %s has Arrow type %s instead of int64", b.Rec.ColumnName(col), b.Rec.Column(col).DataType())
			}
			words[w] = a.Int64Values()
			col++
		}
		var odd func(row int) []byte
		if s.kind.bytes() > 0 {
			var err error
			if odd, err = oddValues(b.Rec.Column(col)); err != nil {
				return fmt.Errorf("partial state column %s: %w", b.Rec.ColumnName(col), err)
			}
			col++
		}
		s.merge(p, &words, odd, to)
	}
	return nil
}

// oddValues are the byte strings of a batch; nil where all are empty.
func oddValues(arr arrow.Array) (func(row int) []byte, error) {
	if a, ok := arr.(*array.Binary); ok && len(a.ValueBytes()) == 0 {
		return nil, nil
	}
	return textAt(arr)
}

func (s *state) merge(p pick, in *[4][]int64, odd func(row int) []byte, to store) {
	switch s.kind {
	case missing:
		if !allZero(in[0]) {
			w := to.Words(s.word)
			for i, slot := range p.slots {
				w[slot] += uint64(in[0][p.row(i)])
			}
		}
	case count:
		w := to.Words(s.word)
		for i, slot := range p.slots {
			w[slot] += uint64(in[0][p.row(i)])
		}
	case sum128, sum256:
		s.mergeSum(p, in, to)
	case sumDouble:
		lo, hi, ext := to.Words(s.word), to.Words(s.word+1), to.Bytes(s.bytes)
		for i, slot := range p.slots {
			row := p.row(i)
			mergeFixed(uint64(in[0][row]), uint64(in[1][row]), slot, lo, hi, ext)
			if odd != nil {
				mergeOdd(odd(row), slot, ext)
			}
		}
	case extreme64:
		w := to.Words(s.word)
		for i, slot := range p.slots {
			w[slot] = max(w[slot], uint64(in[0][p.row(i)]))
		}
	case extreme128:
		lo, hi := to.Words(s.word), to.Words(s.word+1)
		for i, slot := range p.slots {
			row := p.row(i)
			greater128(uint64(in[0][row]), uint64(in[1][row]), slot, lo, hi)
		}
	case extremeText:
		b := to.Bytes(s.bytes)
		if odd == nil {
			return
		}
		for i, slot := range p.slots {
			v := odd(p.row(i))
			if len(v) == 0 {
				continue
			}
			if old := b.Get(slot); len(old) == 0 || s.better(v[1:], old[1:]) {
				b.Set(slot, v)
			}
		}
	}
}

func allZero(v []int64) bool {
	seen := int64(0)
	for _, x := range v {
		seen |= x
	}
	return seen == 0
}

func (s *state) mergeSum(p pick, in *[4][]int64, to store) {
	if s.kind == sum256 {
		var w [4][]uint64
		for i := range w {
			w[i] = to.Words(s.word + i)
		}
		for i, slot := range p.slots {
			row := p.row(i)
			add256(&w, slot, [4]uint64{uint64(in[0][row]), uint64(in[1][row]), uint64(in[2][row]), uint64(in[3][row])})
		}
		return
	}
	lo, hi := to.Words(s.word), to.Words(s.word+1)
	for i, slot := range p.slots {
		row := p.row(i)
		add128(uint64(in[0][row]), uint64(in[1][row]), slot, lo, hi)
	}
}
