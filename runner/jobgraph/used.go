package jobgraph

import (
	"maps"
	"slices"
	"sort"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// usedColumns finds which columns of each source the plan as written uses: those mentioned in an
// expression that the plan wrote, and those carried to a sink by a star or a plain pass.
func usedColumns(sinks []*expr.Rel, explicit map[*expr.Calc][]bool) map[string][]int {
	u := &usage{explicit: explicit, used: map[string]map[int]bool{}}
	for _, s := range sinks {
		all := map[int]bool{}
		for i := range s.Schema.Fields {
			all[i] = true
		}
		u.visit(s, all)
	}
	out := map[string][]int{}
	for name, set := range u.used {
		cols := make([]int, 0, len(set))
		for c := range set {
			cols = append(cols, c)
		}
		sort.Ints(cols)
		out[name] = cols
	}
	return out
}

type usage struct {
	explicit map[*expr.Calc][]bool
	used     map[string]map[int]bool
}

func (u *usage) visit(r *expr.Rel, want map[int]bool) {
	switch {
	case r.Scan != nil:
		set := u.used[r.Scan.Source]
		if set == nil {
			set = map[int]bool{}
			u.used[r.Scan.Source] = set
		}
		for c := range want {
			set[c] = true
		}
	case r.Calc != nil:
		in := map[int]bool{}
		addColumns(in, r.Calc.Where)
		written := u.explicit[r.Calc]
		for i, it := range r.Calc.Select {
			if want[i] || i < len(written) && written[i] || expr.CanFail(it.Expr) {
				addColumns(in, it.Expr)
			}
		}
		u.visit(r.Inputs[0], in)
	case r.Aggregate != nil:
		in := map[int]bool{}
		for _, k := range r.Aggregate.Keys {
			in[k] = true
		}
		for _, m := range r.Aggregate.Measures {
			if m.Arg >= 0 {
				in[m.Arg] = true
			}
			if m.Filter >= 0 {
				in[m.Filter] = true
			}
		}
		u.visit(r.Inputs[0], in)
	case r.Unnest != nil:
		u.visit(r.Inputs[0], beforeUnnest(r, want))
	default:
		u.pass(r, want)
	}
}

// pass is for nodes whose output columns are their input's. Distinct looks at all of them, Sort at
// the keys that were written.
func (u *usage) pass(r *expr.Rel, want map[int]bool) {
	for _, in := range r.Inputs {
		u.visit(in, passed(r, want))
	}
}

// passed are the input columns that a node needs whose output columns are its input's.
func passed(r *expr.Rel, want map[int]bool) map[int]bool {
	need := maps.Clone(want)
	switch {
	case r.Distinct != nil || r.Sink != nil:
		for i := range r.Schema.Fields {
			need[i] = true
		}
	case r.Sort != nil:
		for _, k := range r.Sort.By[:r.Sort.Written] {
			need[k.Col] = true
		}
	}
	return need
}

func addColumns(set map[int]bool, e *expr.Expr) {
	if e == nil {
		return
	}
	for _, c := range expr.Columns(e) {
		set[c] = true
	}
}

// orderDependent says, for each sink below which rows are taken by their order alone, why its result
// may differ from run to run.
func orderDependent(sinks []*expr.Rel) map[string]string {
	out := map[string]string{}
	for _, s := range sinks {
		var nodes []string
		var visit func(r *expr.Rel)
		visit = func(r *expr.Rel) {
			if r.Limit != nil && !slices.Contains(nodes, r.Node) {
				nodes = append(nodes, r.Node)
			}
			for _, in := range r.Inputs {
				visit(in)
			}
		}
		visit(s)
		for _, n := range nodes {
			if out[s.Node] != "" {
				out[s.Node] += "; "
			}
			out[s.Node] += n + " has a limit without order_by: which rows it keeps depends on which come first"
		}
	}
	return out
}
