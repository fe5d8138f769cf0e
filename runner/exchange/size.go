package exchange

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
)

// A Sizer counts how many bytes records take on their way: values, lengths and null bits, with a
// dictionary counted once for as long as it stays the same. The scheduler sizes vertices by it.
type Sizer struct {
	dicts []arrow.ArrayData // last dictionary by column
}

// Bytes is the size of one record.
func (s *Sizer) Bytes(r arrow.Record) int64 {
	for len(s.dicts) < int(r.NumCols()) {
		s.dicts = append(s.dicts, nil)
	}
	var n int64
	for i, c := range r.Columns() {
		if d, ok := c.(*array.Dictionary); ok {
			n += 4 * int64(d.Len())
			if s.dicts[i] != d.Dictionary().Data() {
				s.dicts[i] = d.Dictionary().Data()
				n += arrayBytes(d.Dictionary())
			}
		} else {
			n += arrayBytes(c)
		}
		if c.NullN() > 0 {
			n += bitutil.BytesForBits(int64(c.Len()))
		}
	}
	return n
}

func arrayBytes(a arrow.Array) int64 {
	n := int64(a.Len())
	switch a := a.(type) {
	case *array.String:
		return 4*n + int64(len(a.ValueBytes()))
	case *array.Binary:
		return 4*n + int64(len(a.ValueBytes()))
	case *array.Boolean:
		return bitutil.BytesForBits(n)
	case *array.Struct:
		size := int64(0)
		for i := range a.NumField() {
			size += partBytes(a.Field(i))
		}
		return size
	case *array.Map: // before List, which it is too
		return 4*n + elementBytes(a, a.Keys(), a.Items())
	case *array.List:
		return 4*n + elementBytes(a, a.ListValues())
	}
	if f, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		return n * int64(f.BitWidth()) / 8
	}
	return 0
}

// partBytes is an array within another one, with its null bits.
func partBytes(a arrow.Array) int64 {
	n := arrayBytes(a)
	if a.NullN() > 0 {
		n += bitutil.BytesForBits(int64(a.Len()))
	}
	return n
}

// elementBytes are those of the elements that the rows of a list have.
func elementBytes(rows interface {
	Len() int
	ValueOffsets(i int) (start, end int64)
}, values ...arrow.Array) int64 {
	if rows.Len() == 0 {
		return 0
	}
	from, _ := rows.ValueOffsets(0)
	_, to := rows.ValueOffsets(rows.Len() - 1)
	size := int64(0)
	for _, v := range values {
		part := array.NewSlice(v, from, to)
		size += partBytes(part)
		part.Release()
	}
	return size
}
