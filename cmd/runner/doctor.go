package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/inspect"
)

// exitRule is the code of rules that are not met.
const exitRule = 3

func doctorCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "doctor FILE...",
		Short: "Look for what may go wrong with CSV, JSON and Parquet files, and say what cures it; exit code 3 if a run would fail",
		Args:  cobra.MinimumNArgs(1),
	}
	c.Flags().StringVar(&format, "format", "text", "`text` or json")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return fmt.Errorf("--format %s: expected text or json", format)
		}
		list, err := listed(c.Context(), args)
		if err != nil {
			return exit{exitFailed, err}
		}
		all := []*inspect.Diagnosis{}
		failed := false
		for _, f := range list {
			d, err := inspect.Examine(files.Local(), f)
			if err != nil {
				return exit{exitFailed, err}
			}
			failed = failed || d.Failed()
			all = append(all, d)
			if format == "text" {
				if err := d.Text(os.Stdout); err != nil {
					return err
				}
			}
		}
		if format == "json" {
			if err := printJSON(os.Stdout, all); err != nil {
				return err
			}
		}
		if failed {
			return exit{code: exitRule}
		}
		return nil
	}
	return c
}
