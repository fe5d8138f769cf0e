// Package aggregate groups rows and computes COUNT, SUM, AVG, MIN and MAX of each group, with
// DISTINCT and FILTER.
//
// It runs in one phase (single), or in two: the local phase reduces the rows of its subtask to
// partial states, and the global phase, behind an exchange by key, merges those. Results are the
// same bit for bit either way, in any order and at any parallelism: integers and decimals
// are summed wide and judged for overflow at the end, sums of DOUBLE are exact and rounded once.
package aggregate

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// The phases.
const (
	Local  = "local"
	Global = "global"
	Single = "single"
)

// Options of an aggregate, as JSON:
//
//	{"keys": [0, 2], "measures": [{"name": "n", "func": "COUNT", "arg": -1, "filter": -1, "type": "BIGINT NOT NULL", "text": "COUNT(*)"}],
//	 "phase": "local", "input": {"fields": [{"name": "country", "type": "STRING"}, …]}}
//
// Measures are the same in all phases, and their arg and filter are places in the original input.
// Keys are places in the original input too, except in the global phase, where the keys come first:
// there they are 0..k-1. Input is the schema of the original input; the global phase needs it, since its own
// input is the local phase's output: the keys, then the arguments of DISTINCT, then partial states.
type Options struct {
	expr.Aggregate
	Phase string      `json:"phase"`
	Input expr.Schema `json:"input"`
}

// Spec declares aggregate.
func Spec() operators.Spec[Options] {
	return operators.Spec[Options]{
		Name:      "aggregate",
		Summary:   "Groups rows and computes COUNT, SUM, AVG, MIN and MAX of each group.",
		MinInputs: 1, MaxInputs: 1, TakesSel: true,
		Schema: func(o Options, in []expr.Schema) (expr.Schema, error) {
			l, err := newLayout(o, in)
			if err != nil {
				return expr.Schema{}, err
			}
			if o.Phase == Local {
				return l.partialSchema(), nil
			}
			return l.resultSchema(), nil
		},
		Needs: needs,
		Label: func(o Options) string {
			if o.Phase == Local {
				return "LocalHashAggregate"
			}
			return "HashAggregate"
		},
		New: func(o Options, in []expr.Schema) (operators.Operator, error) {
			l, err := newLayout(o, in)
			if err != nil {
				return nil, err
			}
			if o.Phase == Local {
				return &local{layout: l, limits: usualLimits()}, nil
			}
			return &global{layout: l}, nil
		},
	}
}

func needs(o Options, _ []expr.Schema) []operators.Distribution {
	switch {
	case o.Phase == Local:
		return []operators.Distribution{{Kind: operators.Any}}
	case len(o.Keys) == 0:
		return []operators.Distribution{{Kind: operators.Global}}
	}
	return []operators.Distribution{{Kind: operators.Hash, Keys: o.Keys}}
}

// An OverflowError is a result that its type cannot hold.
type OverflowError struct {
	Measure string // as the plan has it
	Group   string // the key in canonical text, "country=de"; "" without keys
	Value   string
	Type    expr.Type
}

// Error is the message: "overflow in SUM(amount) for country=de: 18000000000000000000 does not fit BIGINT".
func (e *OverflowError) Error() string {
	group := ""
	if e.Group != "" {
		group = " for " + e.Group
	}
	return fmt.Sprintf("overflow in %s%s: %s does not fit %s", e.Measure, group, e.Value, e.Type.Nullable(true))
}

// Class is the stable class of the failure.
func (e *OverflowError) Class() string { return "Overflow" }

// Datum is the value at fault and the expression that gave it.
func (e *OverflowError) Datum() (field, value, expression string) { return "", e.Value, e.Measure }

// Key is the group's key in canonical text; of several failures the one of the least key is reported.
func (e *OverflowError) Key() string { return e.Group }
