package diagnose

import (
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/report"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A Result is what one sink got on each side.
type Result struct {
	Node string `json:"node"`
	// Comparable is false where the rows depend on their order by nature; Because says why.
	Comparable bool         `json:"comparable"`
	Because    string       `json:"because,omitempty"`
	Equal      bool         `json:"equal"`
	Sides      []ResultSide `json:"sides"`
}

// A ResultSide is what a sink got in the runs of a side: one digest where all of them agree.
type ResultSide struct {
	Rows    []int64  `json:"rows"` // one for each digest
	Digests []string `json:"digests"`
}

// resultsOf compares what the sinks got, over all runs of all sides.
func resultsOf(all [][]report.Report) ([]Result, bool) {
	out, equal := []Result{}, true
	for _, side := range all {
		for _, r := range side {
			if r.State != string(rpc.JobFinished) {
				equal = false
			}
			for _, k := range r.Sinks {
				if !slices.ContainsFunc(out, func(x Result) bool { return x.Node == k.Node }) {
					out = append(out, resultOf(k.Node, all))
				}
			}
		}
	}
	for _, x := range out {
		equal = equal && (x.Equal || !x.Comparable)
	}
	return out, equal
}

func resultOf(node string, all [][]report.Report) Result {
	x := Result{Node: node, Comparable: true, Equal: true}
	first := ""
	for _, side := range all {
		s := ResultSide{Rows: []int64{}, Digests: []string{}}
		for _, r := range side {
			k, found := sinkOf(r, node)
			if !found {
				x.Equal = false
				continue
			}
			if !k.Deterministic {
				x.Comparable, x.Because = false, k.Because
			}
			if first == "" {
				first = k.Digest
			}
			x.Equal = x.Equal && k.Digest == first
			if !slices.Contains(s.Digests, k.Digest) {
				s.Digests, s.Rows = append(s.Digests, k.Digest), append(s.Rows, k.Rows)
			}
		}
		x.Sides = append(x.Sides, s)
	}
	return x
}

func sinkOf(r report.Report, node string) (report.Sink, bool) {
	i := slices.IndexFunc(r.Sinks, func(k report.Sink) bool { return k.Node == node })
	if i < 0 || r.State != string(rpc.JobFinished) {
		return report.Sink{}, false
	}
	return r.Sinks[i], true
}

// differences are what two reports do not share besides the times: without them the times say little.
func differences(a, b report.Report) []string {
	out := []string{}
	if a.Plan.Digest != b.Plan.Digest {
		out = append(out, fmt.Sprintf("the plans differ: %s (%s) and %s (%s)", a.Plan.File, a.Plan.Digest, b.Plan.File, b.Plan.Digest))
	}
	names := map[string]bool{}
	for _, m := range []map[string]string{a.Plan.Params, b.Plan.Params} {
		for name := range m {
			names[name] = true
		}
	}
	for name := range names {
		if x, y := a.Plan.Params[name], b.Plan.Params[name]; x != y {
			out = append(out, fmt.Sprintf("the parameter %s is %q and %q", name, x, y))
		}
	}
	for _, o := range a.Options {
		if v := optionOf(b, o.Name); v.Value != o.Value {
			out = append(out, fmt.Sprintf("%s is %s (%s) and %s", o.Name, o.Value, o.Source, valueOf(v)))
		}
	}
	for _, o := range b.Options {
		if optionOf(a, o.Name).Name == "" {
			out = append(out, fmt.Sprintf("%s is unset and %s", o.Name, valueOf(o)))
		}
	}
	if x, y := rowsRead(a), rowsRead(b); x != y {
		out = append(out, fmt.Sprintf("the sources gave %s and %s rows", report.Thousands(x), report.Thousands(y)))
	}
	if a.Engine != b.Engine {
		out = append(out, fmt.Sprintf("the engines differ: %s %s, %s, and %s %s, %s", a.Engine.Name, a.Engine.Version, a.Engine.Target, b.Engine.Name, b.Engine.Version, b.Engine.Target))
	}
	slices.Sort(out)
	return out
}

func optionOf(r report.Report, name string) jobgraph.Option {
	i := slices.IndexFunc(r.Options, func(o jobgraph.Option) bool { return o.Name == name })
	if i < 0 {
		return jobgraph.Option{}
	}
	return r.Options[i]
}

func valueOf(o jobgraph.Option) string {
	if o.Name == "" {
		return "unset"
	}
	return fmt.Sprintf("%s (%s)", o.Value, o.Source)
}
