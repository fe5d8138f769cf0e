package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph/bind"
	"github.com/seed-4b0e9f7c/runner/runner/report"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// An Explanation is a job graph and what the scheduler will make of it, before anything runs.
type Explanation struct {
	Plan      string               `json:"plan"`
	Graph     *jobgraph.Graph      `json:"graph"`
	Decisions []scheduler.Decision `json:"decisions"` // in the order of the graph's vertices
	Slots     int                  `json:"slots"`     // at hand
	// SlotsNeeded is how many slots a stream takes at once; 0 for a batch job, whose vertices take turns.
	SlotsNeeded int `json:"slotsNeeded,omitempty"`
	// Pruning is what the filters of sources pass over by statistics in their files, by source.
	Pruning map[string][]FilePruning `json:"pruning,omitempty"`
	plan    *plans.Plan
}

// MarshalJSON gives the explanation without the plan's secrets.
func (x *Explanation) MarshalJSON() ([]byte, error) {
	type plain Explanation
	b, err := json.Marshal((*plain)(x))
	return x.plan.HideJSON(b), err
}

// Explain builds a plan's job graph and says which parallelism each vertex would get, and why. A faulty
// plan is an error of type plans.Findings.
func Explain(ctx context.Context, cat jobgraph.Catalogs, p *plans.Plan, o config.Loaded) (*Explanation, error) {
	bp, found, err := bind.Bind(ctx, p, cat.Connectors)
	if found.Failed() {
		return nil, found
	}
	if err != nil {
		return nil, p.HideError(err)
	}
	g, err := jobgraph.Build(bp, cat, JobOptions(o))
	if err != nil {
		return nil, p.HideError(err)
	}
	d, err := scheduler.Explain(g)
	if err != nil {
		return nil, p.HideError(err)
	}
	x := &Explanation{Plan: p.File, Graph: g, Decisions: d, Slots: o.Int(config.TaskSlots), plan: p}
	if x.Pruning, err = foresee(ctx, cat, g); err != nil {
		return nil, p.HideError(err)
	}
	if g.Streaming() {
		decider, err := scheduler.NewDecider(g)
		if err != nil {
			return nil, p.HideError(err)
		}
		x.SlotsNeeded, _ = decider.StreamSlots()
	}
	return x, nil
}

// Text writes the explanation for people.
func (x *Explanation) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Job %s (%s), %d vertices, %d slots\n", x.Graph.Name, x.Graph.Mode, len(x.Graph.Vertices), x.Slots)
	if x.SlotsNeeded > x.Slots {
		fmt.Fprintf(&b, "It needs %d slots at once, so it would be refused: raise %s, or lower the parallelism\n", x.SlotsNeeded, config.TaskSlots)
	} else if x.SlotsNeeded > 0 {
		fmt.Fprintf(&b, "It needs %d of them at once\n", x.SlotsNeeded)
	}
	for i, v := range x.Graph.Vertices {
		d := x.Decisions[i]
		fmt.Fprintf(&b, "\n%d. %s\n", i+1, v.Name)
		fmt.Fprintf(&b, "   parallelism %s: %s\n", howMany(d), d.Text)
		fmt.Fprintf(&b, "   requested %d (%s), reason %s, slot sharing group %s\n", d.Requested, d.Origin, d.Reason, v.SharingGroup)
		for _, op := range v.Operators {
			fmt.Fprintf(&b, "   - %s: %s\n", op.Label, describe(op))
			if op.Source != nil && op.Source.Inv.Inferred != nil {
				fmt.Fprintf(&b, "     %s\n", op.Source.Inv.Inferred)
				for _, n := range op.Source.Inv.Inferred.Notes() {
					fmt.Fprintf(&b, "       %s\n", n)
				}
			}
			if op.Source != nil {
				x.writePruning(&b, op.Node)
			}
		}
		for _, e := range x.Graph.In(v.ID) {
			fmt.Fprintf(&b, "   <- %s%s from %s%s\n", e.Exchange, keysOf(e), x.Graph.Vertex(e.From).Name, portOf(e))
		}
	}
	_, err := io.WriteString(w, x.plan.Hide(b.String()))
	return err
}

func howMany(d scheduler.Decision) string {
	if d.Decided > 0 {
		return fmt.Sprint(d.Decided)
	}
	if d.Min == d.Max {
		return fmt.Sprint(d.Max)
	}
	return fmt.Sprintf("%d to %d", d.Min, d.Max)
}

// oneFile is the only file of a source in words.
func oneFile(f connectors.File) string {
	switch {
	case !f.Generated:
		return "1 file"
	case f.Rows < 0:
		return "rows that are made up, without end"
	}
	return report.Thousands(f.Rows) + " rows that are made up"
}

// describe says what an operator of the graph does, in the plan's words.
func describe(op jobgraph.Operator) string {
	switch op.Kind {
	case jobgraph.SourceOp:
		s := fmt.Sprintf("%s, %d files", op.Component, len(op.Source.Inv.Files))
		if len(op.Source.Inv.Files) == 1 {
			s = fmt.Sprintf("%s, %s", op.Component, oneFile(op.Source.Inv.Files[0]))
		}
		if n := len(op.Source.Skip); n > 0 {
			s += fmt.Sprintf(", %d of them left out by a condition on _file", n)
		}
		s += ", columns " + strings.Join(op.Out.Names(), ", ")
		if op.Source.Push.Where != nil {
			s += ", where " + op.Source.Push.Where.String()
		}
		if op.Source.Rejects != nil {
			s += ", bad rows left out" + limitsOf(*op.Source.Rejects)
		}
		return s
	case jobgraph.SinkOp:
		return op.Component + " of " + op.Out.String()
	}
	return op.Node + " gives " + op.Out.String()
}

// limitsOf says how many bad rows a source may leave out.
func limitsOf(l jobgraph.RejectLimits) string {
	s := ""
	if l.MaxRows >= 0 {
		s += fmt.Sprintf(", at most %d", l.MaxRows)
	}
	if l.MaxShare >= 0 {
		s += fmt.Sprintf(", at most %g %%", l.MaxShare*100)
	}
	return s
}

func portOf(e jobgraph.Edge) string {
	if e.Port == "" {
		return ""
	}
	return ", port " + e.Port
}

func keysOf(e jobgraph.Edge) string {
	if len(e.Keys) == 0 {
		return ""
	}
	return "(" + strings.Join(e.Schema.Pick(e.Keys).Names(), ", ") + ")"
}

// Mermaid writes the job graph as a Mermaid flow chart.
func (x *Explanation) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	quote := strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;")
	for i, v := range x.Graph.Vertices {
		labels := make([]string, len(v.Operators))
		for j, op := range v.Operators {
			labels[j] = quote.Replace(op.Label)
		}
		fmt.Fprintf(&b, "  v%d[\"%s<br/>parallelism %s\"]\n", i+1, strings.Join(labels, "<br/>"), howMany(x.Decisions[i]))
	}
	place := map[string]int{}
	for i, v := range x.Graph.Vertices {
		place[v.ID] = i + 1
	}
	for _, e := range x.Graph.Edges {
		fmt.Fprintf(&b, "  v%d -->|\"%s\"| v%d\n", place[e.From], quote.Replace(string(e.Exchange)+keysOf(e)+portOf(e)), place[e.To])
	}
	_, err := io.WriteString(w, x.plan.Hide(b.String()))
	return err
}
