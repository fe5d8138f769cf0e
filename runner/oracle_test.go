package runner_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
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

// shared is the folder of real data sets that is no part of this repository.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RUNNER_SHARED")
	if dir == "" {
		t.Skip("RUNNER_SHARED is not set: it names the folder of the real data sets that this test reads")
	}
	return dir
}

func catalogs(t testing.TB) jobgraph.Catalogs {
	t.Helper()
	c, err := connectorlist.Catalog(&strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := operatorlist.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return jobgraph.Catalogs{Operators: o, Connectors: c}
}

// A setup says how a test runs a plan.
type setup struct {
	set     map[string]string // parameters
	options map[string]string
	cat     *jobgraph.Catalogs
	ctx     context.Context
}

// run runs a plan from text as if it stood in a file, with every message between the nouns encoded.
func run(t testing.TB, file, text string, s setup) report.Report {
	t.Helper()
	r, err := tryRun(t, file, text, s)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return r
}

func tryRun(t testing.TB, file, text string, s setup) (report.Report, error) {
	t.Helper()
	cat := catalogs(t)
	if s.cat != nil {
		cat = *s.cat
	}
	p, found := plans.Parse(file, []byte(text), s.set, plans.KnownOf(cat.Connectors, cat.Operators))
	if found.Failed() {
		return report.Report{}, found
	}
	in := config.LoadInput{Embedded: true, CPUs: 2}
	for _, v := range p.Settings {
		in.Plan = append(in.Plan, config.Value{Name: v.Name, Value: v.Value, Where: "plan"})
	}
	for k, v := range s.options {
		in.Flags = append(in.Flags, config.Value{Name: k, Value: v, Where: "-D " + k})
	}
	o, err := config.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	ctx := s.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	spill := t.TempDir()
	r, err := runner.Run(ctx, cat, p, runner.Settings{Options: o, SpillDir: spill, EncodeMessages: true, Alloc: alloc})
	if left, lerr := os.ReadDir(spill); lerr != nil || len(left) > 0 {
		t.Errorf("the run left temporary files: %v %v", left, lerr)
	}
	if err == nil {
		valid(t, r)
	}
	return r, err
}

// finished fails the test unless the run finished with balanced books.
func finished(t testing.TB, r report.Report) {
	t.Helper()
	if r.State != "FINISHED" {
		why := r.Verdict
		if r.Failure != nil {
			for _, c := range r.Failure.Chain {
				why += fmt.Sprintf("\n  %s: %s %s", c.Class, c.Message, c.Frame)
			}
		}
		t.Fatalf("the run is %s: %s", r.State, why)
	}
	if r.Books == nil || !r.Books.Balanced {
		t.Fatalf("the books do not balance: %+v", r.Books)
	}
}

// TestOracle runs plans over real files and compares with what another engine made of the same
// question, at several parallelisms and with splits and batches so small that every seam is crossed.
func TestOracle(t *testing.T) {
	dir := shared(t)
	list, err := filepath.Glob("testdata/oracle/*.yaml")
	if err != nil || len(list) < 7 {
		t.Fatalf("%d plans found: %v", len(list), err)
	}
	for _, file := range list {
		set, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "__")
		t.Run(set+"/"+name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := readCSV(t, filepath.Join(dir, "data", "expected", set, name+".csv"))
			digest := ""
			for _, o := range []map[string]string{
				{"parallelism.default": "1"},
				{"parallelism.default": "2"},
				{"parallelism.default": "4", "runner.source.split-size": "700 b", "runner.batch.rows": "7", "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "100 b"},
				{"parallelism.default": "7", "runner.source.split-size": "3 kb", "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "1 kb", "taskmanager.numberOfTaskSlots": "3"},
			} {
				out := filepath.Join(t.TempDir(), "out.csv")
				r := run(t, file, string(text), setup{set: map[string]string{"data": filepath.Join(dir, "data"), "out": out}, options: o})
				finished(t, r)
				compare(t, want, readCSV(t, out))
				if digest == "" {
					digest = r.Sinks[0].Digest
				}
				if r.Sinks[0].Digest != digest {
					t.Errorf("the digest is %s with %v and was %s", r.Sinks[0].Digest, o, digest)
				}
			}
		})
	}
}

func readCSV(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// compare wants every cell equal; those of columns called avg_… to within 1e-9 of their size.
func compare(t *testing.T, want, got [][]string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d lines, expected %d:\n%v", len(got), len(want), got)
	}
	for i := range want {
		for c := range want[i] {
			if want[i][c] == got[i][c] {
				continue
			}
			if strings.HasPrefix(want[0][c], "avg_") && near(want[i][c], got[i][c]) {
				continue
			}
			t.Errorf("line %d, %s: %q, expected %q", i+1, want[0][c], got[i][c], want[i][c])
		}
	}
}

func near(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
