package runner_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
)

// Aggregates of so many groups that their partial states are exchanged in buckets give the same at any parallelism and with
// little memory.
func TestManyGroups(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	b.WriteString("k,g,s,f\n")
	const rows = 150_000
	for i := range rows {
		k := i * 7919 % rows
		g := fmt.Sprint(k % 50_000)
		if i%1000 == 5 {
			g = ""
		}
		fmt.Fprintf(&b, "%d,%s,text %d,%d.%de%d\n", k%60_000*7, g, k%40_009, k, i%10, i%5000/4999*200)
	}
	write(t, dir, "o.csv", b.String())
	text := `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT, g: INT, s: STRING, f: DOUBLE}}}}
aggregations:
  close: {from: o, group_by: [g], measures: {n: COUNT(*), c: COUNT(k), f: SUM(f), m: MIN(k)}}
  far: {from: o, group_by: [far: "k * 1000003"], measures: {n: COUNT(*), a: AVG(k), t: MAX(s)}}
  texts: {from: o, group_by: [s], measures: {n: COUNT(*), f: SUM(f)}, having: n > 2}
  two: {from: o, group_by: [g, s], measures: {n: COUNT(*), d: COUNT(DISTINCT k)}}
sinks:
  close_out: {from: close, parquet: {path: close, mode: overwrite}}
  far_out: {from: far, parquet: {path: far, mode: overwrite}}
  texts_out: {from: texts, blackhole: {}}
  two_out: {from: two, blackhole: {}}
`
	digests := map[string]string{}
	for memory, all := range map[string][]string{"512 mb": {"1", "2", "7"}, "2 mb": {"2", "4"}} {
		for _, p := range all {
			r := run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: map[string]string{
				"taskmanager.memory.managed.size": memory, "parallelism.default": p, "taskmanager.numberOfTaskSlots": p, "runner.source.split-size": "300 kb",
				"execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "500 kb",
			}})
			finished(t, r)
			for _, s := range r.Sinks {
				if digests[s.Node] == "" {
					digests[s.Node] = s.Digest
				}
				if s.Digest != digests[s.Node] || s.Rows == 0 {
					t.Errorf("%s at parallelism %s with %s: %d rows with digest %s, was %s", s.Node, p, memory, s.Rows, s.Digest, digests[s.Node])
				}
			}
		}
	}
}
