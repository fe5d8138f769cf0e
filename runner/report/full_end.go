package report

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
)

// fullBooks says whether the books balance, and shows them.
func fullBooks(b *strings.Builder, x *jobmaster.Books) {
	if x == nil {
		return
	}
	b.WriteString("\nBooks\n")
	if x.Balanced {
		b.WriteString("  balanced\n")
	} else {
		b.WriteString("  not balanced:\n")
	}
	for _, f := range x.Faults {
		fmt.Fprintf(b, "    %s\n", f)
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	if len(x.Operators) > 0 {
		fmt.Fprintln(t, "  OPERATOR\tIN\tPASSED\tFILTERED\tREJECTED\tLATE\tABSORBED\tRELEASED\tOUT")
	}
	for _, o := range x.Operators {
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", o.Operator, o.In, o.Passed, o.Filtered, o.Rejected, o.Late, o.Absorbed, o.Released, o.Out)
	}
	t.Flush()
	if len(x.Edges) > 0 {
		fmt.Fprintln(t, "  EXCHANGE\tTO\tOUT\tCOPIES\tIN")
	}
	for _, e := range x.Edges {
		from := e.From
		if e.Port != "" {
			from += " (" + e.Port + ")"
		}
		fmt.Fprintf(t, "  %s\t%s\t%d\t%d\t%d\n", from, e.To, e.Out, e.Copies, e.In)
	}
	t.Flush()
	if len(x.Files) > 0 {
		fmt.Fprintln(t, "  FILE\tROWS\tREAD\tPRUNED\tUNREAD\tBYTES\tPRUNED BYTES\tUNREAD BYTES")
	}
	for _, f := range x.Files {
		fmt.Fprintf(t, "  %s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", f.Path, f.Rows, f.Read, f.Pruned, f.Unread, f.Bytes, f.PrunedBytes, f.UnreadBytes)
	}
	t.Flush()
}

// fullDefaults lists the options that nobody set.
func fullDefaults(b *strings.Builder, all []jobgraph.Option) {
	head := "\nOptions that nobody set\n"
	for _, o := range all {
		if o.Source == "default" {
			fmt.Fprintf(b, "%s  %s = %s (%s)\n", head, o.Name, o.Value, o.Scope)
			head = ""
		}
	}
}

func fullFailure(b *strings.Builder, f *failure.Failure) {
	b.WriteString("\nFailure\n")
	var text strings.Builder
	writeFailure(&text, f)
	for line := range strings.Lines(text.String()) {
		b.WriteString("  " + line)
	}
	restarts := ""
	if f.Restart.Attempts > 0 {
		restarts = fmt.Sprintf("%d before this failure", f.Restart.Attempts)
	}
	for _, line := range []struct{ label, text string }{
		{"task", f.Task}, {"TaskManager", f.TaskManager}, {"category", f.Category}, {"restart strategy", f.RestartStrategy},
		{"restarts", restarts}, {"read as", f.Form}, {"decided by", f.Rule},
	} {
		if line.text != "" {
			fmt.Fprintf(b, "  %s: %s\n", line.label, line.text)
		}
	}
	b.WriteString("  chain, outermost first:\n")
	for i, c := range f.Chain {
		fullCause(b, fmt.Sprintf("%d.", i+1), c)
	}
	switch n := f.RootIndex; {
	case f.RootCause == nil:
	case n >= 0 && n < len(f.Chain):
		fmt.Fprintf(b, "    the root cause is %d\n", n+1)
	default: // it was found inside a message
		fullCause(b, fmt.Sprintf("the root cause (place %d):", n), *f.RootCause)
	}
	for _, c := range f.Concurrent {
		fmt.Fprintf(b, "  at the same time: %s: %s\n", c.Task, c.Headline)
		if c.RootCause != nil {
			fullCause(b, "its root cause:", *c.RootCause)
		}
	}
}

// fullCause writes one element of a chain with all that is known of it.
func fullCause(b *strings.Builder, place string, c failure.Cause) {
	fmt.Fprintf(b, "    %s %s: %s\n", place, c.Class, OneLine(c.Message))
	where := c.File
	if c.Line > 0 {
		where += fmt.Sprintf(":%d", c.Line)
	}
	if c.Column > 0 {
		where += fmt.Sprintf(":%d", c.Column)
	}
	for _, x := range []struct{ label, text string }{
		{"at", where}, {"column", c.Field}, {"value", c.Value}, {"in", c.Expression}, {"operator", c.Operator}, {"task", c.Task},
		{"TaskManager", c.TaskManager}, {"frame", c.Frame},
	} {
		if x.text != "" {
			fmt.Fprintf(b, "       %s: %s\n", x.label, OneLine(x.text))
		}
	}
}
