package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed-4b0e9f7c/runner/runner/diagnose"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
)

func diagnoseCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "diagnose [FILE…]",
		Short: "Find the root cause in a log, a REST answer or any failure text, of Flink or of runner",
		Long: "Reads failure texts from files, or from standard input without a file or for -, and prints the root cause\n" +
			"with its place and what to do next. Ends with 0 when a cause was found or nothing failed, with 2 when an\n" +
			"input cannot be read.",
	}
	c.Flags().StringVar(&format, "format", "text", "`text`, or json for one object an input")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return fmt.Errorf("--format %s: expected text or json", format)
		}
		if len(args) == 0 {
			args = []string{"-"}
			if in, ok := c.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
				fmt.Fprintln(c.ErrOrStderr(), "Reading standard input: paste the failure text and end it with Ctrl-D on a line of its own,\n"+
					"or stop with Ctrl-C and name a file: runner diagnose FILE")
			}
		}
		out := bufio.NewWriter(c.OutOrStdout())
		var failed []error
		for i, name := range args {
			r, err := parseInput(c.InOrStdin(), name)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			if i > 0 && format == "text" {
				fmt.Fprintln(out)
			}
			failed = append(failed, printDiagnosis(out, format, name, len(args) > 1, r))
		}
		return errors.Join(append(failed, out.Flush())...)
	}
	return c
}

// parseInput reads a file, or standard input for "-".
func parseInput(stdin io.Reader, name string) (failure.Result, error) {
	if name == "-" {
		r, err := failure.Parse(stdin)
		if err != nil {
			return r, fmt.Errorf("reading standard input: %w", err)
		}
		return r, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return failure.Result{}, err
	}
	defer f.Close()
	r, err := failure.Parse(f)
	if err != nil {
		return r, fmt.Errorf("reading %s: %w", name, err)
	}
	return r, nil
}

// printDiagnosis prints one result; the input is named where there are several.
func printDiagnosis(out io.Writer, format, name string, many bool, r failure.Result) error {
	if !many {
		name = ""
	}
	if format == "json" {
		return diagnose.WriteJSON(out, name, r)
	}
	return diagnose.Print(out, name, r)
}
