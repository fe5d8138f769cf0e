package runner_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
)

// With little memory operators and results go to disk, and the result is the same.
func TestSpill(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	b.WriteString("k,g,s,f\n")
	const rows = 60_000
	for i := range rows {
		k := i * 7919 % rows
		fmt.Fprintf(&b, "%d,%d,text number %d of its kind,%d.%d\n", k, k%25_000, k%35_001, k, i%10)
	}
	write(t, dir, "o.csv", b.String())
	text := `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT, g: INT, s: STRING, f: DOUBLE}}}}
transforms:
  sorted: {from: o, order_by: [s DESC, k]}
  few: {from: o, select: {s: s, g: "g / 10"}, distinct: true}
aggregations:
  groups: {from: o, group_by: [g, s], measures: {n: COUNT(*), f: SUM(f), m: MAX(s)}}
  few_keys: {from: o, group_by: ["k10": "k / 10000"], measures: {n: COUNT(DISTINCT s), g: COUNT(DISTINCT g), d: SUM(DISTINCT g), f: SUM(f), a: COUNT(DISTINCT f) FILTER (WHERE k > 7)}}
  distinct: {from: o, measures: {n: COUNT(DISTINCT s), g: COUNT(DISTINCT g)}}
sinks:
  sorted_out: {from: sorted, csv: {path: sorted.csv, mode: overwrite}}
  few_out: {from: few, blackhole: {}}
  groups_out: {from: groups, parquet: {path: groups, mode: overwrite}}
  few_keys_out: {from: few_keys, json: {path: keys.jsonl, mode: overwrite}}
  distinct_out: {from: distinct, json: {path: distinct.jsonl, mode: overwrite}}
`
	digests := map[string]string{}
	sorted := ""
	for _, memory := range []string{"512 mb", "4 mb", "1 mb"} {
		for _, p := range []string{"1", "3"} {
			r := run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: map[string]string{
				"taskmanager.memory.managed.size": memory, "parallelism.default": p, "runner.source.split-size": "500 kb",
				"execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "500 kb",
			}})
			finished(t, r)
			var spilled int64
			for _, v := range r.Vertices {
				spilled += v.SpilledBytes
			}
			if (spilled > 0) != (memory == "1 mb" || memory == "4 mb") {
				t.Errorf("%s: %d bytes were spilled", memory, spilled)
			}
			for _, s := range r.Sinks {
				if digests[s.Node] == "" {
					digests[s.Node] = s.Digest
				}
				if s.Digest != digests[s.Node] {
					t.Errorf("%s at parallelism %s with %s: digest %s, was %s", s.Node, p, memory, s.Digest, digests[s.Node])
				}
			}
			got := read(t, filepath.Join(dir, "sorted.csv"))
			if sorted == "" {
				sorted = got
			}
			if got != sorted {
				t.Errorf("the order of %d bytes at parallelism %s with %s differs", len(got), p, memory)
			}
		}
	}
}
