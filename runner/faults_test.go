package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

const faultPlan = `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT, s: STRING}}}}
transforms: {t: {from: o, select: {k: k + 1, s: s}}}
aggregations: {g: {from: t, group_by: [s], measures: {n: COUNT(*), m: MAX(k)}}}
sinks: {out: {from: g, csv: {path: out.csv, mode: overwrite}}, raw: {from: t, parquet: {path: raw, mode: overwrite}}}
`

// A brittle component panics, fails or waits where it is told to.
type brittleOperator struct {
	operators.Component
	at string
}

func (c brittleOperator) New(o json.RawMessage, in []expr.Schema) (operators.Operator, error) {
	op, err := c.Component.New(o, in)
	if c.at == "new" {
		panic("a bug in New")
	}
	return &brittle{op, c.at}, err
}

type brittle struct {
	operators.Operator
	at string
}

func (b *brittle) Open(t *operators.Task) error {
	if b.at == "open" {
		panic("a bug in Open")
	}
	return b.Operator.Open(t)
}

func (b *brittle) Process(input int, x operators.Batch, out operators.Collector) error {
	if b.at == "process" {
		x.Rec.Release()
		var nothing map[string]int
		nothing["x"] = 1
	}
	return b.Operator.Process(input, x, out)
}

func (b *brittle) EndInput(input int, out operators.Collector) error {
	if b.at == "end" {
		panic(errors.New("a bug in EndInput"))
	}
	return b.Operator.EndInput(input, out)
}

func (b *brittle) Close() error {
	err := b.Operator.Close()
	if b.at == "close" {
		panic("a bug in Close")
	}
	return err
}

// An operator that panics fails the run with a report, and what stood at the targets stays.
func TestPanics(t *testing.T) {
	for _, at := range []string{"new", "open", "process", "end", "close", "stream new", "stream open", "stream process", "stream end", "stream close"} {
		t.Run(at, func(t *testing.T) {
			plan := faultPlan
			at, streams := strings.CutPrefix(at, "stream ")
			if streams {
				plan = "mode: streaming\n" + plan
			}
			dir := t.TempDir()
			write(t, dir, "o.csv", "k,s\n1,a\n2,b\n")
			write(t, dir, "out.csv", "before\n")
			cat := catalogs(t)
			cat.Operators["calc"] = brittleOperator{cat.Operators["calc"], at}
			r := run(t, filepath.Join(dir, "plan.yaml"), plan, setup{cat: &cat})
			if r.State != "FAILED" || r.Failure.RootCause.Class != "Internal" || !strings.Contains(r.Failure.RootCause.Message, "panicked") {
				t.Fatalf("%s: %+v", r.State, r.Failure)
			}
			if w := lastWords(r); strings.Contains(w, "goroutine") || !strings.Contains(w, "root cause: Internal") {
				t.Errorf("the last line is %q", w)
			}
			if read(t, filepath.Join(dir, "out.csv")) != "before\n" {
				t.Error("the target changed")
			}
			noLeavings(t, dir)
		})
	}
}

// A source whose files change under it: between binding and reading.
type changingSource struct {
	connectors.Component
	change func()
}

func (c changingSource) Bind(ctx context.Context, o json.RawMessage, e connectors.Env) ([]byte, error) {
	b, err := c.Component.Bind(ctx, o, e)
	c.change()
	return b, err
}

func TestInputChangesUnderTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(file string) error
		class  string
	}{
		"gone":  {os.Remove, "MissingFile"},
		"short": {func(f string) error { return os.Truncate(f, 9) }, "DamagedFile"},
		"long":  {func(f string) error { return os.WriteFile(f, []byte("k,s\n1,a\n2,b\n3,c\n4,d\n"), 0o644) }, "DamagedFile"},
		"a folder": {func(f string) error {
			return errors.Join(os.Remove(f), os.Mkdir(f, 0o755))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := write(t, dir, "o.csv", "k,s\n1,a\n2,b\n")
			cat := catalogs(t)
			cat.Connectors["csv"] = changingSource{cat.Connectors["csv"], func() {
				if err := c.change(file); err != nil {
					t.Error(err)
				}
			}}
			r := run(t, filepath.Join(dir, "plan.yaml"), faultPlan, setup{cat: &cat})
			root := r.Failure
			if r.State != "FAILED" || root == nil || root.RootCause == nil || !strings.Contains(root.RootCause.File+root.RootCause.Message, "o.csv") {
				t.Fatalf("%s: %+v", r.State, r.Failure)
			}
			if c.class != "" && root.RootCause.Class != c.class {
				t.Errorf("class %s, expected %s: %s", root.RootCause.Class, c.class, root.RootCause.Message)
			}
			if _, err := os.Stat(filepath.Join(dir, "out.csv")); err == nil {
				t.Error("a failed run left its target")
			}
			noLeavings(t, dir)
		})
	}
}

// A sink that breaks while it publishes: the run fails, and says which sink.
type brittleSink struct {
	connectors.Component
}

func (c brittleSink) OpenSink(state []byte, in expr.Schema) (connectors.Sink, error) {
	s, err := c.Component.OpenSink(state, in)
	return brittleCommit{s}, err
}

type brittleCommit struct{ connectors.Sink }

func (s brittleCommit) Committer() (connectors.Committer, error) {
	c, err := s.Sink.Committer()
	return failingCommitter{c}, err
}

type failingCommitter struct{ connectors.Committer }

func (failingCommitter) Commit(context.Context, string, int64, []connectors.Committable) ([]string, error) {
	return nil, errors.New("the disk went away")
}

// A sink that cannot publish fails the run. The report says what was published before; nothing is left
// to be finished by a later run, which has nothing to do with it.
func TestCommitFails(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k,s\n1,a\n2,b\n")
	cat := catalogs(t)
	cat.Connectors["parquet"] = brittleSink{cat.Connectors["parquet"]}
	r := run(t, filepath.Join(dir, "plan.yaml"), faultPlan, setup{cat: &cat})
	if r.State != "FAILED" || !strings.Contains(r.Failure.RootCause.Message, "the disk went away") {
		t.Fatalf("%s: %+v", r.State, r.Failure)
	}
	if _, err := os.Stat(filepath.Join(dir, "out.csv")); (err == nil) != strings.Contains(r.Failure.Headline, "published before it: out") {
		t.Errorf("%v: %s", err, r.Failure.Headline)
	}
	noLeavings(t, dir)
	r = run(t, filepath.Join(dir, "plan.yaml"), faultPlan, setup{})
	finished(t, r)
	if len(r.Warnings) > 0 {
		t.Errorf("%v", r.Warnings)
	}
}

// A target that comes to be while the run is at work stops it before anything is published.
func TestTargetAppears(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k,s\n1,a\n2,b\n")
	cat := catalogs(t)
	appears := func() { write(t, dir, "y.csv", "mine") }
	cat.Operators["calc"] = openHook{cat.Operators["calc"], appears}
	r := run(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT, s: STRING}}}}
transforms: {t: {from: o, select: {k: k + 1, s: s}}}
sinks: {x: {from: t, csv: {path: x.csv}}, y: {from: t, csv: {path: y.csv}}}
`, setup{cat: &cat})
	if r.State != "FAILED" || r.Failure.RootCause.Class != "TargetExists" {
		t.Fatalf("%s: %+v", r.State, r.Failure)
	}
	if _, err := os.Stat(filepath.Join(dir, "x.csv")); err == nil {
		t.Error("x.csv was published")
	}
	if read(t, filepath.Join(dir, "y.csv")) != "mine" {
		t.Error("y.csv changed")
	}
	noLeavings(t, dir)
}

// An openHook does something when an operator is opened, that is, while a run is at work.
type openHook struct {
	operators.Component
	hook func()
}

func (c openHook) New(o json.RawMessage, in []expr.Schema) (operators.Operator, error) {
	c.hook()
	return c.Component.New(o, in)
}

// Slots that cannot grow: a batch job runs in waves, and says how long it waited.
func TestWaves(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k,s\n"+strings.Repeat("1,a\n2,b\n3,c\n", 500))
	r := run(t, filepath.Join(dir, "plan.yaml"), faultPlan, setup{options: map[string]string{
		"parallelism.default": "6", "taskmanager.numberOfTaskSlots": "2", "execution.batch.adaptive.auto-parallelism.enabled": "false",
	}})
	finished(t, r)
	if r.Slots.Needed != 6 || r.Slots.Available != 2 || len(r.Slots.Waves) == 0 || r.Slots.Waves[0].Rounds != 3 {
		t.Errorf("slots %+v", r.Slots)
	}
	for _, v := range r.Vertices {
		for _, s := range v.Subtasks {
			if s.Slot < 0 || s.Slot > 1 {
				t.Errorf("%s ran in slot %d", v.Name, s.Slot)
			}
		}
	}
}
