// Package sort orders all rows, or finds the first of them in an order.
package sort

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// The phases. The local one is for sorts with a limit: it keeps the rows that can still be among
// the first of all.
const (
	Local  = "local"
	Global = "global"
)

// Options of a sort, as JSON: {"by": [{"col": 1, "desc": true, "nullsFirst": false}], "limit": -1,
// "offset": 0, "phase": "local" | "global"}. A limit of -1 keeps all rows. Rows that are equal in
// all keys come in the order of the input.
type Options struct {
	expr.Sort
	Phase string `json:"phase"`
}

// Spec declares sort.
func Spec() operators.Spec[Options] {
	return operators.Spec[Options]{
		Name:      "sort",
		Summary:   "Orders all rows, or finds the first of them in an order.",
		MinInputs: 1, MaxInputs: 1,
		Schema: func(o Options, in []expr.Schema) (expr.Schema, error) { return in[0], o.check(in[0]) },
		Needs: func(o Options, _ []expr.Schema) []operators.Distribution {
			if o.Phase == Local {
				return []operators.Distribution{{Kind: operators.Any}}
			}
			return []operators.Distribution{{Kind: operators.Global}}
		},
		Label: func(o Options) string {
			if o.Limit >= 0 {
				return "SortLimit"
			}
			return "Sort"
		},
		New: func(o Options, in []expr.Schema) (operators.Operator, error) {
			return &sorter{options: o, schema: in[0]}, o.check(in[0])
		},
	}
}

func (o Options) check(in expr.Schema) error {
	if o.Phase != Local && o.Phase != Global {
		return fmt.Errorf("a sort has no phase %q: expected %s or %s", o.Phase, Local, Global)
	}
	if o.Limit < -1 || o.Offset < 0 {
		return fmt.Errorf("LIMIT %d OFFSET %d: expected numbers that are not negative", o.Limit, o.Offset)
	}
	for _, k := range o.By {
		if k.Col < 0 || k.Col >= len(in.Fields) {
			return fmt.Errorf("sort column %d is not one of the input's %d", k.Col, len(in.Fields))
		}
	}
	return nil
}

type sorter struct {
	options Options
	schema  expr.Schema
	rows    *table.Sorter
}

func (s *sorter) Open(t *operators.Task) error {
	keep := int64(-1)
	if s.options.Limit >= 0 {
		if keep = s.options.Limit + s.options.Offset; keep < 0 || keep > 1<<40 {
			keep = -1 // more than any input has, or any counter holds: all rows
		}
	}
	rows, err := table.NewSorter(t, s.schema, s.options.By, keep)
	if err != nil {
		return fmt.Errorf("sort: %w", err)
	}
	s.rows = rows
	return nil
}

func (s *sorter) Process(_ int, b operators.Batch, out operators.Collector) error {
	out.Count(operators.Absorbed, b.Rec.NumRows())
	if err := s.rows.Add(b.Rec); err != nil {
		return fmt.Errorf("sort: %w", err)
	}
	return nil
}

// EndInput gives the rows out in order; the global phase leaves out the first Offset.
func (s *sorter) EndInput(_ int, out operators.Collector) error {
	skip := s.options.Offset
	if s.options.Phase == Local {
		skip = 0
	}
	err := s.rows.Each(func(rec arrow.Record) error {
		n := rec.NumRows()
		if skip >= n {
			skip -= n
			rec.Release()
			return nil
		}
		if skip > 0 {
			rest := rec.NewSlice(skip, n)
			rec.Release()
			rec, skip = rest, 0
		}
		out.Count(operators.Released, rec.NumRows())
		return out.Emit(operators.Batch{Rec: rec})
	})
	if err != nil {
		return fmt.Errorf("sort: %w", err)
	}
	return nil
}

func (s *sorter) Close() error {
	if s.rows == nil {
		return nil
	}
	return s.rows.Close()
}
