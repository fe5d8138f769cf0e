package parquet

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A nestedWriter takes the values of a nested column apart: each plain value within becomes a column of its
// own, with levels that say which lists its values belong to, and where a NULL or an empty list stands.
type nestedWriter struct {
	root   *nestedPart
	leaves []*nestedLeaf
}

// A nestedPart is a part of a nested column.
type nestedPart struct {
	typ    expr.Type
	rep    uint32 // level of repetition of what stands in it, if it is no list itself
	def    uint32 // level of definition of a value of it that is there
	parts  []*nestedPart
	leaves []*nestedLeaf // all within
}

// A nestedLeaf is a column that is made of rows: levels, and the places of values in an array.
type nestedLeaf struct {
	column   *columnWriter
	arr      arrow.Array
	rep, def []uint32
	values   []int32
}

func newNestedWriter(f expr.Field, out *deflater, l *limits) *nestedWriter {
	w := &nestedWriter{root: newNestedPart(f.Type, 0, 0, out, l)}
	w.leaves = w.root.leaves
	return w
}

func newNestedPart(t expr.Type, rep, def uint32, out *deflater, l *limits) *nestedPart {
	if !t.NotNull {
		def++
	}
	p := &nestedPart{typ: t, rep: rep, def: def}
	if !t.Nested() {
		c := newColumnWriter(expr.Field{Type: t}, out, l)
		c.nested, c.mostRep, c.mostDef = true, rep, def
		if b, ok := c.values.(*bytesWriter); ok {
			b.whole = true
		}
		p.leaves = []*nestedLeaf{{column: c}}
		return p
	}
	if t.Kind != expr.Row {
		rep, def = rep+1, def+1
	}
	for i, f := range t.Fields() {
		if t.Kind == expr.Map && i == 0 {
			f.Type.NotNull = true
		}
		part := newNestedPart(f.Type, rep, def, out, l)
		p.parts = append(p.parts, part)
		p.leaves = append(p.leaves, part.leaves...)
	}
	return p
}

// nestedRows is how many rows are taken apart at a time.
const nestedRows = 1024

// write appends rows of an array, as [columnWriter.write] does.
func (w *nestedWriter) write(arr arrow.Array, _ uint64, sel []int32, from, n int) error {
	for k := 0; k < n; {
		for end := min(k+nestedRows, n); k < end; k++ {
			row := from + k
			if sel != nil {
				row = int(sel[k])
			}
			if err := w.root.put(arr, row, 0); err != nil {
				return err
			}
		}
		for _, l := range w.leaves {
			if err := l.column.writeLevels(l); err != nil {
				return err
			}
			l.rep, l.def, l.values, l.arr = l.rep[:0], l.def[:0], l.values[:0], nil
		}
	}
	return nil
}

// put appends a value of the part, which repeats the list of a level.
func (p *nestedPart) put(arr arrow.Array, row int, rep uint32) error {
	if arr.IsNull(row) {
		if p.typ.NotNull {
			return errNull
		}
		p.void(rep, p.def-1)
		return nil
	}
	switch a := arr.(type) {
	case *array.Struct:
		for i, part := range p.parts {
			if err := part.put(a.Field(i), row, rep); err != nil {
				return err
			}
		}
		return nil
	case *array.Map:
		from, to := a.ValueOffsets(row)
		return p.putEach(from, to, rep, a.Keys(), a.Items())
	case *array.List:
		from, to := a.ValueOffsets(row)
		return p.putEach(from, to, rep, a.ListValues())
	}
	if p.parts != nil {
		return errColumn
	}
	l := p.leaves[0]
	l.arr = arr
	l.rep, l.def, l.values = append(l.rep, rep), append(l.def, p.def), append(l.values, int32(row))
	return nil
}

// putEach appends the elements of a list, whose values of each part stand in an array.
func (p *nestedPart) putEach(from, to int64, rep uint32, values ...arrow.Array) error {
	if len(values) != len(p.parts) {
		return errColumn
	}
	if from == to {
		p.void(rep, p.def)
		return nil
	}
	for i := from; i < to; i++ {
		for k, part := range p.parts {
			if err := part.put(values[k], int(i), rep); err != nil {
				return err
			}
		}
		rep = p.rep + 1
	}
	return nil
}

// void appends to all leaves that there is no value from a level on.
func (p *nestedPart) void(rep, def uint32) {
	for _, l := range p.leaves {
		l.rep, l.def = append(l.rep, rep), append(l.def, def)
	}
}

// writeLevels appends rows of a column that is a part of a nested one. Pages begin with rows.
func (c *columnWriter) writeLevels(l *nestedLeaf) error {
	values := l.values
	for at := 0; at < len(l.rep); {
		end, some := at, 0
		for ; end < len(l.rep) && (end == at || l.rep[end] != 0); end++ {
			if l.def[end] == c.mostDef {
				some++
			}
		}
		if some > 0 {
			if _, err := c.values.add(l.arr, 0, picked{list: values[:some]}); err != nil {
				return err
			}
		}
		values = values[some:]
		c.reps, c.defs = append(c.reps, l.rep[at:end]...), append(c.defs, l.def[at:end]...)
		c.rows++
		c.nulls += end - at - some
		if c.rows >= c.pageRows || len(c.defs) >= 4*c.pageRows || c.values.size() >= c.pageBytes {
			if err := c.endPage(); err != nil {
				return err
			}
		}
		at = end
	}
	return nil
}

// appendNestedLevels appends the levels of the page.
func (c *columnWriter) appendNestedLevels(b []byte) []byte {
	if c.mostRep > 0 {
		b = appendLevelCodes(b, c.reps, c.mostRep)
	}
	if c.mostDef > 0 {
		b = appendLevelCodes(b, c.defs, c.mostDef)
	}
	c.reps, c.defs = c.reps[:0], c.defs[:0]
	return b
}
