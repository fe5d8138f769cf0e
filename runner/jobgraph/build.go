package jobgraph

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
)

// Catalogs are the components that a graph may be made of.
type Catalogs struct {
	Operators  operators.Catalog
	Connectors connectors.Catalog
}

// Build makes the job graph of a bound plan: it optimizes the logical plan, chooses an operator for
// every node, chains them, and joins the chains by edges. It is pure: equal input, equal graph.
func Build(bp *BoundPlan, cat Catalogs, opts []Option) (*Graph, error) {
	b := &builder{
		bp: bp, cat: cat, g: &Graph{Name: bp.Plan.Name, Mode: bp.Plan.Mode, Options: opts},
		nodes: map[string]*plans.Node{}, ends: map[*expr.Rel]*end{},
	}
	for i := range bp.Plan.Nodes {
		b.nodes[bp.Plan.Nodes[i].Name] = &bp.Plan.Nodes[i]
	}
	for _, o := range opts {
		if o.Name == "parallelism.default" {
			b.origin = o.Source
		}
	}
	roots := Optimize(bp.Logical, b.takesWhere)
	b.scan(roots)
	for _, r := range roots {
		if _, err := b.place(r); err != nil {
			return nil, err
		}
	}
	b.finish()
	return b.g, nil
}

type builder struct {
	bp       *BoundPlan
	cat      Catalogs
	g        *Graph
	origin   string // of parallelism.default
	nodes    map[string]*plans.Node
	ends     map[*expr.Rel]*end
	scans    map[string]*expr.Rel // by source
	sides    map[string]bool      // sources whose bad rows somebody reads
	vertices []*Vertex            // under construction, in order of their first operator
	joins    []join
	nextID   int
}

// An end is where the output of a relational node comes out: the last operator of a vertex so far.
type end struct {
	v      *Vertex
	op     int    // place in the chain
	port   string // of op; "" for what it gives itself
	schema expr.Schema
}

func (b *builder) takesWhere(source string) bool {
	s := b.bp.Sources[source].Source
	if s == nil {
		return false
	}
	t := &expr.Expr{Op: expr.OpLiteral, Value: &expr.Value{Int: 1}, Type: expr.Of(expr.Boolean)}
	return s.Push(connectors.Pushdown{Where: t, Limit: -1}).Where == nil
}

// place makes the operators of a node, its inputs first.
func (b *builder) place(r *expr.Rel) (*end, error) {
	if e := b.ends[r]; e != nil {
		return e, nil
	}
	ins := make([]*end, len(r.Inputs))
	for i, in := range r.Inputs {
		e, err := b.place(in)
		if err != nil {
			return nil, err
		}
		ins[i] = e
	}
	e, err := b.placeNode(r, ins)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", r.Node, err)
	}
	b.ends[r] = e
	return e, nil
}

func (b *builder) placeNode(r *expr.Rel, ins []*end) (*end, error) {
	switch {
	case r.Scan != nil:
		return b.source(r)
	case r.Side != nil:
		return b.side(r)
	case r.Calc != nil:
		return b.operator(r, ins, step{role: "calc", component: "calc", options: options(r.Calc)})
	case r.Aggregate != nil:
		return b.aggregate(r, ins)
	case r.Distinct != nil:
		return b.twoPhase(r, ins, "distinct", func(phase string) any {
			return struct {
				Phase string `json:"phase"`
			}{phase}
		})
	case r.Sort != nil:
		return b.twoPhase(r, ins, "sort", func(phase string) any {
			return struct {
				expr.Sort
				Phase string `json:"phase"`
			}{*r.Sort, phase}
		})
	case r.Limit != nil:
		return b.twoPhase(r, ins, "limit", func(phase string) any {
			return struct {
				expr.Limit
				Phase string `json:"phase"`
			}{*r.Limit, phase}
		})
	case r.Unnest != nil:
		return b.operator(r, ins, step{role: "unnest", component: "unnest", options: options(r.Unnest)})
	case r.Set != nil:
		return b.operator(r, ins, step{role: "union", component: "union", options: options(r.Set)})
	case r.Sink != nil:
		return b.sink(r, ins[0])
	}
	return nil, fmt.Errorf("a relational node without a form")
}

// scan finds the sources, and those that only a port is read of.
func (b *builder) scan(roots []*expr.Rel) {
	b.scans, b.sides = map[string]*expr.Rel{}, map[string]bool{}
	for _, r := range topological(roots) {
		switch {
		case r.Scan != nil:
			b.scans[r.Scan.Source] = r
		case r.Side != nil:
			b.sides[r.Side.Source] = true
		}
	}
	for source := range b.sides {
		if b.scans[source] == nil {
			b.scans[source] = &expr.Rel{Node: source, Scan: &expr.Scan{Source: source, Columns: []int{}, Limit: -1}}
		}
	}
}

// side is the port of a source. Its rows always leave the chain over an edge: they are few, and who reads
// them is none of the source's business.
func (b *builder) side(r *expr.Rel) (*end, error) {
	e, err := b.place(b.scans[r.Side.Source])
	if err != nil {
		return nil, err
	}
	return &end{v: e.v, op: e.op, port: r.Side.Port, schema: r.Schema}, nil
}

// twoPhase is an operator that does what it can where the rows are, and the rest in one subtask.
func (b *builder) twoPhase(r *expr.Rel, ins []*end, component string, o func(phase string) any) (*end, error) {
	local, err := b.operator(r, ins, step{role: "local", component: component, options: options(o("local")), inner: true})
	if err != nil {
		return nil, err
	}
	return b.operator(r, []*end{local}, step{role: "global", component: component, options: options(o("global"))})
}

func (b *builder) aggregate(r *expr.Rel, ins []*end) (*end, error) {
	o := func(phase string) any {
		a := *r.Aggregate
		if phase == "global" { // behind the local phase the keys come first
			a.Keys = make([]int, len(r.Aggregate.Keys))
			for i := range a.Keys {
				a.Keys[i] = i
			}
		}
		return struct {
			expr.Aggregate
			Phase string      `json:"phase"`
			Input expr.Schema `json:"input"`
		}{a, phase, ins[0].schema}
	}
	local, err := b.operator(r, ins, step{role: "local", component: "aggregate", options: options(o("local")), inner: true})
	if err != nil {
		return nil, err
	}
	e, err := b.operator(r, []*end{local}, step{role: "global", component: "aggregate", options: options(o("global"))})
	if err != nil {
		return nil, err
	}
	// The keys may have other names than the columns they come from.
	e.v.Operators[e.op].Out = r.Schema
	e.schema = r.Schema
	return e, nil
}
