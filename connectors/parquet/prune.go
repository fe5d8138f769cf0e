package parquet

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A pruner finds row groups in which no row passes the filter by what the footer says of them. It
// rewrites the filter to one over bounds, "x > 5" to "most x > 5", and runs it on one row a group with
// the kernels of the filter itself, so that both compare alike.
//
// A filter that may raise prunes nothing: which rows fail does not depend on statistics.
type pruner struct {
	program *expr.Program
	fields  []expr.Field // per column of the filter least, most, NULLs; then the rows
	stats   [][]chunkWords
	// strict: rows that are bad in a column of the filter are wanted, so nothing is passed over that may have some.
	strict bool
}

// Places of a column's bounds among the fields.
const (
	leastOf = iota
	mostOf
	nullsOf
	boundsOf // how many a column has
)

// newPruner is nil where a filter has nothing that statistics could answer.
func newPruner(where *expr.Expr, in expr.Schema, cols []int) *pruner {
	if where == nil || expr.CanFail(where) {
		return nil
	}
	p := &pruner{}
	place := map[int]int{}
	count := expr.Of(expr.BigInt)
	for i, c := range cols {
		place[c] = i * boundsOf
		f := in.Fields[c]
		t := f.Type.Nullable(true)
		if t.Nested() { // has no bounds
			t = count
		}
		p.fields = append(p.fields, expr.Field{Name: "least " + f.Name, Type: t}, expr.Field{Name: "most " + f.Name, Type: t},
			expr.Field{Name: "nulls " + f.Name, Type: count})
	}
	rows := &expr.Expr{Op: expr.OpColumn, Name: "rows", Col: len(p.fields), Type: count}
	p.fields = append(p.fields, expr.Field{Name: "rows", Type: count})
	m := maybe{place: place, rows: rows}
	may := m.of(where)
	if len(expr.Columns(may)) == 0 {
		return nil
	}
	program, err := expr.Compile(call("NOT", may), expr.SchemaOf(p.fields...))
	if err != nil {
		return nil // what cannot be compiled is read
	}
	p.program = program
	return p
}

// prunes reports that no row of a group passes.
func (r *reader) prunes(group int) (bool, error) {
	p := r.pruner
	if p == nil || group >= len(p.stats) {
		return false, nil
	}
	rows := r.doc.meta.RowGroup(group).NumRows()
	spans := make([][]span, r.first)
	for i, c := range r.cols[:r.first] {
		v := p.groupSpan(group, c, rows)
		spans[i] = []span{v}
		if rows > 0 {
			r.ignore(c.Name, connectors.OfRowGroups, v.why)
		}
	}
	if r.docFile != 0 {
		r.pruning().Judged++
	}
	return len(r.none(spans, rows, connectors.OfRowGroups)) == 1, nil
}

// groupSpan is the span of a column in a row group.
func (p *pruner) groupSpan(group int, c *fileColumn, rows int64) span {
	if c.absent {
		return span{nulls: rows, sure: true}
	}
	if i := c.leaf.index; c.nested == nil && i < len(p.stats[group]) {
		return p.stats[group][i].span(c.decoder, rows)
	}
	return span{nulls: -1}
}

// none lists the places at which no row passes, but for those that may have bad rows where these are wanted.
func (r *reader) none(spans [][]span, rows int64, of string) []int32 {
	out := r.pruner.none(r.cols[:r.first], spans, rows)
	if !r.pruner.strict {
		return out
	}
	return slices.DeleteFunc(out, func(k int32) bool {
		for i, c := range r.cols[:r.first] {
			if !spans[i][k].sure {
				r.ignore(c.Name, of, mayBeBad)
				return true
			}
		}
		return false
	})
}

// none lists the places at which no row passes. Spans are given by column of the filter and place; rows are
// those of each place.
func (p *pruner) none(filter []*fileColumn, spans [][]span, rows int64) []int32 {
	cols := make([]arrow.Array, 0, len(p.fields))
	places := len(spans[0])
	count := make([]any, places)
	for i, c := range filter {
		least, most, nulls := make([]any, places), make([]any, places), make([]any, places)
		for k, v := range spans[i] {
			least[k], most[k], count[k] = v.least, v.most, rows
			if v.nulls >= 0 {
				nulls[k] = v.nulls
			}
		}
		t := c.leaf.typ
		if c.Type.Nested() {
			t = expr.Of(expr.BigInt)
		}
		cols = append(cols, c.decoder.several(t, least), c.decoder.several(t, most), c.decoder.several(expr.Of(expr.BigInt), nulls))
	}
	cols = append(cols, filter[0].decoder.several(expr.Of(expr.BigInt), count))
	rec := column.NewRecord(p.fields, cols, int64(places))
	for _, c := range cols {
		c.Release()
	}
	defer rec.Release()
	out, err := p.program.Select(rec, nil, nil, nil)
	if err != nil {
		return nil // what cannot be judged is read
	}
	return out
}

// usePruner reads the statistics of a file that was opened, if they can be used: where a column of the
// filter has another type in the file, or may not be NULL and is in the file, all rows are to be looked at.
func (r *reader) usePruner() error {
	if r.pruner == nil {
		return nil
	}
	r.pruner.stats = nil
	if column, why := r.whyNot(); !why.none() {
		r.ignore(column, connectors.OfFile, why)
		return nil
	}
	var why doubt
	var err error
	r.pruner.stats, why, err = footerStats(r.doc)
	r.ignore("", connectors.OfFile, why)
	return err
}

func call(name string, args ...*expr.Expr) *expr.Expr {
	return &expr.Expr{Op: expr.OpCall, Name: name, Args: args, Type: expr.Of(expr.Boolean)}
}

// maybe rewrites a condition on rows to one on bounds that is FALSE only where the condition is TRUE
// for no row between them.
type maybe struct {
	place map[int]int // of a column's bounds
	rows  *expr.Expr
}

func (m maybe) of(e *expr.Expr) *expr.Expr {
	always := &expr.Expr{Op: expr.OpLiteral, Type: expr.Of(expr.Boolean), Value: &expr.Value{Int: 1}}
	if e.Op != expr.OpCall {
		return always
	}
	var made *expr.Expr
	switch e.Name {
	case "AND", "OR":
		made = call(e.Name)
		for _, a := range e.Args {
			made.Args = append(made.Args, m.of(a))
		}
	case "IS NULL", "IS NOT NULL":
		if e.Args[0].Op != expr.OpColumn {
			break
		}
		nulls := m.bound(e.Args[0], nullsOf, expr.Of(expr.BigInt))
		if e.Name == "IS NULL" {
			made = call(">", nulls, &expr.Expr{Op: expr.OpLiteral, Type: nulls.Type, Value: &expr.Value{}})
		} else {
			made = call("<", nulls, m.rows)
		}
	case "=", "<>", "<", "<=", ">", ">=":
		made = m.compare(e.Name, e.Args[0], e.Args[1])
	case "IN":
		made = call("OR")
		for _, item := range e.Args[1:] {
			one := m.compare("=", e.Args[0], item)
			if one == nil {
				return always
			}
			made.Args = append(made.Args, one)
		}
		if len(made.Args) == 1 {
			made = made.Args[0]
		}
	}
	if made == nil {
		return always
	}
	return made
}

// compare rewrites a comparison of a column with a literal, nil where there is nothing to be said.
func (m maybe) compare(op string, x, y *expr.Expr) *expr.Expr {
	if len(expr.Columns(x)) == 0 {
		flip := map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
		x, y, op = y, x, flip[op]
	}
	col := ordered(x)
	if col == nil || !isConstant(y) {
		return nil
	}
	least, most := m.within(x, col, leastOf), m.within(x, col, mostOf)
	var made *expr.Expr
	switch double := x.Type.Kind.Storage() == expr.Double || col.Type.Kind.Storage() == expr.Double; {
	case op == "=":
		made = call("AND", call("<=", least, y), call(">=", most, y))
	case op == "<", op == "<=":
		made = call(op, least, y)
	case double: // NaN is greater than all others and not within the bounds
		return nil
	case op == ">", op == ">=":
		made = call(op, most, y)
	default:
		made = call("NOT", call("AND", call("=", least, y), call("=", most, y)))
	}
	return call("AND", made, call("<", m.bound(col, nullsOf, expr.Of(expr.BigInt)), m.rows))
}

// ordered is the column of an expression that keeps the order of the column's values: the column
// itself, or casts of it between numbers, or between days and times. nil for others.
func ordered(x *expr.Expr) *expr.Expr {
	for ; x.Op == expr.OpCast; x = x.Args[0] {
		if !isOrdered(x.Type) || !isOrdered(x.Args[0].Type) {
			return nil
		}
	}
	if x.Op != expr.OpColumn || !isOrdered(x.Type) && x.Type.Kind != expr.String {
		return nil
	}
	return x
}

func isOrdered(t expr.Type) bool {
	switch t.Kind.Storage() {
	case expr.Int, expr.BigInt, expr.Double, expr.Decimal, expr.Date, expr.Timestamp:
		return true
	}
	return false
}

// isConstant holds for literals that have an order, and casts of them.
func isConstant(y *expr.Expr) bool {
	for y.Op == expr.OpCast {
		y = y.Args[0]
	}
	return y.Op == expr.OpLiteral && y.Value != nil && !math.IsNaN(y.Value.Double) && len(expr.Columns(y)) == 0
}

func (m maybe) bound(col *expr.Expr, which int, t expr.Type) *expr.Expr {
	return &expr.Expr{Op: expr.OpColumn, Name: "bound of " + col.Name, Col: m.place[col.Col] + which, Type: t.Nullable(true)}
}

// within is an expression with a bound of the column in the column's stead.
func (m maybe) within(x, col *expr.Expr, which int) *expr.Expr {
	return expr.Rewrite(x, func(e *expr.Expr) *expr.Expr {
		if e.Op == expr.OpColumn {
			return m.bound(col, which, col.Type)
		}
		e.Type = e.Type.Nullable(true)
		return e
	})
}
