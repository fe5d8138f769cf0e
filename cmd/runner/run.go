package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/report"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

func runCommand(started time.Time) *cobra.Command {
	var f planFlags
	var o outputFlags
	c := &cobra.Command{
		Use:   "run PLAN",
		Short: "Run a plan and write its report",
		Args:  cobra.ExactArgs(1),
	}
	f.add(c)
	o.add(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.run(c.Context(), args[0], o, started, func(ctx context.Context, l *loaded, s runner.Settings) (report.Report, error) {
			return runner.Run(ctx, l.cat, l.plan, s)
		})
	}
	return c
}

// outputFlags say where the report of a run goes.
type outputFlags struct{ file, format string }

func (o *outputFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&o.file, "report", "", "write the report to this `file` instead of the folder of reports")
	c.Flags().StringVar(&o.format, "format", "text", "`text`, or json for the report on standard output")
}

// run loads a plan, runs it and writes its report.
func (f *planFlags) run(ctx context.Context, plan string, o outputFlags, started time.Time, do func(context.Context, *loaded, runner.Settings) (report.Report, error)) error {
	if o.format != "text" && o.format != "json" {
		return fmt.Errorf("--format %s: expected text or json", o.format)
	}
	stdout := os.Stdout
	if o.format == "json" {
		stdout = os.Stderr // the report alone goes to standard output
	}
	if info, err := os.Stat(o.file); err == nil && info.IsDir() {
		return fmt.Errorf("--report %s: that is a folder; name a file, or set %s", o.file, config.ReportDir)
	}
	l, err := f.load(plan, stdout, os.Stderr)
	if err != nil {
		return err
	}
	limitMemory(l.options)
	p := newProgress(os.Stderr)
	r, err := do(ctx, l, runner.Settings{Options: l.options, Started: started, Progress: p.update, ReportFile: func(plan, run string) string {
		return report.Path(plan, run, o.file, l.options.String(config.ReportDir))
	}})
	p.done()
	var found plans.Findings
	if errors.As(err, &found) {
		return refuse(os.Stderr, append(l.warnings, found...))
	}
	if err != nil {
		return err
	}
	for _, w := range l.warnings {
		r.Warnings = append(r.Warnings, w.Error())
	}
	r.Warnings = append(r.Warnings, l.options.Warnings...)
	return finish(r, o.file, l.options.String(config.ReportDir), o.format)
}

// besideManaged is what a run takes beside operators and results: buffers, the program itself.
const besideManaged = 256 << 20

// limitMemory tells the garbage collector what the memory is meant for: operators and results may take
// the managed memory each. Up to there it may be lazy, near there it is not.
func limitMemory(o config.Loaded) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(2*o.Bytes(config.ManagedMemory) + besideManaged)
	}
}

// finish writes the report and prints what a person wants to see of it.
func finish(r report.Report, file, dir, format string) error {
	path, saveErr := report.Save(r, file, dir)
	if format == "json" {
		if err := report.Write(os.Stdout, r); err != nil && saveErr == nil {
			saveErr = fmt.Errorf("printing the report: %w", err)
		}
	}
	if saveErr != nil {
		fmt.Fprintln(os.Stderr, "runner:", saveErr)
		path = ""
	}
	report.WriteText(os.Stderr, r, path)
	code := exitOf(r)
	if code == exitDone && saveErr != nil {
		code = exitFailed
	}
	if code == exitDone {
		return nil
	}
	return exit{code: code}
}

// exitOf is the exit code that a report calls for.
func exitOf(r report.Report) int {
	switch {
	case r.State == string(rpc.JobFinished):
		return exitDone
	case r.State == string(rpc.JobCanceled):
		return exitCancelled
	case r.Failure != nil && r.Failure.RootCause != nil && r.Failure.RootCause.Class == string(failure.NoSlots):
		return exitNoSlots
	}
	return exitFailed
}
