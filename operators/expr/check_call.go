package expr

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// call checks a call: its arguments first, so that faults in several of them are all found.
func (c *checker) call(e *Expr) *Expr {
	name := e.Name
	if name == "IS UNKNOWN" || name == "IS NOT UNKNOWN" {
		return c.unknown(e)
	}
	if name == "TYPEOF" && len(e.Args) == 1 {
		if x := c.root(e.Args[0]); x != nil {
			return &Expr{Op: OpLiteral, Type: Of(String).Nullable(false), Value: &Value{Text: x.Type.String()}, Pos: e.Pos, End: e.End}
		}
		return nil
	}
	if name == intervalCall || slices.ContainsFunc(e.Args, isInterval) {
		return c.interval(e)
	}
	f, ok := functions[name]
	if !ok {
		return c.fail(e, "there is no function "+name, "")
	}
	if len(e.Args) < f.MinArgs || f.MaxArgs >= 0 && len(e.Args) > f.MaxArgs {
		return c.fail(e, name+" has "+countOf(len(e.Args)), arityText(f.MinArgs, f.MaxArgs))
	}
	if name == "FIELD" && c.dotted(e) {
		return nil
	}
	args, ok := c.all(e.Args)
	if !ok {
		return nil
	}
	n := *e
	n.Args = args
	n.Type = Type{}
	x := c.typed(&n)
	if x == nil || x != &n {
		return x
	}
	switch f.Nulls {
	case Strict:
		n.Type.NotNull = !slices.ContainsFunc(n.Args, func(a *Expr) bool { return !a.Type.NotNull })
	case Never:
		n.Type.NotNull = true
	}
	return &n
}

// typed gives a call whose arguments have types its own, and casts the arguments. It may give
// another node, which is complete.
func (c *checker) typed(n *Expr) *Expr {
	switch n.Name {
	case "AND", "OR", "NOT", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE":
		return c.logic(n)
	case "IS NULL", "IS NOT NULL":
		n.Args[0] = implicitNull(n.Args[0], Of(Boolean))
		n.Type = Of(Boolean)
		return n
	case "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		return c.comparison(n)
	case "IN":
		return c.in(n)
	case "LIKE":
		return c.like(n)
	case "+", "-", "*", "/", "%":
		return c.arithmetic(n)
	case "NEG", "ABS", "FLOOR", "CEIL", "SIGN":
		return c.number(n)
	case "ROUND", "TRUNCATE":
		return c.round(n)
	case "TO_TIMESTAMP_LTZ":
		return c.toInstant(n)
	case "||", "UPPER", "LOWER", "CHAR_LENGTH", "SUBSTRING", "TRIM":
		return c.text(n)
	case "EXTRACT", "FLOOR_TO", "CEIL_TO":
		return c.part(n)
	case "TIMESTAMPADD":
		return c.add(n)
	case "TIMESTAMPDIFF":
		return c.difference(n)
	case "SPLIT":
		return c.split(n)
	case "FIELD", "ITEM", "CARDINALITY", "ELEMENT", "ARRAY_CONTAINS":
		return c.nested(n)
	case "COALESCE":
		return c.coalesce(n)
	case "NULLIF":
		return c.nullIf(n)
	case "GREATEST", "LEAST":
		t, ok := c.unify(n, n.Args, "the arguments of "+n.Name, false)
		n.Type = t
		return when(ok && c.flat(n.Args, "the arguments of "+n.Name), n)
	}
	if s, ok := signatures[n.Name]; ok {
		return c.signed(n, s)
	}
	return c.fail(n, "there is no function "+n.Name, "")
}

// when is n where ok holds, else nil.
func when(ok bool, n *Expr) *Expr {
	if !ok {
		return nil
	}
	return n
}

// implicitNull gives a bare NULL a type; others keep theirs.
func implicitNull(x *Expr, t Type) *Expr {
	if x.Type.Kind == Null {
		return implicit(x, t)
	}
	return x
}

// unknown checks x IS [NOT] UNKNOWN, which is IS [NOT] NULL of a BOOLEAN.
func (c *checker) unknown(e *Expr) *Expr {
	if len(e.Args) != 1 {
		return c.fail(e, e.Name+" has one argument", "")
	}
	x := c.expr(e.Args[0])
	if x == nil {
		return nil
	}
	if x = c.boolean(x, "the operand of "+e.Name); x == nil {
		return nil
	}
	n := *e
	n.Name = "IS NULL"
	if e.Name == "IS NOT UNKNOWN" {
		n.Name = "IS NOT NULL"
	}
	n.Args, n.Type = []*Expr{x}, Type{Kind: Boolean, NotNull: true}
	return &n
}

func (c *checker) logic(n *Expr) *Expr {
	ok, notNull := true, true
	for i, a := range n.Args {
		n.Args[i] = c.boolean(a, "an operand of "+n.Name)
		ok = ok && n.Args[i] != nil
		notNull = notNull && a.Type.NotNull
	}
	if !ok {
		return nil
	}
	n.Args = flatten(n.Name, n.Args)
	n.Type = Type{Kind: Boolean, NotNull: notNull}
	return n
}

// flatten takes the arguments of nested calls of an associative operator into one list.
func flatten(name string, args []*Expr) []*Expr {
	var flat []*Expr
	for _, a := range args {
		if joins(name, a) {
			flat = append(flat, a.Args...)
		} else {
			flat = append(flat, a)
		}
	}
	return flat
}

func (c *checker) comparison(n *Expr) *Expr {
	if n.Args[0].Type.Kind == Null && n.Args[1].Type.Kind == Null {
		n.Args[0] = implicit(n.Args[0], Of(Boolean))
	}
	if equal := comparisons[n.Name].equal; !equal && !c.flat(n.Args, "the sides of "+n.Name) {
		return nil
	}
	if _, ok := c.unify(n, n.Args, "the sides of "+n.Name, true); !ok {
		return nil
	}
	n.Type = Of(Boolean)
	return n
}

// in checks IN. Where an item is not constant it becomes OR of comparisons, as in Calcite.
func (c *checker) in(n *Expr) *Expr {
	if !slices.ContainsFunc(n.Args, func(a *Expr) bool { return a.Type.Kind != Null }) {
		n.Args[0] = implicit(n.Args[0], Of(Boolean))
	}
	if !c.flat(n.Args, "the values of IN") {
		return nil
	}
	if slices.ContainsFunc(n.Args[1:], func(a *Expr) bool { return !isConstant(a) }) {
		return c.inComputed(n)
	}
	t, ok := c.unify(n, n.Args, "the values of IN", true)
	if !ok {
		return nil
	}
	n.Type = Type{Kind: Boolean, NotNull: t.NotNull}
	return n
}

func (c *checker) inComputed(n *Expr) *Expr {
	x := n.Args[0]
	if !c.repeat(n, x, len(n.Args)-2) {
		return nil
	}
	or := &Expr{Op: OpCall, Name: "OR", Type: Type{Kind: Boolean, NotNull: true}, Pos: n.Pos, End: n.End}
	for _, item := range n.Args[1:] {
		eq := c.comparison(&Expr{Op: OpCall, Name: "=", Args: []*Expr{x, item}, Pos: n.Pos, End: n.End})
		if eq == nil {
			continue
		}
		eq.Type.NotNull = x.Type.NotNull && item.Type.NotNull
		or.Type.NotNull = or.Type.NotNull && eq.Type.NotNull
		or.Args = append(or.Args, eq)
	}
	switch {
	case len(or.Args) < len(n.Args)-1:
		return nil
	case len(or.Args) == 1:
		return or.Args[0]
	}
	return or
}

// like checks LIKE. Its escape character must be known, and must stand before %, _ or itself, as
// Calcite demands when the pattern is used.
func (c *checker) like(n *Expr) *Expr {
	for i, a := range n.Args {
		if n.Args[i] = implicitNull(a, Of(String)); n.Args[i].Type.Kind != String {
			return c.fail(a, "LIKE takes text, not "+plainType(a.Type), castTo(a, String))
		}
	}
	n.Type = Of(Boolean)
	if len(n.Args) < 3 {
		return n
	}
	pattern, escape := n.Args[1], n.Args[2]
	if !isText(escape) || utf8.RuneCountInString(escape.Value.Text) != 1 {
		return c.fail(escape, "the escape character is "+escape.String(), "a literal of one character")
	}
	if !isText(pattern) {
		return c.fail(pattern, "a pattern with ESCAPE is not a literal", "a literal, such as '100!%' ESCAPE '!'")
	}
	esc, _ := utf8.DecodeRuneInString(escape.Value.Text)
	escaped := false
	for _, r := range pattern.Value.Text {
		switch {
		case escaped && r != '%' && r != '_' && r != esc:
			return c.fail(pattern, fmt.Sprintf("the escape character stands before %q", r), "%, _ or the escape character after it")
		case escaped:
			escaped = false
		default:
			escaped = r == esc
		}
	}
	if escaped {
		return c.fail(pattern, "the pattern ends with its escape character", "%, _ or the escape character after it")
	}
	return n
}

func castTo(x *Expr, k Kind) string {
	return fmt.Sprintf("CAST(%s AS %s)", x, Of(k))
}

func (c *checker) coalesce(n *Expr) *Expr {
	notNull := slices.ContainsFunc(n.Args, func(a *Expr) bool { return a.Type.NotNull })
	t, ok := c.unify(n, n.Args, "the arguments of COALESCE", false)
	if !ok || !c.flat(n.Args, "the arguments of COALESCE") {
		return nil
	}
	n.Type = t.Nullable(!notNull)
	return n
}

// nullIf checks NULLIF, whose result has the first argument's type. Where the comparison needs
// another one it is the CASE that the SQL standard says it stands for.
func (c *checker) nullIf(n *Expr) *Expr {
	if n.Args[0].Type.Kind == Null {
		return c.fail(n.Args[0], "NULLIF of NULL has no type", "CAST(NULL AS type)")
	}
	if !c.flat(n.Args, "the arguments of NULLIF") {
		return nil
	}
	sides := slices.Clone(n.Args)
	if _, ok := c.unify(n, sides, "the arguments of NULLIF", true); !ok {
		return nil
	}
	t := n.Args[0].Type.Nullable(true)
	if sides[0] == n.Args[0] {
		n.Args, n.Type = sides, t
		return n
	}
	if !c.repeat(n, n.Args[0], 1) {
		return nil
	}
	notNull := sides[0].Type.NotNull && sides[1].Type.NotNull
	equal := &Expr{Op: OpCall, Name: "=", Args: sides, Type: Of(Boolean).Nullable(!notNull), Pos: n.Pos, End: n.End}
	null := &Expr{Op: OpLiteral, Type: t, Value: &Value{Null: true}, Implicit: true, Pos: n.Pos, End: n.End}
	return &Expr{Op: OpCase, Args: []*Expr{equal, null, n.Args[0]}, Type: t, Pos: n.Pos, End: n.End}
}

func (c *checker) aggregate(e *Expr) *Expr {
	if !c.aggregates {
		if c.options.Aggregates {
			return c.fail(e, "an aggregate inside an aggregate", "the inner one in a step before")
		}
		return c.fail(e, e.Name+" is an aggregate and cannot stand here", "an expression over one row; aggregates stand in measures")
	}
	c.aggregates = false
	args, ok := c.all(e.Args)
	filter := c.expr(e.Filter)
	c.aggregates = true
	if filter != nil {
		filter = c.boolean(filter, "the condition of FILTER")
	}
	if !ok || e.Filter != nil && filter == nil {
		return nil
	}
	n := *e
	n.Args, n.Filter = args, filter
	var arg Type
	switch {
	case len(args) > 1 || len(args) == 0 && (e.Name != "COUNT" || e.Distinct):
		return c.fail(e, e.Name+" has "+countOf(len(args)), "1")
	case len(args) == 1:
		if arg = args[0].Type; arg.Kind == Null {
			return c.fail(args[0], "NULL alone has no type", "CAST(NULL AS type)")
		}
	}
	if arg.Nested() && (e.Name != "COUNT" || e.Distinct) {
		name := e.Name
		if e.Distinct {
			name += "(DISTINCT)"
		}
		return c.fail(args[0], name+" cannot take "+plainType(arg), "a part of it, such as a field or an element")
	}
	t, err := AggType(e.Name, arg, e.Distinct)
	if err != nil {
		return c.fail(e, err.Error(), "")
	}
	if e.Name == "MIN" || e.Name == "MAX" {
		n.Distinct = false // the same value without it
	}
	n.Type = t
	return &n
}
