// Package runner runs plans: [Run] takes one through all its stages in this process, and gives the report.
package runner

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph/bind"
	"github.com/seed-4b0e9f7c/runner/runner/jobmanager"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// Version of the program.
const Version = "0.1.0"

// Settings say how a plan is run.
type Settings struct {
	Options  config.Loaded
	Started  time.Time                // when the process began, for the timings; zero: now
	SpillDir string                   // "" = the system's temporary folder
	Progress func(jobmaster.Snapshot) // called from time to time while the job runs; nil: never
	// EncodeMessages sends every message between the nouns through its encoding, as between processes.
	EncodeMessages bool
	// Alloc gives the memory of batches; nil: a pool of reused buffers.
	Alloc memory.Allocator

	// ReportFile says where the report of a run will be, beside which the rows are kept that its sources leave
	// out as bad; nil: they are not kept.
	ReportFile func(plan, run string) string

	replay *ReplayOf
}

// Run runs a plan in this process: it binds the plan, builds its job graph, and lets a JobManager and
// a TaskManager run it. The report says how that went, also where the run failed or was cancelled
// through ctx. err is not nil only where nothing was run: plans.Findings for a faulty plan.
func Run(ctx context.Context, cat jobgraph.Catalogs, p *plans.Plan, s Settings) (report.Report, error) {
	if s.Started.IsZero() {
		s.Started = time.Now()
	}
	r := &run{ctx: ctx, cat: cat, plan: p, s: s}
	used := cpuTime()
	r.id, r.job = newIDs(s.Started)
	r.out = report.Run{
		RunID: r.id, JobID: r.job, Started: s.Started, Plan: planOf(p), Options: JobOptions(s.Options),
		Engine: report.Engine{Name: "runner", Version: Version, Target: "embedded"},
	}
	err := r.run()
	var findings plans.Findings
	if errors.As(err, &findings) {
		return report.Report{}, findings
	}
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return report.Report{}, p.HideError(refusal)
	}
	if err != nil {
		r.out.Canceled = ctx.Err() != nil
		if !r.out.Canceled {
			f := failure.FromErr(fmt.Errorf("plan %s cannot be run: %w", p.File, err), failure.Where{})
			r.out.Failure = &f
		}
	}
	r.out.Timings.TotalMs = time.Since(s.Started).Milliseconds()
	r.out.Timings.CPUMs = (cpuTime() - used).Milliseconds()
	r.out.Memory = report.Memory{TotalProcessBytes: peakMemory(), ManagedBytes: s.Options.Bytes(config.ManagedMemory)}
	return hide(report.Build(r.out), p)
}

// hide takes a plan's secrets out of all texts of a report.
func hide(out report.Report, p *plans.Plan) (report.Report, error) {
	if !p.HasSecrets() {
		return out, nil
	}
	b, err := json.Marshal(out)
	if err != nil {
		return report.Report{}, fmt.Errorf("hiding the secrets of a report: %w", err)
	}
	var hidden report.Report
	if err := json.Unmarshal(p.HideJSON(b), &hidden); err != nil {
		return report.Report{}, fmt.Errorf("hiding the secrets of a report: %w", err)
	}
	// Ids, times and digests are the run's own, also where a secret of four digits stands in one by chance.
	hidden.RunID, hidden.JobID, hidden.StartedAt, hidden.State = out.RunID, out.JobID, out.StartedAt, out.State
	hidden.Plan.Digest, hidden.Engine = out.Plan.Digest, out.Engine
	for i, v := range out.Vertices {
		hidden.Vertices[i].ID = v.ID
	}
	for i, k := range out.Sinks {
		hidden.Sinks[i].Digest = k.Digest
	}
	return hidden, nil
}

type run struct {
	ctx  context.Context
	cat  jobgraph.Catalogs
	plan *plans.Plan
	s    Settings
	id   string
	job  string
	out  report.Run

	rejectsDir string // for the rows that sources leave out, while the job runs; "" = they are not kept
}

// newIDs makes a run id that sorts by time, and Flink's 32 hex digits for the job.
func newIDs(at time.Time) (run, job string) {
	b := make([]byte, 16)
	// Read never fails, as crypto/rand promises.
	_, _ = rand.Read(b)
	job = hex.EncodeToString(b)
	return at.UTC().Format("20060102T150405.000") + "-" + job, job
}

func (r *run) run() error {
	bp, found, err := bind.Bind(r.ctx, r.plan, r.cat.Connectors)
	if found.Failed() {
		return found
	}
	if err != nil {
		return err
	}
	for _, f := range found {
		r.out.Warnings = append(r.out.Warnings, f.Error())
	}
	r.rollForward(bp)
	if r.s.replay != nil {
		if err := r.replayBound(bp); err != nil {
			return err
		}
	}
	g, err := jobgraph.Build(bp, r.cat, r.out.Options)
	if err != nil {
		return err
	}
	r.out.Graph = g
	r.out.Timings.CompileMs = time.Since(r.s.Started).Milliseconds()
	execute := func() error { return r.keepingRejects(g) }
	if r.s.replay != nil {
		return r.noted(execute)
	}
	return execute()
}

// rollForward finishes what a run that died while publishing left beside this plan's targets.
func (r *run) rollForward(bp *jobgraph.BoundPlan) {
	var targets []string
	for _, s := range bp.Sinks {
		targets = append(targets, s.Targets...)
	}
	r.out.Warnings = append(r.out.Warnings, jobmanager.RollForward(r.ctx, r.cat.Connectors, targets)...)
}

func planOf(p *plans.Plan) report.Plan {
	out := report.Plan{Name: p.Name, File: p.File, Digest: p.Digest, Mode: p.Mode, Params: map[string]string{}}
	for _, x := range p.Params {
		out.Params[x.Name] = x.Text
		if x.Secret {
			out.Params[x.Name] = plans.Hidden
		}
	}
	return out
}

// JobOptions are options in the form that a job graph and a report carry.
func JobOptions(o config.Loaded) []jobgraph.Option {
	out := make([]jobgraph.Option, 0, len(o.Settings))
	for _, s := range o.Settings {
		if s.Value == "" {
			continue // unset, and without a default
		}
		out = append(out, jobgraph.Option{Name: s.Name, Value: s.Value, Source: s.Source, Scope: string(s.Scope)})
	}
	return out
}
