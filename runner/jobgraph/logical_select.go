package jobgraph

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
)

// selectNode is one SELECT: where, select, distinct, order_by, limit and offset, in SQL's order.
func (b *logicalBuilder) selectNode(n *plans.Node, in *expr.Rel) *expr.Rel {
	s := n.Select
	failed := len(b.findings)
	r := in
	var where *expr.Expr
	if s.Where != nil {
		where = b.condition(s.Where, in.Schema)
	}
	items, written := b.selectItems(n, in.Schema)
	if len(b.findings) > failed {
		return nil
	}
	if where != nil || len(s.Items) > 0 {
		r = calc(n.Name, in, where, items)
		b.explicit[r.Calc] = written
	}
	if s.Distinct {
		b.distinctKeys(n, r.Schema)
		r = &expr.Rel{Node: n.Name, Inputs: []*expr.Rel{r}, Schema: r.Schema, Distinct: &expr.Distinct{}}
	}
	switch {
	case len(s.OrderBy) > 0:
		return b.orderBy(n, r)
	case s.Limit >= 0 || s.Offset > 0:
		return &expr.Rel{Node: n.Name, Inputs: []*expr.Rel{r}, Schema: r.Schema, Limit: &expr.Limit{Limit: s.Limit, Offset: s.Offset}}
	}
	if r == in { // a transform that does nothing still is a node of its own
		r = calc(n.Name, in, nil, items)
		b.explicit[r.Calc] = written
	}
	return r
}

// selectItems are the columns a SELECT gives, and which of them the plan wrote out.
func (b *logicalBuilder) selectItems(n *plans.Node, in expr.Schema) (items []expr.Named, written []bool) {
	if len(n.Select.Items) == 0 {
		items = allColumns(in)
		return items, make([]bool, len(items))
	}
	seen := map[string]bool{}
	add := func(pos plans.Pos, it expr.Named, explicit bool) {
		if seen[it.Name] {
			b.fault(pos, "duplicate-column", fmt.Sprintf("column %s is given twice by %s", it.Name, n.Name))
			return
		}
		seen[it.Name] = true
		items, written = append(items, it), append(written, explicit)
	}
	for i := range n.Select.Items {
		it := &n.Select.Items[i]
		if !it.Star {
			if e := b.check(&it.Expression, in, false); e != nil {
				add(it.Pos, expr.Named{Name: it.Name, Expr: e}, true)
			}
			continue
		}
		except := map[string]bool{}
		for _, x := range it.Except {
			if in.Index(x) < 0 {
				b.fault(it.Pos, "unknown-column", fmt.Sprintf("there is no column %s to leave out; the columns are %s", x, strings.Join(expr.SchemaOf(in.Visible()...).Names(), ", ")))
			}
			except[x] = true
		}
		for c, f := range in.Visible() {
			if !except[f.Name] {
				add(it.Pos, expr.Named{Name: f.Name, Expr: column(c, f)}, false)
			}
		}
	}
	return items, written
}

// orderBy sorts r by items over its columns. An item that is more than a column is computed before
// and dropped behind the sort. The columns that are left follow as last keys, so that the order, and
// what a limit keeps, does not depend on where rows came from.
func (b *logicalBuilder) orderBy(n *plans.Node, r *expr.Rel) *expr.Rel {
	s := n.Select
	sort := &expr.Sort{Limit: s.Limit, Offset: s.Offset}
	items := allColumns(r.Schema)
	taken := map[int]bool{}
	for i := range s.OrderBy {
		o := &s.OrderBy[i]
		e := b.check(&o.Expression, r.Schema, false)
		if e == nil || !b.isKey(&o.Expression, e, "sorted by") {
			continue
		}
		col := e.Col
		if e.Op != expr.OpColumn {
			col = len(items)
			items = append(items, expr.Named{Name: fmt.Sprintf("$order%d", i+1), Expr: e})
		}
		taken[col] = true
		sort.By = append(sort.By, expr.SortKey{Col: col, Desc: o.Desc, NullsFirst: o.NullsFirst})
	}
	if len(sort.By) < len(s.OrderBy) {
		return nil
	}
	sort.Written = len(sort.By)
	for c := range r.Schema.Fields {
		if !taken[c] {
			sort.By = append(sort.By, expr.SortKey{Col: c, NullsFirst: true})
		}
	}
	plain := r.Schema
	if len(items) > len(plain.Fields) {
		r = calc(n.Name, r, nil, items)
		b.explicit[r.Calc] = make([]bool, len(items))
	}
	r = &expr.Rel{Node: n.Name, Inputs: []*expr.Rel{r}, Schema: r.Schema, Sort: sort}
	if len(items) > len(plain.Fields) {
		r = calc(n.Name, r, nil, allColumns(plain))
		b.explicit[r.Calc] = make([]bool, len(plain.Fields))
	}
	return r
}

// unionNode puts inputs with equal columns together, by place, under the names of the first.
func (b *logicalBuilder) unionNode(n *plans.Node, ins []*expr.Rel) *expr.Rel {
	first := ins[0].Schema
	out := expr.Schema{Fields: append([]expr.Field(nil), first.Fields...)}
	failed := len(b.findings)
	for i, in := range ins[1:] {
		if len(in.Schema.Fields) != len(first.Fields) {
			b.fault(n.From[i+1].Pos, "type-mismatch", fmt.Sprintf("%s gives %d columns (%s) and %s gives %d (%s): a union needs as many on both sides",
				n.From[0].Node, len(first.Fields), strings.Join(first.Names(), ", "), n.From[i+1].Node, len(in.Schema.Fields), strings.Join(in.Schema.Names(), ", ")))
			continue
		}
		for c, f := range in.Schema.Fields {
			t, ok := expr.CommonType(out.Fields[c].Type, f.Type)
			if !ok {
				b.fault(n.From[i+1].Pos, "type-mismatch", fmt.Sprintf("column %d is %s %s in %s and %s %s in %s: a union needs types that fit",
					c+1, first.Fields[c].Name, first.Fields[c].Type, n.From[0].Node, f.Name, f.Type, n.From[i+1].Node))
				continue
			}
			out.Fields[c].Type = t.Nullable(!out.Fields[c].Type.NotNull || !f.Type.NotNull)
		}
	}
	if len(b.findings) > failed {
		return nil
	}
	cast := make([]*expr.Rel, len(ins))
	for i, in := range ins {
		cast[i] = b.castTo(n.Name, in, out)
	}
	r := &expr.Rel{Node: n.Name, Inputs: cast, Schema: out, Set: &expr.Set{}}
	if n.Union.Distinct {
		b.distinctKeys(n, out)
		r = &expr.Rel{Node: n.Name, Inputs: []*expr.Rel{r}, Schema: out, Distinct: &expr.Distinct{}}
	}
	return r
}

// castTo brings in's columns to the types and names of out, by place.
func (b *logicalBuilder) castTo(node string, in *expr.Rel, out expr.Schema) *expr.Rel {
	items := allColumns(in.Schema)
	same := true
	for i, f := range out.Fields {
		if !items[i].Expr.Type.Same(f.Type) {
			same = false
			items[i].Expr = &expr.Expr{Op: expr.OpCast, Args: []*expr.Expr{items[i].Expr}, Type: f.Type.Nullable(!items[i].Expr.Type.NotNull), Implicit: true}
		}
		same = same && items[i].Name == f.Name
		items[i].Name = f.Name
	}
	if same {
		return in
	}
	r := calc(node, in, nil, items)
	b.explicit[r.Calc] = make([]bool, len(items))
	return r
}
