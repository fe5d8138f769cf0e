package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/runner/report"
)

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report FILE",
		Short: "Show a saved run report as text",
		Long: "Prints all of a saved report: options, the parallelism of every vertex with who asked for it, what was decided and\n" +
			"why, slots and what was waited for, subtasks, sources, sinks, books, failure. FILE is - for standard input.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := readReport(c.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			if err := report.WriteFull(c.OutOrStdout(), r); err != nil {
				return fmt.Errorf("printing the report: %w", err)
			}
			return nil
		},
	}
}

// readReport reads a saved report, from standard input for "-".
func readReport(stdin io.Reader, file string) (report.Report, error) {
	if file == "-" {
		return report.Read(stdin, "standard input")
	}
	f, err := os.Open(file)
	if err != nil {
		return report.Report{}, readError(file, err)
	}
	defer f.Close()
	return report.Read(f, file)
}
