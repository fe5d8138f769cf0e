package expr

import "fmt"

// part of a nested value: FIELD, ITEM, CARDINALITY, ELEMENT, ARRAY_CONTAINS.
func (c *checker) nested(n *Expr) *Expr {
	x := n.Args[0]
	if x.Type.Kind == Null {
		return c.fail(x, n.Name+" of NULL has no type", "CAST(NULL AS type)")
	}
	switch n.Name {
	case "FIELD":
		return c.field(n)
	case "ITEM":
		return c.item(n)
	case "CARDINALITY":
		if x.Type.Kind != Array && x.Type.Kind != Map {
			return c.fail(x, "CARDINALITY takes an ARRAY or a MAP, not "+plainType(x.Type), "an ARRAY or a MAP")
		}
		n.Type = Of(Int)
		return n
	}
	if x.Type.Kind != Array {
		return c.fail(x, n.Name+" takes an ARRAY, not "+plainType(x.Type), "an ARRAY")
	}
	if n.Name == "ELEMENT" {
		n.Type = x.Type.Element().Nullable(true)
		return n
	}
	if n.Args[1] = c.like1(n.Args[1], x.Type.Element(), "the elements"); n.Args[1] == nil {
		return nil
	}
	n.Type = Of(Boolean).Nullable(!x.Type.NotNull)
	return n
}

// field checks x.name.
func (c *checker) field(n *Expr) *Expr {
	x, name := n.Args[0], n.Args[1]
	if !isText(name) {
		return c.fail(name, "the name of a field is "+name.String(), "a name")
	}
	switch x.Type.Kind {
	case Row:
	case Array:
		return c.fail(n, fmt.Sprintf("%s is an ARRAY and has no field %s", x, Quote(name.Value.Text)), fmt.Sprintf("%s[1] for an element", x))
	case Map:
		return c.fail(n, fmt.Sprintf("%s is a MAP and has no field %s", x, Quote(name.Value.Text)), fmt.Sprintf("%s[key] for a value", x))
	default:
		return c.fail(n, fmt.Sprintf("%s is %s and has no field %s", x, plainType(x.Type), Quote(name.Value.Text)), "a ROW before the dot")
	}
	f, i := x.Type.Field(name.Value.Text)
	if i < 0 {
		names := SchemaOf(x.Type.Fields()...).Names()
		e := &Error{Pos: int(name.Pos), End: name.End, Message: fmt.Sprintf("%s has no field %s", x, Quote(name.Value.Text)), Near: nearest(name.Value.Text, names)}
		if e.Near == "" {
			e.Expected = "one of " + listed(names)
		}
		c.errs = append(c.errs, e)
		return nil
	}
	n.Type = f.Type.Nullable(!f.Type.NotNull || !x.Type.NotNull)
	return n
}

// dotted explains a dot after a name that is no column, or the dot of a column's name. It is false where the
// dot is a field's.
func (c *checker) dotted(e *Expr) bool {
	x, name := e.Args[0], e.Args[1]
	if x.Op != OpColumn || c.schema.Index(x.Name) >= 0 || !isText(name) {
		return false
	}
	f := &Error{Pos: int(e.Pos), End: e.End, Message: "there is no column " + backtick(x.Name) + ": an expression reads the columns of one input, and a dot stands before a field of a ROW",
		Expected: "the column's name alone, or " + backtick(x.Name+"."+name.Value.Text) + " if the dot belongs to it"}
	if full := x.Name + "." + name.Value.Text; c.schema.Index(full) >= 0 {
		f.Near = backtick(full)
	} else if near := nearest(x.Name, c.schema.Names()); near != "" && c.schema.Fields[c.schema.Index(near)].Type.Kind == Row {
		f.Near = Quote(near)
	}
	c.errs = append(c.errs, f)
	return true
}

// item checks x[index].
func (c *checker) item(n *Expr) *Expr {
	x, index := n.Args[0], n.Args[1]
	switch x.Type.Kind {
	case Array:
		index = implicitNull(index, Of(Int))
		if !index.Type.Whole() {
			return c.fail(index, "the index of an ARRAY is "+plainType(index.Type), "a whole number, from 1")
		}
		if index.Op == OpLiteral && !index.Value.Null && index.Value.Int < 1 {
			return c.fail(index, fmt.Sprintf("the index is %d, and elements are counted from 1", index.Value.Int), "1 or more")
		}
	case Map:
		if index = c.like1(index, x.Type.Key(), "the keys"); index == nil {
			return nil
		}
	default:
		return c.fail(n, fmt.Sprintf("%s is %s and has no elements", x, plainType(x.Type)), "an ARRAY or a MAP before the bracket")
	}
	n.Args[1], n.Type = index, x.Type.Element().Nullable(true)
	return n
}

// like1 gives x the type of what it is compared with; nil after a fault.
func (c *checker) like1(x *Expr, t Type, what string) *Expr {
	t = t.Nullable(true)
	if u, ok := commonType(x.Type, t, true); ok && u.Same(t) {
		return implicit(x, t)
	}
	if isText(x) && isTime(t) {
		if y := c.textAsTime(x, t); y != nil && y.Type.Same(t) {
			return y
		}
	}
	return c.fail(x, fmt.Sprintf("%s are %s and this is %s", what, t, plainType(x.Type)), fmt.Sprintf("CAST(%s AS %s)", x, t))
}

// flat refuses nested values where only others can stand.
func (c *checker) flat(list []*Expr, what string) bool {
	for _, x := range list {
		if x.Type.Nested() {
			c.fail(x, what+" cannot be "+plainType(x.Type), "a part of it, such as a field or an element")
			return false
		}
	}
	return true
}

// split checks SPLIT.
func (c *checker) split(n *Expr) *Expr {
	for i, a := range n.Args {
		if n.Args[i] = implicitNull(a, Of(String)); n.Args[i].Type.Kind != String {
			return c.fail(a, "SPLIT takes text, not "+plainType(a.Type), castTo(a, String))
		}
	}
	n.Type = ArrayOf(Of(String).Nullable(false))
	return n
}
