package jobgraph

import (
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Optimize rewrites a logical plan without changing what it gives or which rows fail: constants are
// folded, neighbouring Calcs merged, filters directly on a source moved into it, and columns nobody
// reads dropped. push says which sources take a filter.
func Optimize(l *Logical, takesWhere func(source string) bool) []*expr.Rel {
	roots := rewrite(l.Sinks, fold)
	roots = rewriteCounted(roots, mergeCalcs)
	roots = rewriteCounted(roots, func(r *expr.Rel, uses map[*expr.Rel]int) *expr.Rel {
		return pushWhere(pushFiles(r, uses, l.Files), uses, takesWhere)
	})
	roots = prune(roots, l.Used)
	roots = rewriteCounted(roots, mergeCalcs)
	return rewrite(roots, dropIdentity)
}

// rewrite rebuilds a plan from its leaves; shared nodes stay shared.
func rewrite(roots []*expr.Rel, f func(*expr.Rel) *expr.Rel) []*expr.Rel {
	return rewriteCounted(roots, func(r *expr.Rel, _ map[*expr.Rel]int) *expr.Rel { return f(r) })
}

// rewriteCounted is rewrite for rules that must know whether an input has other consumers.
func rewriteCounted(roots []*expr.Rel, f func(*expr.Rel, map[*expr.Rel]int) *expr.Rel) []*expr.Rel {
	before := map[*expr.Rel]int{}
	for _, r := range topological(roots) {
		for _, in := range r.Inputs {
			before[in]++
		}
	}
	// The counts of new nodes are those of the nodes they stand for.
	uses := map[*expr.Rel]int{}
	done := map[*expr.Rel]*expr.Rel{}
	var visit func(r *expr.Rel) *expr.Rel
	visit = func(r *expr.Rel) *expr.Rel {
		if n := done[r]; n != nil {
			return n
		}
		c := *r
		c.Inputs = make([]*expr.Rel, len(r.Inputs))
		for i, in := range r.Inputs {
			c.Inputs[i] = visit(in)
		}
		n := f(&c, uses)
		uses[n] = before[r]
		done[r] = n
		return n
	}
	out := make([]*expr.Rel, len(roots))
	for i, r := range roots {
		out[i] = visit(r)
	}
	return out
}

func fold(r *expr.Rel) *expr.Rel {
	if r.Calc == nil {
		return r
	}
	c := expr.Calc{Select: make([]expr.Named, len(r.Calc.Select))}
	if r.Calc.Where != nil {
		if c.Where = expr.Fold(r.Calc.Where); isTrue(c.Where) {
			c.Where = nil
		}
	}
	for i, it := range r.Calc.Select {
		c.Select[i] = expr.Named{Name: it.Name, Expr: expr.Fold(it.Expr)}
	}
	r.Calc = &c
	return r
}

func isTrue(e *expr.Expr) bool {
	return e.Op == expr.OpLiteral && e.Type.Kind == expr.Boolean && e.Value != nil && !e.Value.Null && e.Value.Int == 1
}

// mergeCalcs makes one Calc of two on top of each other, where that neither computes anything twice
// nor changes which rows fail.
func mergeCalcs(r *expr.Rel, uses map[*expr.Rel]int) *expr.Rel {
	if r.Calc == nil || r.Inputs[0].Calc == nil || uses[r.Inputs[0]] > 1 {
		return r
	}
	low := r.Inputs[0]
	if !mergeable(r.Calc, low.Calc) {
		return r
	}
	inline := func(e *expr.Expr) *expr.Expr {
		return expr.Rewrite(e, func(x *expr.Expr) *expr.Expr {
			if x.Op == expr.OpColumn {
				return low.Calc.Select[x.Col].Expr
			}
			return x
		})
	}
	c := expr.Calc{Where: low.Calc.Where, Select: make([]expr.Named, len(r.Calc.Select))}
	for i, it := range r.Calc.Select {
		c.Select[i] = expr.Named{Name: it.Name, Expr: inline(it.Expr)}
	}
	if r.Calc.Where != nil {
		c.Where = and(c.Where, inline(r.Calc.Where))
	}
	r.Calc, r.Inputs = &c, low.Inputs
	return r
}

func and(a, b *expr.Expr) *expr.Expr {
	if a == nil {
		return b
	}
	t := expr.Of(expr.Boolean).Nullable(!a.Type.NotNull || !b.Type.NotNull)
	return &expr.Expr{Op: expr.OpCall, Name: "AND", Args: []*expr.Expr{a, b}, Type: t}
}

func mergeable(up, low *expr.Calc) bool {
	refs := make([]int, len(low.Select))
	count := func(e *expr.Expr) {
		if e == nil {
			return
		}
		expr.Rewrite(e, func(x *expr.Expr) *expr.Expr {
			if x.Op == expr.OpColumn {
				refs[x.Col]++
			}
			return x
		})
	}
	count(up.Where)
	for _, it := range up.Select {
		count(it.Expr)
	}
	bare := make([]int, len(low.Select))
	for _, it := range up.Select {
		if it.Expr.Op == expr.OpColumn {
			bare[it.Expr.Col]++
		}
	}
	for i, it := range low.Select {
		switch {
		case expr.CanFail(it.Expr):
			// It has to be computed for the same rows as before: once, without a further filter and
			// not inside a branch.
			if up.Where != nil || refs[i] != 1 || bare[i] != 1 {
				return false
			}
		case it.Expr.Op != expr.OpColumn && it.Expr.Op != expr.OpLiteral && refs[i] > 1:
			return false
		}
	}
	return true
}

// pushWhere moves the filter of a Calc directly on a source into the source. The filter's columns are
// then checked for all rows and the others only for those that pass, which is the rule for values.
func pushWhere(r *expr.Rel, uses map[*expr.Rel]int, takes func(string) bool) *expr.Rel {
	if r.Calc == nil || r.Calc.Where == nil {
		return r
	}
	in := r.Inputs[0]
	if in.Scan == nil || uses[in] > 1 || in.Scan.Where != nil || !takes(in.Scan.Source) || namesFile(r.Calc.Where, in.Schema) {
		return r
	}
	scan := *in.Scan
	scan.Where = r.Calc.Where
	n := *in
	n.Scan = &scan
	uses[&n] = uses[in]
	r.Calc = &expr.Calc{Select: r.Calc.Select}
	r.Inputs = []*expr.Rel{&n}
	return r
}

// dropIdentity removes a Calc that gives its input as it is.
func dropIdentity(r *expr.Rel) *expr.Rel {
	if r.Calc == nil || r.Calc.Where != nil {
		return r
	}
	in := r.Inputs[0]
	if len(r.Calc.Select) != len(in.Schema.Fields) {
		return r
	}
	for i, it := range r.Calc.Select {
		if it.Expr.Op != expr.OpColumn || it.Expr.Col != i || it.Name != in.Schema.Fields[i].Name {
			return r
		}
	}
	return in
}
