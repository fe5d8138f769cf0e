package jobgraph

import (
	"maps"
	"slices"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// prune drops columns that nobody reads. A source keeps the columns that the plan as written uses, and
// a Calc the expressions that can fail, so that the same rows fail with and without it.
func prune(roots []*expr.Rel, used map[string][]int) []*expr.Rel {
	p := &pruner{want: map[*expr.Rel]map[int]bool{}, done: map[*expr.Rel]*expr.Rel{}, place: map[*expr.Rel][]int{}, used: used}
	for _, r := range topological(roots) { // consumers before producers
		p.demand(r)
	}
	out := make([]*expr.Rel, len(roots))
	for i, r := range roots {
		out[i] = p.rebuild(r)
	}
	return out
}

// topological lists every node once, each behind all of its consumers.
func topological(roots []*expr.Rel) []*expr.Rel {
	var post []*expr.Rel
	seen := map[*expr.Rel]bool{}
	var visit func(r *expr.Rel)
	visit = func(r *expr.Rel) {
		if seen[r] {
			return
		}
		seen[r] = true
		for _, in := range r.Inputs {
			visit(in)
		}
		post = append(post, r)
	}
	for _, r := range roots {
		visit(r)
	}
	slices.Reverse(post)
	return post
}

type pruner struct {
	want  map[*expr.Rel]map[int]bool
	done  map[*expr.Rel]*expr.Rel
	place map[*expr.Rel][]int // where a column of the old output is in the new one; -1 = dropped
	used  map[string][]int
}

func (p *pruner) ask(r *expr.Rel, cols map[int]bool) {
	w := p.want[r]
	if w == nil {
		w = map[int]bool{}
		p.want[r] = w
	}
	maps.Copy(w, cols)
}

// demand settles which of its own columns a node gives, and asks its inputs for what they need.
func (p *pruner) demand(r *expr.Rel) {
	if p.want[r] == nil {
		p.want[r] = map[int]bool{}
	}
	want := p.want[r]
	need := map[int]bool{}
	switch {
	case r.Scan != nil:
		p.demandScan(r.Scan, r.Schema, want)
	case r.Calc != nil:
		addColumns(need, r.Calc.Where)
		for i, it := range r.Calc.Select {
			if expr.CanFail(it.Expr) {
				want[i] = true
			}
			if want[i] {
				addColumns(need, it.Expr)
			}
		}
	case r.Aggregate != nil:
		for i := range r.Schema.Fields {
			want[i] = true
		}
		for _, k := range r.Aggregate.Keys {
			need[k] = true
		}
		for _, m := range r.Aggregate.Measures {
			if m.Arg >= 0 {
				need[m.Arg] = true
			}
			if m.Filter >= 0 {
				need[m.Filter] = true
			}
		}
	case r.Unnest != nil:
		for i := range r.Schema.Fields {
			want[i] = want[i] || i >= len(r.Inputs[0].Schema.Fields)-1
		}
		need = beforeUnnest(r, want)
	case r.Side != nil:
		for i := range r.Schema.Fields {
			want[i] = true
		}
	default:
		maps.Copy(want, passed(r, want))
		need = want
	}
	for _, in := range r.Inputs {
		p.ask(in, need)
	}
}

// demandScan adds what the plan uses beside what is read further on, without the columns that only
// the source's own filter looks at.
func (p *pruner) demandScan(s *expr.Scan, schema expr.Schema, want map[int]bool) {
	where := map[int]bool{}
	addColumns(where, s.Where)
	for _, c := range p.used[s.Source] {
		if !where[c] && c < len(schema.Visible()) { // the hidden one has nothing to check
			want[c] = true
		}
	}
}

// rebuild makes the node without the columns that are not wanted.
func (p *pruner) rebuild(r *expr.Rel) *expr.Rel {
	if n := p.done[r]; n != nil {
		return n
	}
	n := *r
	n.Inputs = make([]*expr.Rel, len(r.Inputs))
	for i, in := range r.Inputs {
		n.Inputs[i] = p.rebuild(in)
	}
	place := make([]int, len(r.Schema.Fields))
	var kept []int
	for i := range place {
		place[i] = -1
		if p.want[r][i] {
			place[i] = len(kept)
			kept = append(kept, i)
		}
	}
	n.Schema = r.Schema.Pick(kept)
	var in []int
	if len(r.Inputs) > 0 {
		in = p.place[r.Inputs[0]]
	}
	switch {
	case r.Scan != nil:
		s := *r.Scan
		s.Columns = kept
		n.Scan = &s
	case r.Calc != nil:
		n.Calc = p.rebuildCalc(r.Calc, kept, in)
	case r.Aggregate != nil:
		n.Aggregate = rebuildAggregate(r.Aggregate, in)
	case r.Unnest != nil:
		n.Unnest, place = rebuildUnnest(r, n.Inputs[0].Schema, in)
		var err error
		if n.Schema, err = n.Unnest.Output(n.Inputs[0].Schema); err != nil {
			panic("an unnest that its input does not fit: " + err.Error())
		}
	case r.Sort != nil:
		n.Sort = rebuildSort(r.Sort, in)
		place, n.Schema = in, n.Inputs[0].Schema
	default:
		p.alignInputs(r, &n, kept)
	}
	p.done[r], p.place[r] = &n, place
	return &n
}

func (p *pruner) rebuildCalc(c *expr.Calc, kept, in []int) *expr.Calc {
	n := &expr.Calc{}
	if c.Where != nil {
		n.Where = moveColumns(c.Where, in)
	}
	n.Select = make([]expr.Named, len(kept))
	for i, k := range kept {
		n.Select[i] = expr.Named{Name: c.Select[k].Name, Expr: moveColumns(c.Select[k].Expr, in)}
	}
	return n
}

func moveColumns(e *expr.Expr, place []int) *expr.Expr {
	return expr.Rewrite(e, func(x *expr.Expr) *expr.Expr {
		if x.Op == expr.OpColumn {
			c := *x
			c.Col = place[x.Col]
			return &c
		}
		return x
	})
}

func rebuildAggregate(a *expr.Aggregate, in []int) *expr.Aggregate {
	n := &expr.Aggregate{Keys: make([]int, len(a.Keys)), Measures: slices.Clone(a.Measures)}
	for i, k := range a.Keys {
		n.Keys[i] = in[k]
	}
	for i := range n.Measures {
		m := &n.Measures[i]
		if m.Arg >= 0 {
			m.Arg = in[m.Arg]
		}
		if m.Filter >= 0 {
			m.Filter = in[m.Filter]
		}
	}
	return n
}

// rebuildSort leaves out the keys that only broke ties in columns nobody reads: rows that differ in
// nothing else are equal for all who look.
func rebuildSort(s *expr.Sort, in []int) *expr.Sort {
	n := &expr.Sort{Limit: s.Limit, Offset: s.Offset, Written: s.Written}
	for _, k := range s.By {
		if in[k.Col] >= 0 {
			k.Col = in[k.Col]
			n.By = append(n.By, k)
		}
	}
	return n
}

// alignInputs puts a Calc below a node that passes columns on where an input gives more of them than
// are wanted, since another consumer reads them or they can fail.
func (p *pruner) alignInputs(r, n *expr.Rel, kept []int) {
	for i, in := range r.Inputs {
		place := p.place[in]
		items := make([]expr.Named, len(kept))
		plain := len(n.Inputs[i].Schema.Fields) == len(kept)
		for j, k := range kept {
			f := n.Inputs[i].Schema.Fields[place[k]]
			items[j] = expr.Named{Name: n.Schema.Fields[j].Name, Expr: column(place[k], f)}
			plain = plain && place[k] == j
		}
		if !plain {
			n.Inputs[i] = calc(r.Node, n.Inputs[i], nil, items)
		}
	}
}
