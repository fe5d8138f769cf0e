package plans

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// transform reads a transform: one SELECT, a union, or a step of the catalog.
func (r *reader) transform(node *Node, n *spec.Node, path string) {
	union, steps := n.Get("union"), r.known.Steps
	isStep := slices.ContainsFunc(n.Keys, func(e spec.Entry) bool { return steps[e.Key].Options != nil })
	if un := n.Get("unnest"); un != nil && union == nil && !isStep {
		r.unnest(node, n, *un, path)
		return
	}
	if union == nil && !isStep {
		r.selection(node, n, path)
		return
	}
	for _, e := range n.Keys {
		if e.Key != "from" && transformKey(e.Key) && (e.Key != "union" || isStep) {
			kind := "a union"
			if isStep {
				kind = "a step"
			}
			r.add(at(e.Pos, path+"."+e.Key), RuleConflict, fmt.Sprintf("%s cannot stand in %s", e.Key, kind),
				"give it a transform of its own, with from: "+node.Name+r.distinctHint(e.Key, isStep))
		}
	}
	if isStep {
		most := 1
		for _, e := range n.Keys {
			most = max(most, steps[e.Key].MaxInputs)
		}
		node.From = r.from(n, path, most)
		node.Step = r.kind(node, n, path, append(selectKeys(), "union")...)
		return
	}
	r.union(node, n, *union, path)
}

func (r *reader) distinctHint(key string, isStep bool) string {
	if key == "distinct" && !isStep {
		return "; or write union: {distinct: true}"
	}
	return ""
}

// union reads from: [a, b] with union: {distinct: …}. Edges are always written with from.
func (r *reader) union(node *Node, n *spec.Node, e spec.Entry, path string) {
	node.Union = &Union{}
	known := slices.Concat(selectKeys(), nodeKeys(), []string{"union"})
	for _, k := range n.Keys {
		if !slices.Contains(known, k.Key) {
			r.other(Transforms, k, path, what(node), known)
		}
	}
	path += ".union"
	if e.Value.Kind == spec.Sequence || e.Value.Kind == spec.Scalar && !e.Value.Nothing() {
		f := r.add(at(e.Value.Pos, path), spec.RuleWrongType, "union is "+e.Value.Describe(), "")
		f.Expected = "{} or {distinct: true}"
		if e.Value.Kind == spec.Sequence {
			f.Hint = "the nodes stand in from: write from: [a, b] and union: {}"
			return
		}
	}
	node.From = r.from(n, path[:len(path)-len(".union")], 1<<16)
	if len(node.From) == 1 {
		r.add(node.From[0].Pos, spec.RuleWrongType, "a union of one node", "").Expected = "from: [a, b]"
	}
	for _, o := range e.Value.Keys {
		if o.Key != "distinct" {
			r.unknownKey(o, path+"."+o.Key, "union", []string{"distinct"})
			continue
		}
		node.Union.Distinct = r.boolean(o.Value, path+".distinct")
	}
}

// selection reads one SELECT; its keys apply in SQL's order whatever order they are written in.
func (r *reader) selection(node *Node, n *spec.Node, path string) {
	s := &Select{Limit: -1}
	node.Select = s
	node.From = r.from(n, path, 1)
	known := slices.Concat(selectKeys(), []string{"union", "unnest"}, names(r.known.Steps), nodeKeys())
	for _, e := range n.Keys {
		p := path + "." + e.Key
		switch e.Key {
		case "from":
		case "where":
			s.Where = r.expression(e.Value, p)
		case "select":
			s.Items = r.selectItems(e.Value, p)
		case "distinct":
			s.Distinct = r.boolean(e.Value, p)
		case "order_by":
			s.OrderBy = r.orderItems(e.Value, p)
		case "limit":
			if v, ok := r.count(e.Value, p, 0, 0); ok {
				s.Limit = v
			}
		case "offset":
			if v, ok := r.count(e.Value, p, 0, 0); ok {
				s.Offset, s.OffsetPos = v, at(e.Value.Pos, p)
			}
		default:
			if !slices.Contains(nodeKeys(), e.Key) {
				r.other(Transforms, e, path, what(node), known)
			}
		}
	}
}

// selectItems reads name: expression in order, or a list of columns and name: expression.
func (r *reader) selectItems(n *spec.Node, path string) []SelectItem {
	entries, ok := r.namedItems(n, path)
	if !ok {
		return nil
	}
	var out []SelectItem
	seen := map[string]spec.Pos{}
	for _, e := range entries {
		if e.name == "*" {
			if item, ok := r.star(e, path); ok {
				out = append(out, item)
			}
			continue
		}
		if item, ok := r.item(e, path, seen); ok {
			out = append(out, SelectItem{Item: item})
		}
	}
	if len(entries) == 0 {
		r.wrongType(n, path, "at least one name: expression", "")
	}
	return out
}

// star reads "*", or "*": {except: [raw]}.
func (r *reader) star(e namedNode, path string) (SelectItem, bool) {
	path += ".*"
	item := SelectItem{Star: true, Item: Item{Name: "*", Expression: Expression{Text: "*", Pos: at(e.pos, path), At: fixed(at(e.pos, path))}}}
	if e.bare || e.value.Nothing() {
		return item, true
	}
	if e.value.Kind != spec.Mapping {
		r.add(at(e.value.Pos, path), spec.RuleWrongType, "* is "+e.value.Describe(), "").Expected = "{except: [column]}"
		return item, false
	}
	for _, o := range e.value.Keys {
		if o.Key != "except" {
			r.unknownKey(o, path+"."+o.Key, "*", []string{"except"})
			continue
		}
		items := o.Value.Items
		if o.Value.Kind == spec.Scalar && !o.Value.Nothing() {
			items = []*spec.Node{o.Value}
		} else if o.Value.Kind != spec.Sequence {
			r.wrongType(o.Value, path+".except", "a list of columns", "")
		}
		for _, column := range items {
			if column.Kind != spec.Scalar || column.Nothing() {
				r.wrongType(column, path+".except", "a column", "")
				continue
			}
			item.Except = append(item.Except, unquote(column.Text))
		}
	}
	return item, true
}

// namedNode is an item of a list that names columns: bare, or with an expression.
type namedNode struct {
	name  string
	pos   spec.Pos
	value *spec.Node
	bare  bool
}

// namedItems reads a mapping name: value, or a list whose items are bare or such a pair.
func (r *reader) namedItems(n *spec.Node, path string) ([]namedNode, bool) {
	switch {
	case n.Nothing():
		r.wrongType(n, path, "name: expression", "")
		return nil, false
	case n.Kind == spec.Mapping:
		var out []namedNode
		for _, e := range n.Keys {
			out = append(out, namedNode{name: e.Key, pos: e.Pos, value: e.Value})
		}
		return out, true
	}
	return r.listItems(n, path), true
}

func (r *reader) listItems(n *spec.Node, path string) []namedNode {
	items := n.Items
	if n.Kind == spec.Scalar {
		items = []*spec.Node{n}
	}
	var out []namedNode
	for i, item := range items {
		switch {
		case item.Kind == spec.Scalar && !item.Nothing():
			out = append(out, namedNode{name: unquote(item.Text), pos: item.Pos, value: item, bare: true})
		case item.Kind == spec.Mapping && len(item.Keys) == 1:
			e := item.Keys[0]
			out = append(out, namedNode{name: e.Key, pos: e.Pos, value: e.Value})
		default:
			r.wrongType(item, fmt.Sprintf("%s[%d]", path, i), "a column or name: expression", "")
		}
	}
	return out
}

// item makes a named expression; seen holds the names given so far.
func (r *reader) item(e namedNode, path string, seen map[string]spec.Pos) (Item, bool) {
	path += "." + e.name
	if strings.TrimSpace(e.name) == "" {
		r.add(at(e.pos, path), RuleNodeName, "a column needs a name", "")
		return Item{}, false
	}
	if first, twice := seen[e.name]; twice {
		r.add(at(e.pos, path), RuleDuplicateColumn, fmt.Sprintf("two columns are called %s", e.name),
			fmt.Sprintf("the first is at line %d, column %d", first.Line, first.Column))
		return Item{}, false
	}
	seen[e.name] = e.pos
	if e.bare {
		return Item{Name: e.name, Expression: bare(e.value, e.name, path)}, true
	}
	x := r.expression(e.value, path)
	if x == nil {
		return Item{}, false
	}
	return Item{Name: e.name, Expression: *x}, true
}

// orderPattern takes the direction off the end of an item of order_by.
var orderPattern = regexp.MustCompile(`(?is)^(.*?)(?:\s+(ASC|DESC))?(?:\s+NULLS\s+(FIRST|LAST))?\s*$`)

// orderItems reads [a, b DESC NULLS LAST]. NULLs sort lowest unless written otherwise, as in Flink.
func (r *reader) orderItems(n *spec.Node, path string) []OrderItem {
	items := n.Items
	if n.Kind == spec.Scalar && !n.Nothing() {
		items = []*spec.Node{n}
	} else if n.Kind != spec.Sequence || len(items) == 0 {
		hint := ""
		if n.Kind == spec.Mapping {
			hint = "write a list: [country, revenue DESC NULLS LAST]"
		}
		r.wrongType(n, path, "a list of columns, each with DESC where it falls", hint)
		return nil
	}
	var out []OrderItem
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item.Kind != spec.Scalar || item.Nothing() {
			r.wrongType(item, at, "a column or expression, with DESC where it falls", "")
			continue
		}
		m := orderPattern.FindStringSubmatch(item.Text)
		cut := *item
		cut.Text = strings.TrimRight(m[1], " \t\n")
		o := OrderItem{Desc: strings.EqualFold(m[2], "DESC")}
		o.NullsFirst = !o.Desc
		if m[3] != "" {
			o.NullsFirst = strings.EqualFold(m[3], "FIRST")
		}
		if x := r.expression(&cut, at); x != nil {
			o.Expression = *x
			out = append(out, o)
		}
	}
	return out
}

// aggregation reads group_by, measures and having.
func (r *reader) aggregation(node *Node, n *spec.Node, path string) {
	a := &Aggregate{}
	node.Aggregate = a
	node.From = r.from(n, path, 1)
	seen := map[string]spec.Pos{}
	if e := n.Get("group_by"); e != nil {
		a.Keys = r.groupItems(e.Value, path+".group_by", seen)
	}
	if e := n.Get("measures"); e != nil {
		a.Measures = r.measures(e.Value, path+".measures", seen)
	}
	if e := n.Get("having"); e != nil {
		a.Having = r.expression(e.Value, path+".having")
	}
	if n.Get("group_by") == nil && n.Get("measures") == nil {
		r.add(node.Pos, spec.RuleMissingKey, node.Name+" has neither group_by nor measures", "").Expected = "measures: {orders: COUNT(*)}"
	}
	known := slices.Concat(aggregateKeys(), nodeKeys())
	for _, e := range n.Keys {
		if !slices.Contains(known, e.Key) {
			r.other(Aggregations, e, path, what(node), known)
		}
	}
}

func (r *reader) groupItems(n *spec.Node, path string, seen map[string]spec.Pos) []Item {
	if n.Kind == spec.Mapping || n.Nothing() || n.Kind == spec.Sequence && len(n.Items) == 0 {
		hint := ""
		if n.Kind == spec.Mapping && len(n.Keys) > 0 {
			hint = "write a list: - " + n.Keys[0].Key + ": …"
		} else if n.Kind == spec.Sequence {
			hint = "leave group_by out for one row over everything"
		}
		r.wrongType(n, path, "a list of columns and name: expression", hint)
		return nil
	}
	var out []Item
	for _, e := range r.listItems(n, path) {
		if item, ok := r.item(e, path, seen); ok {
			out = append(out, item)
		}
	}
	return out
}

func (r *reader) measures(n *spec.Node, path string, seen map[string]spec.Pos) []Item {
	if n.Kind != spec.Mapping || len(n.Keys) == 0 {
		r.wrongType(n, path, "a mapping of names to expressions, such as orders: COUNT(*)", "")
		return nil
	}
	var out []Item
	for _, e := range n.Keys {
		if item, ok := r.item(namedNode{name: e.Key, pos: e.Pos, value: e.Value}, path, seen); ok {
			out = append(out, item)
		}
	}
	return out
}

// unquote takes backticks off a name.
func unquote(s string) string {
	if len(s) > 2 && s[0] == '`' && s[len(s)-1] == '`' {
		return strings.ReplaceAll(s[1:len(s)-1], "``", "`")
	}
	return s
}

// bare is an item that stands for the column of its name, or for a field of a ROW: customer.city.
func bare(n *spec.Node, name, path string) Expression {
	if e, err := expr.Parse(name, nil); err == nil && e.Op == expr.OpCall && e.Name == "FIELD" {
		return Expression{Text: name, Bare: true, Pos: at(n.Pos, path), At: placer(n, path), quoted: n.Quoted, Expr: e}
	}
	return Expression{Text: name, Bare: true, Pos: at(n.Pos, path), At: placer(n, path), quoted: n.Quoted,
		Expr: &expr.Expr{Op: expr.OpColumn, Name: name, End: len(n.Text)}}
}

func fixed(p Pos) func(int) Pos { return func(int) Pos { return p } }

// placer maps offsets of a scalar's text to places in the plan.
func placer(n *spec.Node, path string) func(int) Pos {
	if n.At == nil {
		return fixed(at(n.Pos, path))
	}
	return func(offset int) Pos { return at(n.At(offset), path) }
}
