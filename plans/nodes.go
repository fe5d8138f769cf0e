package plans

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// section reads the nodes of one section.
func (r *reader) section(s Section, section spec.Entry) {
	n := section.Value
	if n.Nothing() {
		return
	}
	if n.Kind != spec.Mapping {
		r.wrongType(n, string(s), "a mapping of node names to nodes", "")
		return
	}
	for _, e := range n.Keys {
		path := string(s) + "." + e.Key
		if !nodeName.MatchString(e.Key) {
			r.add(at(e.Pos, path), RuleNodeName, fmt.Sprintf("%q cannot name a node", e.Key), "").Expected = "letters, digits and _, not beginning with a digit"
		}
		node := Node{Name: e.Key, Section: s, Pos: at(e.Pos, path)}
		if e.Value.Kind != spec.Mapping {
			r.wrongType(e.Value, path, "a mapping with "+shape(s), "")
		} else {
			r.node(&node, e.Value, path)
		}
		r.plan.Nodes = append(r.plan.Nodes, node)
	}
}

// shape says what a node of a section looks like.
func shape(s Section) string {
	switch s {
	case Sources:
		return "a kind such as csv"
	case Sinks:
		return "from and a kind such as parquet"
	case Aggregations:
		return "from, group_by and measures"
	}
	return "from, where, select …"
}

func (r *reader) node(node *Node, n *spec.Node, path string) {
	for _, e := range n.Keys {
		if slices.Contains(nodeKeys(), e.Key) {
			r.common(node, e, path+"."+e.Key)
		}
	}
	switch node.Section {
	case Sources:
		r.source(node, n, path)
	case Sinks:
		r.sink(node, n, path)
	case Aggregations:
		r.aggregation(node, n, path)
	default:
		r.transform(node, n, path)
	}
}

// common reads a key that every node may have.
func (r *reader) common(node *Node, e spec.Entry, path string) {
	switch e.Key {
	case "parallelism":
		if p, ok := r.count(e.Value, path, 1, mostParallelism); ok {
			node.Parallelism = int(p)
		}
	case "doc":
		if e.Value.Kind != spec.Scalar || e.Value.Nothing() {
			r.wrongType(e.Value, path, "text", "")
			return
		}
		node.Doc = e.Value.Text
	case "uid":
		node.UID, _ = r.word(e.Value, path)
	default:
		node.SharingGroup, _ = r.word(e.Value, path)
	}
}

const mostParallelism = 32768

// word is a text that is not empty.
func (r *reader) word(n *spec.Node, path string) (string, bool) {
	text, ok := r.scalar(n, path, "text")
	if ok && strings.TrimSpace(text) == "" {
		r.wrongType(n, path, "text that is not empty", "")
		return "", false
	}
	return text, ok
}

// count is an integer within bounds; most 0 means no upper one.
func (r *reader) count(n *spec.Node, path string, least, most int64) (int64, bool) {
	expected := fmt.Sprintf("an integer of at least %d", least)
	text, ok := r.scalar(n, path, expected)
	if !ok {
		return 0, false
	}
	v, err := spec.ParseInt(text)
	switch {
	case err != nil:
		r.wrongType(&spec.Node{Text: text, Pos: n.Pos}, path, expected, err.Error())
	case v < least:
		r.wrongType(&spec.Node{Text: text, Pos: n.Pos}, path, expected, "")
	case most > 0 && v > most:
		r.wrongType(&spec.Node{Text: text, Pos: n.Pos}, path, fmt.Sprintf("an integer of at most %d", most), "")
	default:
		return v, true
	}
	return 0, false
}

// boolean is true or false.
func (r *reader) boolean(n *spec.Node, path string) bool {
	text, ok := r.scalar(n, path, "true or false")
	if !ok {
		return false
	}
	b, err := spec.ParseBool(text)
	if err != nil {
		r.wrongType(&spec.Node{Text: text, Pos: n.Pos}, path, "true or false", err.Error())
	}
	return b
}

// other judges a key that is neither a common one nor one of its section.
func (r *reader) other(s Section, e spec.Entry, path, what string, known []string) {
	if slices.Contains(laterKeys(s), e.Key) {
		hint := ""
		if e.Key == "slot_sharing" {
			hint = "slot_sharing_group sets nodes apart; for the whole job it is slot_sharing: false in settings"
		}
		r.notYet(at(e.Pos, path+"."+e.Key), e.Key, hint)
		return
	}
	r.unknownKey(e, path+"."+e.Key, what, known)
}

func (r *reader) source(node *Node, n *spec.Node, path string) {
	node.Source = r.kind(node, n, path, "on_error", "watermark")
	for _, e := range n.Keys {
		switch {
		case node.Source == nil:
		case e.Key == "on_error":
			node.Source.OnError = r.onError(e, path+".on_error")
		case e.Key == "watermark":
			node.Source.Watermark = r.watermark(e, path+".watermark")
		}
	}
}

func (r *reader) sink(node *Node, n *spec.Node, path string) {
	node.From = r.from(n, path, 1)
	node.Sink = r.kind(node, n, path, "from")
}

// kind reads the one kind key of a source, sink or step; more are the other keys it may have.
func (r *reader) kind(node *Node, n *spec.Node, path string, more ...string) *Connector {
	kinds := r.known.of(node.Section)
	known := slices.Concat(names(kinds), more, nodeKeys())
	var found []spec.Entry
	later := false
	for _, e := range n.Keys {
		switch {
		case kinds[e.Key].Options != nil:
			found = append(found, e)
		case slices.Contains(known, e.Key):
		default:
			later = later || slices.Contains(laterKeys(node.Section), e.Key) || r.wrongRole(node.Section, e, path)
			if !r.wrongRole(node.Section, e, "") {
				r.other(node.Section, e, path, what(node), known)
			}
		}
	}
	switch {
	case len(found) == 0 && !later && !r.misspelt(n, known):
		r.add(node.Pos, RuleKind, fmt.Sprintf("%s has no kind", node.Name), "").Expected = spec.List(names(kinds))
	case len(found) > 1:
		r.add(at(found[1].Pos, path+"."+found[1].Key), RuleKind, fmt.Sprintf("%s is both %s and %s", node.Name, found[0].Key, found[1].Key),
			fmt.Sprintf("a node has one kind; %s is at line %d, column %d", found[0].Key, found[0].Pos.Line, found[0].Pos.Column))
	}
	if len(found) == 0 {
		return nil
	}
	return r.connector(node, found[0], kinds[found[0].Key], path)
}

// misspelt reports whether a key of the node was reported as unknown: it is likely the kind meant.
func (r *reader) misspelt(n *spec.Node, known []string) bool {
	return slices.ContainsFunc(n.Keys, func(e spec.Entry) bool { return !slices.Contains(known, e.Key) })
}

// wrongRole finds a sink's kind among sources and the other way round; with a path it says so.
func (r *reader) wrongRole(s Section, e spec.Entry, path string) bool {
	other, role := r.known.Sinks, "a sink, not a source"
	if s == Sinks {
		other, role = r.known.Sources, "a source, not a sink"
	}
	if s == Transforms || other[e.Key].Options == nil {
		return false
	}
	if path != "" {
		f := r.add(at(e.Pos, path+"."+e.Key), RuleKind, e.Key+" is "+role, "")
		f.Expected = spec.List(names(r.known.of(s)))
	}
	return true
}

// what is a node's kind of thing, for messages.
func what(n *Node) string { return strings.TrimSuffix(string(n.Section), "s") + " " + n.Name }

// connector decodes the options of a component.
func (r *reader) connector(node *Node, e spec.Entry, kind Kind, path string) *Connector {
	path += "." + e.Key
	options := kind.Options()
	scope := r.scope(path, e.Key)
	scope.Role = strings.TrimSuffix(string(node.Section), "s")
	places, problems := r.decoder.Decode(r.substitute(e.Value, path), options, scope)
	r.problems(problems)
	c := &Connector{Kind: e.Key, Pos: at(e.Pos, path), Places: make(map[string]Pos, len(places))}
	for name, p := range places {
		if name != "" {
			c.Places[name] = at(p, path+"."+name)
		}
	}
	b, err := json.Marshal(options)
	if err != nil {
		r.add(c.Pos, spec.RuleInvalidValue, fmt.Sprintf("the options of %s cannot travel: %v", reflect.TypeOf(options), err), "")
	}
	c.Options = b
	return c
}

// from reads the edges into a node.
func (r *reader) from(n *spec.Node, path string, most int) []Input {
	e := n.Get("from")
	path += ".from"
	if e == nil {
		other := func(e spec.Entry) bool {
			return spec.Near(e.Key, []string{"from"}) != "" || slices.Contains(laterKeys(Transforms), e.Key)
		}
		if slices.ContainsFunc(n.Keys, other) {
			return nil
		}
		r.add(at(n.Pos, path), spec.RuleMissingKey, "from is missing", "").Expected = "the name of a node"
		return nil
	}
	items := e.Value.Items
	if e.Value.Kind != spec.Sequence {
		items = []*spec.Node{e.Value}
	}
	if e.Value.Kind == spec.Sequence && len(items) == 0 {
		r.wrongType(&spec.Node{Pos: e.Value.Pos, Null: true}, path, "the name of a node", "")
	}
	if len(items) > most {
		r.add(at(e.Value.Pos, path), spec.RuleWrongType, "from names more than one node", "put them together first, in a transform with from: [a, b] and union: {}")
		return nil
	}
	var in []Input
	for _, item := range items {
		if item.Kind != spec.Scalar || item.Nothing() {
			r.wrongType(item, path, "the name of a node", "")
			continue
		}
		text := r.substitute(item, path).Text
		name, port, _ := strings.Cut(text, ".")
		in = append(in, Input{Node: name, Port: port, Pos: at(item.Pos, path)})
	}
	return in
}
