// Package bind is the one step between a plan and its job graph that does I/O: it lists files, reads
// headers and footers, and looks whether targets may be written.
package bind

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// Bind looks at a plan's sources, gives every node its types, and looks at the targets. Findings are
// faults of the plan; err is a fault of what it names: a missing file, a target that exists.
func Bind(ctx context.Context, p *plans.Plan, cat connectors.Catalog) (*jobgraph.BoundPlan, plans.Findings, error) {
	bp, found, err := bindPlan(ctx, p, cat)
	return bp, p.HideFindings(found), p.HideError(err)
}

func bindPlan(ctx context.Context, p *plans.Plan, cat connectors.Catalog) (*jobgraph.BoundPlan, plans.Findings, error) {
	bp := &jobgraph.BoundPlan{Plan: p, Sources: map[string]jobgraph.BoundSource{}, Sinks: map[string]connectors.BoundSink{}}
	schemas := map[string]expr.Schema{}
	var errs []error
	var faults plans.Findings // of options, which are the plan's own
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Source == nil {
			continue
		}
		s, err := bindSource(ctx, p, n, cat)
		if f, ok := optionFault(p, n.Source, err); ok {
			faults = append(faults, f)
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("source %s: %w", n.Name, err))
			continue
		}
		if !streaming(p) && !s.Source.Bounded() {
			faults = append(faults, endless(p, n))
		}
		faults = append(faults, eventTime(p, n, s.Source.Schema())...)
		bp.Sources[n.Name] = s
		schemas[n.Name] = jobgraph.WithFile(s.Source.Schema(), cat[n.Source.Kind])
	}
	var found plans.Findings
	bp.Logical, found = jobgraph.BuildLogical(p, schemas, nil)
	found = append(append(leftOut(bp), faults...), whyUnknown(bp, found)...)
	if found.Failed() {
		return nil, found, nil
	}
	if len(errs) > 0 {
		return nil, found, errors.Join(errs...)
	}
	bp.Logical.Files = map[string][]string{}
	for name, s := range bp.Sources {
		bp.Logical.Files[name] = jobgraph.FileNames(s.Source.Inventory())
	}
	for _, r := range bp.Logical.Sinks {
		n := p.Node(r.Node)
		b, err := cat[n.Sink.Kind].BindSink(ctx, n.Sink.Options, r.Schema, connectors.Env{Node: n.Name, Dir: p.Dir, Streaming: streaming(p)})
		if f, ok := optionFault(p, n.Sink, err); ok {
			found = append(found, f)
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("sink %s: %w", n.Name, err))
			continue
		}
		bp.Sinks[n.Name] = b
	}
	found = append(found, streamFaults(bp)...)
	found = append(append(found, sharedTargets(bp)...), readBack(bp, cat)...)
	if found.Failed() {
		return nil, found, nil
	}
	if len(errs) > 0 {
		return bp, found, &TargetError{errors.Join(errs...)}
	}
	return bp, found, nil
}

// endless is the finding that a batch job would wait for the end of a source that has none.
func endless(p *plans.Plan, n *plans.Node) plans.Finding {
	f := plans.NewFinding(p, n.Source.Pos, "endless-source", fmt.Sprintf("source %s never ends, and a batch job reads its input to the end", n.Name))
	f.Hint = "mode: streaming takes it as it is; an option such as number_of_rows gives it an end"
	return f
}

// A TargetError says that sinks cannot be written as things are now; the plan itself is in order.
type TargetError struct{ Err error }

// Error is what is wrong with the targets.
func (e *TargetError) Error() string { return e.Err.Error() }

// Unwrap gives the errors of the sinks.
func (e *TargetError) Unwrap() error { return e.Err }

// optionFault is the finding that a connector's complaint about its options amounts to, at the option it
// begins with.
func optionFault(p *plans.Plan, c *plans.Connector, err error) (f plans.Finding, ok bool) {
	var classed interface{ Class() string }
	if !errors.As(err, &classed) || classed.Class() != files.InvalidOption {
		return f, false
	}
	pos := c.Pos
	word := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == ' ' || r == ':' })
	if len(word) > 0 {
		if at, ok := c.Places[word[0]]; ok {
			pos = at
		}
	}
	return plans.NewFinding(p, pos, "invalid-option", err.Error()), true
}

// resolved is an input's path as targets have theirs: absolute, and with its links followed.
func resolved(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}

// within reports whether a path lies below a folder.
func within(path, folder string) bool {
	return strings.HasPrefix(path, folder+string(filepath.Separator))
}

// leftOut warns of columns that a source has and cannot read, since a star passes over them.
func leftOut(bp *jobgraph.BoundPlan) plans.Findings {
	var found plans.Findings
	for i := range bp.Plan.Nodes {
		n := &bp.Plan.Nodes[i]
		for _, u := range unreadable(bp, n.Name) {
			f := plans.NewFinding(bp.Plan, n.Source.Pos, "unreadable-column", fmt.Sprintf("source %s leaves out column %s: %s", n.Name, u.Name, u.Why))
			f.Severity = plans.SeverityWarning
			found = append(found, f)
		}
	}
	return found
}

// whyUnknown says of columns that were not found whether a source has them and cannot read them.
func whyUnknown(bp *jobgraph.BoundPlan, found plans.Findings) plans.Findings {
	for i := range found {
		if found[i].Rule != plans.RuleUnknownColumn {
			continue
		}
		for node := range bp.Sources {
			for _, u := range unreadable(bp, node) {
				if strings.Contains(found[i].Message, "`"+u.Name+"`") {
					found[i].Hint = fmt.Sprintf("source %s has a column %s, but %s", node, u.Name, u.Why)
				}
			}
		}
	}
	return found
}

func unreadable(bp *jobgraph.BoundPlan, node string) []connectors.Unreadable {
	if p, ok := bp.Sources[node].Source.(connectors.Partial); ok {
		return p.Unreadable()
	}
	return nil
}

// Offline finds what needs types and can be found without I/O: sources count with the columns that the
// plan declares. found are the findings so far; nodes they are about are passed over.
func Offline(p *plans.Plan, found plans.Findings, cat connectors.Catalog) plans.Findings {
	schemas := map[string]expr.Schema{}
	var timed plans.Findings
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Source == nil || cat[n.Source.Kind] == nil {
			continue
		}
		if s, ok := cat[n.Source.Kind].Declared(n.Source.Options); ok {
			schemas[n.Name] = jobgraph.WithFile(s, cat[n.Source.Kind])
			timed = append(timed, eventTime(p, n, s)...)
		}
	}
	_, more := jobgraph.BuildLogical(p, schemas, p.Faulty(found))
	return append(append(timed, notInStreams(p)...), more...)
}

func bindSource(ctx context.Context, p *plans.Plan, n *plans.Node, cat connectors.Catalog) (b jobgraph.BoundSource, err error) {
	defer func() {
		if v := recover(); v != nil { // no library is trusted with a damaged header or footer
			err = fmt.Errorf("the connector %s panicked: %v", n.Source.Kind, v)
		}
	}()
	c := cat[n.Source.Kind]
	if c == nil || !c.IsSource() {
		return b, fmt.Errorf("there is no source %s", n.Source.Kind)
	}
	skip := n.Source.OnError != nil && n.Source.OnError.Skip
	e := connectors.Env{Node: n.Name, Dir: p.Dir, Zone: p.Zone, SkipBadRows: skip, Watermark: watermarkOf(n), Streaming: streaming(p)}
	if b.State, err = c.Bind(ctx, n.Source.Options, e); err != nil {
		return b, err
	}
	if b.Source, err = c.Open(b.State); err != nil {
		return b, err
	}
	if s, ok := b.Source.(connectors.Skipping); skip && (!ok || !s.SkipsBadRows()) {
		return b, files.Refused("on_error: skip: a source of kind %s cannot leave bad rows out; expected fail", n.Source.Kind)
	}
	return b, nil
}

// sharedTargets finds sinks that would write to one path, and sinks that would replace an input.
func sharedTargets(bp *jobgraph.BoundPlan) plans.Findings {
	var found plans.Findings
	owner := map[string]string{}
	inputs := map[string]string{}
	for node, s := range bp.Sources {
		for _, f := range s.Source.Inventory().Files {
			if f.Generated {
				continue
			}
			abs := resolved(f.Path)
			inputs[abs], inputs[filepath.Dir(abs)] = node, node
		}
	}
	for i := range bp.Plan.Nodes {
		n := &bp.Plan.Nodes[i]
		if n.Sink == nil {
			continue
		}
		for _, t := range bp.Sinks[n.Name].Targets {
			if other := owner[t]; other != "" {
				found = append(found, plans.NewFinding(bp.Plan, n.Sink.Pos, "shared-target", fmt.Sprintf("sinks %s and %s write to one path, %s", other, n.Name, files.Display(t))))
			}
			for path, other := range owner {
				if path != t && (within(path, t) || within(t, path)) {
					found = append(found, plans.NewFinding(bp.Plan, n.Sink.Pos, "shared-target", fmt.Sprintf("one of the targets of sinks %s and %s lies inside the other: %s, %s", other, n.Name, files.Display(path), files.Display(t))))
				}
			}
			owner[t] = n.Name
			if src := inputs[t]; src != "" {
				found = append(found, plans.NewFinding(bp.Plan, n.Sink.Pos, "target-is-input", fmt.Sprintf("sink %s would replace what source %s reads, %s", n.Name, src, files.Display(t))))
			}
		}
	}
	return found
}
