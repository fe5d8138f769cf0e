package jobgraph

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
)

// A step is an operator to be placed. An inner one does not finish its plan node, so the node's own
// keys (parallelism, slot_sharing_group) are not for it.
type step struct {
	role      string
	component string
	options   json.RawMessage
	inner     bool
}

func (b *builder) source(r *expr.Rel) (*end, error) {
	n, bound := b.nodes[r.Node], b.bp.Sources[r.Node]
	columns, fileAt := fileAmong(r.Scan.Columns, len(bound.Source.Schema().Fields))
	want := connectors.Pushdown{Columns: columns, Where: r.Scan.Where, Limit: r.Scan.Limit, Rejects: b.sides[r.Node], Paths: b.paths(r)}
	left := bound.Source.Push(want)
	if left.Where != nil || left.Columns != nil {
		return nil, fmt.Errorf("source %s took a pushdown at first and then refused it", n.Source.Kind)
	}
	v := b.vertex(n, false)
	op := Operator{
		Kind: SourceOp, UID: n.Name + "/source", Node: n.Name, Component: n.Source.Kind, Out: r.Schema,
		Source: &Source{State: bound.State, Push: want, Inv: bound.Source.Inventory(), FileAt: fileAt, Skip: r.Scan.Skip, Unbounded: !bound.Source.Bounded()},
	}
	p, ok := bound.Source.(connectors.Partitioned)
	op.Source.Partitioned = op.Source.Unbounded || ok && p.Partitioned()
	if e := n.Source.OnError; e != nil && e.Skip {
		op.Source.Rejects = &RejectLimits{MaxRows: e.MaxRows, MaxShare: e.MaxShare}
	}
	return b.append(v, nil, op, "Source: "+n.Name, r.Schema), nil
}

// paths are the fields of nested columns that the plan looks at, of the columns that are read.
func (b *builder) paths(r *expr.Rel) map[int][][]string {
	var out map[int][][]string
	fields := b.bp.Sources[r.Node].Source.Schema().Fields
	for c, paths := range b.bp.Logical.Paths[r.Scan.Source] {
		if c < len(fields) && fields[c].Type.Nested() {
			if out == nil {
				out = map[int][][]string{}
			}
			out[c] = paths
		}
	}
	return out
}

func (b *builder) sink(r *expr.Rel, in *end) (*end, error) {
	n := b.nodes[r.Node]
	bound := b.bp.Sinks[r.Node]
	fixed := ""
	if bound.SingleFile {
		fixed = "single-file-sink"
	}
	v, behind := in.v, in
	if hasSink(v) || !b.chains(in, n, false, fixed) {
		behind = nil
		v = b.vertex(n, false)
		v.Parallelism.Fixed = fixed
		b.connect(in, v, 0, b.pass(in.v, v), nil)
	}
	op := Operator{
		Kind: SinkOp, UID: n.Name + "/sink", Node: n.Name, Component: n.Sink.Kind, In: []expr.Schema{in.schema}, Out: in.schema,
		Sink: &Sink{Bound: bound}, NotDeterministic: b.bp.Logical.NotDeterministic[r.Node],
	}
	if side := r.Inputs[0].Side; side != nil && side.Port == connectors.PortRejected {
		op.Sink.RejectsOf, op.Sink.Options = side.Source, n.Sink.Options
	}
	return b.append(v, behind, op, "Sink: "+n.Name, in.schema), nil
}

// hasSink reports whether a sink is in the chain; a task commits for one.
func hasSink(v *Vertex) bool {
	return slices.ContainsFunc(v.Operators, func(o Operator) bool { return o.Kind == SinkOp })
}

// operator places a step behind its inputs: in the chain of its input where it may be chained, else at
// the head of a vertex of its own.
func (b *builder) operator(r *expr.Rel, ins []*end, s step) (*end, error) {
	c := b.cat.Operators[s.component]
	if c == nil {
		return nil, fmt.Errorf("this version has no operator %s", s.component)
	}
	schemas := make([]expr.Schema, len(ins))
	for i, in := range ins {
		schemas[i] = in.schema
	}
	out, err := c.Schema(s.options, schemas)
	if err != nil {
		return nil, err
	}
	needs, err := c.Needs(s.options, schemas)
	if err != nil {
		return nil, err
	}
	label, err := c.Label(s.options)
	if err != nil {
		return nil, err
	}
	n := b.nodes[r.Node]
	op := Operator{
		Kind: TransformOp, UID: r.Node + "/" + s.role, Node: r.Node, Component: s.component, Options: s.options, In: schemas, Out: out,
	}
	fixed := ""
	for _, d := range needs {
		if d.Kind == operators.Global {
			fixed = "global-exchange"
		}
	}
	if len(ins) == 1 && needs[0].Kind == operators.Any && b.chains(ins[0], n, s.inner, "") {
		return b.append(ins[0].v, ins[0], op, label, out), nil
	}
	if len(ins) == 1 && fixed != "" && ins[0].v.Parallelism.Fixed == "global-exchange" && b.chains(ins[0], n, s.inner, fixed) {
		return b.append(ins[0].v, ins[0], op, label, out), nil // one subtask has all rows already
	}
	v := b.vertex(n, s.inner)
	v.Parallelism.Fixed = fixed
	if fixed != "" {
		v.Parallelism.Value = 0
	}
	// A union's inputs are edges into one input.
	for i, in := range ins {
		input := i
		if s.component == "union" {
			input = 0
		}
		kind, keys := b.pass(in.v, v), []int(nil)
		switch needs[min(i, len(needs)-1)].Kind {
		case operators.Hash:
			kind, keys = HashBy, needs[min(i, len(needs)-1)].Keys
		case operators.Broadcast:
			kind = Broadcast
		case operators.Global:
			kind = Global
		}
		b.connect(in, v, input, kind, keys)
	}
	return b.append(v, nil, op, label, out), nil
}

// chains reports whether a step of a plan node may run in the vertex of in: the keys of the node ask for
// no other slot sharing group and no other parallelism. An inner step has no keys of its own.
func (b *builder) chains(in *end, n *plans.Node, inner bool, fixed string) bool {
	if in.port != "" {
		return false
	}
	p := in.v.Parallelism
	if fixed != "" && p.Fixed == "" && p.Value != 1 {
		return false
	}
	if inner {
		return true
	}
	if n.Parallelism > 0 && (p.Fixed != "" && n.Parallelism != 1 || p.Fixed == "" && n.Parallelism != p.Value) {
		return false
	}
	return n.SharingGroup == "" || group(n) == in.v.SharingGroup
}

func group(n *plans.Node) string {
	if n.SharingGroup == "" {
		return "default"
	}
	return n.SharingGroup
}

// pass is how rows go between two vertices when it does not matter where each goes.
func (b *builder) pass(from, to *Vertex) ExchangeKind {
	if to.Parallelism.Fixed != "" {
		return Global
	}
	return Rebalance
}

func (b *builder) vertex(n *plans.Node, inner bool) *Vertex {
	v := &Vertex{SharingGroup: group(n), Parallelism: Request{Origin: b.origin}}
	if n.Parallelism > 0 && !inner {
		v.Parallelism = Request{Value: n.Parallelism, Origin: "node"}
	}
	b.vertices = append(b.vertices, v)
	return v
}

// append puts an operator into the chain behind the one at in; nil: it begins the chain.
func (b *builder) append(v *Vertex, in *end, op Operator, label string, out expr.Schema) *end {
	if in != nil && in.op != len(v.Operators)-1 {
		op.Behind = len(v.Operators) - in.op
	}
	b.nextID++
	op.ID = b.nextID
	op.Label = fmt.Sprintf("%s[%d]", label, op.ID)
	v.Operators = append(v.Operators, op)
	return &end{v: v, op: len(v.Operators) - 1, schema: out}
}

func (b *builder) connect(in *end, to *Vertex, input int, kind ExchangeKind, keys []int) {
	e := &Edge{Operator: in.op, Port: in.port, Input: input, Exchange: kind, Keys: keys, Blocking: !b.g.Streaming(), Schema: in.schema}
	b.joins = append(b.joins, join{e, in.v, to})
}

// nameFrom names the chain from an operator on, as Flink does: "Source: o[1] -> (Calc[2], Calc[3] -> Sink: x[4])".
func (v *Vertex) nameFrom(k int) string {
	var next []string
	for i := k + 1; i < len(v.Operators); i++ {
		if v.Input(i) == k {
			next = append(next, v.nameFrom(i))
		}
	}
	switch len(next) {
	case 0:
		return v.Operators[k].Label
	case 1:
		return v.Operators[k].Label + " -> " + next[0]
	}
	return v.Operators[k].Label + " -> (" + strings.Join(next, ", ") + ")"
}

// A join remembers which vertices an edge is between until they have their ids.
type join struct {
	e        *Edge
	from, to *Vertex
}

// finish names the vertices and gives them ids: equal plans get equal ids, so that runs compare.
func (b *builder) finish() {
	for _, v := range b.vertices {
		h := sha256.New()
		for _, op := range v.Operators {
			fmt.Fprintf(h, "%d %s\n", op.ID, op.UID)
		}
		v.Name = v.nameFrom(0)
		if b.g.Option("runner.slot-sharing") == "false" {
			v.SharingGroup = v.Operators[0].Label
		}
		v.ID = hex.EncodeToString(h.Sum(nil)[:16])
	}
	for i, j := range b.joins {
		j.e.From, j.e.To = j.from.ID, j.to.ID
		j.e.ID = fmt.Sprintf("%s-%s-%d", j.from.ID[:8], j.to.ID[:8], i)
		b.g.Edges = append(b.g.Edges, *j.e)
	}
	for _, v := range b.vertices {
		b.g.Vertices = append(b.g.Vertices, *v)
	}
}
