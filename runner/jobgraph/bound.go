package jobgraph

import (
	"encoding/json"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
)

// A BoundPlan is a plan whose sources and sinks were looked at: everything Build needs, so that Build
// itself does no I/O.
type BoundPlan struct {
	Plan    *plans.Plan
	Sources map[string]BoundSource
	Logical *Logical
	Sinks   map[string]connectors.BoundSink
}

// A BoundSource is a source as it was found.
type BoundSource struct {
	State  []byte // for connectors.Component.Open
	Source connectors.Source
}

// A Logical is the typed logical plan, as it was written: one root per sink.
type Logical struct {
	Sinks []*expr.Rel // in plan order; each has a Sink payload
	// Used are the columns of each source that the plan as written uses: mentioned in an expression
	// or carried to a sink. Exactly these are read and checked, whatever the optimizer does.
	Used map[string][]int
	// Paths are, for nested columns that the plan as written looks at by their fields alone, these fields: see
	// [connectors.Pushdown].
	Paths map[string]map[int][][]string
	// Files are the names of the files of each source, as its hidden column has them.
	Files map[string][]string
	// Deterministic holds, for each sink whose result depends on the order of rows by nature, why.
	NotDeterministic map[string]string
}

// options marshals the options of a component. They are plain data, so it cannot fail.
func options(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("options that are not plain data: " + err.Error())
	}
	return b
}
