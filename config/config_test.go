package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// options is the tree of a file with these lines.
func options(lines ...string) *spec.Node {
	root := &spec.Node{Kind: spec.Mapping, Pos: spec.Pos{Line: 1, Column: 1}}
	for i, l := range lines {
		key, value, _ := strings.Cut(l, ": ")
		p := spec.Pos{Line: i + 1, Column: 1}
		root.Keys = append(root.Keys, spec.Entry{Key: key, Pos: p, Value: &spec.Node{Text: value, Pos: p}})
	}
	return root
}

func TestRegistry(t *testing.T) {
	seen, env := map[string]bool{}, map[string]bool{}
	for _, o := range Options() {
		if seen[o.Name] || env[EnvName(o.Name)] {
			t.Errorf("%s stands twice, or shares %s", o.Name, EnvName(o.Name))
		}
		seen[o.Name], env[EnvName(o.Name)] = true, true
		if !strings.HasSuffix(o.Doc, ".") {
			t.Errorf("%s has no doc sentence", o.Name)
		}
		if o.Default != "" {
			if err := o.Check(o.Default); err != nil {
				t.Errorf("the default of %s: %v", o.Name, err)
			}
		}
		if (o.Scope == Cluster) != (o.Reader != "") {
			t.Errorf("%s: scope %s and reader %q", o.Name, o.Scope, o.Reader)
		}
	}
}

// TestOrder holds that each place overrides those before it, and that every value keeps its source.
func TestOrder(t *testing.T) {
	in := LoadInput{Embedded: true, CPUs: 6}
	expect := func(name, value, source string) {
		t.Helper()
		o, err := Load(in)
		if err != nil {
			t.Fatal(err)
		}
		if s := o.Get(name); s.Value != value || s.Source != source {
			t.Fatalf("%s = %s from %s, want %s from %s", name, s.Value, s.Source, value, source)
		}
	}
	expect(TaskSlots, "6", FromEmbedded)
	expect(ParallelismDefault, "6", FromEmbedded)
	expect(AutoAvgVolume, "16 mb", FromDefault)
	expect(AutoMax, "", FromDefault)
	in.Root, in.File = options("parallelism.default: 2", "taskmanager.numberOfTaskSlots: 3"), "config.yaml"
	expect(ParallelismDefault, "2", FromFile)
	expect(TaskSlots, "3", FromFile)
	in.Env = []string{"RUNNER_PARALLELISM_DEFAULT=4", "RUNNER_SOURCE_SPLIT_SIZE=1 mb", "HOME=/x", "RUNNER_BATCH_ROWS="}
	expect(ParallelismDefault, "4", FromEnv)
	expect(SplitSize, "1 mb", FromEnv)
	expect(BatchRows, "16384", FromDefault)
	in.Plan = []Value{{Name: ParallelismDefault, Value: "5", Where: "p.yaml:1:1"}}
	expect(ParallelismDefault, "5", FromPlan)
	in.Flags = []Value{{Name: ParallelismDefault, Value: "7", Where: "--parallelism"}, {Name: RestartStrategy, Value: "Fixed-Delay"}}
	expect(ParallelismDefault, "7", FromFlag)
	expect(RestartStrategy, "fixed-delay", FromFlag)
	in = LoadInput{CPUs: 6}
	expect(ParallelismDefault, "1", FromDefault)
	expect(TaskSlots, "1", FromDefault)
	in = LoadInput{Embedded: true, CPUs: 6, Flags: []Value{{Name: TaskSlots, Value: "2"}}}
	expect(ParallelismDefault, "2", FromEmbedded)
}

func TestLoadedValues(t *testing.T) {
	o, err := Load(LoadInput{Embedded: true, CPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	same, err := Load(LoadInput{Flags: []Value{{Name: SlotRequestTimeout, Value: "PT90S"}, {Name: SplitSize, Value: "2048k"}, {Name: FixedDelayDelay, Value: "1500"}}})
	if err != nil || same.String(SlotRequestTimeout) != "90 s" || same.String(SplitSize) != "2 mb" || same.String(FixedDelayDelay) != "1500 ms" {
		t.Errorf("%v %+v", err, same.Settings)
	}
	if o.Int(ParallelismDefault) != 2 || !o.Bool(AutoEnabled) || o.Bytes(SplitSize) != 4<<20 || o.Millis(SlotRequestTimeout) != 300_000 ||
		o.String(RuntimeMode) != "batch" || o.Int(AutoMax) != 0 || o.Get("nothing").Name != "" {
		t.Errorf("%+v", o.Settings)
	}
}

func TestFaults(t *testing.T) {
	in := LoadInput{
		Root: options("parallelism.defalt: 2", "slot.request.timeout: soon"), File: "config.yaml",
		Env: []string{"RUNNER_PARALLELISM_DEFAULT=x", "RUNNER_PARALELISM_DEFAULT=2", "RUNNER_OS=Linux"},
		Plan: []Value{
			{Name: TaskSlots, Value: "2", Where: "p.yaml:3:3"},
			{Name: PipelineName, Value: "a", Where: "p.yaml:1:1", Key: "name"}, {Name: PipelineName, Value: "a", Where: "p.yaml:4:3"},
		},
		Flags: []Value{
			{Name: "state.backend.type", Value: "rocksdb", Where: "-D"}, {Name: RestartStrategy, Value: "failure-rate", Where: "-D"},
			{Name: BatchRows, Value: "0", Where: "-D"}, {Name: BatchRows, Value: "1", Where: "-D"},
		},
	}
	o, err := Load(in)
	got := strings.Split(err.Error(), "\n")
	want := []string{
		`config.yaml:1:1: unknown option "parallelism.defalt" (did you mean parallelism.default?)`,
		`config.yaml:2:1: slot.request.timeout is "soon": expected a duration such as 500 ms`,
		`environment variable RUNNER_PARALLELISM_DEFAULT: parallelism.default is "x": expected an integer`,
		`p.yaml:3:3: taskmanager.numberOfTaskSlots is an option of the cluster, not of a job: the TaskManager reads it when it starts, before any plan; set it with -D taskmanager.numberOfTaskSlots=…, in config.yaml or as RUNNER_TASKMANAGER_NUMBEROFTASKSLOTS`,
		`p.yaml:4:3: pipeline.name is set twice; the first is at p.yaml:1:1; keep one of the two`,
		`-D: option state.backend.type is not supported yet`,
		`-D: restart-strategy.type: failure-rate is not supported yet: expected none or fixed-delay`,
		`-D: runner.batch.rows is 0: expected at least 1`,
		`-D: runner.batch.rows is set twice; the first is at -D; keep one of the two`,
	}
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = strings.TrimSuffix(got[i], "; ")
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("fault %d:\n got %s\nwant %s", i, g, w)
		}
	}
	var e *Error
	if !errors.As(err, &e) || e.Rule != RuleUnknownOption {
		t.Errorf("%+v", e)
	}
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "RUNNER_PARALELISM_DEFAULT") {
		t.Errorf("%v", o.Warnings)
	}
}

// BenchmarkLoad is part of every start: it is to stay far below 2 ms, with a file too.
func BenchmarkLoad(b *testing.B) {
	in := LoadInput{Embedded: true, CPUs: 2, File: "config.yaml", Root: options("parallelism.default: 2", "taskmanager.numberOfTaskSlots: 3")}
	for b.Loop() {
		if _, err := Load(in); err != nil {
			b.Fatal(err)
		}
	}
}
