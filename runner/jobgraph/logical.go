package jobgraph

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
)

// BuildLogical gives every node of a plan its relational form and types. It finds all faults that need
// schemas, at once. Nodes that are faulty already, and those behind a faulty one, are passed over in
// silence.
func BuildLogical(p *plans.Plan, sources map[string]expr.Schema, faulty map[string]bool) (*Logical, plans.Findings) {
	b := &logicalBuilder{
		plan: p, sources: sources, faulty: faulty, done: map[string]*expr.Rel{}, sides: map[plans.Input]*expr.Rel{}, explicit: map[*expr.Calc][]bool{},
	}
	b.order()
	l := &Logical{}
	for _, n := range b.sorted {
		r := b.node(n)
		b.done[n.Name] = r
		if r != nil && r.Sink != nil {
			l.Sinks = append(l.Sinks, r)
		}
	}
	if b.findings.Failed() {
		return nil, b.findings
	}
	l.Used = usedColumns(l.Sinks, b.explicit)
	l.Paths = usedPaths(l.Sinks, b.explicit)
	l.NotDeterministic = orderDependent(l.Sinks)
	return l, b.findings
}

type logicalBuilder struct {
	plan     *plans.Plan
	sources  map[string]expr.Schema
	faulty   map[string]bool
	sorted   []*plans.Node
	done     map[string]*expr.Rel // nil: faulty
	sides    map[plans.Input]*expr.Rel
	explicit map[*expr.Calc][]bool // per item of Select, whether the plan wrote it (a star did not)
	findings plans.Findings
}

// order sorts nodes so that inputs come first; the plan reader has refused cycles.
func (b *logicalBuilder) order() {
	byName := map[string]*plans.Node{}
	for i := range b.plan.Nodes {
		byName[b.plan.Nodes[i].Name] = &b.plan.Nodes[i]
	}
	seen := map[string]bool{}
	var visit func(n *plans.Node)
	visit = func(n *plans.Node) {
		if n == nil || seen[n.Name] {
			return
		}
		seen[n.Name] = true
		for _, in := range n.From {
			visit(byName[in.Node])
		}
		b.sorted = append(b.sorted, n)
	}
	for i := range b.plan.Nodes {
		visit(&b.plan.Nodes[i])
	}
}

func (b *logicalBuilder) node(n *plans.Node) *expr.Rel {
	if b.faulty[n.Name] {
		return nil
	}
	if n.Source != nil {
		s, ok := b.sources[n.Name]
		if !ok {
			return nil
		}
		cols := make([]int, len(s.Fields))
		for i := range cols {
			cols[i] = i
		}
		return &expr.Rel{Node: n.Name, Schema: s, Scan: &expr.Scan{Source: n.Name, Columns: cols, Limit: -1}}
	}
	ins := make([]*expr.Rel, len(n.From))
	for i, in := range n.From {
		if ins[i] = b.input(in); ins[i] == nil {
			return nil
		}
		if n.Aggregate == nil && (n.Select == nil || n.Select.Where == nil && len(n.Select.Items) == 0) {
			ins[i] = b.visible(n.Name, ins[i])
		}
	}
	if len(ins) == 0 {
		return nil
	}
	switch {
	case n.Select != nil:
		return b.selectNode(n, ins[0])
	case n.Aggregate != nil:
		return b.aggregateNode(n, ins[0])
	case n.Unnest != nil:
		return b.unnestNode(n, ins[0])
	case n.Union != nil:
		return b.unionNode(n, ins)
	case n.Sink != nil:
		return &expr.Rel{Node: n.Name, Inputs: ins[:1], Schema: ins[0].Schema, Sink: &expr.Sink{}}
	}
	b.fault(n.Pos, "unsupported-step", fmt.Sprintf("node %s has no step that this version can run", n.Name))
	return nil
}

// input is what a from names, nil where that is faulty.
func (b *logicalBuilder) input(in plans.Input) *expr.Rel {
	r := b.done[in.Node]
	if r == nil || in.Port == "" {
		return r
	}
	in.Pos = plans.Pos{}
	if b.sides[in] == nil {
		b.sides[in] = &expr.Rel{Node: in.Node, Schema: connectors.RejectSchema(), Side: &expr.Side{Source: in.Node, Port: in.Port}}
	}
	return b.sides[in]
}

func (b *logicalBuilder) fault(pos plans.Pos, rule, message string) {
	b.findings = append(b.findings, plans.NewFinding(b.plan, pos, rule, message))
}

// check gives an expression its types over in; nil after a finding.
func (b *logicalBuilder) check(e *plans.Expression, in expr.Schema, aggregates bool) *expr.Expr {
	c, err := expr.Check(e.In(in), in, expr.CheckOptions{Aggregates: aggregates, Zone: b.plan.Zone})
	if err != nil {
		b.findings = append(b.findings, plans.ExprFinding(b.plan, e, err)...)
		return nil
	}
	return c
}

// condition is check for a place that wants a BOOLEAN.
func (b *logicalBuilder) condition(e *plans.Expression, in expr.Schema) *expr.Expr {
	c := b.check(e, in, false)
	if c == nil {
		return nil
	}
	if c.Type.Kind != expr.Boolean && c.Type.Kind != expr.Null {
		b.findings = append(b.findings, plans.ExprFinding(b.plan, e, &expr.Error{
			End: len(e.Text), Message: "a condition has type " + c.Type.String(), Expected: "BOOLEAN",
		})...)
		return nil
	}
	return c
}

func column(i int, f expr.Field) *expr.Expr {
	return &expr.Expr{Op: expr.OpColumn, Name: f.Name, Col: i, Type: f.Type}
}

// calc puts a Calc on top of in.
func calc(node string, in *expr.Rel, where *expr.Expr, items []expr.Named) *expr.Rel {
	s := expr.Schema{Fields: make([]expr.Field, len(items))}
	for i, it := range items {
		s.Fields[i] = expr.Field{Name: it.Name, Type: it.Expr.Type}
	}
	return &expr.Rel{Node: node, Inputs: []*expr.Rel{in}, Schema: s, Calc: &expr.Calc{Where: where, Select: items}}
}

// allColumns are the columns that a star means.
func allColumns(s expr.Schema) []expr.Named {
	items := make([]expr.Named, len(s.Visible()))
	for i, f := range s.Visible() {
		items[i] = expr.Named{Name: f.Name, Expr: column(i, f)}
	}
	return items
}

// visible leaves the hidden columns of a source out, for nodes that take columns without naming them.
func (b *logicalBuilder) visible(node string, r *expr.Rel) *expr.Rel {
	items := allColumns(r.Schema)
	if len(items) == len(r.Schema.Fields) {
		return r
	}
	c := calc(node, r, nil, items)
	b.explicit[c.Calc] = make([]bool, len(items))
	return c
}

// isKey refuses nested values where rows are told apart or put in order by them.
func (b *logicalBuilder) isKey(at *plans.Expression, e *expr.Expr, what string) bool {
	if !e.Type.Nested() {
		return true
	}
	b.findings = append(b.findings, plans.ExprFinding(b.plan, at, &expr.Error{
		End: len(at.Text), Message: fmt.Sprintf("rows cannot be %s %s", what, e.Type.Nullable(true)), Expected: "a part of it, such as a field or an element, or CAST(… AS STRING)",
	})...)
	return false
}

// distinctKeys refuses nested columns where rows are compared as a whole.
func (b *logicalBuilder) distinctKeys(n *plans.Node, in expr.Schema) {
	for _, f := range in.Fields {
		if f.Type.Nested() {
			b.fault(n.Pos, "type-mismatch", fmt.Sprintf("distinct compares all columns, and column %s is %s, which is no key: leave it out, or take a part of it", f.Name, f.Type))
		}
	}
}
