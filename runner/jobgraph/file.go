package jobgraph

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// WithFile is a source's schema as plans see it: a source of files has the hidden column _file behind its
// own, unless it has one of that name.
func WithFile(s expr.Schema, c connectors.Component) expr.Schema {
	if c == nil || !c.ReadsFiles() || s.Index(connectors.FileColumn) >= 0 {
		return s
	}
	f := slices.Clone(s.Fields)
	return expr.Schema{Fields: append(f, expr.Field{Name: connectors.FileColumn, Type: expr.Of(expr.String).Nullable(false)}), Hidden: 1}
}

// FileNames are what _file is in the rows of a source's files.
func FileNames(v connectors.Inventory) []string {
	names := make([]string, len(v.Files))
	for i, f := range v.Files {
		if names[i] = f.Name; f.Name == "" {
			names[i] = f.Path
		}
	}
	return names
}

// fileAmong takes the hidden column, which is behind the source's own, out of columns of a scan. at is its
// place among them, from 1; 0: it is not there.
func fileAmong(columns []int, own int) (rest []int, at int) {
	rest = slices.Clone(columns)
	if rest == nil {
		rest = []int{}
	}
	if i := slices.Index(rest, own); i >= 0 {
		return slices.Delete(rest, i, i+1), i + 1
	}
	return rest, 0
}

// hiddenFile is the place of the hidden column, -1 where there is none.
func hiddenFile(s expr.Schema) int {
	if s.Hidden == 0 {
		return -1
	}
	return len(s.Fields) - 1
}

// namesFile reports whether an expression over a source mentions its hidden column.
func namesFile(e *expr.Expr, s expr.Schema) bool {
	at := hiddenFile(s)
	return at >= 0 && slices.Contains(expr.Columns(e), at)
}

// pushFiles takes conditions on _file alone out of a Calc directly on a source, and makes them files that
// are not read. The parts of an AND are taken from its beginning on, as long as no part before them can
// fail: then no row fails that did not, and none that did is looked at.
func pushFiles(r *expr.Rel, uses map[*expr.Rel]int, files map[string][]string) *expr.Rel {
	if r.Calc == nil || r.Calc.Where == nil {
		return r
	}
	in := r.Inputs[0]
	if in.Scan == nil || uses[in] > 1 || in.Scan.Where != nil || in.Scan.Skip != nil || !namesFile(r.Calc.Where, in.Schema) {
		return r
	}
	names := files[in.Scan.Source]
	var rest *expr.Expr
	wanted := make([]bool, len(names))
	for i := range wanted {
		wanted[i] = true
	}
	taken, safe := false, true
	for _, part := range conjuncts(r.Calc.Where) {
		if cols := expr.Columns(part); safe && len(cols) == 1 && cols[0] == hiddenFile(in.Schema) {
			if keep, ok := ofFiles(part, names); ok {
				for i := range wanted {
					wanted[i] = wanted[i] && keep[i]
				}
				taken = true
				continue
			}
		}
		safe = safe && !expr.CanFail(part)
		rest = and(rest, part)
	}
	if !taken {
		return r
	}
	scan := *in.Scan
	for i, w := range wanted {
		if !w {
			scan.Skip = append(scan.Skip, i+1)
		}
	}
	n := *in
	n.Scan = &scan
	uses[&n] = uses[in]
	r.Calc = &expr.Calc{Select: r.Calc.Select, Where: rest}
	r.Inputs = []*expr.Rel{&n}
	return r
}

// conjuncts are the parts of an AND, in order.
func conjuncts(e *expr.Expr) []*expr.Expr {
	if e.Op != expr.OpCall || e.Name != "AND" {
		return []*expr.Expr{e}
	}
	var out []*expr.Expr
	for _, a := range e.Args {
		out = append(out, conjuncts(a)...)
	}
	return out
}

// ofFiles tells for which file names a condition on them is TRUE; ok is false where it fails for one.
func ofFiles(condition *expr.Expr, names []string) (keep []bool, ok bool) {
	e := expr.Rewrite(condition, func(x *expr.Expr) *expr.Expr {
		if x.Op == expr.OpColumn {
			c := *x
			c.Col = 0
			return &c
		}
		return x
	})
	field := expr.Field{Name: connectors.FileColumn, Type: expr.Of(expr.String).Nullable(false)}
	p, err := expr.Compile(e, expr.SchemaOf(field))
	if err != nil {
		return nil, false
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(names, nil)
	col := b.NewStringArray()
	defer col.Release()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: field.Name, Type: col.DataType()}}, nil), []arrow.Array{col}, int64(len(names)))
	defer rec.Release()
	sel, err := p.Select(rec, nil, nil, nil)
	if err != nil {
		return nil, false
	}
	keep = make([]bool, len(names))
	for _, i := range sel {
		keep[i] = true
	}
	return keep, true
}
