package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner/diagnose"
)

// TestCompareNamesTheCause runs plans of which it is known what holds them down. Only decisions are
// looked at: how long the runs take is the machine's affair.
func TestCompareNamesTheCause(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("two subtasks need two CPUs")
	}
	shipped := filepath.Join(repository(t), "plans", "orders.yaml")
	pieces := []string{"runner.source.split-size=64 kb", "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task=64 kb"}
	for _, c := range []struct {
		name, plan string
		flags      planFlags
		want       string // kind of limit; "" where nothing holds the run down
	}{
		{"the shipped plan", shipped, planFlags{slots: "2"}, diagnose.CutByVolume},
		{"one slot", shipped, planFlags{slots: "1"}, diagnose.NotEnoughSlots},
		{"one file in pieces", inputs(t, 1, 20_000, ""), planFlags{slots: "2", options: pieces}, ""},
		{"eight files", inputs(t, 8, 2_500, ""), planFlags{slots: "2"}, ""},
		{"one file in one piece", inputs(t, 1, 20_000, ""),
			planFlags{slots: "2", options: []string{"runner.source.split-size=1 gb", pieces[1]}}, diagnose.FewerSplits},
		{"two subtasks insisted on", inputs(t, 1, 20_000, "parallelism: 2"), planFlags{slots: "2", options: []string{"runner.source.split-size=1 gb"}}, diagnose.FewerSplits},
		{"one subtask insisted on", inputs(t, 8, 2_500, "parallelism: 1"), planFlags{slots: "2"}, diagnose.FixedByNode},
		{"one slot for eight files", inputs(t, 8, 2_500, ""), planFlags{slots: "1"}, diagnose.NotEnoughSlots},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.flags.parallelism = "1,2"
			x, err := c.flags.compare(t.Context(), c.plan, 1)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if l := x.Verdicts[0].Limit; l != nil {
				got = l.Kind
			}
			if got != c.want || c.want != "" && !strings.Contains(x.Verdicts[0].Sentence, x.Verdicts[0].Limit.Text) {
				t.Errorf("held down by %q, want %q: %s", got, c.want, x.Verdicts[0].Sentence)
			}
			if !x.Equal || len(x.Results) != 1 || x.Sides[0].Rows != x.Sides[1].Rows || x.Sides[0].Rows == 0 {
				t.Errorf("%+v", x)
			}
		})
	}
}

// inputs writes files of rows with few keys and a plan that groups them, and gives the plan's path.
func inputs(t *testing.T, files, rows int, node string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	for f := range files {
		var b strings.Builder
		b.WriteString("key,amount\n")
		for i := range rows {
			fmt.Fprintf(&b, "k%d,%d.50\n", i%7, i+f)
		}
		if err := os.WriteFile(filepath.Join(dir, "in", fmt.Sprintf("%d.csv", f)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plan := filepath.Join(dir, "plan.yaml")
	text := "sources:\n  a:\n    csv: {path: in/*.csv, columns: {key: STRING, amount: 'DECIMAL(12, 2)'}}\n"
	if node != "" {
		text += "    " + node + "\n"
	}
	text += "aggregations:\n  g:\n    from: a\n    group_by: [key]\n    measures: {n: COUNT(*), total: SUM(amount)}\n" +
		"sinks:\n  out:\n    from: g\n    csv: {path: out}\n"
	if err := os.WriteFile(plan, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return plan
}
