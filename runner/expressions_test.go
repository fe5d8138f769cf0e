package runner_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// SUM and AVG of distinct values are the same however the rows are spread, NULLs and FILTER included.
func TestDistinctSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	type group struct{ all, some map[int64]bool }
	groups := map[string]group{"a": {map[int64]bool{}, map[int64]bool{}}, "b": {map[int64]bool{}, map[int64]bool{}}}
	var b strings.Builder
	b.WriteString("k,v\n")
	for range 500 {
		k, v := string("ab"[rng.IntN(2)]), rng.Int64N(90)-45
		if rng.IntN(9) == 0 {
			fmt.Fprintf(&b, "%s,\n", k)
			continue
		}
		fmt.Fprintf(&b, "%s,%d.25\n", k, v)
		groups[k].all[v] = true
		if v > 3 {
			groups[k].some[v] = true
		}
	}
	want := "k,n,s,f,i,m\n"
	for _, k := range []string{"a", "b"} {
		sum, some, whole := new(big.Rat), new(big.Rat), int64(0)
		for v := range groups[k].all {
			x, _ := new(big.Rat).SetString(fmt.Sprintf("%d.25", v))
			sum.Add(sum, x)
			whole += v
			if groups[k].some[v] {
				some.Add(some, x)
			}
		}
		n := int64(len(groups[k].all))
		want += fmt.Sprintf("%s,%d,%s,%s,%d,%s\n", k, n, sum.FloatString(2), some.FloatString(2), whole, new(big.Rat).Quo(sum, big.NewRat(n, 1)).FloatString(6))
	}
	dir := t.TempDir()
	write(t, dir, "o.csv", b.String())
	text := `
sources: {o: {csv: {path: o.csv, columns: {k: STRING, v: "DECIMAL(12, 2)"}}}}
aggregations:
  g:
    from: o
    group_by: [k]
    measures: {n: COUNT(DISTINCT v), s: SUM(DISTINCT v), f: SUM(DISTINCT v) FILTER (WHERE v > 3.25), i: "SUM(DISTINCT CAST(v - 0.25 AS INT))", m: AVG(DISTINCT v)}
transforms: {s: {from: g, order_by: [k]}}
sinks: {out: {from: s, csv: {path: out.csv, mode: overwrite}}}
`
	for _, o := range everyWay() {
		finished(t, run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o}))
		if got := read(t, filepath.Join(dir, "out.csv")); got != want {
			t.Fatalf("%v gives\n%swant\n%s", o, got, want)
		}
	}
}

// Functions give the same over texts that are read as codes and over others, in conditions, keys and
// columns, in every way a run can be cut.
func TestFunctionsInPlans(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("id,code,note\n")
	for i := range 240 {
		fmt.Fprintf(&b, "%d,CH-%d-x,%s %d.3.2024\n", i, i%7, strings.Repeat("é", i%3), i%33)
	}
	write(t, dir, "o.csv", b.String())
	text := `
sources: {o: {csv: {path: o.csv, columns: {id: INT, code: STRING, note: STRING}}}}
transforms:
  p:
    from: o
    where: REGEXP(code, '-[1-5]-') AND POSITION('é' IN note) > 0
    select:
      n: CAST(SPLIT_INDEX(code, '-', 1) AS INT)
      key: LPAD(REGEXP_EXTRACT(code, '-(\d)', 1), 3, '0') || REPLACE(RIGHT(code, 2), '-', '_')
      day: TO_DATE(SPLIT_INDEX(note, ' ', 1), 'd.M.yyyy')
      id: id
aggregations: {g: {from: p, group_by: [key], measures: {n: COUNT(*), days: COUNT(day), least: MIN(day), m: "SUM(GREATEST(n, MOD(id, 3)))"}}}
sinks: {out: {from: s, csv: {path: out.csv, mode: overwrite}}}
`
	text = strings.Replace(text, "aggregations:", "  s: {from: g, order_by: [key]}\naggregations:", 1)
	want := "key,n,days,least,m\n"
	for c := 1; c <= 5; c++ {
		n, days, least, m := 0, 0, 99, 0
		for i := c; i < 240; i += 7 {
			if i%3 == 0 {
				continue
			}
			n++
			m += max(c, i%3)
			if d := i % 33; d >= 1 && d <= 31 {
				days++
				least = min(least, d)
			}
		}
		want += fmt.Sprintf("%03d_x,%d,%d,2024-03-%02d,%d\n", c, n, days, least, m)
	}
	for _, o := range everyWay() {
		finished(t, run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o}))
		if got := read(t, filepath.Join(dir, "out.csv")); got != want {
			t.Fatalf("%v gives\n%swant\n%s", o, got, want)
		}
	}
}
