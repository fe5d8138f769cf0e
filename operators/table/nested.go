package table

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// lists says which elements the rows of a list or a map have.
type lists interface {
	ValueOffsets(i int) (start, end int64)
}

// loadNested takes a nested array apart: a struct's fields, a list's elements, a map's keys and values.
func (c *keyColumn) loadNested(a arrow.Array) error {
	var parts []arrow.Array
	switch v := a.(type) {
	case *array.Struct:
		for i := range v.NumField() {
			parts = append(parts, v.Field(i))
		}
	case *array.Map:
		c.list, parts = v, []arrow.Array{v.Keys(), v.Items()}
	case *array.List:
		c.list, parts = v, []arrow.Array{v.ListValues()}
	}
	c.parts = make([]keyColumn, len(parts))
	for i, p := range parts {
		if err := c.parts[i].load(p); err != nil {
			return err
		}
	}
	return nil
}

// within are the rows of the parts that one row has.
func (c *keyColumn) within(row int) (from, to int) {
	if c.list == nil {
		return row, row + 1
	}
	a, b := c.list.ValueOffsets(row)
	return int(a), int(b)
}

// appendNested appends the canonical bytes of a nested value: how many elements there are, and theirs.
func (c *keyColumn) appendNested(dst []byte, row int) []byte {
	from, to := c.within(row)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(to-from))
	for k := from; k < to; k++ {
		for i := range c.parts {
			dst = c.parts[i].appendKey(dst, k)
		}
	}
	return dst
}

// nestedBytes is what some rows of a nested column take.
func (c *keyColumn) nestedBytes(from, to int) int64 {
	n := int64(0)
	if c.list != nil {
		n = 4 * int64(to-from)
		if from == to {
			return 0
		}
		from, _ = c.within(from)
		_, to = c.within(to - 1)
	}
	for i := range c.parts {
		n += c.parts[i].bytes(from, to)
	}
	return n
}

// appendNested appends a row of a nested column that is not NULL.
func appendNested(b array.Builder, c *keyColumn, row int) {
	var parts []array.Builder
	switch b := b.(type) {
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			parts = append(parts, b.FieldBuilder(i))
		}
	case *array.MapBuilder:
		b.Append(true)
		parts = []array.Builder{b.KeyBuilder(), b.ItemBuilder()}
	case *array.ListBuilder:
		b.Append(true)
		parts = []array.Builder{b.ValueBuilder()}
	}
	from, to := c.within(row)
	for k := from; k < to; k++ {
		for i := range c.parts {
			appendValue(parts[i], &c.parts[i], k)
		}
	}
}
