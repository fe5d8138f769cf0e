package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-4b0e9f7c/runner/runner/report"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// Runs say what [Compare] runs.
type Runs struct {
	Parallelism []int // at least two; the first is what the others are held against
	Repeat      int   // runs at each parallelism, after one that only warms up
	CPUs        int   // of this machine; 0: unknown
	// Run runs the plan once. Its sinks must not be in each other's way: see [RedirectSinks].
	Run func(ctx context.Context, parallelism int) (report.Report, error)
	// Progress is called before each run, with how many there have been and will be; nil: never.
	Progress func(done, total int)
}

// A RunError is a run that did not finish, so that there is nothing to compare.
type RunError struct {
	Parallelism int
	Report      report.Report
}

// Error names the parallelism and says how the run ended.
func (e *RunError) Error() string {
	return fmt.Sprintf("the run at parallelism %d ended in state %s: %s", e.Parallelism, e.Report.State, e.Report.Verdict)
}

// A Comparison holds runs of a plan against each other.
type Comparison struct {
	Sides []Side `json:"sides"` // the first is what the others are held against
	// Equal says whether all results that can be compared are the same.
	Equal    bool      `json:"equal"`
	Results  []Result  `json:"results"`
	Verdicts []Verdict `json:"verdicts"` // one for each side after the first
	Notes    []string  `json:"notes"`    // what else differs between two reports
}

// A Side is the runs at one parallelism, or one report.
type Side struct {
	Label         string       `json:"label"`
	Parallelism   int          `json:"parallelism"` // parallelism.default
	Runs          int          `json:"runs"`
	State         string       `json:"state"`
	Rows          int64        `json:"rows"` // read by the sources
	WallMs        Spread       `json:"wallMs"`
	CPUMs         *Spread      `json:"cpuMs"` // of the process; nil where it is not known
	RowsPerSecond Spread       `json:"rowsPerSecond"`
	SlotsNeeded   int          `json:"slotsNeeded"`
	SlotsHeld     int          `json:"slotsHeld"`
	SlotsWaitedMs int64        `json:"slotsWaitedMs"`
	Vertices      []SideVertex `json:"vertices"` // of the run with the median wall time
	wall          []float64    // in the order of the rounds
	typical       report.Report
}

// A SideVertex is what became of a vertex. Times are sums over its subtasks.
type SideVertex struct {
	Name             string `json:"name"`
	Requested        int    `json:"requested"`
	Origin           string `json:"origin"`
	Decided          int    `json:"decided"`
	Reason           string `json:"reason"`
	Text             string `json:"text"`
	SplitsPerSubtask []int  `json:"splitsPerSubtask"` // nil where it is no source
	BusyMs           int64  `json:"busyMs"`
	IdleMs           int64  `json:"idleMs"`
	WaitedMs         int64  `json:"waitedMs"` // for slots
	BackpressuredMs  int64  `json:"backpressuredMs"`
}

// A Spread is how some measured values lie.
type Spread struct {
	Min    float64 `json:"min"`
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
	Max    float64 `json:"max"`
}

func spreadOf(values []float64) Spread {
	s := slices.Sorted(slices.Values(values))
	if len(s) == 0 {
		return Spread{}
	}
	at := func(share float64) float64 {
		place := share * float64(len(s)-1)
		low := int(place)
		if low == len(s)-1 {
			return s[low]
		}
		return s[low] + (place-float64(low))*(s[low+1]-s[low])
	}
	return Spread{Min: s[0], Q1: at(0.25), Median: at(0.5), Q3: at(0.75), Max: s[len(s)-1]}
}

// Compare runs a plan at each parallelism: once to warm up, then in rounds, every second one in reverse
// so that no side always comes first. A run that does not finish ends it with a *[RunError].
func Compare(ctx context.Context, in Runs) (Comparison, error) {
	if len(in.Parallelism) < 2 || in.Repeat < 1 {
		return Comparison{}, fmt.Errorf("comparing needs two parallelisms and one round, not %d and %d", len(in.Parallelism), in.Repeat)
	}
	total, done := 1+in.Repeat*len(in.Parallelism), 0
	once := func(p int) (report.Report, error) {
		if in.Progress != nil {
			in.Progress(done, total)
		}
		done++
		r, err := in.Run(ctx, p)
		if err == nil && r.State != string(rpc.JobFinished) {
			err = &RunError{Parallelism: p, Report: r}
		}
		return r, err
	}
	if _, err := once(in.Parallelism[0]); err != nil {
		return Comparison{}, err
	}
	all := make([][]report.Report, len(in.Parallelism))
	for round := range in.Repeat {
		for i := range in.Parallelism {
			if round%2 == 1 {
				i = len(in.Parallelism) - 1 - i
			}
			r, err := once(in.Parallelism[i])
			if err != nil {
				return Comparison{}, err
			}
			all[i] = append(all[i], r)
		}
	}
	c := Comparison{Notes: []string{}}
	for i, p := range in.Parallelism {
		s := sideOf(fmt.Sprintf("parallelism %d", p), all[i])
		s.Parallelism = p
		c.Sides = append(c.Sides, s)
	}
	c.finish(all, in.CPUs)
	return c, nil
}

// CompareReports holds two saved reports against each other; the labels name them.
func CompareReports(a, b report.Report, labelA, labelB string) Comparison {
	all := [][]report.Report{{a}, {b}}
	c := Comparison{Sides: []Side{sideOf(labelA, all[0]), sideOf(labelB, all[1])}, Notes: differences(a, b)}
	c.finish(all, 0)
	return c
}

func (c *Comparison) finish(all [][]report.Report, cpus int) {
	c.Results, c.Equal = resultsOf(all)
	base := &c.Sides[0]
	for i := 1; i < len(c.Sides); i++ {
		c.Verdicts = append(c.Verdicts, verdictOf(base, &c.Sides[i], cpus))
	}
}

// sideOf sums runs up. Not all that could be said of each run is kept: its vertices are those of the
// run with the median wall time.
func sideOf(label string, runs []report.Report) Side {
	s := Side{Label: label, Runs: len(runs), State: string(rpc.JobFinished)}
	var cpu, rate []float64
	for _, r := range runs {
		if r.State != string(rpc.JobFinished) {
			s.State = r.State
		}
		s.Rows = rowsRead(r)
		wall := float64(max(r.Timings.TotalMs, 1))
		s.wall = append(s.wall, wall)
		rate = append(rate, float64(s.Rows)*1000/wall)
		if r.Timings.CPUMs > 0 {
			cpu = append(cpu, float64(r.Timings.CPUMs))
		}
	}
	s.WallMs, s.RowsPerSecond = spreadOf(s.wall), spreadOf(rate)
	if len(cpu) == len(runs) {
		x := spreadOf(cpu)
		s.CPUMs = &x
	}
	byWall := slices.Clone(runs)
	slices.SortStableFunc(byWall, func(a, b report.Report) int { return int(a.Timings.TotalMs - b.Timings.TotalMs) })
	s.typical = byWall[(len(byWall)-1)/2]
	s.Parallelism = parallelismOf(s.typical)
	s.SlotsNeeded, s.SlotsHeld, s.SlotsWaitedMs = s.typical.Slots.Needed, s.typical.Slots.Available, s.typical.Slots.WaitedMs
	s.Vertices = []SideVertex{}
	for _, v := range s.typical.Vertices {
		s.Vertices = append(s.Vertices, sideVertex(v))
	}
	return s
}

func sideVertex(v report.Vertex) SideVertex {
	p := v.Parallelism
	out := SideVertex{Name: v.Name, Requested: p.Requested, Origin: p.Origin, Decided: p.Decided, Reason: p.Reason, Text: p.Text}
	for _, t := range v.Subtasks {
		out.BusyMs += t.BusyMs
		out.IdleMs += t.IdleMs
		out.WaitedMs += t.WaitedMs
		out.BackpressuredMs += t.BackpressuredMs
		if isSource(v) {
			out.SplitsPerSubtask = append(out.SplitsPerSubtask, t.Splits)
		}
	}
	return out
}

// isSource tells vertices that read splits; a source may have had none to read.
func isSource(v report.Vertex) bool {
	if _, counted := v.Parallelism.Numbers["splits"]; counted {
		return true
	}
	return slices.ContainsFunc(v.Subtasks, func(t report.Subtask) bool { return t.Splits > 0 })
}

func rowsRead(r report.Report) int64 {
	var n int64
	for _, s := range r.Sources {
		for _, f := range s.Files {
			n += f.Rows
		}
	}
	return n
}

// parallelismOf is the parallelism.default of a run, or the most that was asked for a vertex.
func parallelismOf(r report.Report) int {
	for _, o := range r.Options {
		if o.Name == "parallelism.default" {
			if n, err := strconv.Atoi(o.Value); err == nil {
				return n
			}
		}
	}
	n := 0
	for _, v := range r.Vertices {
		n = max(n, v.Parallelism.Requested)
	}
	return n
}
