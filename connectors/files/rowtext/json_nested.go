package rowtext

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// nestedOf writes values of a nested column; faults are reported of the column.
func (e *JSON) nestedOf(arr arrow.Array, f expr.Field) cell {
	part := func(arr arrow.Array, t expr.Type) cell { return e.cellOf(arr, expr.Field{Name: f.Name, Type: t}) }
	switch a := arr.(type) {
	case *array.Struct:
		fields := f.Type.Fields()
		keys, cells := make([][]byte, len(fields)), make([]cell, len(fields))
		for i, p := range fields {
			keys[i] = append(appendJSON(nil, p.Name), ':')
			cells[i] = part(a.Field(i), p.Type)
		}
		return func(dst []byte, row int) []byte {
			dst = append(dst, '{')
			for i, add := range cells {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = add(append(dst, keys[i]...), row)
			}
			return append(dst, '}')
		}
	case *array.Map:
		key, value := e.keyOf(a.Keys(), f), part(a.Items(), f.Type.Element())
		return elements(a, '{', '}', func(dst []byte, k int) []byte { return value(append(key(dst, k), ':'), k) })
	case *array.List:
		return elements(a, '[', ']', part(a.ListValues(), f.Type.Element()))
	}
	return func(dst []byte, _ int) []byte { return append(dst, "null"...) }
}

// keyOf writes the keys of a MAP, as texts.
func (e *JSON) keyOf(arr arrow.Array, f expr.Field) cell {
	t := f.Type.Key()
	if textOf(arr) != nil {
		return e.valueOf(arr, expr.Field{Name: f.Name, Type: t})
	}
	return func(dst []byte, row int) []byte { return appendJSON(dst, string(column.AppendText(nil, arr, t, row))) }
}

// elements writes what the rows of a list or a map have between two brackets.
func elements(rows interface {
	ValueOffsets(i int) (start, end int64)
}, open, end byte, add cell) cell {
	return func(dst []byte, row int) []byte {
		dst = append(dst, open)
		from, to := rows.ValueOffsets(row)
		for k := from; k < to; k++ {
			if k > from {
				dst = append(dst, ',')
			}
			dst = add(dst, int(k))
		}
		return append(dst, end)
	}
}
