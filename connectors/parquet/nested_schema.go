package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// maxNesting is how many types may stand in one another, which is what a type may be written with.
const maxNesting = 64

// A nest is a nested column of a file, or a part of one: a ROW with its fields, an ARRAY with its element, a MAP
// with its key and its value, or a plain value. A value has a slot for every element of the list it stands in, or
// for every row, and the levels say what is in it:
//
//	definition >= slot   there is a slot
//	definition >= def    its value is not NULL
//	definition >= elem   the list in it has an element
//	repetition <= rep    the entry begins a slot; lists have elements that begin at rep + 1
type nest struct {
	leaf             // of a plain value; else the name, the type and why it cannot be read
	kind   expr.Kind // Array, Map or Row; Invalid for a plain value
	path   string
	parts  []*nest
	depth  int
	within bool // why is of a part, which it names

	slot, def, elem, rep int16
}

// A level is where in the levels a node stands.
type level struct{ slot, def, rep int16 }

// nestOf is a node of a schema, which is the path, as what it means; next is the place of its first leaf.
func nestOf(n schema.Node, path string, at level, next *int) *nest {
	first := *next
	defer func() { *next = first + leavesUnder(n) }()
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		// A repeated field that no LIST is written round is a list that is never NULL.
		list := &nest{path: path, slot: at.slot, def: at.def, rep: at.rep}
		list.name, list.index = n.Name(), first
		return list.arrayOf(bodyOf(n, path+".element", list.inner(), next), true)
	}
	if n.RepetitionType() == parquet.Repetitions.Optional {
		at.def++
	}
	x := bodyOf(n, path, at, next)
	x.typ.NotNull = n.RepetitionType() == parquet.Repetitions.Required
	return x
}

// inner is where an element of the list stands.
func (x *nest) inner() level {
	x.elem = x.def + 1
	return level{slot: x.elem, def: x.elem, rep: x.rep + 1}
}

// bodyOf is what a node holds, whatever its own repetition.
func bodyOf(n schema.Node, path string, at level, next *int) *nest {
	x := &nest{path: path, slot: at.slot, def: at.def, rep: at.rep}
	x.name, x.index, x.depth = n.Name(), *next, 1
	switch n := n.(type) {
	case *schema.PrimitiveNode:
		x.leaf = primitive(n, *next)
		*next++
	case *schema.GroupNode:
		switch kind := groupKind(n); kind {
		case "LIST":
			x.list(n, next)
		case "MAP":
			x.pairs(n, next)
		default:
			x.row(n, next)
		}
	}
	x.typ.NotNull = true
	return x
}

// refuse says why the column cannot be read.
func (x *nest) refuse(why string) *nest {
	if x.why == "" {
		x.why = why
	}
	return x
}

// of takes parts over, and why one of them cannot be read.
func (x *nest) of(parts ...*nest) {
	x.parts = parts
	for _, p := range parts {
		switch {
		case p.why == "":
		case len(p.parts) > 0 && p.within:
			x.within = true
			x.refuse(p.why)
		default:
			x.within = true
			x.refuse(fmt.Sprintf("its part %s: %s", p.path, p.why))
		}
		x.depth = max(x.depth, p.depth+1)
	}
	if x.depth > maxNesting {
		x.refuse(fmt.Sprintf("it is nested deeper than %d types, which cannot be read", maxNesting))
	}
}

func (x *nest) arrayOf(element *nest, notNull bool) *nest {
	x.kind = expr.Array
	x.of(element)
	if x.why == "" {
		x.typ = expr.ArrayOf(element.typ).Nullable(!notNull)
	}
	return x
}

func (x *nest) row(n *schema.GroupNode, next *int) {
	x.kind = expr.Row
	var parts []*nest
	var fields []expr.Field
	seen := map[string]bool{}
	for i := range n.NumFields() {
		f := n.Field(i)
		p := nestOf(f, x.path+"."+f.Name(), level{x.slot, x.def, x.rep}, next)
		if seen[p.name] {
			x.refuse(fmt.Sprintf("it has two fields %s", p.path))
		}
		seen[p.name] = true
		parts, fields = append(parts, p), append(fields, expr.Field{Name: p.name, Type: p.typ})
	}
	if len(parts) == 0 {
		x.refuse("it has no fields")
	}
	if x.of(parts...); x.why == "" {
		x.typ = expr.RowOf(fields...)
	}
}

// list reads a group that is annotated LIST, in the forms that the format knows from old writers: the repeated
// field is the element itself unless it is a group of one field that is not repeated and that it is not named for.
func (x *nest) list(n *schema.GroupNode, next *int) {
	x.kind = expr.Array
	if n.NumFields() != 1 || n.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
		x.refuse(fmt.Sprintf("its LIST has %d fields and not one that repeats", n.NumFields()))
		return
	}
	repeated := n.Field(0)
	group, ok := repeated.(*schema.GroupNode)
	if ok && group.NumFields() == 1 && group.Field(0).RepetitionType() != parquet.Repetitions.Repeated &&
		group.Name() != "array" && group.Name() != n.Name()+"_tuple" {
		x.arrayOf(nestOf(group.Field(0), x.path+".element", x.inner(), next), false)
		return
	}
	x.arrayOf(bodyOf(repeated, x.path+".element", x.inner(), next), false)
}

// pairs reads a group that is annotated MAP. Keys without values are a list of keys.
func (x *nest) pairs(n *schema.GroupNode, next *int) {
	x.kind = expr.Map
	var group *schema.GroupNode
	if n.NumFields() == 1 && n.Field(0).RepetitionType() == parquet.Repetitions.Repeated {
		group, _ = n.Field(0).(*schema.GroupNode)
	}
	if group == nil || group.NumFields() < 1 || group.NumFields() > 2 {
		x.refuse("its MAP is not one group that repeats, of a key and a value")
		return
	}
	at := x.inner()
	key := nestOf(group.Field(0), x.path+".key", at, next)
	if group.NumFields() == 1 {
		x.arrayOf(key, false)
		return
	}
	value := nestOf(group.Field(1), x.path+".value", at, next)
	x.of(key, value)
	if x.why == "" {
		x.typ = expr.MapOf(key.typ.Nullable(false), value.typ)
	}
}
