package scheduler

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// Explain says, before anything runs, which parallelism each vertex will get, in the order of the graph:
// the number for sources and for what needs no volumes, the bounds (Decided 0) for the rest.
func Explain(g *jobgraph.Graph) ([]Decision, error) {
	d, err := NewDecider(g)
	if err != nil {
		return nil, err
	}
	byVertex := make(map[string]Decision, len(g.Vertices))
	all := make([]Decision, 0, len(g.Vertices))
	for i := range g.Vertices {
		x := d.expected(&g.Vertices[i], byVertex)
		byVertex[x.Vertex] = x
		all = append(all, x)
	}
	return all, nil
}

func (d *Decider) expected(v *jobgraph.Vertex, before map[string]Decision) Decision {
	if sourceOf(v) != nil {
		return d.Source(v, d.estimatedSplits(v))
	}
	if x, ok := d.known(v, func(vertex string) int { return before[vertex].Decided }); ok {
		return x
	}
	x := d.decision(v)
	if from := d.forwardFrom(v.ID); from != "" {
		x.Min, x.Reason = before[from].Min, ReasonForward
		x.Text = fmt.Sprintf("%d to %d subtasks, one for each of %s", x.Min, x.Max, d.name(from))
		return x
	}
	for _, e := range d.graph.Edges {
		if e.To == v.ID && !e.Blocking {
			x, _ = d.byVolume(v, []Input{{Edge: e}})
			return x
		}
	}
	x.Min = min(d.options.Min, x.Max)
	x.Numbers = map[string]int64{
		"avgBytesPerTask": d.options.AvgBytes, "bound": int64(x.Max), "minParallelism": int64(d.options.Min),
	}
	if x.Min == x.Max {
		return decided(x, x.Max, ReasonMaxParallelism, fmt.Sprintf("%s, bounded by %s", subtasks(x.Max), d.boundText(x)))
	}
	x.Reason = ReasonDataVolume
	x.Text = fmt.Sprintf("%d to %d subtasks, decided by the bytes that its inputs write (%d bytes per task)",
		x.Min, x.Max, d.options.AvgBytes)
	return x
}
