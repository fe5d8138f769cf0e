package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/badrows"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/report"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A ReplayOf is a run whose bad rows are read again, and nothing else of its files.
type ReplayOf struct {
	Earlier report.Report
	File    string // where the report came from, "-" for standard input
	// Force goes on where files or rejects are no longer as the run left them, and where a sink replaces
	// what is there. A record that does not stand where it stood is an error in any case.
	Force bool
	// Again goes on where the bad rows of the report were replayed and published before.
	Again bool

	plan *plans.Plan // the one that is run
	dir  string      // for the records, while they are read again
}

// A Refusal says why nothing was run: the replay that was asked for makes no sense.
type Refusal struct{ Reason string }

// Error is the reason.
func (e *Refusal) Error() string { return e.Reason }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// Replay runs a plan over the bad rows of an earlier run: each source of whose rows that run left some
// out reads those records alone, under the options it has now, and the other sources read nothing. err is
// a *Refusal where that cannot be, else what [Run] says.
func Replay(ctx context.Context, cat jobgraph.Catalogs, p *plans.Plan, s Settings, of ReplayOf) (report.Report, error) {
	if err := of.replayable(p); err != nil {
		return report.Report{}, err
	}
	if err := of.unreplayed(); err != nil {
		return report.Report{}, err
	}
	of.plan, s.replay = p, &of
	dir, err := scratch(s.SpillDir, "runner-replay-")
	if err != nil {
		return report.Report{}, fmt.Errorf("making a folder for the records to replay: %w", err)
	}
	of.dir = dir
	defer func() { _ = os.RemoveAll(dir) }() // it is of no use; what is left of it the next replay removes
	return Run(ctx, cat, p, s)
}

// replayable judges what can be judged without looking at files.
func (of *ReplayOf) replayable(p *plans.Plan) error {
	r := &of.Earlier
	if r.State != string(rpc.JobFinished) {
		return refuse("run %s of %s ended in state %s: nothing was published, its bad rows neither; correct the plan and run it", r.RunID, of.File, r.State)
	}
	total := int64(0)
	for _, s := range r.Sources {
		n := rejectedOf(s)
		if total += n; n == 0 {
			continue
		}
		if of.sinkOf(s.Node) == nil && of.keptRejects(&s) == nil {
			return refuse("%s", of.noSink(p, s.Node, n))
		}
		src := p.Node(s.Node)
		if src == nil || src.Source == nil {
			return refuse("run %s left %d rows of source %s out, and %s has no source of that name", r.RunID, n, s.Node, p.File)
		}
	}
	if total == 0 {
		return refuse("run %s of %s left no rows out: there is nothing to replay", r.RunID, of.File)
	}
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Step != nil {
			return refuse("node %s: %s puts rows together in ways that the rows left out alone cannot tell, so a plan with it cannot be replayed; run it as a whole", n.Name, n.Step.Kind)
		}
	}
	return nil
}

func rejectedOf(s report.Source) int64 {
	n := int64(0)
	for _, f := range s.Files {
		n += f.Rejected
	}
	return n
}

// sinkOf is the sink that took a source's bad rows as they are, nil where there was none.
func (of *ReplayOf) sinkOf(source string) *report.Sink {
	for i := range of.Earlier.Sinks {
		if k := &of.Earlier.Sinks[i]; k.Rejects != nil && k.Rejects.Of == source {
			return k
		}
	}
	return nil
}

// noSink says how a plan keeps the bad rows.
func (of *ReplayOf) noSink(p *plans.Plan, source string, rejected int64) string {
	name := source + "_rejects"
	for n := 2; p.Node(name) != nil; n++ {
		name = fmt.Sprintf("%s_rejects_%d", source, n)
	}
	why := "were not kept beside it"
	for i := range of.Earlier.Sources {
		if x := &of.Earlier.Sources[i]; x.Node == source && x.Rejects != nil {
			why = fmt.Sprintf("are not there any more: the file %s has to stand beside %s as it was", x.Rejects.File, of.File)
		}
	}
	return fmt.Sprintf("run %s left %d rows of source %s out, which %s, and no sink took them as they came: there is nothing to replay them from.\n"+
		"Run the plan again with %s on, or with a sink added to %s, and replay that run:\n\nsinks:\n  %s: {from: %s.rejected, csv: {path: %s, mode: overwrite}}\n",
		of.Earlier.RunID, rejected, source, why, config.RejectsJournal, p.File, name, source, name+".csv")
}

// replayBound puts sources in the place of the bound ones that read the bad rows alone.
func (r *run) replayBound(bp *jobgraph.BoundPlan) error {
	of := r.s.replay
	r.out.ReplayOf = &report.ReplayOf{RunID: of.Earlier.RunID, Report: of.File}
	if err := of.sparing(bp); err != nil {
		return err
	}
	for i := range r.plan.Nodes {
		n := &r.plan.Nodes[i]
		if n.Source == nil {
			if lasting(n) != "" {
				r.warn("node %s: %s sees the replayed rows alone", n.Name, lasting(n))
			}
			continue
		}
		only, err := r.recordsOf(bp, n)
		if err != nil {
			return err
		}
		if only == nil {
			only = func(func(connectors.Record, error) bool) {}
			r.warn("source %s: nothing of it is read, since run %s left none of its rows out", n.Name, of.Earlier.RunID)
		}
		b := bp.Sources[n.Name]
		src, ok := b.Source.(connectors.Replaying)
		if !ok {
			return refuse("source %s: a source of kind %s cannot read single records again", n.Name, n.Source.Kind)
		}
		if b.State, err = src.Only(only, of.dir); err != nil {
			return of.unreadable(n.Name, err)
		}
		if b.Source, err = r.cat.Connectors[n.Source.Kind].Open(b.State); err != nil {
			return err
		}
		bp.Sources[n.Name] = b
	}
	return nil
}

func (r *run) warn(format string, args ...any) {
	r.out.Warnings = append(r.out.Warnings, fmt.Sprintf(format, args...))
}

// lasting is what a node does whose result depends on more rows than one, "" where it does not.
func lasting(n *plans.Node) string {
	switch {
	case n.Aggregate != nil:
		return "its aggregation"
	case n.Select != nil && n.Select.Distinct, n.Union != nil && n.Union.Distinct:
		return "distinct"
	case n.Select != nil && (n.Select.Limit >= 0 || n.Select.Offset > 0):
		return "its limit"
	}
	return ""
}

// sparing refuses sinks that would replace the good rows of the earlier run. A sink of bad rows may
// replace them: what it gets is what is still bad.
func (of *ReplayOf) sparing(bp *jobgraph.BoundPlan) error {
	for i := range bp.Plan.Nodes {
		n := &bp.Plan.Nodes[i]
		if n.Sink == nil || of.Force || slices.ContainsFunc(n.From, func(in plans.Input) bool { return in.Port == connectors.PortRejected }) {
			continue
		}
		var o struct {
			Mode string `json:"mode"`
		}
		if err := json.Unmarshal(n.Sink.Options, &o); err != nil || o.Mode != string(files.ModeOverwrite) {
			continue // a sink without modes replaces nothing
		}
		for _, t := range bp.Sinks[n.Name].Targets {
			if _, err := os.Lstat(t); err == nil {
				return refuse("sink %s: mode: overwrite would replace the rows in %s by the replayed ones alone; set mode: append and a folder, or another path, or give --force", n.Name, files.Display(t))
			}
		}
	}
	return nil
}

// recordsOf are the records of a source that the earlier run left out, nil where it left none out.
func (r *run) recordsOf(bp *jobgraph.BoundPlan, n *plans.Node) (iter.Seq2[connectors.Record, error], error) {
	of := r.s.replay
	k := of.sinkOf(n.Name)
	var kept []badrows.Part
	for i := range of.Earlier.Sources {
		if s := &of.Earlier.Sources[i]; s.Node == n.Name {
			kept = of.keptRejects(s)
		}
	}
	if k == nil && kept == nil {
		return nil, nil
	}
	now := bp.Sources[n.Name].Source.Inventory()
	if err := of.unchanged(n.Name, now); err != nil {
		return nil, err
	}
	if kept != nil {
		return of.found(badrows.Merge(of.dir, kept), now), nil
	}
	return r.readRejects(bp, k)
}

// unchanged holds the files that a source had in the earlier run, and of which rows were left out, against
// those it has now.
func (of *ReplayOf) unchanged(source string, now connectors.Inventory) error {
	for _, s := range of.Earlier.Sources {
		for _, f := range s.Files {
			if s.Node != source || f.Rejected == 0 || of.Force {
				continue
			}
			at := slices.IndexFunc(now.Files, func(x connectors.File) bool { return of.isFile(x, f) })
			if at < 0 {
				return refuse("source %s: run %s left rows of %s out, which is none of its files now%s", source, of.Earlier.RunID, f.Path, of.otherParams())
			}
			// Where a secret hides a part of the path, several may look like it: one of them has to be it.
			same := func(x connectors.File) bool { return of.isFile(x, f) && of.asItWas(x, f) }
			if slices.ContainsFunc(now.Files, same) {
				continue
			}
			x := now.Files[at]
			stamp := time.Unix(0, x.ModifiedNs).UTC().Format(time.RFC3339Nano)
			return refuse("%s has changed since run %s: it had %d bytes and was changed last at %s, and has %d and %s now. "+
				"Its bad rows may be others: run the plan as a whole, or give --force to read the records that still stand where they stood",
				f.Path, of.Earlier.RunID, f.Bytes, f.Modified, x.Bytes, stamp)
		}
	}
	return nil
}

// isFile reports whether a file of a source is the one of a report, which does not show what was a secret of
// its path. The secrets are those of now: nothing keeps what they were.
func (of *ReplayOf) isFile(x connectors.File, f report.SourceFile) bool {
	return samePath(x.Path, f.Path) || samePath(of.plan.Hide(x.Path), f.Path)
}

// asItWas reports whether a file has the size and the time that it had.
func (of *ReplayOf) asItWas(x connectors.File, f report.SourceFile) bool {
	if x.Bytes != f.Bytes && of.Earlier.ReplayOf == nil { // what a replay read of a file are the bytes of its records
		return false
	}
	return f.Modified == "" || x.ModifiedNs == 0 || f.Modified == time.Unix(0, x.ModifiedNs).UTC().Format(time.RFC3339Nano)
}

// otherParams says which parameters the earlier run had with other values, as they are to be given.
func (of *ReplayOf) otherParams() string {
	var open, secret []string
	for _, p := range of.plan.Params {
		switch then, had := of.Earlier.Plan.Params[p.Name]; {
		case !had || then == p.Text && !p.Secret:
		case p.Secret || then == plans.Hidden:
			secret = append(secret, p.Name)
		default:
			open = append(open, fmt.Sprintf("--set %s=%s", p.Name, then))
		}
	}
	s := ""
	if len(open) > 0 {
		s += "; that run had " + strings.Join(open, " ")
	}
	if len(secret) > 0 {
		s += fmt.Sprintf("; the values of the secret parameters %s are those of now: they have to be what they were then", strings.Join(secret, ", "))
	}
	return s
}

// unreadable says that a source cannot read the records of the earlier run again. Where that run had secrets in
// its paths, the reason may show one that is none any more.
func (of *ReplayOf) unreadable(source string, err error) error {
	for _, s := range of.Earlier.Sources {
		for _, f := range s.Files {
			if s.Node == source && strings.Contains(f.Path, plans.Hidden) {
				return refuse("source %s: its files are not those of run %s, or stand elsewhere now%s", source, of.Earlier.RunID, of.otherParams())
			}
		}
	}
	return refuse("source %s: %v", source, err)
}

// samePath compares paths as reports have them, which are relative to where the run was begun.
func samePath(now, then string) bool {
	return now == then || strings.HasSuffix(filepath.ToSlash(now), "/"+filepath.ToSlash(then)) || strings.HasSuffix(filepath.ToSlash(then), "/"+filepath.ToSlash(now))
}
