package scheduler

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// A flinkRun is a row of parallelism_runs.json.
type flinkRun struct {
	cluster, query, input string
	settings              map[string]any
	vertices              []flinkVertex
}

type flinkVertex struct {
	name                         string
	parallelism, max             int
	writtenBytes, writtenRecords int64
}

func readRuns(t *testing.T) []flinkRun {
	dir := os.Getenv("RUNNER_SHARED")
	if dir == "" {
		t.Skip("RUNNER_SHARED does not say where the measured runs of Flink are")
	}
	b, err := os.ReadFile(filepath.Join(dir, "facts", "flink", "parallelism_runs.json"))
	if err != nil {
		t.Skipf("the measured runs of Flink are not there: %v", err)
	}
	var file struct{ Rows []json.RawMessage }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	var runs []flinkRun
	for _, row := range file.Rows {
		var state string
		var ms int64
		var vertices []json.RawMessage
		var r flinkRun
		if err := json.Unmarshal(row, &[]any{&r.cluster, &r.query, &r.input, &r.settings, &state, &ms, &vertices}); err != nil {
			t.Fatal(err)
		}
		for _, raw := range vertices {
			var v flinkVertex
			if err := json.Unmarshal(raw, &[]any{&v.name, &v.parallelism, &v.max, &v.writtenBytes, &v.writtenRecords}); err != nil {
				t.Fatal(err)
			}
			r.vertices = append(r.vertices, v)
		}
		runs = append(runs, r)
	}
	return runs
}

// optionsOf are the options that were in force: those of the cluster, and of the session the two that
// Flink takes from there. jobmanager.scheduler = Default is what turns auto-parallelism off as well.
func (r flinkRun) options() []jobgraph.Option {
	var os []jobgraph.Option
	set := func(name, value string) { os = append(os, jobgraph.Option{Name: name, Value: value, Source: "plan"}) }
	if strings.Contains(r.cluster, "avg-data-volume-per-task 1mb") {
		set(OptAvgVolume, "1mb")
	}
	if strings.Contains(r.cluster, "max-parallelism 8") {
		set(OptMax, "8")
		set(OptMin, "3")
		set(OptDefaultSource, "2")
	}
	enabled := !strings.Contains(r.cluster, "enabled false")
	if v, ok := r.settings["auto-parallelism.enabled"]; ok {
		enabled = v == "true"
	}
	if r.settings["jobmanager.scheduler"] == "Default" {
		enabled = false
	}
	set(OptEnabled, fmt.Sprint(enabled))
	if v, ok := r.settings[OptDefault]; ok {
		set(OptDefault, fmt.Sprint(v))
	}
	return os
}

// files are those of Flink's input tables: there a file is one split.
func filesOf(input string) []connectors.File {
	bytes := map[byte]int64{'1': 53_515, '4': 40_000_042, '2': 200_000_026}[input[1]]
	n := 1
	switch {
	case input == "o200p":
		n = 8
	case strings.HasSuffix(input, "p"):
		n = 4
	}
	files := make([]connectors.File, n)
	for i := range files {
		files[i] = connectors.File{Path: fmt.Sprintf("%s/%d", input, i), Bytes: bytes / int64(n)}
	}
	return files
}

// TestFlinkRuns feeds the decider with what Flink had in each measured run and wants Flink's parallelism
// and bound for every vertex.
func TestFlinkRuns(t *testing.T) {
	checked := 0
	for i, r := range readRuns(t) {
		// The join's second vertex has a source inside, which our job graph does not have.
		g := graphOf(r)
		d, err := NewDecider(g)
		if err != nil {
			t.Fatal(err)
		}
		parallelism := map[string]int{}
		for n := range g.Vertices {
			v, want := &g.Vertices[n], r.vertices[n]
			var got Decision
			if sourceOf(v) != nil {
				got = d.Source(v, len(sourceOf(v).Source.Inv.Files))
			} else {
				var inputs []Input
				for _, e := range g.In(v.ID) {
					inputs = append(inputs, Input{Edge: e, Producers: parallelism[e.From], Volumes: spread(r.vertices[n-1].writtenBytes, d.Subpartitions(e))})
				}
				var readings []Reading
				got, readings = d.Downstream(v, inputs)
				tile(t, got, readings, d, inputs)
			}
			parallelism[v.ID] = got.Decided
			if got.Decided != want.parallelism || got.Max != want.max && !fixedMax(got) {
				t.Errorf("row %d (%s, %s, %s, %v): %s: %d of max %d, Flink has %d of max %d: %s",
					i, r.cluster, r.query, r.input, r.settings, v.Name, got.Decided, got.Max, want.parallelism, want.max, got.Text)
			}
			if got.Text == "" || got.Reason == "" || got.Origin == "" {
				t.Errorf("row %d: %s has no reason: %+v", i, v.Name, got)
			}
			checked++
		}
	}
	if checked < 100 {
		t.Errorf("only %d vertices were checked", checked)
	}
}

// fixedMax: a vertex that can only have one subtask keeps Flink's general bound there; ours says 1.
func fixedMax(d Decision) bool { return d.Reason == ReasonSingleFile || d.Reason == ReasonGlobal }

// graphOf is the chain of vertices that Flink ran, as a job graph of ours.
func graphOf(r flinkRun) *jobgraph.Graph {
	g := &jobgraph.Graph{Options: r.options()}
	files := filesOf(r.input)
	for n, v := range r.vertices {
		x := jobgraph.Vertex{ID: fmt.Sprint(n), Name: v.name}
		op := jobgraph.Operator{Kind: jobgraph.TransformOp}
		switch {
		case n == 0:
			op.Kind, op.Source = jobgraph.SourceOp, &jobgraph.Source{Inv: connectors.Inventory{Files: files}}
		case strings.HasPrefix(v.name, "MultipleInput"):
			op.Kind, op.Source = jobgraph.SourceOp, &jobgraph.Source{Inv: connectors.Inventory{Files: filesOf("o40")}}
		}
		x.Operators = []jobgraph.Operator{op}
		e := jobgraph.Edge{ID: "e" + x.ID, From: fmt.Sprint(n - 1), To: x.ID, Exchange: jobgraph.HashBy, Blocking: true}
		switch {
		case strings.HasPrefix(v.name, "SortLimit["):
			e.Exchange = jobgraph.Global
		case v.name == "Sink: Collect table sink":
			x.Parallelism.Fixed = string(ReasonSingleFile)
			e.Exchange = jobgraph.Rebalance
		}
		g.Vertices = append(g.Vertices, x)
		if op.Kind != jobgraph.SourceOp {
			g.Edges = append(g.Edges, e)
		}
	}
	return g
}

// spread divides bytes as evenly as a hash of many keys does.
func spread(bytes int64, subpartitions int) []int64 {
	v := make([]int64, subpartitions)
	for i := range v {
		v[i] = bytes*int64(i+1)/int64(subpartitions) - bytes*int64(i)/int64(subpartitions)
	}
	return v
}

// tile wants every subpartition to be read once.
func tile(t *testing.T, d Decision, readings []Reading, decider *Decider, inputs []Input) {
	t.Helper()
	for k, r := range readings {
		if r.Forward || inputs[k].Edge.Exchange == jobgraph.Broadcast {
			continue
		}
		at := 0
		for i := range d.Decided {
			if r.Range(i).Lo != at {
				t.Errorf("%s: subtask %d reads from %d, not %d", d.Name, i, r.Range(i).Lo, at)
			}
			at = r.Range(i).Hi
		}
		if want := decider.Subpartitions(inputs[k].Edge); at != want {
			t.Errorf("%s reads %d of %d subpartitions", d.Name, at, want)
		}
	}
}

// TestKeyGroups holds Flink's number of key groups, never fewer than subpartitions.
func TestKeyGroups(t *testing.T) {
	for bound, want := range map[int]int{1: 128, 85: 128, 86: 256, 128: 256, 1000: 2048, 20_000: 32_768, 40_000: 40_000} {
		d := &Decider{bounds: map[string]int{"v": bound}}
		if got := d.KeyGroups("v"); got != want {
			t.Errorf("bound %d: %d key groups, want %d", bound, got, want)
		}
	}
}
