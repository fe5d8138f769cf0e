package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph/bind"
)

func validateCommand() *cobra.Command {
	var f planFlags
	var format string
	var offline bool
	c := &cobra.Command{
		Use:   "validate PLAN...",
		Short: "Check plans and say everything that is wrong, at once",
		Args:  cobra.MinimumNArgs(1),
	}
	f.add(c)
	c.Flags().StringVar(&format, "format", "text", "`text` or json")
	c.Flags().BoolVar(&offline, "offline", false, "check the plan alone, without looking at the files it names")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return fmt.Errorf("--format %s: expected text or json", format)
		}
		var all plans.Findings
		for _, file := range args {
			found, err := f.validate(c, file, offline)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		return printFindings(all, len(args), format)
	}
	return c
}

// validate gives the findings of one plan; err is for what cannot be checked at all.
func (f *planFlags) validate(c *cobra.Command, file string, offline bool) (plans.Findings, error) {
	cat, err := catalogs(os.Stdout)
	if err != nil {
		return nil, err
	}
	p, found, err := f.parse(file, cat)
	if err != nil {
		return nil, err
	}
	if found.Failed() {
		return found, nil
	}
	if _, err := f.loadOptions(p); err != nil {
		return nil, err
	}
	if offline {
		return found, nil
	}
	_, more, err := bind.Bind(c.Context(), p, cat.Connectors)
	var target *bind.TargetError
	if errors.As(err, &target) {
		fmt.Fprintf(os.Stderr, "%s: warning: a run would fail now: %s\n", file, p.Hide(target.Error()))
	} else if err != nil {
		return nil, err
	}
	return append(found, more...), nil
}

func printFindings(all plans.Findings, files int, format string) error {
	if format == "json" {
		if all == nil {
			all = plans.Findings{}
		}
		if err := printJSON(os.Stdout, all); err != nil {
			return fmt.Errorf("printing the findings: %w", err)
		}
		if all.Failed() {
			return exit{code: exitPlan}
		}
		return nil
	}
	if all.Failed() {
		return refuse(os.Stderr, all)
	}
	if err := plans.Render(os.Stderr, all); err != nil {
		return err
	}
	word := "plans are"
	if files == 1 {
		word = "plan is"
	}
	_, err := fmt.Printf("%d %s valid\n", files, word)
	return err
}
