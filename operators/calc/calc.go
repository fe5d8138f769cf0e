// Package calc keeps the rows for which a condition is TRUE and computes columns for them: WHERE
// and SELECT in one.
package calc

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options of a calc are expr.Calc as JSON: checked expressions over the input's columns.
type Options struct{ expr.Calc }

// Spec declares calc.
func Spec() operators.Spec[Options] {
	return operators.Spec[Options]{
		Name:      "calc",
		Summary:   "Keeps the rows for which a condition is TRUE and computes columns for them.",
		MinInputs: 1, MaxInputs: 1, TakesSel: true, Stateless: true,
		Schema: func(o Options, _ []expr.Schema) (expr.Schema, error) { return o.schema(), nil },
		Label:  func(Options) string { return "Calc" },
		New:    newCalc,
	}
}

func (o Options) schema() expr.Schema {
	var s expr.Schema
	for _, n := range o.Select {
		s.Fields = append(s.Fields, expr.Field{Name: n.Name, Type: n.Expr.Type})
	}
	return s
}

type calc struct {
	fields  []expr.Field
	where   *expr.Program
	columns []output
	task    *operators.Task
	sel     []int32
	tries   expr.TryCasts
}

// An output is an input column (program nil) or computed.
type output struct {
	col     int
	program *expr.Program
}

func newCalc(o Options, in []expr.Schema) (operators.Operator, error) {
	c := &calc{fields: o.schema().Fields}
	if o.Where != nil {
		p, err := expr.Compile(o.Where, in[0])
		if err != nil {
			return nil, fmt.Errorf("where: %w", err)
		}
		c.where = p
		c.tries.Watch(p)
	}
	for _, n := range o.Select {
		if n.Expr.Op == expr.OpColumn {
			if n.Expr.Col < 0 || n.Expr.Col >= len(in[0].Fields) {
				return nil, fmt.Errorf("column %s: place %d is not one of the input's %d", n.Name, n.Expr.Col, len(in[0].Fields))
			}
			c.columns = append(c.columns, output{col: n.Expr.Col})
			continue
		}
		p, err := expr.Compile(n.Expr, in[0])
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", n.Name, err)
		}
		c.columns = append(c.columns, output{program: p})
		c.tries.Watch(p)
	}
	return c, nil
}

func (c *calc) Open(t *operators.Task) error {
	c.task = t
	return nil
}

func (c *calc) EndInput(int, operators.Collector) error { return nil }
func (c *calc) Close() error                            { return nil }

// TryCasts is for how many rows a TRY_CAST gave NULL.
func (c *calc) TryCasts() []expr.TryCast { return c.tries.Counts() }

func (c *calc) Process(_ int, b operators.Batch, out operators.Collector) error {
	defer b.Rec.Release()
	c.tries.Begin()
	sel := b.Sel
	if c.where != nil {
		kept, err := c.where.Select(b.Rec, b.Dict, sel, c.sel)
		if err != nil {
			return err
		}
		c.sel = kept
		if dropped := b.Rows() - len(kept); dropped > 0 {
			out.Count(operators.Filtered, int64(dropped))
			sel = kept
		}
		if len(kept) == 0 {
			return nil
		}
	}
	cols := make([]arrow.Array, 0, len(c.columns))
	defer func() {
		for _, a := range cols {
			a.Release()
		}
	}()
	dict := make([]uint64, len(c.columns))
	for i := range c.columns {
		a, id, err := c.column(&c.columns[i], b, sel)
		if err != nil {
			return err
		}
		cols = append(cols, a)
		dict[i] = id
	}
	rec := column.NewRecord(c.fields, cols, b.Rec.NumRows())
	return out.Emit(operators.Batch{Rec: rec, Sel: sel, Dict: dict, From: b.From})
}

func (c *calc) column(o *output, b operators.Batch, sel []int32) (arrow.Array, uint64, error) {
	if o.program != nil {
		return o.program.Eval(c.task.Alloc, b.Rec, b.Dict, sel)
	}
	a := b.Rec.Column(o.col)
	a.Retain()
	if o.col < len(b.Dict) {
		return a, b.Dict[o.col], nil
	}
	return a, 0, nil
}
