package expr

import "fmt"

// A Rel is a node of the logical plan: exactly one of the payload pointers is set. The set is
// closed, so optimizer rules switch on it and never on the name of a component.
type Rel struct {
	Node   string // the plan node it came from
	Inputs []*Rel
	Schema Schema // of its output

	Scan      *Scan
	Calc      *Calc
	Aggregate *Aggregate
	Sort      *Sort
	Limit     *Limit
	Distinct  *Distinct
	Set       *Set
	Sink      *Sink
	Side      *Side
	Unnest    *Unnest
}

// An Unnest gives a row for each element of the ARRAY, or each entry of the MAP, in an input column. Its output is
// the other columns of the input in order, then what Names calls: the fields of an ARRAY of ROWs, the key and the value
// of a MAP, or the element; then the element's number from 1, where Ordinality names a column for it. With Outer a
// row without elements is kept, with NULLs.
type Unnest struct {
	Col        int      `json:"col"`
	Names      []string `json:"names"`
	Ordinality string   `json:"ordinality,omitempty"`
	Outer      bool     `json:"outer,omitempty"`
}

// Unnested are the types of the columns that the elements of a type become; nil for a type that has none.
func Unnested(t Type, outer bool) []Field {
	var list []Field
	switch e := t.Element(); {
	case t.Kind == Map:
		list = []Field{{"key", t.Key()}, {"value", e}}
	case t.Kind != Array:
		return nil
	case e.Kind == Row:
		list = e.Fields()
		for i := range list { // an element that is NULL has no fields
			list[i].Type.NotNull = list[i].Type.NotNull && e.NotNull
		}
	default:
		list = []Field{{"element", e}}
	}
	for i := range list {
		list[i].Type.NotNull = list[i].Type.NotNull && !outer
	}
	return list
}

// Output is the schema of the rows that an unnest gives.
func (u Unnest) Output(in Schema) (Schema, error) {
	if u.Col < 0 || u.Col >= len(in.Fields) {
		return Schema{}, fmt.Errorf("column %d is not one of the input's %d", u.Col, len(in.Fields))
	}
	parts := Unnested(in.Fields[u.Col].Type, u.Outer)
	if len(parts) == 0 || len(parts) != len(u.Names) {
		return Schema{}, fmt.Errorf("%d names for the %d columns of %s", len(u.Names), len(parts), in.Fields[u.Col].Type)
	}
	var out Schema
	for i, f := range in.Fields {
		if i != u.Col {
			out.Fields = append(out.Fields, f)
		}
	}
	for i, p := range parts {
		out.Fields = append(out.Fields, Field{u.Names[i], p.Type})
	}
	if u.Ordinality != "" {
		out.Fields = append(out.Fields, Field{u.Ordinality, Of(Int).Nullable(u.Outer)})
	}
	return out, nil
}

// A Scan reads a source. Where is over the source's own schema; Columns are places in it.
type Scan struct {
	Source  string `json:"source"`
	Columns []int  `json:"columns"`
	Where   *Expr  `json:"where,omitempty"`
	Limit   int64  `json:"limit"` // at most so many rows are needed; -1 = all
	// Skip are files of the source, by their place from 1, that no row is wanted of.
	Skip []int `json:"skip,omitempty"`
}

// A Calc keeps the rows for which Where is TRUE (nil: all) and computes Select for them.
type Calc struct {
	Where  *Expr   `json:"where,omitempty"`
	Select []Named `json:"select"`
}

// An Aggregate groups by input columns; without Keys it gives exactly one row. Its output is the
// keys in order, then the measures.
type Aggregate struct {
	Keys     []int     `json:"keys"`
	Measures []AggCall `json:"measures"`
}

// An AggCall is one aggregate over an input column. Arg and Filter are places in the input, -1 for
// COUNT(*) and for no filter; Filter is a BOOLEAN column.
type AggCall struct {
	Name     string `json:"name"`
	Func     string `json:"func"` // COUNT, SUM, AVG, MIN, MAX
	Arg      int    `json:"arg"`
	Filter   int    `json:"filter"`
	Distinct bool   `json:"distinct,omitempty"`
	Type     Type   `json:"type"` // of the result
	Text     string `json:"text"` // as the plan has it: "SUM(amount) FILTER (WHERE …)"
}

// A Sort orders all rows; with Limit >= 0 only so many after Offset are kept. The first Written keys
// stand in the plan; the others break ties, so that the order does not depend on where rows came from.
type Sort struct {
	By      []SortKey `json:"by"`
	Written int       `json:"written"`
	Limit   int64     `json:"limit"`
	Offset  int64     `json:"offset"`
}

// A SortKey orders by one input column. NaN is the largest DOUBLE.
type SortKey struct {
	Col        int  `json:"col"`
	Desc       bool `json:"desc,omitempty"`
	NullsFirst bool `json:"nullsFirst,omitempty"`
}

// A Limit keeps at most Limit rows (-1: all) after the first Offset, in whatever order they come.
type Limit struct {
	Limit  int64 `json:"limit"`
	Offset int64 `json:"offset"`
}

// A Distinct keeps one of each set of equal rows; NULL equals NULL, NaN equals NaN, -0.0 equals 0.0.
type Distinct struct{}

// A Set is a UNION ALL of its inputs, whose schemas agree by place.
type Set struct{}

// A Side is a port of a source. It has no inputs: a source is one node of the plan however many read its
// ports, and none of them changes what it reads.
type Side struct {
	Source string `json:"source"`
	Port   string `json:"port"`
}

// A Sink writes its input to the plan's sink Node.
type Sink struct{}
