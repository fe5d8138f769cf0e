package scheduler

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// An Input is what a vertex behind exchanges can read from one edge. Volumes are the bytes of each
// subpartition summed over all producers; nil where the edge is pipelined, so that nothing is known yet.
type Input struct {
	Edge      jobgraph.Edge
	Producers int
	Volumes   []int64
}

// A Reading says what each subtask reads of one edge. Exactly one of the two is meant: subtask i of a
// FORWARD edge reads all that producer i wrote, of another edge range i of every producer.
type Reading struct {
	Forward bool
	Ranges  []Range
}

// From is the range of producers that a subtask reads from.
func (r Reading) From(subtask, producers int) (lo, hi int) {
	if r.Forward {
		return subtask, subtask + 1
	}
	return 0, producers
}

// Range is the range of subpartitions that a subtask reads.
func (r Reading) Range(subtask int) Range {
	if r.Forward {
		return Range{0, 1}
	}
	return r.Ranges[subtask]
}

// Downstream decides a vertex behind exchanges and what its subtasks read of each input: neighbouring
// subpartitions are packed up to the average volume, which all HASH and REBALANCE inputs share, so their
// volumes are summed by subpartition.
func (d *Decider) Downstream(v *jobgraph.Vertex, inputs []Input) (Decision, []Reading) {
	producers := func(vertex string) int {
		for _, in := range inputs {
			if in.Edge.From == vertex {
				return in.Producers
			}
		}
		return 0
	}
	x, ok := d.known(v, producers)
	var ranges []Range
	if !ok {
		x, ranges = d.byVolume(v, inputs)
	}
	readings := make([]Reading, len(inputs))
	for i, in := range inputs {
		readings[i] = d.reading(in.Edge, x.Decided, ranges)
	}
	return x, readings
}

func (d *Decider) reading(e jobgraph.Edge, p int, ranges []Range) Reading {
	switch e.Exchange {
	case jobgraph.Forward:
		return Reading{Forward: true}
	case jobgraph.Broadcast:
		all := make([]Range, p)
		for i := range all {
			all[i] = Range{0, 1}
			if !e.Blocking {
				all[i] = Range{i, i + 1} // each has a copy of its own
			}
		}
		return Reading{Ranges: all}
	case jobgraph.Global, jobgraph.HashBy, jobgraph.Rebalance:
	}
	if ranges == nil {
		ranges = Even(d.Subpartitions(e), p)
	}
	return Reading{Ranges: ranges}
}

// byVolume decides by the bytes that the producers wrote.
func (d *Decider) byVolume(v *jobgraph.Vertex, inputs []Input) (Decision, []Range) {
	x := d.decision(v)
	volumes := make([]int64, x.Max)
	var total, everywhere int64
	packable := false
	for _, in := range inputs {
		if !in.Edge.Blocking {
			return decided(x, x.Max, ReasonPipelined, fmt.Sprintf(
				"%s from %s, because it starts together with its producer", subtasks(x.Max), d.boundText(x))), nil
		}
		for i, b := range in.Volumes {
			total += b
			if in.Edge.Exchange == jobgraph.Broadcast {
				everywhere += b
			} else if i < len(volumes) {
				packable = true
				volumes[i] += b
			}
		}
	}
	if !packable {
		volumes = volumes[:1]
	}
	ranges := Pack(volumes, d.options.AvgBytes, d.options.Min, x.Max)
	x.Numbers = map[string]int64{
		"producedBytes": total, "avgBytesPerTask": d.options.AvgBytes, "subpartitions": int64(len(volumes)),
		"bound": int64(x.Max), "minParallelism": int64(d.options.Min),
	}
	if everywhere > 0 {
		x.Numbers["broadcastBytes"] = everywhere
	}
	return d.explained(x, len(ranges), len(packed(volumes, d.options.AvgBytes)), total-everywhere), ranges
}

// explained says why n ranges came out of bytes, where volume alone would have given byVolume.
func (d *Decider) explained(x Decision, n, byVolume int, bytes int64) Decision {
	perTask := fmt.Sprintf("%s over %d bytes per task", counted(bytes, "byte", "bytes"), d.options.AvgBytes)
	switch {
	case n > byVolume:
		return decided(x, n, ReasonMinParallelism, fmt.Sprintf("%s, held up by %s = %d: %s would give %d",
			subtasks(n), OptMin, d.options.Min, perTask, byVolume))
	case n == x.Max && (n > 1 || bytes > d.options.AvgBytes):
		return decided(x, n, ReasonMaxParallelism, fmt.Sprintf("%s, bounded by %s: %s", subtasks(n), d.boundText(x), perTask))
	}
	return decided(x, n, ReasonDataVolume, fmt.Sprintf("%s: %s, in neighbouring ones of %d subpartitions",
		subtasks(n), perTask, x.Numbers["subpartitions"]))
}
