package plans

import (
	"slices"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// An Unnest gives a row for each element of an ARRAY, or each entry of a MAP, beside the columns of the input.
type Unnest struct {
	Array      Expression
	As         []string // names of the columns that an element becomes; empty: those of its fields
	AsPos      Pos
	Ordinality string // the column of the element's number, "" for none
	Outer      bool   // rows without elements stay, with NULLs
}

func unnestKeys() []string { return []string{"array", "as", "ordinality", "outer"} }

// unnest reads from: a with unnest: {array: …, as: …}.
func (r *reader) unnest(node *Node, n *spec.Node, e spec.Entry, path string) {
	u := &Unnest{}
	node.Unnest = u
	node.From = r.from(n, path, 1)
	known := slices.Concat([]string{"from", "unnest"}, nodeKeys())
	for _, k := range n.Keys {
		switch {
		case slices.Contains(known, k.Key):
		case transformKey(k.Key):
			r.add(at(k.Pos, path+"."+k.Key), RuleConflict, k.Key+" cannot stand beside unnest", "give it a transform of its own, with from: "+node.Name)
		default:
			r.other(Transforms, k, path, what(node), known)
		}
	}
	path += ".unnest"
	if e.Value.Kind != spec.Mapping {
		r.wrongType(e.Value, path, "a mapping such as {array: SPLIT(line, ' '), as: word}", "")
		return
	}
	for _, o := range e.Value.Keys {
		p := path + "." + o.Key
		switch o.Key {
		case "array":
			if x := r.expression(o.Value, p); x != nil {
				u.Array = *x
			}
		case "as":
			u.AsPos = at(o.Value.Pos, p)
			u.As = r.columnNames(o.Value, p)
		case "ordinality":
			if names := r.columnNames(o.Value, p); len(names) == 1 {
				u.Ordinality = names[0]
			}
		case "outer":
			u.Outer = r.boolean(o.Value, p)
		default:
			r.unknownKey(o, p, "unnest", unnestKeys())
		}
	}
	if e.Value.Get("array") == nil {
		r.add(at(e.Value.Pos, path), spec.RuleMissingKey, "array is missing", "").Expected = "array: an ARRAY or a MAP, such as SPLIT(line, ' ')"
	}
}

// columnNames reads a name or a list of them.
func (r *reader) columnNames(n *spec.Node, path string) []string {
	items := []*spec.Node{n}
	if n.Kind == spec.Sequence {
		items = n.Items
	}
	var out []string
	for _, item := range items {
		if item.Kind != spec.Scalar || item.Nothing() {
			r.wrongType(item, path, "the name of a column", "")
			return nil
		}
		out = append(out, unquote(item.Text))
	}
	return out
}
