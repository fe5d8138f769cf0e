package jobgraph

import (
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
)

// unnestNode is a Calc that computes the array beside the input's columns, and the Unnest of it.
func (b *logicalBuilder) unnestNode(n *plans.Node, in *expr.Rel) *expr.Rel {
	u := n.Unnest
	e := b.check(&u.Array, in.Schema, false)
	if e == nil {
		return nil
	}
	parts := expr.Unnested(e.Type, u.Outer)
	if parts == nil {
		b.findings = append(b.findings, plans.ExprFinding(b.plan, &u.Array, &expr.Error{
			End: len(u.Array.Text), Message: "unnest takes an ARRAY or a MAP, not " + e.Type.Nullable(true).String(), Expected: "an ARRAY or a MAP, such as SPLIT(line, ' ')",
		})...)
		return nil
	}
	names := u.As
	if len(names) == 0 && (e.Type.Kind == expr.Map || e.Type.Element().Kind == expr.Row) {
		names = expr.SchemaOf(parts...).Names()
	}
	if len(names) != len(parts) {
		b.fault(n.Pos, "type-mismatch", fmt.Sprintf("unnest gives %d columns of %s, and as names %d: name each of them", len(parts), e.Type.Nullable(true), len(names)))
		return nil
	}
	items := allColumns(in.Schema)
	written := make([]bool, len(items)+1)
	written[len(items)] = true
	pre := calc(n.Name, in, nil, append(items, expr.Named{Name: "$unnest", Expr: e}))
	b.explicit[pre.Calc] = written
	un := &expr.Unnest{Col: len(items), Names: names, Ordinality: u.Ordinality, Outer: u.Outer}
	out, err := un.Output(pre.Schema)
	if err != nil {
		b.fault(n.Pos, "type-mismatch", err.Error())
		return nil
	}
	all := out.Names()
	for i, name := range all {
		if slices.Index(all, name) < i {
			b.fault(n.Pos, "duplicate-column", fmt.Sprintf("column %s is given twice by %s: name the columns of the elements with as", name, n.Name))
			return nil
		}
	}
	return &expr.Rel{Node: n.Name, Inputs: []*expr.Rel{pre}, Schema: out, Unnest: un}
}

// beforeUnnest are the columns of an unnest's input that are needed where some of its own are.
func beforeUnnest(r *expr.Rel, want map[int]bool) map[int]bool {
	need := map[int]bool{r.Unnest.Col: true}
	for i := range len(r.Inputs[0].Schema.Fields) - 1 {
		if want[i] {
			need[i+b2i(i >= r.Unnest.Col)] = true
		}
	}
	return need
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rebuildUnnest is an unnest over an input whose columns moved to in, and where its own columns are then.
func rebuildUnnest(r *expr.Rel, input expr.Schema, in []int) (*expr.Unnest, []int) {
	u := *r.Unnest
	u.Col = in[r.Unnest.Col]
	before := len(in) - 1
	place := make([]int, len(r.Schema.Fields))
	for i := range place {
		if i >= before {
			place[i] = len(input.Fields) - 1 + i - before
			continue
		}
		p := in[i+b2i(i >= r.Unnest.Col)]
		if p > u.Col {
			p--
		}
		place[i] = p
	}
	return &u, place
}
