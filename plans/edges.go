package plans

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// names puts the nodes in the order of the file and refuses two of one name or one uid.
func (r *reader) names(root *spec.Node) {
	nodes := r.plan.Nodes
	sort.SliceStable(nodes, func(i, j int) bool {
		a, b := nodes[i].Pos, nodes[j].Pos
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	byName, byUID := map[string]*Node{}, map[string]*Node{}
	for i := range nodes {
		n := &nodes[i]
		if first := byName[n.Name]; first != nil {
			r.add(n.Pos, RuleDuplicateNode, fmt.Sprintf("two nodes are called %s", n.Name),
				fmt.Sprintf("the first is at line %d, column %d; names are shared by all sections", first.Pos.Line, first.Pos.Column))
		} else {
			byName[n.Name] = n
		}
		if n.UID == "" {
			continue
		}
		if first := byUID[n.UID]; first != nil {
			r.add(n.Pos, RuleDuplicateNode, fmt.Sprintf("%s and %s have the uid %s", first.Name, n.Name, n.UID), "")
		} else {
			byUID[n.UID] = n
		}
	}
	if !slices.ContainsFunc(nodes, func(n Node) bool { return n.Section == Sinks }) && !r.sinksUnreadable(root) {
		r.add(at(root.Pos, ""), RuleNoSink, "the plan has no sink, so it would write nothing", "add one: sinks: {result: {from: orders, print: {}}}")
	}
}

// sinksUnreadable reports whether a key that may have been meant for sinks is reported already.
func (r *reader) sinksUnreadable(root *spec.Node) bool {
	if e := root.Get(string(Sinks)); e != nil {
		return !e.Value.Nothing() && e.Value.Kind != spec.Mapping
	}
	return slices.ContainsFunc(root.Keys, func(e spec.Entry) bool { return spec.Near(e.Key, []string{string(Sinks)}) != "" })
}

// edges checks that every from names a node that gives rows, that there is no cycle, and warns of
// nodes that no sink needs.
func (r *reader) edges() {
	byName := map[string]*Node{}
	var givers []string
	for i := range r.plan.Nodes {
		n := &r.plan.Nodes[i]
		if byName[n.Name] == nil {
			byName[n.Name] = n
			if n.Section != Sinks {
				givers = append(givers, n.Name)
			}
		}
	}
	r.whole = true
	for i := range r.plan.Nodes {
		n := &r.plan.Nodes[i]
		r.whole = r.whole && (n.Section == Sources || len(n.From) > 0)
		for _, in := range r.plan.Nodes[i].From {
			r.edge(in, byName[in.Node], givers)
		}
	}
	r.cycles(byName)
	if r.whole {
		r.unused(byName)
	}
}

// edge checks one from. A broken one leaves open what is needed, so that nothing is called unused.
func (r *reader) edge(in Input, target *Node, givers []string) {
	r.whole = r.whole && target != nil && target.Section != Sinks
	switch {
	case target == nil:
		f := r.add(in.Pos, RuleUnknownNode, fmt.Sprintf("there is no node %q", in.Node), "")
		if f.Near = spec.Near(in.Node, givers); f.Near == "" {
			f.Expected = spec.List(givers)
		}
	case target.Section == Sinks:
		r.add(in.Pos, RuleUnknownNode, fmt.Sprintf("%s is a sink, which gives nothing out", in.Node), "").Expected = spec.List(givers)
	case in.Port != "":
		r.port(in, target)
	}
}

// cycles reports every cycle once, at the edge that closes it, with its path.
func (r *reader) cycles(byName map[string]*Node) {
	const (
		entered = 1
		left    = 2
	)
	state := map[string]int{}
	var path []string
	var visit func(n *Node)
	visit = func(n *Node) {
		state[n.Name] = entered
		path = append(path, n.Name)
		for _, in := range n.From {
			next := byName[in.Node]
			if next == nil {
				continue
			}
			switch state[next.Name] {
			case 0:
				visit(next)
			case entered:
				ring := append(slices.Clone(path[slices.Index(path, next.Name):]), next.Name)
				slices.Reverse(ring)
				r.add(in.Pos, RuleCycle, "the nodes form a cycle: "+strings.Join(ring, " -> "), "")
			}
		}
		path = path[:len(path)-1]
		state[n.Name] = left
	}
	for i := range r.plan.Nodes {
		if n := &r.plan.Nodes[i]; byName[n.Name] == n && state[n.Name] == 0 {
			visit(n)
		}
	}
}

// unused warns of nodes that no sink reads from, directly or through others.
func (r *reader) unused(byName map[string]*Node) {
	needed := map[string]bool{}
	var need func(n *Node)
	need = func(n *Node) {
		if n == nil || needed[n.Name] {
			return
		}
		needed[n.Name] = true
		for _, in := range n.From {
			need(byName[in.Node])
		}
	}
	sinks := 0
	for i := range r.plan.Nodes {
		if r.plan.Nodes[i].Section == Sinks {
			sinks++
			need(&r.plan.Nodes[i])
		}
	}
	for i := range r.plan.Nodes {
		if n := &r.plan.Nodes[i]; sinks > 0 && !needed[n.Name] && byName[n.Name] == n {
			r.add(n.Pos, RuleUnusedNode, fmt.Sprintf("no sink needs %s, so it is not run", n.Name), "").Severity = SeverityWarning
		}
	}
}
