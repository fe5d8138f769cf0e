package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner"
)

func explainCommand() *cobra.Command {
	var f planFlags
	var format string
	c := &cobra.Command{
		Use:   "explain PLAN",
		Short: "Show the job graph of a plan and the parallelism it would get, and why",
		Args:  cobra.ExactArgs(1),
	}
	f.add(c)
	c.Flags().StringVar(&format, "format", "text", "`text`, json or mermaid")
	c.RunE = func(c *cobra.Command, args []string) error {
		l, err := f.load(args[0], os.Stderr, os.Stderr)
		if err != nil {
			return err
		}
		x, err := runner.Explain(c.Context(), l.cat, l.plan, l.options)
		var found plans.Findings
		if errors.As(err, &found) {
			return refuse(os.Stderr, append(l.warnings, found...))
		}
		if err != nil {
			return err
		}
		if err := plans.Render(os.Stderr, l.warnings); err != nil {
			return err
		}
		switch format {
		case "text":
			return x.Text(os.Stdout)
		case "mermaid":
			return x.Mermaid(os.Stdout)
		case "json":
			return printJSON(os.Stdout, x)
		}
		return fmt.Errorf("--format %s: expected text, json or mermaid", format)
	}
	return c
}
