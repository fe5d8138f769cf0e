package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/report"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// What a comparison of times says.
const (
	Faster       = "faster"
	Slower       = "slower"
	NoDifference = "no-difference"
	TooShort     = "too-short" // the runs are over before a difference could show
	NotFinished  = "not-finished"
)

// Causes that are no limit.
const (
	NothingToExplain = "nothing-to-explain"
	TooShortToTell   = "too-short-to-tell"
	Unexplained      = "unexplained"
	SameParallelism  = "same-parallelism"
	OtherPrograms    = "other-programs" // subtasks were at work and had no processor
	BusyCPUs         = "busy-cpus"      // all processors were busy at the lower parallelism
)

const (
	// leastWallMs is how long a run has to take for a ratio of two to mean something.
	leastWallMs = 100
	// aDifference is the least ratio that is called one.
	aDifference = 1.1
	// aLack is how much longer than they had a processor subtasks are at work where something held them up.
	aLack = 1.5
	// goodShare is how much of the ideal speed-up needs no explanation.
	goodShare = 0.7
)

// A Verdict holds one side against the first.
type Verdict struct {
	Base    string `json:"base"`
	Other   string `json:"other"`
	SpeedUp Spread `json:"speedUp"` // wall of base over wall of other, round by round
	Outcome string `json:"outcome"`
	// Cause is what explains the outcome: the kind of Limit, or that there is none.
	Cause    string `json:"cause"`
	Limit    *Limit `json:"limit"` // what holds the side with more parallelism down; nil: nothing
	Sentence string `json:"sentence"`
}

// verdictOf says what a raise of the parallelism brought, and why not more.
func verdictOf(base, other *Side, cpus int) Verdict {
	v := Verdict{Base: base.Label, Other: other.Label, SpeedUp: speedUp(base.wall, other.wall)}
	for _, s := range []*Side{base, other} {
		if s.State != string(rpc.JobFinished) {
			v.Outcome, v.Cause = NotFinished, NotFinished
			v.Sentence = fmt.Sprintf("%s ended in state %s, so there is nothing to compare: %s", s.Label, s.State, s.typical.Verdict)
			return v
		}
	}
	if other.Parallelism == base.Parallelism {
		return v.same(base, other)
	}
	low, high, up := base, other, v.SpeedUp
	if other.Parallelism < base.Parallelism {
		low, high, up = other, base, speedUp(other.wall, base.wall)
	}
	v.Limit = limitOf(high.typical, high.Parallelism, cpus)
	v.Outcome = outcomeOf(low, up)
	v.explain(low, high, up, cpus)
	if high == base { // told of the other side
		switch v.Outcome {
		case Faster:
			v.Outcome = Slower
		case Slower:
			v.Outcome = Faster
		}
	}
	return v
}

func speedUp(base, other []float64) Spread {
	ratios := make([]float64, min(len(base), len(other)))
	for i := range ratios {
		ratios[i] = base[i] / other[i]
	}
	return spreadOf(ratios)
}

// outcomeOf calls a difference one only where it is large and no round says otherwise.
func outcomeOf(low *Side, up Spread) string {
	switch {
	case low.WallMs.Min < leastWallMs: // the shortest: other programs can only make a run longer
		return TooShort
	case up.Median >= aDifference && up.Q1 > 1:
		return Faster
	case up.Median <= 1/aDifference && up.Q3 < 1:
		return Slower
	}
	return NoDifference
}

func (v *Verdict) explain(low, high *Side, up Spread, cpus int) {
	ideal := float64(high.Parallelism) / float64(low.Parallelism)
	times, noise := fmt.Sprintf("%.2f times", up.Median), noiseText(up, high.Runs)
	l, h := low.Label, high.Label
	switch {
	case (v.Outcome == Faster || v.Outcome == Slower) && v.Limit != nil && atOnce(high.typical) <= atOnce(low.typical):
		v.Cause = v.Limit.Kind
		v.Sentence = fmt.Sprintf("%s is %s as fast as %s (%s), which is not its doing, since no more subtasks ran at once: %s.", h, times, l, noise, v.Limit.Text)
	case v.Outcome == Faster && (v.Limit == nil || high.Runs > 1 && up.Median >= goodShare*ideal):
		v.Cause = NothingToExplain
		v.Sentence = fmt.Sprintf("%s is %s as fast as %s (%s): nothing to explain.", h, times, l, noise)
	case v.Outcome == Faster:
		v.Cause = v.Limit.Kind
		v.Sentence = fmt.Sprintf("%s is %s as fast as %s (%s) and not %.2g times: %s.", h, times, l, noise, ideal, v.Limit.Text)
	case v.Outcome == TooShort && v.Limit != nil:
		v.Cause = v.Limit.Kind
		// The numbers above it may say anything, also that it was faster.
		v.Sentence = fmt.Sprintf("Runs of %.0f ms are too short to tell %s from %s; what holds it down: %s.", low.WallMs.Min, h, l, v.Limit.Text)
	case v.Outcome == TooShort:
		v.Cause = TooShortToTell
		v.Sentence = fmt.Sprintf("Runs of %.0f ms are too short to tell %s from %s; nothing holds it down: %s.", low.WallMs.Min, h, l, freedom(high))
	case v.Limit != nil:
		v.Cause = v.Limit.Kind
		v.Sentence = fmt.Sprintf("%s is %s than %s (%s, %s): %s.", h, noFaster(v.Outcome), l, times, noise, v.Limit.Text)
	default:
		cause, why := machine(low, high, cpus)
		v.Cause = cause
		v.Sentence = fmt.Sprintf("%s is %s than %s (%s, %s) although no decision holds it down: %s; %s.", h, noFaster(v.Outcome), l, times, noise, freedom(high), why)
	}
	if rest, ok := strings.CutPrefix(v.Sentence, "parallelism"); ok {
		v.Sentence = "Parallelism" + rest
	}
}

// atOnce is how many subtasks of the heaviest vertex were at work at a time, at most.
func atOnce(r report.Report) int {
	if len(r.Vertices) == 0 {
		return 0
	}
	v := slices.MaxFunc(r.Vertices, func(a, b report.Vertex) int { return cmp.Compare(weight(a), weight(b)) })
	n := v.Parallelism.Decided
	if w, ok := waveOf(r.Slots, v.Name); ok {
		n = min(n, w.Available)
	}
	if isSource(v) {
		splits := 0
		for _, t := range v.Subtasks {
			splits += t.Splits
		}
		n = min(n, splits)
	}
	return n
}

func noFaster(outcome string) string {
	if outcome == Slower {
		return "slower"
	}
	return "no faster"
}

func (v Verdict) same(base, other *Side) Verdict {
	v.Cause, v.Outcome = SameParallelism, outcomeOf(base, v.SpeedUp)
	v.Sentence = fmt.Sprintf("%s and %s both ran at parallelism %d: %s took %.0f ms, %s %.0f ms (%.2f times as fast, %s).", base.Label, other.Label, base.Parallelism,
		base.Label, base.WallMs.Median, other.Label, other.WallMs.Median, v.SpeedUp.Median, noiseText(v.SpeedUp, other.Runs))
	return v
}

// noiseText says how far a speed-up can be trusted.
func noiseText(up Spread, runs int) string {
	if runs == 1 {
		return "one run each, so noise is not known"
	}
	return fmt.Sprintf("%.2f to %.2f in %d rounds", up.Min, up.Max, runs)
}

// freedom says what the heaviest vertex had.
func freedom(s *Side) string {
	best := 0
	for i, v := range s.typical.Vertices {
		if weight(v) > weight(s.typical.Vertices[best]) {
			best = i
		}
	}
	if len(s.typical.Vertices) == 0 {
		return "it has no vertices"
	}
	v := s.typical.Vertices[best]
	text := fmt.Sprintf("%s has %s", v.Name, some(v.Parallelism.Decided, "subtask", "subtasks"))
	if isSource(v) {
		splits := 0
		for _, t := range v.Subtasks {
			splits += t.Splits
		}
		text += " for " + some(splits, "split", "splits")
	}
	return fmt.Sprintf("%s, and the job held %d of %d slots", text, s.SlotsHeld, s.SlotsNeeded)
}

// machine says what the processors did, the last place to look.
func machine(low, high *Side, cpus int) (cause, text string) {
	if high.CPUMs == nil || low.CPUMs == nil {
		return Unexplained, "how busy the processors were is not known"
	}
	cpu, work := high.CPUMs.Median, 0.0
	for _, v := range high.Vertices {
		work += float64(v.BusyMs)
	}
	if work > aLack*cpu {
		return OtherPrograms, fmt.Sprintf("other programs or the disk held it up: its subtasks were at work for %.0f ms and got %.0f ms of processor time", work, cpu)
	}
	busy := cpu / math.Max(high.WallMs.Median, 1)
	before := low.CPUMs.Median / math.Max(low.WallMs.Median, 1)
	if cpus > 0 && before >= 0.8*float64(cpus) {
		return BusyCPUs, fmt.Sprintf("its processors were busy before: %.1f of %d", before, cpus)
	}
	return Unexplained, fmt.Sprintf("it kept %.1f CPUs busy, %.1f before, so the added work cost what it brought", busy, before)
}
