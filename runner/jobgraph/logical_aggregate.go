package jobgraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
)

// aggregateNode is a Calc that computes keys, arguments and filters, an Aggregate over its columns, and
// a Calc that computes what measures do with the aggregates, and having.
func (b *logicalBuilder) aggregateNode(n *plans.Node, in *expr.Rel) *expr.Rel {
	a := &aggregation{b: b, n: n, in: in, before: map[string]int{}, calls: map[string]int{}, agg: &expr.Aggregate{}}
	failed := len(b.findings)
	a.keys()
	measures := a.measures()
	if len(b.findings) > failed {
		return nil
	}
	pre := calc(n.Name, in, nil, a.items)
	written := make([]bool, len(a.items))
	for i := range written {
		written[i] = true
	}
	b.explicit[pre.Calc] = written
	out := expr.Schema{}
	for _, k := range a.agg.Keys {
		out.Fields = append(out.Fields, pre.Schema.Fields[k])
	}
	for i, k := range n.Aggregate.Keys {
		out.Fields[i].Name = k.Name
	}
	for _, m := range a.agg.Measures {
		out.Fields = append(out.Fields, expr.Field{Name: m.Name, Type: m.Type})
	}
	r := &expr.Rel{Node: n.Name, Inputs: []*expr.Rel{pre}, Schema: out, Aggregate: a.agg}
	return a.finish(r, measures)
}

type aggregation struct {
	b      *logicalBuilder
	n      *plans.Node
	in     *expr.Rel
	items  []expr.Named   // what the Calc before gives
	before map[string]int // place in items, by text
	calls  map[string]int // place in agg.Measures, by text
	agg    *expr.Aggregate
	keyOf  []*expr.Expr // the keys' expressions
}

// identity tells expressions apart that are computed over the same columns. The text alone does not: it
// leaves out the casts that Check put in, at the top and within.
func identity(e *expr.Expr) string {
	var b strings.Builder
	b.WriteString(e.String())
	expr.Walk(e, func(x *expr.Expr) bool {
		b.WriteString("|" + x.Type.String())
		return true
	})
	return b.String()
}

// input is the place of an expression among the Calc's columns before the aggregate.
func (a *aggregation) input(e *expr.Expr) int {
	text := identity(e)
	if i, ok := a.before[text]; ok {
		return i
	}
	name := e.String()
	if e.Op == expr.OpColumn {
		name = e.Name
	}
	name = a.unused(name, func(n string) bool {
		return slices.ContainsFunc(a.items, func(x expr.Named) bool { return x.Name == n })
	})
	a.items = append(a.items, expr.Named{Name: name, Expr: e})
	a.before[text] = len(a.items) - 1
	return len(a.items) - 1
}

func (a *aggregation) keys() {
	seen := map[string]bool{}
	for i := range a.n.Aggregate.Keys {
		k := &a.n.Aggregate.Keys[i]
		if seen[k.Name] {
			a.b.fault(k.Pos, "duplicate-column", fmt.Sprintf("%s is grouped by twice", k.Name))
			continue
		}
		seen[k.Name] = true
		if e := a.b.check(&k.Expression, a.in.Schema, false); e != nil && a.b.isKey(&k.Expression, e, "grouped by") {
			a.keyOf = append(a.keyOf, e)
			a.agg.Keys = append(a.agg.Keys, a.input(e))
		}
	}
}

// measures gives each measure as an expression over the aggregate's output.
func (a *aggregation) measures() []expr.Named {
	var out []expr.Named
	seen := map[string]bool{}
	for _, k := range a.n.Aggregate.Keys {
		seen[k.Name] = true
	}
	for i := range a.n.Aggregate.Measures {
		m := &a.n.Aggregate.Measures[i]
		if seen[m.Name] {
			a.b.fault(m.Pos, "duplicate-column", fmt.Sprintf("column %s is given twice by %s", m.Name, a.n.Name))
			continue
		}
		seen[m.Name] = true
		e := a.b.check(&m.Expression, a.in.Schema, true)
		if e == nil {
			continue
		}
		out = append(out, expr.Named{Name: m.Name, Expr: a.behind(m, e)})
	}
	return out
}

// behind rewrites a measure over the input to one over the aggregate's output: calls become columns,
// and whatever equals a key becomes that key.
func (a *aggregation) behind(m *plans.Item, e *expr.Expr) *expr.Expr {
	if e.Op != expr.OpAgg {
		for i, k := range a.keyOf {
			if identity(k) == identity(e) {
				return &expr.Expr{Op: expr.OpColumn, Name: a.n.Aggregate.Keys[i].Name, Col: i, Type: e.Type, Pos: e.Pos, End: e.End}
			}
		}
	}
	switch e.Op {
	case expr.OpAgg:
		i := a.call(e)
		return &expr.Expr{Op: expr.OpColumn, Name: a.agg.Measures[i].Name, Col: len(a.keyOf) + i, Type: e.Type, Pos: e.Pos, End: e.End}
	case expr.OpColumn:
		a.b.findings = append(a.b.findings, plans.ExprFinding(a.b.plan, &m.Expression, &expr.Error{
			Pos: int(e.Pos), End: int(e.Pos) + len(e.Name),
			Message:  fmt.Sprintf("column %s is neither grouped by nor inside an aggregate", e.Name),
			Expected: "an aggregate such as MAX(" + expr.Quote(e.Name) + "), or the column in group_by",
		})...)
		return e
	}
	c := *e
	c.Args = make([]*expr.Expr, len(e.Args))
	for i, x := range e.Args {
		c.Args[i] = a.behind(m, x)
	}
	return &c
}

// unused is a name for a column in between: the text of what it holds, so that messages speak the plan's
// language, with a number behind it where that is taken.
func (a *aggregation) unused(text string, taken func(string) bool) string {
	name := text
	for i := 2; taken(name); i++ {
		name = fmt.Sprintf("%s #%d", text, i)
	}
	return name
}

// call is the place of an aggregate call among the measures; equal calls share one.
func (a *aggregation) call(e *expr.Expr) int {
	text := identity(e)
	if i, ok := a.calls[text]; ok {
		return i
	}
	name := a.unused(e.String(), func(n string) bool {
		return slices.ContainsFunc(a.agg.Measures, func(m expr.AggCall) bool { return m.Name == n })
	})
	c := expr.AggCall{Name: name, Func: e.Name, Arg: -1, Filter: -1, Distinct: e.Distinct, Type: e.Type, Text: e.String()}
	if len(e.Args) > 0 {
		c.Arg = a.input(e.Args[0])
	}
	if e.Filter != nil {
		c.Filter = a.input(e.Filter)
	}
	a.agg.Measures = append(a.agg.Measures, c)
	a.calls[text] = len(a.agg.Measures) - 1
	return len(a.agg.Measures) - 1
}

// finish names the measures as the plan does, and applies having.
func (a *aggregation) finish(r *expr.Rel, measures []expr.Named) *expr.Rel {
	items := make([]expr.Named, 0, len(a.keyOf)+len(measures))
	for i := range a.keyOf {
		items = append(items, expr.Named{Name: r.Schema.Fields[i].Name, Expr: column(i, r.Schema.Fields[i])})
	}
	items = append(items, measures...)
	plain := len(items) == len(r.Schema.Fields)
	for i, it := range items {
		plain = plain && it.Expr.Op == expr.OpColumn && it.Expr.Col == i
	}
	if plain { // every measure is one aggregate: give the columns their names and be done
		for i, it := range items {
			r.Schema.Fields[i].Name = it.Name
		}
		for i := range a.agg.Measures {
			a.agg.Measures[i].Name = r.Schema.Fields[len(a.keyOf)+i].Name
		}
	} else {
		r = calc(a.n.Name, r, nil, items)
		a.b.explicit[r.Calc] = make([]bool, len(items))
	}
	if a.n.Aggregate.Having == nil {
		return r
	}
	h := a.b.condition(a.n.Aggregate.Having, r.Schema)
	if h == nil {
		return nil
	}
	r = calc(a.n.Name, r, h, allColumns(r.Schema))
	a.b.explicit[r.Calc] = make([]bool, len(r.Schema.Fields))
	return r
}
