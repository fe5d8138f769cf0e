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

// TINYINT, SMALLINT and FLOAT keep their range, rounding and text from the file through keys, sums,
// order and every sink, and back from Parquet.
func TestNarrowTypes(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("k,h,f\n")
	for i := range 120 {
		fmt.Fprintf(&b, "%d,%d,%d.1\n", i%3-1, i*37%900-450, i%8)
	}
	b.WriteString(",,\n-128,32767,NaN\n127,-32768,3e38\n")
	write(t, dir, "o.csv", b.String())
	text := `
sources: {o: {csv: {path: o.csv, columns: {k: TINYINT, h: SMALLINT, f: FLOAT}}}}
aggregations: {g: {from: o, group_by: [k], measures: {n: COUNT(*), lo: MIN(h), s: "SUM(CAST(h AS INT))", f: SUM(f), a: AVG(f), m: MAX(f), d: COUNT(DISTINCT h)}}}
transforms:
  s: {from: g, order_by: [k]}
  p: {from: o, where: k BETWEEN 0 AND 1 AND f > 6, select: {k: k, h: h + k, f: f * 2, x: k / 2}}
sinks:
  out: {from: s, csv: {path: out.csv, mode: overwrite}}
  json: {from: s, json: {path: out.jsonl, mode: overwrite}}
  rows: {from: p, parquet: {path: rows, mode: overwrite}}
`
	back := `
sources: {r: {parquet: {path: rows, columns: {k: TINYINT, h: SMALLINT, f: FLOAT, x: TINYINT}}}, w: {parquet: {path: rows}}}
aggregations:
  a: {from: r, measures: {n: COUNT(*), k: MAX(k), h: MIN(h), f: MAX(f), x: MAX(x)}}
  b: {from: w, measures: {n: COUNT(*), k: MAX(k), h: MIN(h), f: "MAX(CAST(f AS FLOAT))", x: MAX(x)}}
transforms: {u: {from: a, select: {n: n, k: "CAST(k AS INT)", h: "CAST(h AS INT)", f: f, x: "CAST(x AS INT)"}}, both: {union: [u, b]}}
sinks: {out: {from: both, csv: {path: back.csv, mode: overwrite}}}
`
	back = strings.Replace(back, "both: {union: [u, b]}", "both: {from: [u, b], union: {}}", 1)
	want := "k,n,lo,s,f,a,m,d\n,1,,,,,,0\n-128,1,32767,32767,NaN,NaN,NaN,1\n"
	for k := -1; k <= 1; k++ {
		least, sum := 900, 0
		for i := k + 1; i < 120; i += 3 {
			h := i*37%900 - 450
			least, sum = min(least, h), sum+h
		}
		want += fmt.Sprintf("%d,40,%d,%d,144.0,3.6,7.1,40\n", k, least, sum)
	}
	want += "127,1,-32768,-32768,3e+38,3e+38,3e+38,1\n"
	again := narrowAgain()
	for _, o := range everyWay() {
		finished(t, run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o}))
		if got := read(t, filepath.Join(dir, "out.csv")); got != want {
			t.Fatalf("%v gives\n%swant\n%s", o, got, want)
		}
		if got := read(t, filepath.Join(dir, "out.jsonl")); !strings.Contains(got, `"f":144.0,"a":3.6,"m":7.1,`) || !strings.Contains(got, `"m":"NaN"`) {
			t.Fatalf("%v gives %s", o, got)
		}
		finished(t, run(t, filepath.Join(dir, "back.yaml"), back, setup{options: o}))
		if got := read(t, filepath.Join(dir, "back.csv")); got != again {
			t.Fatalf("%v gives\n%swant\n%s", o, got, again)
		}
	}
}

// narrowAgain is what the rows of TestNarrowTypes give that are kept and read back, with declared types
// and with those of the file.
func narrowAgain() string {
	n, least := 0, 900
	for i := range 120 {
		k, h := i%3-1, i*37%900-450
		if k >= 0 && float64(i%8)+0.1 > 6 {
			n++
			least = min(least, h+k)
		}
	}
	line := fmt.Sprintf("%d,1,%d,14.2,0\n", n, least)
	return "n,k,h,f,x\n" + line + line
}

// Intervals move dates in conditions that are pushed to the source and in columns.
func TestIntervals(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "id,day,at\n1,2024-01-31,2024-01-31 23:30:00\n2,2024-03-01,2024-02-28 12:00:00\n3,2023-01-31,2023-12-31 23:59:59\n4,,\n")
	text := `
sources: {o: {csv: {path: o.csv, columns: {id: INT, day: DATE, at: TIMESTAMP(3)}}}}
transforms:
  p:
    from: o
    where: day >= DATE '2024-02-29' - INTERVAL '1' MONTH AND at + INTERVAL '12' HOUR < day + INTERVAL '2' DAY
    select: {id: id, m: day + INTERVAL '1' MONTH, h: at - INTERVAL '90' MINUTE, f: "FLOOR((at + INTERVAL '1' DAY) TO MONTH)"}
    order_by: [id]
sinks: {out: {from: p, csv: {path: out.csv, mode: overwrite}}}
`
	want := "id,m,h,f\n1,2024-02-29,2024-01-31 22:00:00.000,2024-02-01 00:00:00.000\n2,2024-04-01,2024-02-28 10:30:00.000,2024-02-01 00:00:00.000\n"
	for _, o := range everyWay() {
		finished(t, run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o}))
		if got := read(t, filepath.Join(dir, "out.csv")); got != want {
			t.Fatalf("%v gives\n%swant\n%s", o, got, want)
		}
	}
}
