package table

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// rows are rows from..to-1 of a selection (sel nil: of the batch itself) and their key columns.
type rows struct {
	cols     []keyColumn
	sel      []int32
	from, to int
}

func (r rows) part(from, to int) rows {
	r.from, r.to = from, to
	return r
}

// at is the row of the batch that the i-th of the rows is.
func (r *rows) at(i int) int {
	if r.sel == nil {
		return r.from + i
	}
	return int(r.sel[r.from+i])
}

// A keyColumn is an array of keys taken apart once per call. Exactly one of the value slices is
// set, or codes and text together for a dictionary.
type keyColumn struct {
	nullN bool
	valid []byte // bits of rows that are not NULL, from bit off on; nil of a column of the type NULL
	off   int
	i32   []int32
	i64   []int64
	f64   []float64
	d128  []decimal128.Num
	bools *array.Boolean
	text  texts
	codes []int32
	dict  arrow.Array
	list  lists       // of a list or a map: which elements a row has
	parts []keyColumn // of a nested column
}

// texts is a string or binary array taken apart.
type texts struct {
	offsets []int32
	data    []byte
}

func (s texts) at(i int) []byte { return s.data[s.offsets[i]:s.offsets[i+1]] }

func (c *keyColumn) load(a arrow.Array) error {
	c.nullN, c.off = a.NullN() > 0, a.Data().Offset()
	if b := a.Data().Buffers(); c.nullN && len(b) > 0 && b[0] != nil {
		c.valid = b[0].Bytes()
	}
	switch v := a.(type) {
	case *array.Int32:
		c.i32 = v.Int32Values()
	case *array.Date32:
		c.i32 = arrow.Int32Traits.CastFromBytes(arrow.Date32Traits.CastToBytes(v.Date32Values()))
	case *array.Int64:
		c.i64 = v.Int64Values()
	case *array.Timestamp:
		c.i64 = arrow.Int64Traits.CastFromBytes(arrow.TimestampTraits.CastToBytes(v.TimestampValues()))
	case *array.Float64:
		c.f64 = v.Float64Values()
	case *array.Decimal128:
		c.d128 = v.Values()
	case *array.Boolean:
		c.bools = v
	case *array.Null:
		c.nullN = true
	case *array.Dictionary:
		codes, ok := v.Indices().(*array.Int32)
		if !ok {
			return fmt.Errorf("dictionary codes are %s, not int32", v.Indices().DataType())
		}
		c.codes, c.dict = codes.Int32Values(), v.Dictionary()
		text, err := textsOf(c.dict)
		c.text = text
		return err
	case *array.Struct, *array.List, *array.Map:
		return c.loadNested(v)
	default:
		text, err := textsOf(a)
		c.text = text
		return err
	}
	return nil
}

func textsOf(a arrow.Array) (texts, error) {
	switch v := a.(type) {
	case *array.String:
		return texts{v.ValueOffsets(), TextBytes(v)}, nil
	case *array.Binary:
		return texts{v.ValueOffsets(), TextBytes(v)}, nil
	}
	return texts{}, fmt.Errorf("a column of Arrow type %s has no keys", a.DataType())
}

// TextBytes are all bytes of a string or binary array, which its offsets are places in.
func TextBytes(a arrow.Array) []byte {
	if b := a.Data().Buffers()[2]; b != nil {
		return b.Bytes()
	}
	return nil
}

// nulls reports whether any row may be NULL.
func (c *keyColumn) nulls() bool { return c.nullN || c.dict != nil && c.dict.NullN() > 0 }

func (c *keyColumn) null(row int) bool {
	if c.nullN {
		if bit := c.off + row; c.valid == nil || c.valid[bit>>3]>>(bit&7)&1 == 0 {
			return true
		}
	}
	return c.dict != nil && c.dict.NullN() > 0 && c.dict.IsNull(int(c.codes[row]))
}

// ints writes the 64-bit keys of the rows; those of NULL rows are unspecified.
func (c *keyColumn) ints(r rows, out []int64) {
	switch {
	case c.i64 != nil && r.sel == nil:
		copy(out, c.i64[r.from:r.to])
	case c.i64 != nil:
		for i, row := range r.sel[r.from:r.to] {
			out[i] = c.i64[row]
		}
	case c.i32 != nil && r.sel == nil:
		for i, v := range c.i32[r.from:r.to] {
			out[i] = int64(v)
		}
	case c.i32 != nil:
		for i, row := range r.sel[r.from:r.to] {
			out[i] = int64(c.i32[row])
		}
	default:
		for i := range out {
			out[i] = c.int(r.at(i))
		}
	}
}

// int is the 64-bit key of one row.
func (c *keyColumn) int(row int) int64 {
	switch {
	case c.i64 != nil:
		return c.i64[row]
	case c.i32 != nil:
		return int64(c.i32[row])
	case c.f64 != nil:
		return doubleKey(c.f64[row])
	case c.bools != nil && c.bools.Value(row):
		return 1
	}
	return 0
}

// appendKey appends the canonical bytes of one row's value: a mark for NULL or not, then eight
// bytes of an integer, sixteen of a wide decimal, or length and bytes of a text. Equal values have
// equal bytes whatever the column's physical form.
func (c *keyColumn) appendKey(dst []byte, row int) []byte {
	if c.nulls() && c.null(row) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch {
	case c.parts != nil:
		return c.appendNested(dst, row)
	case c.codes != nil:
		return appendText(dst, c.text.at(int(c.codes[row])))
	case c.text.offsets != nil:
		return appendText(dst, c.text.at(row))
	case c.d128 != nil:
		v := c.d128[row]
		dst = binary.LittleEndian.AppendUint64(dst, v.LowBits())
		return binary.LittleEndian.AppendUint64(dst, uint64(v.HighBits()))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(c.int(row)))
}

func appendText(dst, v []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
	return append(dst, v...)
}
