package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/inspect"
)

func inspectCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "inspect FILE...",
		Short: "Look into CSV, JSON and Parquet files and print the sources of a plan that reads them",
		Args:  cobra.MinimumNArgs(1),
	}
	c.Flags().StringVar(&format, "format", "yaml", "`yaml` or json")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "yaml" && format != "json" {
			return fmt.Errorf("--format %s: expected yaml or json", format)
		}
		list, err := listed(c.Context(), args)
		if err != nil {
			return exit{exitFailed, err}
		}
		all := []*inspect.Found{}
		for _, f := range list {
			found, err := inspect.Look(files.Local(), f)
			if err != nil {
				return exit{exitFailed, err}
			}
			all = append(all, found)
		}
		if format == "json" {
			return printJSON(os.Stdout, all)
		}
		fmt.Println("sources:")
		taken := map[string]bool{}
		for _, f := range all {
			fmt.Print(f.Block(inspect.NodeName(f.File, taken)))
		}
		return nil
	}
	return c
}

// listed finds the files that arguments mean.
func listed(ctx context.Context, args []string) ([]files.File, error) {
	return files.List(ctx, args, ".")
}
