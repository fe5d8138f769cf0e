package bind

import (
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

func streaming(p *plans.Plan) bool { return p.Mode == jobgraph.ModeStreaming }

// watermarkOf is what a source says about its event time, in the form that connectors take.
func watermarkOf(n *plans.Node) *connectors.Watermark {
	w := n.Source.Watermark
	if w == nil {
		return nil
	}
	return &connectors.Watermark{Column: w.Column, DelayMs: int64(w.Delay), IdleMs: int64(w.IdleTimeout)}
}

// eventTime checks the column of a source's watermark.
func eventTime(p *plans.Plan, n *plans.Node, s expr.Schema) plans.Findings {
	w := n.Source.Watermark
	if w == nil || w.Column == "" {
		return nil
	}
	i := s.Index(w.Column)
	if i < 0 {
		return plans.Findings{plans.NewFinding(p, w.At, plans.RuleUnknownColumn, fmt.Sprintf("source %s has no column `%s`; its columns are %s", n.Name, w.Column, s))}
	}
	if t := s.Fields[i].Type; t.Kind.Storage() != expr.Timestamp {
		return plans.Findings{plans.NewFinding(p, w.At, plans.RuleTypeMismatch, fmt.Sprintf("the event time of source %s is to be a TIMESTAMP or TIMESTAMP_LTZ, and %s is %s", n.Name, w.Column, t))}
	}
	return nil
}

// later is a finding that a stream cannot do something yet.
func later(p *plans.Plan, at plans.Pos, what, hint string) plans.Finding {
	f := plans.NewFinding(p, at, plans.RuleNotYet, what+" is not supported yet in mode: streaming")
	f.Hint = hint
	return f
}

// notInStreams refuses what a stream cannot do, whatever its sources are.
func notInStreams(p *plans.Plan) plans.Findings {
	if !streaming(p) {
		return nil
	}
	var found plans.Findings
	for i := range p.Nodes {
		n := &p.Nodes[i]
		switch {
		case n.Step != nil:
			found = append(found, later(p, n.Step.Pos, n.Step.Kind, ""))
		case n.Unnest != nil:
			found = append(found, later(p, n.Pos, "unnest", "mode: batch"))
		case n.Source == nil && n.Select == nil && n.Aggregate == nil && n.Union == nil && n.Sink == nil:
			found = append(found, later(p, n.Pos, "what "+n.Name+" does", "mode: batch"))
		case n.Select != nil && len(n.Select.OrderBy) > 0:
			found = append(found, later(p, n.Select.OrderBy[0].Pos, "order_by", "rows have an order when all of them are there; mode: batch"))
		}
		if n.Select != nil && n.Select.Offset > 0 {
			found = append(found, later(p, n.Select.OffsetPos, "offset", "which rows come first is not known; mode: batch"))
		}
	}
	return found
}

// streamFaults refuses what a stream cannot do with the sources and sinks that it has.
func streamFaults(bp *jobgraph.BoundPlan) plans.Findings {
	p := bp.Plan
	if !streaming(p) {
		return nil
	}
	found := notInStreams(p)
	ends, forever := endlessInputs(bp), Endless(bp)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		from := ends[n.Name]
		switch {
		case n.Source != nil && n.Source.Watermark != nil && !givesWatermarks(bp.Sources[n.Name].Source):
			found = append(found, later(p, n.Source.Watermark.Pos, "watermark on a source of kind "+n.Source.Kind, ""))
		case n.Aggregate != nil && from != "":
			f := later(p, n.Pos, fmt.Sprintf("%s, an aggregation over rows that never end,", n.Name), "")
			f.Hint = fmt.Sprintf("it gives its rows at the end of its input, and source %s has none; windows come later", from)
			found = append(found, f)
		case from != "" && (n.Select != nil && n.Select.Distinct || n.Union != nil && n.Union.Distinct):
			f := later(p, n.Pos, fmt.Sprintf("%s, distinct over rows that never end,", n.Name), "")
			f.Hint = fmt.Sprintf("it remembers every row it has given, and source %s has no end, as memory has", from)
			found = append(found, f)
		case n.Sink != nil && forever != "" && !bp.Sinks[n.Name].AsTheyCome:
			f := later(p, n.Sink.Pos, fmt.Sprintf("a sink of kind %s in a job that never ends", n.Sink.Kind), "")
			f.Hint = fmt.Sprintf("it publishes at the end of the job, and source %s has none; print shows rows as they come", forever)
			found = append(found, f)
		}
	}
	return found
}

// Endless names a source because of which the job never ends, "" where it does.
func Endless(bp *jobgraph.BoundPlan) string {
	ends := endlessInputs(bp)
	for i := range bp.Plan.Nodes {
		if n := &bp.Plan.Nodes[i]; n.Sink != nil && ends[n.Name] != "" {
			return ends[n.Name]
		}
	}
	return ""
}

func givesWatermarks(s connectors.Source) bool {
	w, ok := s.(connectors.Watermarking)
	return ok && w.GivesWatermarks()
}

// endlessInputs names for each node a source it reads from that never ends, directly or through others. A
// limit makes an end.
func endlessInputs(bp *jobgraph.BoundPlan) map[string]string {
	out := map[string]string{}
	for name, s := range bp.Sources {
		if !s.Source.Bounded() {
			out[name] = name
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range bp.Plan.Nodes {
			n := &bp.Plan.Nodes[i]
			k := slices.IndexFunc(n.From, func(in plans.Input) bool { return out[in.Node] != "" })
			if k >= 0 && out[n.Name] == "" && (n.Select == nil || n.Select.Limit < 0) {
				out[n.Name], changed = out[n.From[k].Node], true
			}
		}
	}
	return out
}
