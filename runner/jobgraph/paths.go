package jobgraph

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A looks says which fields of nested columns are looked at, by the columns' places: their paths below the column,
// as names joined by a NUL. A column whose path is "" is looked at as a whole.
type looks map[int]map[string]bool

func (l looks) add(col int, path string) {
	if l[col] == nil {
		l[col] = map[string]bool{}
	}
	l[col][path] = true
}

// usedPaths finds, for the nested columns of each source that the plan as written looks at by their fields alone,
// which these are. Elements and values are looked at by the same names as what holds them.
func usedPaths(sinks []*expr.Rel, explicit map[*expr.Calc][]bool) map[string]map[int][][]string {
	p := &pathUsage{explicit: explicit, used: map[string]looks{}}
	for _, s := range sinks {
		p.visit(s, whole(s))
	}
	out := map[string]map[int][][]string{}
	for source, used := range p.used {
		for col, paths := range used {
			if paths[""] {
				continue
			}
			if out[source] == nil {
				out[source] = map[int][][]string{}
			}
			for _, path := range slices.Sorted(maps.Keys(paths)) {
				out[source][col] = append(out[source][col], strings.Split(path, "\x00"))
			}
		}
	}
	return out
}

// whole are all columns of a node.
func whole(r *expr.Rel) looks {
	all := looks{}
	for i := range r.Schema.Fields {
		all.add(i, "")
	}
	return all
}

type pathUsage struct {
	explicit map[*expr.Calc][]bool
	used     map[string]looks
}

func (p *pathUsage) visit(r *expr.Rel, want looks) {
	switch {
	case r.Scan != nil:
		if p.used[r.Scan.Source] == nil {
			p.used[r.Scan.Source] = looks{}
		}
		for c, paths := range want {
			for path := range paths {
				p.used[r.Scan.Source].add(c, path)
			}
		}
	case r.Calc != nil:
		p.visit(r.Inputs[0], p.calc(r.Calc, want))
	case r.Aggregate != nil || r.Distinct != nil || r.Sink != nil || r.Sort != nil:
		// The columns that these compare or write are looked at as a whole; others a sort passes on.
		in := looks{}
		if r.Sort != nil {
			in = maps.Clone(want)
			for _, k := range r.Sort.By[:r.Sort.Written] {
				in[k.Col] = map[string]bool{"": true}
			}
		} else {
			in = whole(r.Inputs[0])
		}
		p.visit(r.Inputs[0], in)
	case r.Unnest != nil:
		in := looks{r.Unnest.Col: {"": true}}
		for i, paths := range want {
			if i < len(r.Inputs[0].Schema.Fields)-1 {
				in[i+b2i(i >= r.Unnest.Col)] = paths
			}
		}
		p.visit(r.Inputs[0], in)
	case r.Limit != nil || r.Set != nil:
		for _, in := range r.Inputs {
			p.visit(in, want)
		}
	default:
		for _, in := range r.Inputs {
			p.visit(in, whole(in))
		}
	}
}

// calc is what a Calc looks at where want is looked at of what it gives.
func (p *pathUsage) calc(c *expr.Calc, want looks) looks {
	in := looks{}
	in.expression(c.Where)
	written := p.explicit[c]
	for i, it := range c.Select {
		switch {
		case it.Expr.Op == expr.OpColumn && (i >= len(written) || !written[i]):
			for path := range want[i] {
				in.add(it.Expr.Col, path)
			}
		case want[i] != nil || i < len(written) && written[i] || expr.CanFail(it.Expr):
			in.expression(it.Expr)
		}
	}
	return in
}

// expression adds what an expression looks at.
func (l looks) expression(e *expr.Expr) {
	if e == nil {
		return
	}
	var path []string
	x := e
	for x.Op == expr.OpCall && (x.Name == "FIELD" || x.Name == "ITEM") {
		if x.Name == "FIELD" {
			path = append(path, x.Args[1].Value.Text)
		} else {
			l.expression(x.Args[1])
		}
		x = x.Args[0]
	}
	if x.Op == expr.OpColumn {
		slices.Reverse(path)
		l.add(x.Col, strings.Join(path, "\x00"))
		return
	}
	for _, a := range x.Args {
		l.expression(a)
	}
	l.expression(x.Filter)
}
