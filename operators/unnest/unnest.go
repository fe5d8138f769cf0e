// Package unnest gives a row for each element of an array or each entry of a map: CROSS JOIN UNNEST.
package unnest

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options of an unnest are expr.Unnest as JSON.
type Options struct{ expr.Unnest }

// most is how many rows are given out at a time, about.
const most = 16 << 10

// Spec declares unnest. A row whose array is NULL or empty gives no row, or with Outer one with NULL for the
// element. The elements of an ARRAY of ROWs become a column for each field.
func Spec() operators.Spec[Options] {
	return operators.Spec[Options]{
		Name:      "unnest",
		Summary:   "Gives a row for each element of an array or each entry of a map.",
		MinInputs: 1, MaxInputs: 1, TakesSel: true,
		Schema: func(o Options, in []expr.Schema) (expr.Schema, error) { return o.Output(in[0]) },
		Label:  func(Options) string { return "Unnest" },
		New: func(o Options, in []expr.Schema) (operators.Operator, error) {
			s, err := o.Output(in[0])
			if err != nil {
				return nil, err
			}
			return &unnest{o: o, in: in[0], out: s}, nil
		},
	}
}

type unnest struct {
	o    Options
	in   expr.Schema
	out  expr.Schema
	task *operators.Task
	// Of the rows to come: their places in the batch and the elements', -1 for none.
	rows, elements, ordinal []int32
}

func (u *unnest) Open(t *operators.Task) error {
	u.task = t
	return nil
}

func (u *unnest) EndInput(int, operators.Collector) error { return nil }
func (u *unnest) Close() error                            { return nil }

func (u *unnest) Process(_ int, b operators.Batch, out operators.Collector) error {
	defer b.Rec.Release()
	list, ok := b.Rec.Column(u.o.Col).(interface {
		arrow.Array
		ValueOffsets(i int) (start, end int64)
	})
	if !ok {
		return fmt.Errorf("column %s is %s and no list", u.in.Fields[u.o.Col].Name, b.Rec.Column(u.o.Col).DataType())
	}
	out.Count(operators.Absorbed, int64(b.Rows()))
	u.rows, u.elements, u.ordinal = u.rows[:0], u.elements[:0], u.ordinal[:0]
	for i := range b.Rows() {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		from, to := int64(0), int64(0)
		if !list.IsNull(row) {
			from, to = list.ValueOffsets(row)
		}
		if from == to && u.o.Outer {
			u.add(row, -1, -1)
		}
		for k := from; k < to; k++ {
			u.add(row, int32(k), int32(k-from+1))
			if len(u.rows) >= most {
				if err := u.give(b, list, out); err != nil {
					return err
				}
			}
		}
	}
	return u.give(b, list, out)
}

func (u *unnest) add(row int, element, ordinal int32) {
	u.rows, u.elements, u.ordinal = append(u.rows, int32(row)), append(u.elements, element), append(u.ordinal, ordinal)
}

// give gives out the rows gathered.
func (u *unnest) give(b operators.Batch, list arrow.Array, out operators.Collector) error {
	if len(u.rows) == 0 {
		return nil
	}
	var cols []arrow.Array
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	var dict []uint64
	for i := range u.in.Fields {
		if i == u.o.Col {
			continue
		}
		cols = append(cols, column.Take(u.task.Alloc, b.Rec.Column(i), u.rows))
		id := uint64(0)
		if b.Dict != nil {
			id = b.Dict[i]
		}
		dict = append(dict, id)
	}
	for _, p := range parts(list) {
		cols = append(cols, column.Take(u.task.Alloc, p, u.elements))
	}
	if u.o.Ordinality != "" {
		n := array.NewInt32Builder(u.task.Alloc)
		for _, v := range u.ordinal {
			if v < 0 {
				n.AppendNull()
			} else {
				n.Append(v)
			}
		}
		cols = append(cols, n.NewArray())
		n.Release()
	}
	rows := int64(len(u.rows))
	u.rows, u.elements, u.ordinal = u.rows[:0], u.elements[:0], u.ordinal[:0]
	for len(dict) < len(cols) {
		dict = append(dict, 0)
	}
	out.Count(operators.Released, rows)
	return out.Emit(operators.Batch{Rec: column.NewRecord(u.out.Fields, cols, rows), Dict: dict})
}

// parts are the columns that the elements become: the fields of ROWs, keys and values, or the elements.
func parts(list arrow.Array) []arrow.Array {
	switch a := list.(type) {
	case *array.Map:
		return []arrow.Array{a.Keys(), a.Items()}
	case *array.List:
		s, ok := a.ListValues().(*array.Struct)
		if !ok {
			return []arrow.Array{a.ListValues()}
		}
		return column.Fields(s)
	}
	return nil
}
