// Package distinct keeps one of each set of equal rows: NULL equals NULL, NaN equals NaN and -0.0
// equals 0.0.
package distinct

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// The phases. The local one is optional and drops most of the duplicates before the exchange.
const (
	Local  = "local"
	Global = "global"
)

// localRows bounds what the local phase remembers. Where most of the rows were new by the time it is
// full, the next passRows go by unseen.
const (
	localRows = 32 << 10
	passRows  = 1 << 20
)

// Options of a distinct, as JSON: {"phase": "local" | "global"}.
type Options struct {
	expr.Distinct
	Phase string `json:"phase"`
}

// Spec declares distinct.
func Spec() operators.Spec[Options] {
	return operators.Spec[Options]{
		Name:      "distinct",
		Summary:   "Keeps one of each set of equal rows.",
		MinInputs: 1, MaxInputs: 1, TakesSel: true,
		Schema: func(o Options, in []expr.Schema) (expr.Schema, error) { return in[0], o.check() },
		Needs: func(o Options, in []expr.Schema) []operators.Distribution {
			if o.Phase == Local {
				return []operators.Distribution{{Kind: operators.Any}}
			}
			keys := make([]int, len(in[0].Fields))
			for i := range keys {
				keys[i] = i
			}
			return []operators.Distribution{{Kind: operators.Hash, Keys: keys}}
		},
		Label: func(o Options) string {
			if o.Phase == Local {
				return "LocalDistinct"
			}
			return "Distinct"
		},
		New: func(o Options, in []expr.Schema) (operators.Operator, error) {
			if err := o.check(); err != nil {
				return nil, err
			}
			if o.Phase == Local {
				return &local{schema: in[0]}, nil
			}
			return &global{schema: in[0]}, nil
		},
	}
}

func (o Options) check() error {
	if o.Phase != Local && o.Phase != Global {
		return fmt.Errorf("a distinct has no phase %q: expected %s or %s", o.Phase, Local, Global)
	}
	return nil
}

// local forgets what it has seen when that becomes too much.
type local struct {
	schema expr.Schema
	table  operators.Table
	slots  []uint32
	sel    []int32
	rows   int // since the table was empty
	pass   int // rows still to go by
}

func (d *local) Open(t *operators.Task) error {
	tab, err := table.New(d.schema, operators.TableOptions{}, t.Memory, max(t.MaxParallelism, 1), t.Alloc)
	if err != nil {
		return fmt.Errorf("local distinct: %w", err)
	}
	d.table = tab
	return nil
}

func (d *local) Process(_ int, b operators.Batch, out operators.Collector) error {
	if d.table.Len() > localRows {
		if 2*d.table.Len() > d.rows {
			d.pass = passRows
		}
		d.forget()
	}
	if d.pass > 0 {
		d.pass -= b.Rows()
		return out.Emit(b)
	}
	d.rows += b.Rows()
	sel, err := fresh(d.table, b, &d.slots, d.sel)
	if errors.Is(err, operators.ErrMemory) {
		d.forget()
		d.rows = b.Rows()
		sel, err = fresh(d.table, b, &d.slots, d.sel)
		if errors.Is(err, operators.ErrMemory) {
			return out.Emit(b) // the global phase sorts it out
		}
	}
	if err != nil {
		b.Rec.Release()
		return fmt.Errorf("local distinct: %w", err)
	}
	d.sel = sel
	return emit(b, sel, out)
}

func (d *local) forget() {
	d.table.Clear()
	d.rows = 0
}

func (d *local) EndInput(int, operators.Collector) error { return nil }

func (d *local) Close() error {
	if d.table != nil {
		d.table.Close()
	}
	return nil
}

// fresh adds the rows of a batch to a table and returns those it did not hold, in buf's memory.
func fresh(t operators.Table, b operators.Batch, slots *[]uint32, buf []int32) ([]int32, error) {
	return freshKeys(t, b.Rec.Columns(), b, slots, buf)
}

func freshKeys(t operators.Table, keys []arrow.Array, b operators.Batch, slots *[]uint32, buf []int32) ([]int32, error) {
	n := b.Rows()
	if cap(*slots) < n {
		*slots = make([]uint32, n)
	}
	s := (*slots)[:n]
	dict := b.Dict
	next := uint32(t.Len())
	if _, err := t.Upsert(keys, dict, b.Sel, s); err != nil {
		return buf, err
	}
	if buf == nil {
		buf = make([]int32, 0, n)
	}
	buf = buf[:0]
	for i, slot := range s { // new slots are numbered in the order of first sight
		if slot != next {
			continue
		}
		next++
		row := int32(i)
		if b.Sel != nil {
			row = b.Sel[i]
		}
		buf = append(buf, row)
	}
	return buf, nil
}

// emit gives out the selected rows of a batch and counts the others as duplicates.
func emit(b operators.Batch, sel []int32, out operators.Collector) error {
	if dropped := b.Rows() - len(sel); dropped > 0 {
		out.Count(operators.Filtered, int64(dropped))
	}
	if len(sel) == 0 {
		b.Rec.Release()
		return nil
	}
	b.Sel = sel
	return out.Emit(b)
}
