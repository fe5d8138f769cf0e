package main

import (
	"bytes"
	"compress/gzip"
	"errors"
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
		{"a compressed file", compressed(t, inputs(t, 1, 20_000, "")), planFlags{slots: "2"}, diagnose.FewerSplits},
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
			v := x.Verdicts[0]
			if got != c.want {
				t.Errorf("held down by %q, want %q: %s", got, c.want, v.Sentence)
			}
			if v.Cause == got && !strings.Contains(v.Sentence, v.Limit.Text) || v.Cause != got && v.Cause != diagnose.NothingToExplain && got != "" {
				t.Errorf("the cause is %s: %s", v.Cause, v.Sentence)
			}
			if !x.Equal || len(x.Results) != 1 || x.Sides[0].Rows != x.Sides[1].Rows || x.Sides[0].Rows == 0 {
				t.Errorf("%+v", x)
			}
		})
	}
}

// compressed replaces the only file of a plan by the same one compressed, which cannot be cut.
func compressed(t *testing.T, plan string) string {
	t.Helper()
	file := filepath.Join(filepath.Dir(plan), "in", "0.csv")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(file + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(out)
	_, err = z.Write(text)
	if err := errors.Join(err, z.Close(), out.Close(), os.Remove(file), replace(plan, "in/*.csv", "in/*.csv.gz")); err != nil {
		t.Fatal(err)
	}
	return plan
}

func replace(file, before, after string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, bytes.ReplaceAll(text, []byte(before), []byte(after)), 0o644)
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
