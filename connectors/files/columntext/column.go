// Package columntext makes Arrow columns of the fields of text files: what the readers of text formats
// share on their hot path. It reads the common shapes of values eight bytes at a time, and leaves every
// other text to the functions of package expr.
package columntext

import (
	"bytes"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors/files/infer"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Style is how the values of a column are written. The zero Style is how package expr writes them.
type Style struct {
	Nulls  *NullTokens
	Marks  Marks    // how numbers are written
	Format *Pattern // how dates and times are written; nil: as ISO 8601 has them
	// Exact takes a number with a point or an exponent for a whole one where that is what it is: 1e2, 5.0.
	Exact bool
	// Zone is the time zone of a TIMESTAMP_LTZ that has none written; nil: UTC.
	Zone *expr.Zone
	// Nest reads the values of a nested type.
	Nest Nest
	// Fit is of a type that was inferred from some of the values: one that can be read and would not stay
	// what it is is a flaw. nil: what can be read fits.
	Fit *infer.Fit
}

// Rules are what package infer has to know of the style.
func (s Style) Rules() infer.Rules {
	var r infer.Rules
	if s.Marks != (Marks{}) {
		r.Number = s.Marks.number
	}
	if p := s.Format; p != nil {
		r.Match = func(b []byte) bool {
			_, s := p.Parse(b, 6)
			return s == expr.OK
		}
		if r.Format = p.text; p.iso {
			r.Format = "iso"
		}
	}
	return r
}

// A Column turns the fields of one declared column into Arrow arrays. Fields says which they are.
type Column struct {
	Field  expr.Field
	Fields Fields
	Style

	physic arrow.DataType
	alloc  memory.Allocator
	valid  validity
	clock  clock
	dict   *dictionary // of a STRING; nil once it does not pay
}

// New makes a column.
func New(f expr.Field, s Style, alloc memory.Allocator) *Column {
	c := &Column{Field: f, Style: s, physic: f.Type.Arrow(), alloc: alloc, Fields: Fields{nulls: s.Nulls}, clock: stopped()}
	if f.Type.Kind == expr.String {
		c.dict = newDictionary()
	}
	if c.Zone == nil && f.Type.Kind == expr.TimestampLTZ {
		c.Zone, _ = expr.LoadZone("") // UTC is always there
	}
	return c
}

// Plain makes the column give plain texts alone, without a dictionary.
func (c *Column) Plain() { c.Release(); c.dict = nil }

// Release frees what the column holds beside the arrays it gave.
func (c *Column) Release() {
	if c.dict != nil {
		c.dict.release()
	}
}

// validity is the bitmap of a column under construction; there is none until a NULL comes.
type validity struct {
	buf   *memory.Buffer
	nulls int
}

func (v *validity) null(alloc memory.Allocator, rows int, r int32) {
	if v.buf == nil {
		v.buf = buffer(alloc, (rows+7)/8)
		b := v.buf.Bytes()
		for i := range b {
			b[i] = 0xff
		}
	}
	b := &v.buf.Bytes()[r>>3]
	if bit := byte(1) << (r & 7); *b&bit != 0 {
		*b &^= bit
		v.nulls++
	}
}

// buffer is a buffer of so many bytes, which are whatever they were.
func buffer(alloc memory.Allocator, n int) *memory.Buffer {
	b := memory.NewResizableBuffer(alloc)
	b.Resize(n)
	return b
}

// view is a buffer's bytes as values of a fixed-width type.
func view[T any](b *memory.Buffer) []T {
	var t T
	p := b.Bytes()
	if len(p) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(p))), len(p)/int(unsafe.Sizeof(t)))
}

// Parse makes an array of rows values, of which those in sel are parsed; the others are unspecified.
// With a flaw the rows before it are there.
func (c *Column) Parse(rows int, sel []int32) (arr arrow.Array, dict uint64, bad *Flaw) {
	if c.Fit == nil {
		return c.values(rows, sel)
	}
	var lossy *Flaw
	for i, r := range sel {
		if lossy = c.loses(r); lossy != nil {
			sel = sel[:i]
			break
		}
	}
	if arr, dict, bad = c.values(rows, sel); bad == nil {
		bad = lossy
	}
	return arr, dict, bad
}

// loses looks whether a value can be one of the inferred type without losing anything.
func (c *Column) loses(r int32) *Flaw {
	b, null := c.Fields.Get(r)
	if null || c.Fit.Fits(b) {
		return nil
	}
	bad := c.reads(r)
	if bad == nil {
		bad = &Flaw{Row: r, Lossy: true, Value: bytes.Clone(b)}
	}
	return bad
}

// A Nest reads values of a nested type from their text.
type Nest interface {
	// Parse makes an array of rows values, of which those in sel are read; with a flaw the rows before it are
	// there. value gives the text of a row's field.
	Parse(alloc memory.Allocator, rows int, sel []int32, value func(r int32) (text []byte, null bool)) (arrow.Array, *Flaw)
	// Check looks at a text without making a value of it.
	Check(text []byte) *Flaw
}

// values is Parse for values that fit if they can be read.
func (c *Column) values(rows int, sel []int32) (arr arrow.Array, dict uint64, bad *Flaw) {
	c.valid = validity{}
	if c.Nest != nil {
		arr, bad = c.Nest.Parse(c.alloc, rows, sel, c.Fields.Get)
		return arr, 0, bad
	}
	if c.Format != nil || c.Marks != (Marks{}) {
		if arr, bad := c.written(rows, sel); arr != nil {
			return arr, 0, bad
		}
	}
	switch t := c.Field.Type; t.Kind {
	case expr.TinyInt, expr.SmallInt:
		return fixed(c, rows, sel, c.small())
	case expr.Float:
		return fixed(c, rows, sel, expr.ParseFloat)
	case expr.Int:
		return integers(c, rows, sel, c.whole32())
	case expr.BigInt:
		return integers(c, rows, sel, c.whole64())
	case expr.Double:
		return c.doubles(rows, sel)
	case expr.Date:
		return c.dates(rows, sel)
	case expr.Timestamp:
		return c.timestamps(rows, sel)
	case expr.Decimal:
		if t.Precision <= expr.MaxDecimal64 {
			return c.decimals(rows, sel)
		}
		return fixed(c, rows, sel, func(b []byte) (decimal128.Num, expr.Status) {
			return expr.ParseDecimal128(b, t.Precision, t.Scale)
		})
	case expr.Boolean:
		return c.booleans(rows, sel)
	case expr.Time:
		return fixed(c, rows, sel, func(b []byte) (int64, expr.Status) { return expr.ParseTime(b, t.Precision) })
	case expr.TimestampLTZ:
		return fixed(c, rows, sel, func(b []byte) (int64, expr.Status) { return expr.ParseTimestampLTZ(b, t.Precision, c.Zone) })
	case expr.Bytes:
		return c.binary(rows, sel)
	}
	return c.texts(rows, sel)
}

// binary parses a BYTES column. Rows that are not selected are empty.
func (c *Column) binary(rows int, sel []int32) (arrow.Array, uint64, *Flaw) {
	b := array.NewBinaryBuilder(c.alloc, arrow.BinaryTypes.Binary)
	defer b.Release()
	b.Reserve(rows)
	for _, r := range sel {
		for b.Len() < int(r) {
			b.AppendEmptyValue()
		}
		text, null := c.Fields.Get(r)
		if null && !c.Field.Type.NotNull {
			b.AppendNull()
			continue
		}
		v, s := expr.ParseBytes(text)
		if null || s != expr.OK {
			for b.Len() < rows {
				b.AppendEmptyValue()
			}
			return b.NewArray(), 0, &Flaw{Row: r, Null: null, Status: s, Value: bytes.Clone(text)}
		}
		b.Append(v)
	}
	for b.Len() < rows {
		b.AppendEmptyValue()
	}
	return b.NewArray(), 0, nil
}

// fixed parses a column of fixed-width values with the function that CAST uses.
func fixed[T any](c *Column, rows int, sel []int32, parse func([]byte) (T, expr.Status)) (arrow.Array, uint64, *Flaw) {
	var t T
	data := buffer(c.alloc, rows*int(unsafe.Sizeof(t)))
	dst := view[T](data)
	for _, r := range sel {
		if bad := oneValue(c, rows, r, dst, parse); bad != nil {
			return c.finish(rows, data), 0, bad
		}
	}
	return c.finish(rows, data), 0, nil
}

// finish makes the array of a fixed-width column; the buffers become the array's.
func (c *Column) finish(rows int, data *memory.Buffer) arrow.Array {
	return makeArray(c.physic, rows, c.valid, nil, data)
}

func makeArray(t arrow.DataType, rows int, v validity, dict arrow.ArrayData, data ...*memory.Buffer) arrow.Array {
	bufs := append([]*memory.Buffer{v.buf}, data...)
	var d *array.Data
	if dict == nil {
		d = array.NewData(t, rows, bufs, nil, v.nulls, 0)
	} else {
		d = array.NewDataWithDictionary(t, rows, bufs, v.nulls, 0, dict.(*array.Data))
	}
	for _, b := range bufs {
		if b != nil {
			b.Release()
		}
	}
	a := array.MakeFromData(d)
	d.Release()
	return a
}

// booleans parses a BOOLEAN column into bits.
func (c *Column) booleans(rows int, sel []int32) (arrow.Array, uint64, *Flaw) {
	data := buffer(c.alloc, (rows+7)/8)
	dst := data.Bytes()
	for _, r := range sel {
		b, null := c.Fields.Get(r)
		if null {
			if c.Field.Type.NotNull {
				return c.finish(rows, data), 0, &Flaw{Row: r, Null: true, Value: bytes.Clone(b)}
			}
			c.valid.null(c.alloc, rows, r)
			continue
		}
		v, s := expr.ParseBoolean(b)
		if s != expr.OK {
			return c.finish(rows, data), 0, &Flaw{Row: r, Status: s, Value: bytes.Clone(b)}
		}
		bit := byte(1) << (r & 7)
		dst[r>>3] &^= bit
		if v {
			dst[r>>3] |= bit
		}
	}
	return c.finish(rows, data), 0, nil
}

// texts parses a STRING column: as codes of the column's dictionary while that pays, else plain.
func (c *Column) texts(rows int, sel []int32) (arrow.Array, uint64, *Flaw) {
	if c.dict != nil {
		arr, bad := c.codes(rows, sel)
		if arr != nil {
			return arr, c.dict.id, bad
		}
		c.dict.release()
		c.dict = nil
		c.valid = validity{}
	}
	arr, bad := c.plain(rows, sel)
	return arr, 0, bad
}

// plain parses a STRING column into utf8. Rows that are not selected are empty.
func (c *Column) plain(rows int, sel []int32) (arrow.Array, *Flaw) {
	ends := buffer(c.alloc, (rows+1)*4)
	offs := view[int32](ends)
	room := 0
	for _, r := range sel {
		s, e := c.Fields.bounds(r)
		room += int(e - s)
	}
	data := buffer(c.alloc, room)
	dst := data.Bytes()
	n, next := 0, 0
	var bad *Flaw
	for _, r := range sel {
		for ; next <= int(r); next++ {
			offs[next] = int32(n)
		}
		b, null := c.Fields.Get(r)
		if null {
			if c.Field.Type.NotNull {
				bad = &Flaw{Row: r, Null: true, Value: bytes.Clone(b)}
				break
			}
			c.valid.null(c.alloc, rows, r)
			continue
		}
		if !utf8.Valid(b) {
			bad = InvalidText(r, b)
			break
		}
		n += copy(dst[n:], b)
	}
	for ; next <= rows; next++ {
		offs[next] = int32(n)
	}
	data.Resize(n)
	return makeArray(arrow.BinaryTypes.String, rows, c.valid, nil, ends, data), bad
}

// InvalidText is the flaw of bytes that are no UTF-8.
func InvalidText(r int32, b []byte) *Flaw {
	at := 0
	for at < len(b) {
		c, n := utf8.DecodeRune(b[at:])
		if c == utf8.RuneError && n <= 1 {
			break
		}
		at += n
	}
	return &Flaw{Row: r, UTF8: true, At: at, Value: bytes.Clone(b)}
}
