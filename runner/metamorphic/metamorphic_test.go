package metamorphic

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"go.uber.org/goleak"

	connectorlist "github.com/seed-4b0e9f7c/runner/connectors/builtin"
	operatorlist "github.com/seed-4b0e9f7c/runner/operators/builtin"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ways are options that may change nothing.
var ways = []map[string]string{
	{"parallelism.default": "1"},
	{"parallelism.default": "2", "runner.source.split-size": "1 kb", "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "100 b"},
	{"parallelism.default": "4", "runner.source.split-size": "100 b", "runner.batch.rows": "1", "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "1 b", "taskmanager.numberOfTaskSlots": "3"},
	{"parallelism.default": "7", "runner.source.split-size": "333 b", "runner.batch.rows": "5", "execution.batch.adaptive.auto-parallelism.enabled": "false"},
	{"parallelism.default": "3", "runner.source.split-size": "500 b", "runner.batch.rows": "20", "taskmanager.memory.managed.size": "1 mb", "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "64 b"},
}

// streams are options under which the same plan runs as a stream and may change nothing: with buffers that
// hold hardly anything, barriers all the time, and hardly any memory.
var streams = []map[string]string{
	{"parallelism.default": "2"},
	{"parallelism.default": "4", "runner.source.split-size": "100 b", "runner.batch.rows": "3", "taskmanager.memory.segment-size": "1 b", "taskmanager.network.memory.floating-buffers-per-gate": "0", "runner.streaming.barrier-interval": "1 ms", "pipeline.auto-watermark-interval": "1 ms"},
	{"parallelism.default": "7", "runner.source.split-size": "333 b", "runner.batch.rows": "20", "taskmanager.memory.managed.size": "1 mb", "execution.buffer-timeout.interval": "0 ms"},
}

func TestSameRows(t *testing.T) {
	seeds, first := 25, 1
	if s := os.Getenv("RUNNER_WORLDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		seeds = n
	}
	if s := os.Getenv("RUNNER_WORLD"); s != "" { // one seed again
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		first, seeds = n, 1
	}
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { sameRows(t, newWorld(uint64(seed))) })
	}
}

func sameRows(t *testing.T, w *world) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.csv"), []byte(w.csv()), 0o644); err != nil {
		t.Fatal(err)
	}
	source := "{csv: {path: in.csv, columns: " + tableColumns + "}}"
	// The same rows as Parquet, made by the engine itself.
	copied := run(t, dir, "copy.yaml", "sources: {input: "+source+"}\nsinks: {out: {from: input, parquet: {path: in.parquet, mode: overwrite, row_group_rows: 37}}}\n", ways[0])
	if copied.State != "FINISHED" {
		t.Fatalf("copying: %s", copied.Verdict)
	}
	var want, digest string
	for _, src := range []string{source, "{parquet: {path: in.parquet}}"} {
		all := append([]map[string]string{}, ways...)
		if !strings.Contains(w.plan(src), "order_by") { // which a stream does not do
			for _, way := range streams {
				way["taskmanager.numberOfTaskSlots"] = "8"
				all = append(all, way)
			}
		}
		for i, way := range all {
			plan := w.plan(src)
			if i >= len(ways) {
				plan = "mode: streaming\n" + plan
			}
			r := run(t, dir, "plan.yaml", plan, way)
			if r.State != "FINISHED" {
				t.Fatalf("%v: %s\n%s", way, failure(r), plan)
			}
			if !r.Books.Balanced {
				t.Fatalf("%v: the books do not balance: %v\n%s", way, r.Books.Faults, plan)
			}
			got := rowsOf(t, filepath.Join(dir, "out"))
			if want == "" {
				want, digest = got, r.Sinks[0].Digest
			}
			if got != want || r.Sinks[0].Digest != digest {
				t.Fatalf("way %d, %v: digest %s, was %s\n%s\ngot\n%s\nwant\n%s", i, way, r.Sinks[0].Digest, digest, plan, got, want)
			}
		}
	}
}

func failure(r report.Report) string {
	if r.Failure == nil || r.Failure.RootCause == nil {
		return r.State
	}
	return fmt.Sprintf("%s: %s %s", r.Failure.RootCause.Class, r.Failure.RootCause.Message, r.Failure.RootCause.Frame)
}

// rowsOf are the lines of all parts, sorted.
func rowsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "part-*"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if s := strings.TrimSpace(string(b)); s != "" {
			lines = append(lines, strings.Split(s, "\n")...)
		}
	}
	sort.Strings(lines)
	return fmt.Sprintf("%d rows\n%s", len(lines), strings.Join(lines, "\n"))
}

func run(t *testing.T, dir, name, text string, options map[string]string) report.Report {
	t.Helper()
	c, err := connectorlist.Catalog(&strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := operatorlist.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	p, found := plans.Parse(filepath.Join(dir, name), []byte(text), nil, plans.KnownOf(c, o))
	if found.Failed() {
		t.Fatalf("%v\n%s", found, text)
	}
	in := config.LoadInput{Embedded: true, CPUs: 2}
	for k, v := range options {
		in.Flags = append(in.Flags, config.Value{Name: k, Value: v, Where: k})
	}
	loaded, err := config.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	r, err := runner.Run(t.Context(), jobgraph.Catalogs{Operators: o, Connectors: c}, p, runner.Settings{
		Options: loaded, SpillDir: t.TempDir(), EncodeMessages: true, Alloc: alloc,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
}
