// Package limit keeps a number of rows, in whatever order they come.
package limit

import (
	"fmt"
	"math"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// The phases: each subtask keeps at most as many rows as the whole needs, and one subtask decides.
const (
	Local  = "local"
	Global = "global"
)

// Options of a limit, as JSON: {"limit": 10, "offset": 0, "phase": "local" | "global"}. A limit of -1 keeps all.
type Options struct {
	expr.Limit
	Phase string `json:"phase"`
}

// Spec declares limit.
func Spec() operators.Spec[Options] {
	return operators.Spec[Options]{
		Name:      "limit",
		Summary:   "Keeps a number of rows, in whatever order they come.",
		MinInputs: 1, MaxInputs: 1, TakesSel: true,
		Schema: func(o Options, in []expr.Schema) (expr.Schema, error) { return in[0], o.check() },
		Needs: func(o Options, _ []expr.Schema) []operators.Distribution {
			if o.Phase == Local {
				return []operators.Distribution{{Kind: operators.Any}}
			}
			return []operators.Distribution{{Kind: operators.Global}}
		},
		Label: func(o Options) string {
			if o.Phase == Local {
				return "LocalLimit"
			}
			return "Limit"
		},
		New: func(o Options, _ []expr.Schema) (operators.Operator, error) {
			if err := o.check(); err != nil {
				return nil, err
			}
			l := &limit{skip: o.Offset, left: o.Limit.Limit}
			if o.Phase == Local { // the rows to skip are chosen by the global phase
				l.skip = 0
				if l.left >= 0 {
					l.left = atMost(l.left, o.Offset)
				}
			}
			return l, nil
		},
	}
}

func (o Options) check() error {
	if o.Phase != Local && o.Phase != Global {
		return fmt.Errorf("a limit has no phase %q: expected %s or %s", o.Phase, Local, Global)
	}
	if o.Limit.Limit < -1 || o.Offset < 0 {
		return fmt.Errorf("LIMIT %d OFFSET %d: expected numbers that are not negative", o.Limit.Limit, o.Offset)
	}
	return nil
}

type limit struct {
	skip int64
	left int64 // -1: no limit
}

func (l *limit) Open(*operators.Task) error              { return nil }
func (l *limit) EndInput(int, operators.Collector) error { return nil }
func (l *limit) Close() error                            { return nil }

// Sated reports that the limit is full.
func (l *limit) Sated() bool { return l.left == 0 }

func (l *limit) Process(_ int, b operators.Batch, out operators.Collector) error {
	n := int64(b.Rows())
	from := min(l.skip, n)
	to := n
	if l.left >= 0 {
		to = min(n, atMost(from, l.left))
		l.left -= to - from
	}
	l.skip -= from
	if dropped := n - (to - from); dropped > 0 {
		out.Count(operators.Filtered, dropped)
	}
	switch {
	case from == to:
		b.Rec.Release()
		return nil
	case from == 0 && to == n:
		return out.Emit(b)
	case b.Sel != nil:
		b.Sel = b.Sel[from:to]
		return out.Emit(b)
	}
	return out.Emit(slice(b, from, to))
}

// slice is rows from..to-1 of a batch without a selection.
func slice(b operators.Batch, from, to int64) operators.Batch {
	part := b.Rec.NewSlice(from, to)
	b.Rec.Release()
	b.Rec = part
	if b.From != (operators.Origin{}) {
		b.From.Row += from
	}
	return b
}

// atMost is limit + offset, the rows that can matter; what no counter holds is all of them.
func atMost(limit, offset int64) int64 {
	if limit > math.MaxInt64-offset {
		return math.MaxInt64
	}
	return limit + offset
}
