package diagnose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// TestCompareScripts holds verdicts to what reports say. A script has a line for each side and each of
// its vertices:
//
//	side LABEL parallelism=1 wall=500,510 cpu=400,400 state=FINISHED digest=aa,ab because=WORD
//	vertex NAME decided=1 requested=2 reason=splits rows=100 splits=1,0 busy=5 slots=1/2 numbers=bytes:5
func TestCompareScripts(t *testing.T) {
	datadriven.RunTest(t, "comparedata/verdicts", func(t *testing.T, d *datadriven.TestData) string {
		cpus := 0
		d.MaybeScanArgs(t, "cpus", &cpus)
		var all [][]report.Report
		c := Comparison{}
		for line := range strings.Lines(d.Input) {
			words := strings.Fields(line)
			switch words[0] {
			case "side":
				all = append(all, sideReports(t, words[2:]))
			case "vertex":
				for i := range all[len(all)-1] {
					addVertex(t, &all[len(all)-1][i], words[1], words[2:])
				}
			}
		}
		for i, line := range sideLabels(d.Input) {
			c.Sides = append(c.Sides, sideOf(line, all[i]))
		}
		c.Notes = differences(all[0][0], all[1][0])
		c.finish(all, cpus)
		if d.Cmd == "text" {
			var b strings.Builder
			if err := PrintComparison(&b, c); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		v := c.Verdicts[0]
		return fmt.Sprintf("%s, %s, equal %t\n%s\n", v.Outcome, v.Cause, c.Equal, v.Sentence)
	})
}

func sideLabels(input string) []string {
	var out []string
	for line := range strings.Lines(input) {
		if words := strings.Fields(line); words[0] == "side" {
			out = append(out, strings.ReplaceAll(words[1], "_", " "))
		}
	}
	return out
}

func values(t *testing.T, words []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, w := range words {
		k, v, ok := strings.Cut(w, "=")
		if !ok {
			t.Fatalf("%s: expected name=value", w)
		}
		out[k] = v
	}
	return out
}

func numbers(t *testing.T, text string) []int64 {
	t.Helper()
	var out []int64
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func sideReports(t *testing.T, words []string) []report.Report {
	t.Helper()
	v := values(t, words)
	cpu, digests := numbers(t, v["cpu"]), strings.Split(v["digest"], ",")
	var out []report.Report
	for i, wall := range numbers(t, v["wall"]) {
		r := report.Report{State: "FINISHED", Verdict: "it failed.", Timings: report.Timings{TotalMs: wall},
			Options: []jobgraph.Option{{Name: "parallelism.default", Value: v["parallelism"], Source: "flag"}},
			Sources: []report.Source{{Node: "a", Files: []report.SourceFile{{Path: "a.csv", Rows: 1000}}}},
			Sinks:   []report.Sink{{Node: "out", Rows: 5, Digest: digests[i%len(digests)], Deterministic: v["because"] == "", Because: v["because"]}}}
		if i < len(cpu) {
			r.Timings.CPUMs = cpu[i]
		}
		if v["state"] != "" {
			r.State = v["state"]
		}
		out = append(out, r)
	}
	return out
}

func addVertex(t *testing.T, r *report.Report, name string, words []string) {
	t.Helper()
	v := values(t, words)
	one := func(key string) int64 {
		n := numbers(t, v[key])
		if len(n) == 0 {
			return 0
		}
		return n[0]
	}
	p := report.Parallelism{Decided: int(one("decided")), Requested: int(one("requested")), Reason: v["reason"], Origin: "flag", Text: "as decided", Numbers: map[string]int64{}}
	for part := range strings.SplitSeq(v["numbers"], ",") {
		if k, n, ok := strings.Cut(part, ":"); ok {
			p.Numbers[k] = numbers(t, n)[0]
		}
	}
	x := report.Vertex{Name: name, Parallelism: p, RecordsIn: one("rows")}
	splits := numbers(t, v["splits"])
	for i := range p.Decided {
		s := report.Subtask{Index: i, BusyMs: one("busy"), IdleMs: one("idle"), WaitedMs: one("waited")}
		if i < len(splits) {
			s.Splits = int(splits[i])
		}
		x.Subtasks = append(x.Subtasks, s)
	}
	r.Vertices = append(r.Vertices, x)
	if held, needed, ok := strings.Cut(v["slots"], "/"); ok {
		h, n := int(numbers(t, held)[0]), int(numbers(t, needed)[0])
		r.Slots.Needed, r.Slots.Available = max(r.Slots.Needed, n), max(r.Slots.Available, h)
		r.Slots.Waves = append(r.Slots.Waves, report.Wave{Vertices: []string{name}, Needed: n, Available: h, Rounds: (n + h - 1) / h})
	}
}

// TestCompare holds the order of runs: a warm-up, then rounds of which every second is reversed.
func TestCompare(t *testing.T) {
	var order []int
	finished := func(p int) report.Report {
		return report.Report{State: "FINISHED", Timings: report.Timings{TotalMs: int64(1000 / p), CPUMs: 900},
			Sinks: []report.Sink{{Node: "out", Digest: "aa", Deterministic: true}}}
	}
	var progress []string
	c, err := Compare(context.Background(), Runs{Parallelism: []int{1, 2, 4}, Repeat: 2, CPUs: 8,
		Run: func(_ context.Context, p int) (report.Report, error) {
			order = append(order, p)
			return finished(p), nil
		},
		Progress: func(done, total int) { progress = append(progress, fmt.Sprint(done, "/", total)) }})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 1, 2, 4, 4, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("ran %v, want %v", order, want)
	}
	if len(progress) != 7 || progress[6] != "6/7" {
		t.Errorf("progress %v", progress)
	}
	if len(c.Sides) != 3 || len(c.Verdicts) != 2 || !c.Equal || c.Verdicts[1].SpeedUp.Median != 4 || c.Verdicts[1].Cause != NothingToExplain {
		t.Errorf("%+v", c)
	}
	_, err = Compare(context.Background(), Runs{Parallelism: []int{1, 2}, Repeat: 1, Run: func(_ context.Context, p int) (report.Report, error) {
		r := finished(p)
		if p == 2 {
			r.State = "FAILED"
		}
		return r, nil
	}})
	var run *RunError
	if !errors.As(err, &run) || run.Parallelism != 2 {
		t.Error(err)
	}
	gone := errors.New("gone")
	if _, err := Compare(context.Background(), Runs{Parallelism: []int{1, 2}, Repeat: 1, Run: func(context.Context, int) (report.Report, error) {
		return report.Report{}, gone
	}}); !errors.Is(err, gone) {
		t.Error(err)
	}
	if _, err := Compare(context.Background(), Runs{Parallelism: []int{1}, Repeat: 1}); err == nil {
		t.Error("one parallelism was compared with nothing")
	}
}

func TestSpread(t *testing.T) {
	if got, want := spreadOf([]float64{4, 1, 3, 2}), (Spread{1, 1.75, 2.5, 3.25, 4}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := spreadOf([]float64{2}), (Spread{2, 2, 2, 2, 2}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := spreadOf(nil); got != (Spread{}) {
		t.Error(got)
	}
}

// TestRedirectSinks holds that a sink keeps its form, one file or a folder, and nothing but its place changes.
func TestRedirectSinks(t *testing.T) {
	dir := t.TempDir()
	var got json.RawMessage
	cat, err := connectors.NewCatalog(connectors.Erase(connectors.Spec[map[string]any]{Name: "x",
		BindSink: func(_ context.Context, o map[string]any, _ expr.Schema, _ connectors.Env) (connectors.BoundSink, error) {
			var err error
			got, err = json.Marshal(o)
			return connectors.BoundSink{}, err
		}}))
	if err != nil {
		t.Fatal(err)
	}
	x := RedirectSinks(cat, dir)["x"]
	for options, want := range map[string]string{
		`{"mode":"append","path":"../out/a.csv"}`: fmt.Sprintf(`{"mode":"append","path":%q}`, filepath.Join(dir, "n", "a.csv")),
		`{"path":["/out/b"]}`:                     fmt.Sprintf(`{"path":[%q]}`, filepath.Join(dir, "n", "b")),
		`{"path":["a","b"]}`:                      `{"path":["a","b"]}`,
		`{"limit":3}`:                             `{"limit":3}`,
		``:                                        `null`,
	} {
		if _, err := x.BindSink(t.Context(), json.RawMessage(options), expr.Schema{}, connectors.Env{Node: "n"}); err != nil || string(got) != want {
			t.Errorf("%s became %s, want %s (%v)", options, got, want, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "n")); err != nil {
		t.Error(err)
	}
}
