package expr

import (
	"slices"
	"strings"
	"unique"

	"github.com/apache/arrow/go/v17/arrow"
)

// maxTypeDepth bounds how deep types are nested, so that no text and no file can exhaust the stack of
// what walks them.
const maxTypeDepth = 64

// A typePart is one of the types that a nested type is made of, and the further ones. Parts are held once in
// the process, so that types compare with == however deep they are.
type typePart struct {
	name string
	typ  Type
	next unique.Handle[typePart]
}

// ArrayOf is ARRAY<element>, nullable.
func ArrayOf(element Type) Type { return nested(Array, Field{"element", element}) }

// MapOf is MAP<key, value>, nullable.
func MapOf(key, value Type) Type { return nested(Map, Field{"key", key}, Field{"value", value}) }

// RowOf is ROW<…>, nullable. The names are unique.
func RowOf(fields ...Field) Type { return nested(Row, fields...) }

func nested(k Kind, fields ...Field) Type {
	t := Type{Kind: k}
	for i := len(fields) - 1; i >= 0; i-- {
		t.parts = unique.Make(typePart{fields[i].Name, fields[i].Type, t.parts})
	}
	return t
}

// Nested reports whether values of the type are made of values of other types.
func (t Type) Nested() bool { return t.Kind == Array || t.Kind == Map || t.Kind == Row }

// Fields are what a nested type is made of: the fields of a ROW, the "element" of an ARRAY, the "key" and
// the "value" of a MAP. It is nil for other types.
func (t Type) Fields() []Field {
	var list []Field
	for h := t.parts; h != (unique.Handle[typePart]{}); {
		p := h.Value()
		list = append(list, Field{p.name, p.typ})
		h = p.next
	}
	return list
}

// Element is the type of an ARRAY's elements or of a MAP's values, and Invalid for others.
func (t Type) Element() Type {
	switch t.Kind {
	case Array:
		return t.parts.Value().typ
	case Map:
		return t.parts.Value().next.Value().typ
	}
	return Type{}
}

// Key is the type of a MAP's keys, and Invalid for others.
func (t Type) Key() Type {
	if t.Kind != Map {
		return Type{}
	}
	return t.parts.Value().typ
}

// Field is the field of a ROW that has a name, and its place; -1 where there is none.
func (t Type) Field(name string) (Field, int) {
	if t.Kind == Row {
		for i, f := range t.Fields() {
			if f.Name == name {
				return f, i
			}
		}
	}
	return Field{}, -1
}

// loose is the type with NULL allowed everywhere.
func (t Type) loose() Type {
	t.NotNull = false
	if !t.Nested() {
		return t
	}
	fields := t.Fields()
	for i, f := range fields {
		fields[i].Type = f.Type.loose()
	}
	return nested(t.Kind, fields...)
}

// commonNested is the type of values of two nested types that are the same: NULL is allowed where one of them
// allows it.
func commonNested(a, b Type) Type {
	if !a.Nested() {
		return a.Nullable(!a.NotNull || !b.NotNull)
	}
	fields, others := a.Fields(), b.Fields()
	for i, f := range fields {
		fields[i].Type = commonNested(f.Type, others[i].Type)
	}
	return nested(a.Kind, fields...).Nullable(!a.NotNull || !b.NotNull)
}

// holds reports whether one of the kinds stands within the type.
func (t Type) holds(kinds ...Kind) bool {
	for _, f := range t.Fields() {
		if f.Type.holds(kinds...) {
			return true
		}
	}
	return slices.Contains(kinds, t.Kind)
}

// Depth is how many types stand in one another: 1 for a type that is not nested.
func (t Type) Depth() int {
	d := 0
	for _, f := range t.Fields() {
		d = max(d, f.Type.Depth())
	}
	return d + 1
}

// nestedText writes a nested type, without whether NULL is allowed.
func (t Type) nestedText() string {
	parts := make([]string, 0, 2)
	for _, f := range t.Fields() {
		s := f.Type.String()
		if t.Kind == Row {
			s = Quote(f.Name) + " " + s
		}
		parts = append(parts, s)
	}
	name := map[Kind]string{Array: "ARRAY", Map: "MAP", Row: "ROW"}[t.Kind]
	return name + "<" + strings.Join(parts, ", ") + ">"
}

// nestedArrow is the physical type of a nested one. Whether NULL is allowed within is a matter of the
// logical type alone, so that columns of types that differ in it can be joined; a MAP's keys are never
// NULL in Arrow. Texts within are plain.
func (t Type) nestedArrow() arrow.DataType {
	switch t.Kind {
	case Array:
		return arrow.ListOf(t.Element().Arrow())
	case Map:
		return arrow.MapOf(t.Key().Arrow(), t.Element().Arrow())
	}
	var fields []arrow.Field
	for _, f := range t.Fields() {
		fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type.Arrow(), Nullable: true})
	}
	return arrow.StructOf(fields...)
}
