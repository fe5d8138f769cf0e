package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

func replayCommand(started time.Time) *cobra.Command {
	var f planFlags
	var o outputFlags
	var force, again bool
	c := &cobra.Command{
		Use:   "replay RUN [PLAN]",
		Short: "Run only the bad rows of an earlier run through its corrected plan",
		Long: "Reads the bad rows that an earlier run left out, and nothing else of its files, through a plan that reads them right by now.\n" +
			"RUN is the report of that run; the rows are beside it, or in a sink that took them: `from: orders.rejected`. PLAN is the plan\n" +
			"that the report names if it is left out. Its sinks add to what that run published: `mode: append`, or another path.",
		Args: cobra.RangeArgs(1, 2),
	}
	f.add(c)
	o.add(c)
	c.Flags().BoolVar(&force, "force", false, "go on where files have changed since, or where a sink replaces what is there")
	c.Flags().BoolVar(&again, "again", false, "go on where the bad rows were replayed before: they are published once more")
	c.RunE = func(c *cobra.Command, args []string) error {
		earlier, err := readReport(c.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		plan := earlier.Plan.File
		if len(args) == 2 {
			plan = args[1]
		}
		if len(args) == 1 && strings.Contains(plan, plans.Hidden) {
			return fmt.Errorf("%s: the report hides a part of its plan's path (%s), since it looks like one of the secrets: give the plan too, runner replay %s PLAN", args[0], plan, args[0])
		}
		of := runner.ReplayOf{Earlier: earlier, File: args[0], Force: force, Again: again}
		return f.run(c.Context(), plan, o, started, func(ctx context.Context, l *loaded, s runner.Settings) (report.Report, error) {
			return runner.Replay(ctx, l.cat, l.plan, s, of)
		})
	}
	return c
}
