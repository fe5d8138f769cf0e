// Package union puts the rows of its inputs together, duplicates included.
package union

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options of a union: {}.
type Options struct{ expr.Set }

// maxInputs is more than a plan will name.
const maxInputs = 1 << 16

// Spec declares union.
func Spec() operators.Spec[Options] {
	return operators.Spec[Options]{
		Name:      "union",
		Summary:   "Puts the rows of its inputs together, duplicates included.",
		MinInputs: 1, MaxInputs: maxInputs, TakesSel: true, Stateless: true,
		Schema: func(_ Options, in []expr.Schema) (expr.Schema, error) { return schema(in) },
		Needs: func(_ Options, in []expr.Schema) []operators.Distribution {
			d := make([]operators.Distribution, len(in))
			for i := range d {
				d[i].Kind = operators.Any
			}
			return d
		},
		Label: func(Options) string { return "Union" },
		New: func(_ Options, in []expr.Schema) (operators.Operator, error) {
			s, err := schema(in)
			if err != nil {
				return nil, err
			}
			u := &union{fields: s.Fields, rename: make([]bool, len(in))}
			for i, s := range in {
				for c, f := range s.Fields {
					u.rename[i] = u.rename[i] || f.Name != u.fields[c].Name
				}
			}
			return u, nil
		},
	}
}

// schema has the names of the first input; a column is NOT NULL where it is in every input.
func schema(in []expr.Schema) (expr.Schema, error) {
	fields := append([]expr.Field(nil), in[0].Fields...)
	for i, s := range in[1:] {
		if len(s.Fields) != len(fields) {
			return expr.Schema{}, fmt.Errorf("input %d of a union has %d columns, the first has %d", i+2, len(s.Fields), len(fields))
		}
		for c := range fields {
			t := s.Fields[c].Type
			if !t.Same(fields[c].Type) {
				return expr.Schema{}, fmt.Errorf("column %d of input %d of a union is %s %s, in the first it is %s %s",
					c+1, i+2, s.Fields[c].Name, t, fields[c].Name, fields[c].Type)
			}
			fields[c].Type.NotNull = fields[c].Type.NotNull && t.NotNull
		}
	}
	return expr.Schema{Fields: fields}, nil
}

type union struct {
	fields []expr.Field
	rename []bool // per input: its columns have other names
}

func (u *union) Open(*operators.Task) error              { return nil }
func (u *union) EndInput(int, operators.Collector) error { return nil }
func (u *union) Close() error                            { return nil }

func (u *union) Process(input int, b operators.Batch, out operators.Collector) error {
	if u.rename[input] {
		named := column.NewRecord(u.fields, b.Rec.Columns(), b.Rec.NumRows())
		b.Rec.Release()
		b.Rec = named
	}
	return out.Emit(b)
}
