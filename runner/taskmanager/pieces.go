package taskmanager

import (
	"encoding/binary"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/column"
)

// pieces are the records of many subpartitions or buckets while rows of numbers without NULL are added to them a
// few at a time. Byte strings may be among them if all are empty, and texts that are codes of one dictionary. Columns that are
// all zero take no memory; partial states have all of these.
type pieces struct {
	types  []arrow.DataType
	widths []int             // 0: of empty byte strings
	dicts  []arrow.ArrayData // of columns of codes, nil for others
	zero   []bool            // of the record at hand: columns that are all zero
	open   []openPiece
	blank  *memory.Buffer // zeros for a column of a whole piece, nil until they are needed
}

// An openPiece has room for smallRows rows in each column; one without a buffer is all zero.
type openPiece struct {
	cols []*memory.Buffer
	n    int
}

// suit reports whether the rows of a record can be added; the first record decides on the types.
func (p *pieces) suit(rec arrow.Record) bool {
	first := p.types == nil
	for i, c := range rec.Columns() {
		if c.NullN() > 0 || !first && !arrow.TypeEqual(c.DataType(), p.types[i]) {
			return false
		}
		if width(c) < 0 || !first && dictionaryOf(c) != p.dicts[i] {
			return false
		}
	}
	if first {
		for _, c := range rec.Columns() {
			d := dictionaryOf(c)
			if d != nil {
				d.Retain()
			}
			p.types, p.widths, p.dicts = append(p.types, c.DataType()), append(p.widths, width(c)), append(p.dicts, d)
		}
		p.zero = make([]bool, len(p.types))
	}
	for i, c := range rec.Columns() {
		p.zero[i] = p.widths[i] == 0 || allZero(valuesAt(c, p.widths[i]))
	}
	return true
}

// valuesAt are the bytes of a column's values from its first on.
func valuesAt(c arrow.Array, width int) []byte {
	d := c.Data()
	return d.Buffers()[1].Bytes()[d.Offset()*width:][:d.Len()*width]
}

// allZero reports whether there is nothing but zeros.
func allZero(b []byte) bool {
	for len(b) >= 8 && binary.LittleEndian.Uint64(b) == 0 {
		b = b[8:]
	}
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// dictionaryOf is what a column's codes stand for; nil for a column of others.
func dictionaryOf(c arrow.Array) arrow.ArrayData {
	if d, ok := c.(*array.Dictionary); ok {
		return d.Dictionary().Data()
	}
	return nil
}

// width is how many bytes a value of a column takes, -1 for one that does not suit.
func width(c arrow.Array) int {
	switch c.DataType().ID() {
	case arrow.INT64, arrow.FLOAT64, arrow.TIMESTAMP:
		return 8
	case arrow.INT32, arrow.DATE32:
		return 4
	case arrow.DICTIONARY:
		if t, ok := c.DataType().(*arrow.DictionaryType); ok && t.IndexType.ID() == arrow.INT32 {
			return 4
		}
	case arrow.BINARY:
		if b, ok := c.(*array.Binary); ok && len(b.ValueBytes()) == 0 {
			return 0
		}
	}
	return -1
}

// add adds rows to piece number s; those that are full go to hand.
func (p *pieces) add(o *output, s int, rec arrow.Record, rows []int32) error {
	q := &p.open[s]
	for len(rows) > 0 {
		if q.cols == nil {
			q.cols = make([]*memory.Buffer, len(p.types))
		}
		some := rows[:min(len(rows), smallRows-q.n)]
		rows = rows[len(some):]
		for i, w := range p.widths {
			if q.cols[i] == nil {
				if p.zero[i] {
					continue
				}
				q.cols[i] = memory.NewResizableBuffer(o.alloc)
				q.cols[i].Resize(smallRows * w)
				clear(q.cols[i].Bytes()[:q.n*w])
			}
			from, to := valuesAt(rec.Column(i), w), q.cols[i].Bytes()[q.n*w:]
			if w == 8 {
				column.Gather(valuesOf[uint64](to), valuesOf[uint64](from), some)
			} else {
				column.Gather(valuesOf[uint32](to), valuesOf[uint32](from), some)
			}
		}
		if q.n += len(some); q.n == smallRows {
			if err := p.finish(o, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish hands piece number s on, if there is one.
func (p *pieces) finish(o *output, s int) error {
	q := &p.open[s]
	if q.cols == nil {
		return nil
	}
	cols := make([]arrow.Array, len(q.cols))
	for i, b := range q.cols {
		buffers := []*memory.Buffer{nil, p.trimmed(o.alloc, b, q.n*p.widths[i])}
		if p.widths[i] == 0 {
			buffers = append(buffers, nil)
		}
		dict, _ := p.dicts[i].(*array.Data)
		d := array.NewDataWithDictionary(p.types[i], q.n, buffers, 0, 0, dict)
		cols[i] = array.MakeFromData(d)
		d.Release()
		buffers[1].Release()
	}
	n := q.n
	*q = openPiece{}
	return o.hand(s, o.record(cols, int64(n)))
}

// trimmed takes a column's buffer as one that is not much larger than what is in it, or shared zeros where there is none.
func (p *pieces) trimmed(alloc memory.Allocator, b *memory.Buffer, size int) *memory.Buffer {
	switch {
	case b == nil:
		if p.blank == nil {
			p.blank = memory.NewResizableBuffer(alloc)
			p.blank.Resize(8 * smallRows)
			clear(p.blank.Bytes())
		}
		p.blank.Retain()
		return p.blank
	case 2*size > b.Len():
		return b
	}
	less := memory.NewResizableBuffer(alloc)
	less.Resize(size)
	copy(less.Bytes(), b.Bytes())
	b.Release()
	return less
}

func (p *pieces) finishAll(o *output) error {
	for s := range p.open {
		if err := p.finish(o, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *pieces) release() {
	for _, q := range p.open {
		for _, b := range q.cols {
			if b != nil {
				b.Release()
			}
		}
	}
	p.open = nil
	for _, d := range p.dicts {
		if d != nil {
			d.Release()
		}
	}
	p.dicts = nil
	if p.blank != nil {
		p.blank.Release()
		p.blank = nil
	}
}

// valuesOf are the values that some bytes are.
func valuesOf[T uint32 | uint64](b []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}
