package scheduler

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// A Decider decides the parallelism of a job's vertices. It holds what does not change while the job runs.
type Decider struct {
	graph   *jobgraph.Graph
	options Options
	bounds  map[string]int
}

// NewDecider makes the decider of a job. The error says which option cannot be used.
func NewDecider(g *jobgraph.Graph) (*Decider, error) {
	o, err := ParseOptions(g.Options)
	if err != nil {
		return nil, err
	}
	d := &Decider{graph: g, options: o, bounds: make(map[string]int, len(g.Vertices))}
	for i := range g.Vertices {
		v := &g.Vertices[i]
		d.bounds[v.ID] = d.boundOf(v)
	}
	return d, nil
}

// Options are the options in force.
func (d *Decider) Options() Options { return d.options }

// Bound is the largest parallelism a vertex can get.
func (d *Decider) Bound(vertex string) int { return d.bounds[vertex] }

// Subpartitions is how many subpartitions each producer writes for an edge: one where every consumer
// reads all of it or each consumer has its own producer, else as many as the consumer can have subtasks. What
// flows is gone when it is read, so a pipelined BROADCAST edge has one for each consumer.
func (d *Decider) Subpartitions(e jobgraph.Edge) int {
	switch e.Exchange {
	case jobgraph.Forward, jobgraph.Global:
		return 1
	case jobgraph.Broadcast:
		if e.Blocking {
			return 1
		}
	case jobgraph.HashBy, jobgraph.Rebalance:
	}
	return d.bounds[e.To]
}

// KeyGroups is the max parallelism of a vertex's keyed state: into how many groups its keys are divided. As in
// Flink it is the power of two from one and a half times the bound up, from 128 to 32768, so it does not change
// with what is decided.
func (d *Decider) KeyGroups(vertex string) int {
	n := 1
	for want := d.bounds[vertex] + d.bounds[vertex]/2; n < want; {
		n *= 2
	}
	return max(min(max(n, DisabledMax), maxKeyGroups), d.bounds[vertex])
}

// maxKeyGroups is the most key groups that Flink has.
const maxKeyGroups = 1 << 15

// boundOf needs the bounds of the vertices before v.
func (d *Decider) boundOf(v *jobgraph.Vertex) int {
	switch {
	case d.fixed(v) != "":
		return 1
	case explicit(v):
		return v.Parallelism.Value
	}
	if from := d.forwardFrom(v.ID); from != "" {
		return d.bounds[from]
	}
	if d.graph.Streaming() || !d.options.Enabled || d.options.Max == 0 {
		return d.requested(v)
	}
	return d.options.Max
}

// fixed is why a vertex can only have one subtask, "" where it can have more.
func (d *Decider) fixed(v *jobgraph.Vertex) Reason {
	if v.Parallelism.Fixed != "" {
		return Reason(v.Parallelism.Fixed)
	}
	for _, e := range d.graph.Edges {
		if e.To == v.ID && e.Exchange == jobgraph.Global {
			return ReasonGlobal
		}
	}
	return ""
}

func explicit(v *jobgraph.Vertex) bool {
	return v.Parallelism.Origin == "node" && v.Parallelism.Value > 0
}

// forwardFrom is the producer that a vertex must have as many subtasks as, "" where there is none.
func (d *Decider) forwardFrom(vertex string) string {
	for _, e := range d.graph.Edges {
		if e.To == vertex && e.Exchange == jobgraph.Forward {
			return e.From
		}
	}
	return ""
}

func (d *Decider) requested(v *jobgraph.Vertex) int {
	if v.Parallelism.Value > 0 {
		return v.Parallelism.Value
	}
	return d.options.Default
}

func (d *Decider) origin(v *jobgraph.Vertex) string {
	if v.Parallelism.Origin != "" {
		return v.Parallelism.Origin
	}
	return d.options.DefaultOrigin
}

func (d *Decider) decision(v *jobgraph.Vertex) Decision {
	return Decision{
		Vertex: v.ID, Name: v.Name, Requested: d.requested(v), Origin: d.origin(v),
		Max: d.bounds[v.ID], Numbers: map[string]int64{},
	}
}

func decided(x Decision, n int, r Reason, text string) Decision {
	x.Decided, x.Min, x.Reason, x.Text = n, n, r, text
	return x
}

// known decides the vertices that need no volumes and no splits: fixed ones, those with a number in the
// plan, those that follow their producer, and all of them in a stream and where auto-parallelism is off.
func (d *Decider) known(v *jobgraph.Vertex, parallelism func(vertex string) int) (Decision, bool) {
	x := d.decision(v)
	switch fixed := d.fixed(v); {
	case fixed == ReasonSingleFile:
		return decided(x, 1, fixed, "1 subtask, because its sink writes a single file"), true
	case fixed != "":
		return decided(x, 1, fixed, "1 subtask, because one subtask has to see all rows"), true
	case explicit(v):
		return decided(x, x.Requested, ReasonExplicit, fmt.Sprintf("%s, as the plan's node says", subtasks(x.Requested))), true
	}
	if from := d.forwardFrom(v.ID); from != "" {
		n := parallelism(from)
		x.Numbers["producerParallelism"] = int64(n)
		return decided(x, n, ReasonForward, fmt.Sprintf("%s, one for each of %s", subtasks(n), d.name(from))), n > 0
	}
	if d.graph.Streaming() {
		return decided(x, x.Requested, ReasonStreaming, fmt.Sprintf(
			"%s from %s, because a stream starts all at once, before anything is known of its data", subtasks(x.Requested), d.defaultText(x))), true
	}
	if !d.options.Enabled {
		x.Max = max(DisabledMax, x.Requested)
		return decided(x, x.Requested, ReasonDisabled,
			fmt.Sprintf("%s from %s, because auto-parallelism is off", subtasks(x.Requested), d.defaultText(x))), true
	}
	return x, false
}

func (d *Decider) name(vertex string) string {
	if v := d.graph.Vertex(vertex); v != nil {
		return v.Name
	}
	return vertex
}

// defaultText names parallelism.default with its value and where that comes from.
func (d *Decider) defaultText(x Decision) string {
	return fmt.Sprintf("%s = %d (%s)", OptDefault, x.Requested, x.Origin)
}

// boundText names the upper bound of a vertex behind an exchange.
func (d *Decider) boundText(x Decision) string {
	if d.options.Max > 0 {
		return fmt.Sprintf("%s = %d", OptMax, d.options.Max)
	}
	return d.defaultText(x)
}

func subtasks(n int) string {
	if n == 1 {
		return "1 subtask"
	}
	return fmt.Sprintf("%d subtasks", n)
}

func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
