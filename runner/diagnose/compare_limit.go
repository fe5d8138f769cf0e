package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/runner/report"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// What holds a run down that was given a higher parallelism.
const (
	NotEnoughSlots  = "not-enough-slots"
	CutByVolume     = "cut-by-data-volume"
	FewerSplits     = "fewer-splits-than-subtasks"
	SingleFileSink  = "single-file-sink"
	GlobalExchange  = "global-exchange"
	BoundedByOption = "bounded-by-option"
	FixedByNode     = "fixed-by-node"
	FewerCPUs       = "fewer-cpus-than-subtasks"
)

// A Limit is what holds a run down, read off decisions and counts and never off times.
type Limit struct {
	Kind   string `json:"kind"`
	Vertex string `json:"vertex"`
	Text   string `json:"text"`
}

// aShare is how much of the heaviest vertex's rows a vertex has to take to matter: an aggregate that
// gets a handful of rows may run alone without anybody noticing.
const aShare = 10

// limitOf finds what holds a run down, nil where nothing does. Of several vertices the one that takes
// the most rows counts.
func limitOf(r report.Report, parallelism, cpus int) *Limit {
	vertices := slices.Clone(r.Vertices)
	slices.SortStableFunc(vertices, func(a, b report.Vertex) int { return cmp.Compare(weight(b), weight(a)) })
	for _, v := range vertices {
		if weight(v)*aShare < weight(vertices[0]) {
			break
		}
		if l := vertexLimit(v, r.Slots, parallelism); l != nil {
			return l
		}
	}
	if len(vertices) == 0 {
		return nil
	}
	if v := vertices[0]; cpus > 0 && v.Parallelism.Decided > cpus {
		return &Limit{Kind: FewerCPUs, Vertex: v.Name, Text: fmt.Sprintf(
			"fewer CPUs than subtasks: %s has %d subtasks and this machine %s", v.Name, v.Parallelism.Decided, some(cpus, "CPU", "CPUs"))}
	}
	return nil
}

// weight is how many rows a vertex takes or makes.
func weight(v report.Vertex) int64 { return max(v.RecordsIn, v.RecordsOut) }

func vertexLimit(v report.Vertex, slots report.Slots, parallelism int) *Limit {
	p := v.Parallelism
	if p.Decided == 0 {
		return nil
	}
	if w, ok := waveOf(slots, v.Name); ok && w.Rounds > 1 {
		return &Limit{Kind: NotEnoughSlots, Vertex: v.Name, Text: fmt.Sprintf(
			"not enough slots: %s has %s and the job held %s for %d, so they ran in %d rounds; taskmanager.numberOfTaskSlots (--slots) says how many there are",
			v.Name, some(p.Decided, "subtask", "subtasks"), some(w.Available, "slot", "slots"), w.Needed, w.Rounds)}
	}
	if l := splitLimit(v); l != nil {
		return l
	}
	if p.Decided >= max(p.Requested, parallelism) {
		return nil
	}
	got := fmt.Sprintf("%s got %d of %d subtasks", v.Name, p.Decided, max(p.Requested, parallelism))
	switch scheduler.Reason(p.Reason) {
	case scheduler.ReasonDataVolume, scheduler.ReasonMinParallelism:
		return &Limit{Kind: CutByVolume, Vertex: v.Name, Text: fmt.Sprintf(
			"cut by data volume: %s, because its %s bytes are divided into shares of up to %s (execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task)",
			got, report.Thousands(volume(p)), report.Thousands(p.Numbers["avgBytesPerTask"]))}
	case scheduler.ReasonSingleFile:
		return &Limit{Kind: SingleFileSink, Vertex: v.Name, Text: "a sink of a single file: " + got + ", because one file has one writer; a path without an extension is a folder of parts"}
	case scheduler.ReasonGlobal:
		return &Limit{Kind: GlobalExchange, Vertex: v.Name, Text: "all rows in one place: " + got + ", because one subtask has to see all rows"}
	case scheduler.ReasonMaxParallelism, scheduler.ReasonDefaultSource:
		return &Limit{Kind: BoundedByOption, Vertex: v.Name, Text: "bounded by an option: " + got + ": " + p.Text}
	case scheduler.ReasonExplicit:
		return &Limit{Kind: FixedByNode, Vertex: v.Name, Text: "fixed in the plan: " + got + ", because the node's own parallelism always wins"}
	case scheduler.ReasonSplits, scheduler.ReasonUnsplittable, scheduler.ReasonForward, scheduler.ReasonPipelined, scheduler.ReasonStreaming, scheduler.ReasonDisabled:
	}
	return nil
}

// splitLimit finds a source with fewer splits than subtasks: those it would have had, or those it has
// where somebody insisted on their number.
func splitLimit(v report.Vertex) *Limit {
	p := v.Parallelism
	reason := scheduler.Reason(p.Reason)
	if p.Decided < p.Requested && (reason == scheduler.ReasonSplits || reason == scheduler.ReasonUnsplittable) {
		return &Limit{Kind: FewerSplits, Vertex: v.Name, Text: fmt.Sprintf("fewer splits than subtasks: %s got %d of %d subtasks: %s", v.Name, p.Decided, p.Requested, p.Text)}
	}
	if !isSource(v) {
		return nil
	}
	splits := 0
	for _, t := range v.Subtasks {
		splits += t.Splits
	}
	if splits >= p.Decided {
		return nil
	}
	return &Limit{Kind: FewerSplits, Vertex: v.Name, Text: fmt.Sprintf("fewer splits than subtasks: %s has %d subtasks and %s, so %d of them had nothing to read",
		v.Name, p.Decided, some(splits, "split", "splits"), p.Decided-splits)}
}

// volume is how many bytes a decision divided.
func volume(p report.Parallelism) int64 {
	if n, ok := p.Numbers["producedBytes"]; ok {
		return n
	}
	return p.Numbers["bytes"]
}

func waveOf(s report.Slots, vertex string) (report.Wave, bool) {
	for _, w := range s.Waves {
		if slices.Contains(w.Vertices, vertex) {
			return w, true
		}
	}
	return report.Wave{}, false
}

func some(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
