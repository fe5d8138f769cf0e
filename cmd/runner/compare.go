package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner"
	"github.com/seed-4b0e9f7c/runner/runner/diagnose"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph/bind"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

const exitDiffers = 3 // results differ

func compareCommand() *cobra.Command {
	var f planFlags
	var repeat int
	var format string
	c := &cobra.Command{
		Use:   "compare PLAN | compare REPORT REPORT",
		Short: "Run a plan at several parallelisms, or take two reports, and say why one is no faster",
		Long: "Runs a plan at each parallelism: once to warm up, then in rounds. Its sinks write into a temporary folder, each\n" +
			"into one of its own, which is removed after every run: the plan's results are not touched, and what a sink costs\n" +
			"and by how many writers it is written stays as it is. With two saved reports nothing is run.\n" +
			"Ends with 3 when results differ. Results that depend on the order of rows by nature are not compared.",
		Args: cobra.RangeArgs(1, 2),
	}
	f.add(c)
	c.Flags().Lookup("parallelism").Usage = "the parallelisms to compare (`n,m`); the first is what the others are held against"
	c.Flags().IntVar(&repeat, "repeat", 5, "rounds: `n` runs at each parallelism")
	c.Flags().StringVar(&format, "format", "text", "`text` or json")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return fmt.Errorf("--format %s: expected text or json", format)
		}
		if len(args) == 2 {
			for _, name := range []string{"parallelism", "repeat", "set", "option", "slots", "config"} {
				if c.Flags().Changed(name) {
					return fmt.Errorf("--%s: two reports are compared as they are, nothing is run", name)
				}
			}
			x, err := compareReports(c.InOrStdin(), args[0], args[1])
			if err != nil {
				return err
			}
			return printComparison(c.OutOrStdout(), x, format)
		}
		x, err := f.compare(c.Context(), args[0], repeat)
		if err != nil {
			return err
		}
		return printComparison(c.OutOrStdout(), x, format)
	}
	return c
}

func compareReports(stdin io.Reader, fileA, fileB string) (diagnose.Comparison, error) {
	a, err := readReport(stdin, fileA)
	if err != nil {
		return diagnose.Comparison{}, err
	}
	b, err := readReport(stdin, fileB)
	if err != nil {
		return diagnose.Comparison{}, err
	}
	return diagnose.CompareReports(a, b, fileA, fileB), nil
}

func printComparison(w io.Writer, x diagnose.Comparison, format string) error {
	var err error
	if format == "json" {
		err = printJSON(w, x)
	} else {
		err = diagnose.PrintComparison(w, x)
	}
	if err != nil {
		return fmt.Errorf("printing the comparison: %w", err)
	}
	if !x.Equal {
		return exit{code: exitDiffers}
	}
	return nil
}

// compare runs a plan at each parallelism of --parallelism.
func (f *planFlags) compare(ctx context.Context, file string, repeat int) (diagnose.Comparison, error) {
	list, err := parallelisms(f.parallelism)
	if err != nil {
		return diagnose.Comparison{}, err
	}
	if repeat < 1 {
		return diagnose.Comparison{}, fmt.Errorf("--repeat %d: expected at least 1", repeat)
	}
	byParallelism := map[int]*loaded{}
	for _, p := range list {
		at := *f
		at.parallelism = strconv.Itoa(p)
		// What a sink prints would be printed by every run.
		if byParallelism[p], err = at.load(file, io.Discard, os.Stderr); err != nil {
			return diagnose.Comparison{}, err
		}
	}
	first := byParallelism[list[0]]
	if err := plans.Render(os.Stderr, first.warnings); err != nil {
		return diagnose.Comparison{}, err
	}
	home, err := os.MkdirTemp("", "runner-compare-")
	if err != nil {
		return diagnose.Comparison{}, fmt.Errorf("making a folder for the results: %w", err)
	}
	defer os.RemoveAll(home)
	if err := first.ends(ctx, home); err != nil {
		return diagnose.Comparison{}, err
	}
	x, err := diagnose.Compare(ctx, diagnose.Runs{
		Parallelism: list, Repeat: repeat, CPUs: runtime.GOMAXPROCS(0), Progress: comparing(os.Stderr),
		Run: func(ctx context.Context, p int) (report.Report, error) { return byParallelism[p].once(ctx, home) },
	})
	clearLine(os.Stderr)
	return x, ended(err, first.warnings)
}

// ends refuses a stream without end. What else is wrong with the plan the first run says.
func (l *loaded) ends(ctx context.Context, home string) error {
	dir := filepath.Join(home, "looked")
	bp, found, err := bind.Bind(ctx, l.plan, diagnose.RedirectSinks(l.cat.Connectors, dir))
	if err != nil || found.Failed() {
		return nil
	}
	if source := bind.Endless(bp); source != "" {
		return fmt.Errorf("source %s never ends, and what is compared are runs from beginning to end: a limit, or an option such as number_of_rows, gives it an end", source)
	}
	return nil
}

// once runs a plan with its sinks below a folder that is gone afterwards.
func (l *loaded) once(ctx context.Context, home string) (report.Report, error) {
	dir := filepath.Join(home, "results")
	cat := l.cat
	cat.Connectors = diagnose.RedirectSinks(cat.Connectors, dir)
	limitMemory(l.options)
	runtime.GC() // so that no run pays for the garbage of the one before
	r, err := runner.Run(ctx, cat, l.plan, runner.Settings{Options: l.options, Started: time.Now()})
	if rerr := os.RemoveAll(dir); err == nil && rerr != nil {
		err = fmt.Errorf("removing the results of a run: %w", rerr)
	}
	return r, err
}

// ended prints why there is nothing to compare, and gives the exit code of the run that is to blame.
func ended(err error, warnings plans.Findings) error {
	var found plans.Findings
	var run *diagnose.RunError
	switch {
	case errors.As(err, &found):
		return refuse(os.Stderr, append(warnings, found...))
	case errors.As(err, &run):
		report.WriteText(os.Stderr, run.Report, "")
		fmt.Fprintf(os.Stderr, "the run at parallelism %d did not finish, so there is nothing to compare\n", run.Parallelism)
		return exit{code: exitOf(run.Report)}
	}
	return err
}

// parallelisms reads "1,2,4".
func parallelisms(text string) ([]int, error) {
	if text == "" {
		return nil, errors.New("--parallelism is missing: it names the parallelisms to compare, as in --parallelism 1,2")
	}
	var out []int
	seen := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || seen[n] {
			return nil, fmt.Errorf("--parallelism %q: expected different numbers from 1, such as 1,2", text)
		}
		seen[n] = true
		out = append(out, n)
	}
	if len(out) < 2 {
		return nil, fmt.Errorf("--parallelism %q: expected two numbers or more, such as 1,2", text)
	}
	return out, nil
}

// comparing shows on a terminal which run it is.
func comparing(f *os.File) func(done, total int) {
	if !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func(done, total int) { fmt.Fprintf(f, "\r\x1b[Krun %d of %d", done+1, total) }
}

func clearLine(f *os.File) {
	if term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(f, "\r\x1b[K")
	}
}
