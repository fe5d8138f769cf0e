package parquet

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A fetch is a nested column as it is wanted, or a part of one: where it is in the file, and what it becomes.
// Fields are found by name; one that the file has not is NULL.
type fetch struct {
	*nest            // nil: the file has no such field
	typ    expr.Type // wanted
	unread bool      // nobody looks at it: it is NULL in all rows
	parts  []*fetch
	leaf   *leafReader   // of a plain value
	shape  []*leafReader // those under it, whose levels say how it is built; all agree
}

// fetchOf matches a part of a file with a wanted type. paths are the fields that are looked at, as their names
// below it: nil means all of it.
func fetchOf(n *nest, to expr.Type, paths [][]string) (*fetch, error) {
	f := &fetch{nest: n, typ: to}
	if to.Nested() && n.kind != to.Kind || !to.Nested() && n.kind != expr.Invalid {
		return nil, n.otherType(to)
	}
	if !to.Nested() {
		if n.why != "" {
			return nil, fmt.Errorf("%s: %s", n.path, n.why)
		}
		column := n.as(to)
		if err := converts(&column, to); err != nil {
			return nil, fmt.Errorf("%s is %s in the file and %s in the plan: %w", n.path, n.typ, to, err)
		}
		return f, nil
	}
	if to.Kind == expr.Row {
		return f, f.row(paths)
	}
	for i, part := range to.Fields() {
		if len(n.parts) != len(to.Fields()) {
			return nil, n.otherType(to)
		}
		p, err := fetchOf(n.parts[i], part.Type, paths)
		if err != nil {
			return nil, err
		}
		f.parts = append(f.parts, p)
	}
	return f, nil
}

func (x *nest) otherType(to expr.Type) error {
	if x.why != "" {
		return fmt.Errorf("%s: %s", x.path, x.why)
	}
	return fmt.Errorf("%s is %s in the file and %s in the plan", x.path, x.typ, to)
}

// row matches the fields of a ROW.
func (f *fetch) row(paths [][]string) error {
	for _, want := range f.typ.Fields() {
		below, looked := under(paths, want.Name)
		var n *nest
		for _, p := range f.nest.parts {
			if p.name == want.Name {
				n = p
			}
		}
		if n == nil {
			if want.Type.NotNull && looked {
				return fmt.Errorf("%s has no field %s, which is %s in the plan", f.nest.path, expr.Quote(want.Name), want.Type)
			}
			f.parts = append(f.parts, &fetch{typ: want.Type})
			continue
		}
		p, err := fetchOf(n, want.Type, below)
		if err != nil {
			return err
		}
		p.unread = !looked
		f.parts = append(f.parts, p)
	}
	return nil
}

// under are the paths below a field, and whether it is looked at.
func under(paths [][]string, name string) (below [][]string, looked bool) {
	if paths == nil {
		return nil, true
	}
	all := false
	for _, p := range paths {
		switch {
		case len(p) == 0:
			return nil, true
		case p[0] != name:
		case len(p) == 1:
			all, looked = true, true
		default:
			below, looked = append(below, p[1:]), true
		}
	}
	if all {
		return nil, true
	}
	return below, looked
}

// merge is the type of a further file's column beside that of the files before: fields are found by name, one
// that is missing may be NULL. A field that only the further file has is refused.
func (x *nest) merge(t expr.Type) (expr.Type, error) {
	if x.why != "" {
		return t, fmt.Errorf("%s: %s", x.path, x.why)
	}
	if x.typ.Kind != t.Kind || !t.Nested() {
		if !x.typ.Same(t) {
			return t, fmt.Errorf("%s is %s there and %s here", x.path, t, x.typ)
		}
		return t.Nullable(!t.NotNull || !x.typ.NotNull), nil
	}
	fields := t.Fields()
	if t.Kind != expr.Row {
		for i := range fields {
			var err error
			if fields[i].Type, err = x.parts[i].merge(fields[i].Type); err != nil {
				return t, err
			}
		}
	} else if err := x.mergeFields(fields, t); err != nil {
		return t, err
	}
	merged := expr.ArrayOf(fields[0].Type)
	switch t.Kind {
	case expr.Map:
		merged = expr.MapOf(fields[0].Type, fields[1].Type)
	case expr.Row:
		merged = expr.RowOf(fields...)
	}
	return merged.Nullable(!t.NotNull || !x.typ.NotNull), nil
}

func (x *nest) mergeFields(fields []expr.Field, t expr.Type) error {
	has := map[string]*nest{}
	for _, p := range x.parts {
		if has[p.name] = p; expr.SchemaOf(fields...).Index(p.name) < 0 {
			return fmt.Errorf("%s (%s) is not there", p.path, p.typ)
		}
	}
	for i, f := range fields {
		p := has[f.Name]
		if p == nil {
			fields[i].Type = f.Type.Nullable(true)
			continue
		}
		var err error
		if fields[i].Type, err = p.merge(f.Type); err != nil {
			return err
		}
	}
	return nil
}
