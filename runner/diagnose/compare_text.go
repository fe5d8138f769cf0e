package diagnose

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// PrintComparison writes a comparison for people; each verdict is one sentence at the end.
func PrintComparison(w io.Writer, c Comparison) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SIDE\tRUNS\tWALL\tCPU\tROWS\tROWS PER SECOND\tSLOTS\tWAITED FOR SLOTS")
	for _, s := range c.Sides {
		cpu := "-"
		if s.CPUMs != nil {
			cpu = spreadText(*s.CPUMs, " ms")
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%d of %d\t%d ms\n", s.Label, s.Runs, spreadText(s.WallMs, " ms"), cpu, report.Thousands(s.Rows),
			report.Thousands(int64(math.Round(s.RowsPerSecond.Median))), s.SlotsHeld, s.SlotsNeeded, s.SlotsWaitedMs)
	}
	fmt.Fprintln(t)
	fmt.Fprintln(t, "VERTEX\tSIDE\tREQUESTED\tDECIDED\tREASON\tSPLITS PER SUBTASK\tBUSY\tIDLE\tWAITED")
	for _, v := range vertexNames(c.Sides) {
		for _, s := range c.Sides {
			printSideVertex(t, s, v)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing the comparison: %w", err)
	}
	b.WriteByte('\n')
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	printResults(&b, c)
	for _, v := range c.Verdicts {
		if v.Outcome != NotFinished {
			u := v.SpeedUp
			fmt.Fprintf(&b, "speed-up of %s over %s: %.2f (%.2f to %.2f, half of the rounds %.2f to %.2f)\n", v.Other, v.Base, u.Median, u.Min, u.Max, u.Q1, u.Q3)
		}
	}
	for _, v := range c.Verdicts {
		fmt.Fprintln(&b, v.Sentence)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// vertexNames are the vertices of all sides, in the order of the first that has them.
func vertexNames(sides []Side) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range sides {
		for _, v := range s.Vertices {
			if !seen[v.Name] {
				seen[v.Name] = true
				out = append(out, v.Name)
			}
		}
	}
	return out
}

func printSideVertex(w io.Writer, s Side, name string) {
	for _, v := range s.Vertices {
		if v.Name != name {
			continue
		}
		splits := "-"
		if v.SplitsPerSubtask != nil {
			texts := make([]string, len(v.SplitsPerSubtask))
			for i, n := range v.SplitsPerSubtask {
				texts[i] = fmt.Sprint(n)
			}
			splits = strings.Join(texts, ", ")
		}
		fmt.Fprintf(w, "%s\t%s\t%d (%s)\t%d\t%s\t%s\t%d ms\t%d ms\t%d ms\n", v.Name, s.Label, v.Requested, v.Origin, v.Decided, v.Reason, splits, v.BusyMs, v.IdleMs, v.WaitedMs)
	}
}

func printResults(b *strings.Builder, c Comparison) {
	for _, x := range c.Results {
		switch {
		case !x.Comparable:
			fmt.Fprintf(b, "result %s: not compared, two runs of it may differ: %s\n", x.Node, x.Because)
		case x.Equal:
			fmt.Fprintf(b, "result %s: equal, %s rows, digest %s\n", x.Node, report.Thousands(x.Sides[0].Rows[0]), x.Sides[0].Digests[0])
		default:
			fmt.Fprintf(b, "result %s: DIFFERENT\n", x.Node)
			for i, s := range x.Sides {
				for j, d := range s.Digests {
					fmt.Fprintf(b, "  %s: %s rows, digest %s\n", c.Sides[i].Label, report.Thousands(s.Rows[j]), d)
				}
				if len(s.Digests) == 0 {
					fmt.Fprintf(b, "  %s: no result\n", c.Sides[i].Label)
				}
			}
		}
	}
}

func spreadText(s Spread, unit string) string {
	if s.Min == s.Max {
		return fmt.Sprintf("%.0f%s", s.Median, unit)
	}
	return fmt.Sprintf("%.0f%s (%.0f to %.0f)", s.Median, unit, s.Min, s.Max)
}
