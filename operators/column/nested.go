package column

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func isNested(arr arrow.Array) bool {
	switch arr.DataType().ID() {
	case arrow.LIST, arrow.MAP, arrow.STRUCT:
		return true
	}
	return false
}

// leafText writes values that are no nested ones.
func leafText(arr arrow.Array, t expr.Type) func(dst []byte, row int) []byte {
	return func(dst []byte, row int) []byte { return AppendText(dst, arr, t, row) }
}

// nested hashes nested values: the hashes of a ROW's fields and of an ARRAY's elements are folded in their
// order, begun by how many there are; those of a MAP's entries are added, for entries have no order.
func (v *values) nested(c int, arr arrow.Array, t expr.Type, sel []int32, out []uint64) {
	parts := t.Fields()
	if s, ok := arr.(*array.Struct); ok {
		for i := range out {
			out[i] = fold(prime5, uint64(len(parts)))
		}
		tmp := make([]uint64, len(out))
		for i, f := range parts {
			v.hash(c, s.Field(i), f.Type, 0, sel, tmp)
			for k, h := range tmp {
				out[k] = fold(out[k], h)
			}
		}
		return
	}
	rows := arr.(interface {
		ValueOffsets(i int) (start, end int64)
	})
	var hashes [][]uint64
	for i, p := range listParts(arr) {
		h := make([]uint64, p.Len())
		v.hash(c, p, parts[i].Type, 0, nil, h)
		hashes = append(hashes, h)
	}
	for i := range out {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		from, to := rows.ValueOffsets(r)
		h := fold(prime5, uint64(to-from))
		for k := from; k < to; k++ {
			if len(hashes) == 1 {
				h = fold(h, hashes[0][k])
			} else {
				h += finish(fold(fold(prime5, hashes[0][k]), hashes[1][k]))
			}
		}
		out[i] = h
	}
}

// listParts are the elements of an ARRAY, or the keys and the values of a MAP, of all rows.
func listParts(arr arrow.Array) []arrow.Array {
	switch a := arr.(type) {
	case *array.Map:
		return []arrow.Array{a.Keys(), a.Items()}
	case *array.List:
		return []arrow.Array{a.ListValues()}
	}
	return nil
}

// Fields are the fields of a struct array, NULL where the struct is. They hold as long as it does.
func Fields(s *array.Struct) []arrow.Array {
	fields := make([]arrow.Array, s.NumField())
	for i := range fields {
		fields[i] = s.Field(i)
	}
	return fields
}
