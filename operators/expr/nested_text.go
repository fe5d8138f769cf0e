package expr

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// NestedText writes the values of a nested type as CAST to STRING does in Flink: [1, 2] for an ARRAY, {a=1, b=2}
// for a MAP and (1, abc) for a ROW, with NULL for a NULL within. leaf makes the writer of what is not nested;
// neither is asked for rows that are NULL.
func NestedText(arr arrow.Array, t Type, leaf func(arr arrow.Array, t Type) func(dst []byte, row int) []byte) func(dst []byte, row int) []byte {
	part := func(arr arrow.Array, t Type) func(dst []byte, row int) []byte {
		write := leaf
		if t.Nested() {
			write = func(arr arrow.Array, t Type) func(dst []byte, row int) []byte { return NestedText(arr, t, leaf) }
		}
		w := write(arr, t)
		return func(dst []byte, row int) []byte {
			if arr.IsNull(row) {
				return append(dst, "NULL"...)
			}
			return w(dst, row)
		}
	}
	parts := t.Fields()
	if s, ok := arr.(*array.Struct); ok {
		fields := make([]func(dst []byte, row int) []byte, len(parts))
		for i, f := range parts {
			fields[i] = part(s.Field(i), f.Type)
		}
		return func(dst []byte, row int) []byte {
			dst = append(dst, '(')
			for i, f := range fields {
				if i > 0 {
					dst = append(dst, ", "...)
				}
				dst = f(dst, row)
			}
			return append(dst, ')')
		}
	}
	list := listerOf(&vec{src: arr})
	if list == nil {
		return func(dst []byte, _ int) []byte { return append(dst, "NULL"...) }
	}
	edge := [2]byte{'[', ']'}
	if t.Kind == Map {
		edge = [2]byte{'{', '}'}
	}
	columns := make([]func(dst []byte, row int) []byte, len(parts))
	for i, f := range parts {
		columns[i] = part(list.values[i], f.Type)
	}
	return func(dst []byte, row int) []byte {
		dst = append(dst, edge[0])
		from, to := list.rows.ValueOffsets(row)
		for k := int(from); k < int(to); k++ {
			if k > int(from) {
				dst = append(dst, ", "...)
			}
			dst = columns[0](dst, k)
			if len(columns) > 1 {
				dst = columns[1](append(dst, '='), k)
			}
		}
		return append(dst, edge[1])
	}
}

// leafText writes values that are not nested as CAST to STRING does.
func leafText(arr arrow.Array, t Type) func(dst []byte, row int) []byte {
	v, bufs := &vec{}, &[2][]uint64{}
	loadVec(v, arr, t, bufs)
	return v.appendText
}
