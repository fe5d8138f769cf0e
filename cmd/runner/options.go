package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/plans"
)

func optionsCommand() *cobra.Command {
	var f planFlags
	var format string
	c := &cobra.Command{
		Use:   "options [PLAN]",
		Short: "List all options with the value in force, and where it comes from",
		Long: "Lists every option with the value that a run with the same flags would have, the place that gave it\n" +
			"(default, embedded, derived, file, env, plan, flag), who reads it, its default and what it is for.",
		Args: cobra.MaximumNArgs(1),
	}
	f.add(c)
	c.Flags().StringVar(&format, "format", "text", "`text` or json")
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return fmt.Errorf("--format %s: expected text or json", format)
		}
		if len(args) == 0 && len(f.set) > 0 {
			return fmt.Errorf("--set %s: parameters belong to a plan, and none is named", f.set[0])
		}
		o, err := f.optionsOf(args)
		if err != nil {
			return err
		}
		for _, w := range o.Warnings {
			fmt.Fprintln(os.Stderr, "warning:", w)
		}
		views := optionViews(o)
		if format == "json" {
			return printJSON(c.OutOrStdout(), views)
		}
		return printOptions(c.OutOrStdout(), views)
	}
	return c
}

// optionsOf loads the options as a run would, with a plan or without.
func (f *planFlags) optionsOf(args []string) (config.Loaded, error) {
	if len(args) == 0 {
		return f.loadOptions(&plans.Plan{})
	}
	l, err := f.load(args[0], os.Stderr, os.Stderr)
	if err != nil {
		return config.Loaded{}, err
	}
	for i, s := range l.options.Settings {
		l.options.Settings[i].Value = l.plan.Hide(s.Value)
	}
	return l.options, plans.Render(os.Stderr, l.warnings)
}

// An optionView is an option as it is listed.
type optionView struct {
	Name    string   `json:"name"`
	Value   string   `json:"value"` // "" where it is unset and has no default
	Source  string   `json:"source"`
	Where   string   `json:"where"`
	Scope   string   `json:"scope"`
	Reader  string   `json:"reader,omitempty"` // of a cluster option: the process that reads it
	Type    string   `json:"type"`
	Default string   `json:"default"`
	Allowed []string `json:"allowed,omitempty"`
	Env     string   `json:"env"`
	Key     string   `json:"key,omitempty"` // the key of a plan that says the same
	Doc     string   `json:"doc"`
}

func optionViews(o config.Loaded) []optionView {
	out := make([]optionView, len(o.Settings))
	for i, s := range o.Settings {
		out[i] = optionView{
			Name: s.Name, Value: s.Value, Source: s.Source, Where: s.Where, Scope: string(s.Scope), Reader: s.Reader, Type: string(s.Type),
			Default: s.Default, Allowed: s.Allowed, Env: config.EnvName(s.Name), Key: s.Key, Doc: s.Doc,
		}
	}
	return out
}

// printOptions writes a table, job options first, and under it what each option is for.
func printOptions(w io.Writer, views []optionView) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "OPTION\tVALUE\tSOURCE\tSCOPE\tDEFAULT\tSET AT")
	for _, v := range views {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", v.Name, orDash(v.Value), v.Source, v.Scope, orDash(v.Default), orDash(v.Where))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the options: %w", err)
	}
	b.WriteByte('\n')
	for _, v := range views {
		fmt.Fprintf(&b, "%s\n    %s\n    ", v.Name, v.Doc)
		if v.Reader != "" {
			fmt.Fprintf(&b, "%s reads it when it starts. ", strings.ToUpper(v.Reader[:1])+v.Reader[1:])
		}
		fmt.Fprintf(&b, "Environment: %s.\n", v.Env)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
