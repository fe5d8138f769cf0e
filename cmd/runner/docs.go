package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/docs"
)

func docsCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "docs",
		Short: "Write the reference pages and JSON Schemas of this version",
		Args:  cobra.NoArgs,
	}
	c.Flags().StringVar(&out, "out", "docs/reference", "write them into this `folder`")
	c.RunE = func(*cobra.Command, []string) error {
		cat, err := catalogs(os.Stdout)
		if err != nil {
			return err
		}
		pages, err := docs.Pages(cat.Connectors, cat.Operators)
		if err != nil {
			return err
		}
		if err := docs.Write(out, pages); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%d files in %s\n", len(pages), out)
		return nil
	}
	return c
}
