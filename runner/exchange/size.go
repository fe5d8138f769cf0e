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
	}
	if f, ok := a.DataType().(arrow.FixedWidthDataType); ok {
		return n * int64(f.BitWidth()) / 8
	}
	return 0
}
