package runner_test

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// everyWay are options that must change nothing about a result: parallelism, slots, tiny splits and
// batches, and a sizing that uses all of the parallelism.
func everyWay() []map[string]string {
	small := map[string]string{
		"runner.source.split-size": "64 b", "runner.batch.rows": "3",
		"execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "16 b",
	}
	with := func(more map[string]string) map[string]string {
		o := maps.Clone(small)
		maps.Copy(o, more)
		return o
	}
	return []map[string]string{
		{"parallelism.default": "1"},
		{"parallelism.default": "2"},
		with(map[string]string{"parallelism.default": "2"}),
		with(map[string]string{"parallelism.default": "4", "taskmanager.numberOfTaskSlots": "1"}),
		with(map[string]string{"parallelism.default": "7", "runner.source.split-size": "5 b"}),
		{"parallelism.default": "4", "execution.batch.adaptive.auto-parallelism.enabled": "false"},
	}
}

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A bad value is the root cause, with its place, and the same one however the run is cut up; the
// restart strategy is not the headline.
func TestRootCauseIsTheSameEverywhere(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,qty\n")
	for i := range 200 {
		qty := fmt.Sprint(i)
		switch i {
		case 57, 58, 150:
			qty = fmt.Sprintf("bad%d", i)
		}
		fmt.Fprintf(&b, "%d,%s\n", i, qty)
	}
	for _, plan := range []string{"cast in the plan", "type of the column"} {
		t.Run(plan, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "orders.csv", b.String())
			column, value := "STRING", "CAST(qty AS INT)"
			if plan == "type of the column" {
				column, value = "INT", "qty"
			}
			text := fmt.Sprintf(`
sources: {o: {csv: {path: orders.csv, columns: {id: BIGINT, qty: %s}}}}
transforms: {q: {from: o, select: {id: id, qty: %s}}}
aggregations: {s: {from: q, measures: {total: SUM(qty)}}}
sinks: {out: {from: s, csv: {path: out.csv}}}
`, column, value)
			for round := range 3 {
				for _, o := range everyWay() {
					r := run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o})
					c := r.Failure.RootCause
					if r.State != "FAILED" || c == nil || c.Class != "CastError" || c.Line != 59 || c.Column != 2 || c.Field != "qty" || c.Value != "bad57" {
						t.Fatalf("round %d, %v: state %s, root cause %+v", round, o, r.State, c)
					}
					if filepath.Base(c.File) != "orders.csv" || r.Failure.RestartStrategy != "none" || strings.Contains(r.Failure.Headline, "Recovery") {
						t.Fatalf("%v: %+v", o, r.Failure)
					}
					if _, err := os.Stat(filepath.Join(dir, "out.csv")); !os.IsNotExist(err) {
						t.Fatalf("a failed run left its target: %v", err)
					}
					noLeavings(t, dir)
				}
			}
		})
	}
}

// noLeavings fails if something of ours is left beside targets.
func noLeavings(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".runner") {
			t.Errorf("%s is left in the folder of the target", e.Name())
		}
	}
}

// What was asked, what was decided and why, for a small file in four settings.
func TestRequestedDecidedReason(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("k,v\n")
	for i := range 300 {
		fmt.Fprintf(&b, "%d,%d\n", i%10, i)
	}
	write(t, dir, "o.csv", b.String())
	plan := func(source, aggregate string) string {
		return fmt.Sprintf(`
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT, v: BIGINT}}%s}}
aggregations: {g: {from: o, group_by: [k], measures: {s: SUM(v)}%s}}
sinks: {out: {from: g, csv: {path: out, mode: overwrite}}}
`, source, aggregate)
	}
	digest := ""
	for _, c := range []struct {
		name, text string
		options    map[string]string
		source     int
		aggregate  int
		reason     string
		origin     string
	}{
		{"adaptive", plan("", ""), map[string]string{"parallelism.default": "2"}, 1, 1, "data-volume", "flag"},
		{"not adaptive", plan("", ""), map[string]string{"parallelism.default": "2", "execution.batch.adaptive.auto-parallelism.enabled": "false"}, 2, 2, "disabled", "flag"},
		{"aggregate by hand", plan("", ", parallelism: 2"), map[string]string{"parallelism.default": "2"}, 1, 2, "explicit", "node"},
		{"source by hand", plan(", parallelism: 1", ""), map[string]string{"parallelism.default": "5"}, 1, 1, "data-volume", "flag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, filepath.Join(dir, "plan.yaml"), c.text, setup{options: c.options})
			finished(t, r)
			s, a := r.Vertices[0].Parallelism, r.Vertices[1].Parallelism
			if s.Decided != c.source || a.Decided != c.aggregate || a.Reason != c.reason || a.Origin != c.origin {
				t.Errorf("source %+v, aggregate %+v", s, a)
			}
			for _, v := range r.Vertices {
				if len(v.Subtasks) != v.Parallelism.Decided || v.Parallelism.Text == "" || v.Parallelism.Reason == "data-volume" && len(v.Parallelism.Numbers) == 0 {
					t.Errorf("vertex %s: %+v", v.Name, v.Parallelism)
				}
			}
			if digest == "" {
				digest = r.Sinks[0].Digest
			}
			if r.Sinks[0].Digest != digest || r.Sinks[0].Rows != 10 {
				t.Errorf("sink %+v, the digest was %s", r.Sinks[0], digest)
			}
		})
	}
}

// Line breaks, quotes and delimiters inside quotes, cut by splits at every byte.
func TestQuotedLineBreaks(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("n,s\n")
	const rows = 20_000
	for i := range rows {
		text := []string{"ABCDE\nFGHIJ", "a\"\"b,\nc", ",\"\"\n\"\",", "plain"}[i%4]
		fmt.Fprintf(&b, "%d,\"%s\"\n", i, text)
	}
	write(t, dir, "o.csv", b.String())
	text := `
sources: {o: {csv: {path: o.csv, columns: {n: BIGINT, s: STRING}}}}
aggregations: {g: {from: o, measures: {n: COUNT(*), s: SUM(n), c: SUM(CHAR_LENGTH(s)), d: COUNT(DISTINCT s)}}}
sinks: {out: {from: g, csv: {path: out.csv, mode: overwrite}}}
`
	for _, split := range []string{"4 mb", "10 kb", "777 b", "100 b"} {
		for _, p := range []string{"1", "2", "4", "7"} {
			r := run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: map[string]string{"parallelism.default": p, "runner.source.split-size": split}})
			finished(t, r)
			if got := read(t, filepath.Join(dir, "out.csv")); got != "n,s,c,d\n20000,199990000,135000,4\n" {
				t.Fatalf("splits of %s at parallelism %s give %q", split, p, got)
			}
		}
	}
}

// Columns are found by name in every file.
func TestColumnsByName(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", "name,age\nBob,31\n")
	write(t, dir, "b.csv", "age,extra,name\n54,x,Sam\n")
	text := `
sources: {o: {csv: {path: "*.csv", columns: {name: STRING, age: INT}}}}
transforms: {s: {from: o, order_by: [name]}}
sinks: {out: {from: s, json: {path: out/rows.jsonl, mode: overwrite}}}
`
	for _, o := range everyWay() {
		finished(t, run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o}))
		if got := read(t, filepath.Join(dir, "out", "rows.jsonl")); got != "{\"name\":\"Bob\",\"age\":31}\n{\"name\":\"Sam\",\"age\":54}\n" {
			t.Fatalf("%v: %s", o, got)
		}
	}
	write(t, dir, "c.csv", "name,years\nEve,3\n")
	r := run(t, filepath.Join(dir, "plan.yaml"), text, setup{})
	if c := r.Failure.RootCause; r.State != "FAILED" || c.Class != "SchemaMismatch" || !strings.Contains(c.Message, "age") || !strings.Contains(c.Message+c.File, "c.csv") {
		t.Fatalf("%s: %+v", r.State, c)
	}
}

// Sums of DOUBLE are exact, so that they are the same bits however the rows are spread.
func TestExactSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	exact := new(big.Float).SetPrec(4000)
	lines := []string{"1e16", "-1e16"}
	for range 1000 {
		lines = append(lines, "1.0")
	}
	for range 3000 {
		lines = append(lines, fmt.Sprintf("%v", (rng.Float64()-0.5)*float64(int64(1)<<rng.IntN(60))))
	}
	rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	for _, l := range lines {
		f, _, err := big.ParseFloat(l, 10, 53, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		exact.Add(exact, f)
	}
	want, _ := exact.Float64()
	dir := t.TempDir()
	write(t, dir, "o.csv", "v\n"+strings.Join(lines, "\n")+"\n")
	text := `
sources: {o: {csv: {path: o.csv, columns: {v: DOUBLE}}}}
aggregations: {g: {from: o, measures: {s: SUM(v), a: AVG(v), n: COUNT(v)}}}
sinks: {out: {from: g, json: {path: out.jsonl, mode: overwrite}}}
`
	first := ""
	for range 5 {
		for _, o := range everyWay() {
			finished(t, run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o}))
			got := read(t, filepath.Join(dir, "out.jsonl"))
			if first == "" {
				first = got
				var s float64
				if _, err := fmt.Sscanf(got, `{"s":%g,`, &s); err != nil || s != want {
					t.Fatalf("the sum is %v, exactly it is %v (%v): %s", s, want, err, got)
				}
			}
			if got != first {
				t.Fatalf("%v gives %s and before it was %s", o, got, first)
			}
		}
	}
}

// A result without rows is a valid file with its columns.
func TestEmptyResults(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k,v\na,1\n")
	text := `
sources: {o: {csv: {path: o.csv, columns: {k: STRING, v: "DECIMAL(12, 2)"}}}}
transforms: {none: {from: o, where: v > 5}}
sinks:
  csv: {from: none, csv: {path: out.csv, mode: overwrite}}
  parquet: {from: none, parquet: {path: parts, mode: overwrite}}
  json: {from: none, json: {path: out.jsonl, mode: overwrite}}
`
	again := `
sources: {o: {parquet: {path: parts}}}
aggregations: {g: {from: o, measures: {n: COUNT(*), m: MAX(v)}}}
sinks: {out: {from: g, csv: {path: again.csv, mode: overwrite}}}
`
	for _, o := range everyWay() {
		r := run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o})
		finished(t, r)
		for _, s := range r.Sinks {
			if s.Rows != 0 || len(s.Files) != 1 {
				t.Errorf("sink %+v", s)
			}
		}
		if got := read(t, filepath.Join(dir, "out.csv")); got != "k,v\n" {
			t.Errorf("the file is %q", got)
		}
		finished(t, run(t, filepath.Join(dir, "again.yaml"), again, setup{options: o}))
		if got := read(t, filepath.Join(dir, "again.csv")); got != "n,m\n0,\n" {
			t.Errorf("read back: %q", got)
		}
		noLeavings(t, dir)
	}
}

// A cancelled run says so, publishes nothing and leaves nothing.
func TestCancel(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k\n"+strings.Repeat("1\n", 400_000))
	write(t, dir, "out.csv", "before\n")
	text := `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT}}}}
transforms: {s: {from: o, order_by: [k]}}
sinks: {out: {from: s, csv: {path: out.csv, mode: overwrite}}}
`
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := tryRun(t, filepath.Join(dir, "plan.yaml"), text, setup{ctx: ctx})
	if err != nil || r.State != "CANCELED" {
		t.Fatalf("%s %v", r.State, err)
	}
	if got := read(t, filepath.Join(dir, "out.csv")); got != "before\n" {
		t.Errorf("the target is %q", got)
	}
	noLeavings(t, dir)
}

// Faults of a plan that need types are findings, and nothing is run.
func TestFindings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k\n1\n")
	_, err := tryRun(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT}}}}
transforms: {s: {from: o, where: k}}
sinks: {a: {from: s, csv: {path: x.csv}}, b: {from: s, csv: {path: ./x.csv}}}
`, setup{})
	found, ok := err.(plans.Findings)
	if !ok || !strings.Contains(found.Error(), "BOOLEAN") {
		t.Fatalf("%v", err)
	}
	_, err = tryRun(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT}}}}
sinks: {a: {from: o, csv: {path: x.csv}}, b: {from: o, csv: {path: ./x.csv}}, c: {from: o, csv: {path: o.csv, mode: overwrite}}}
`, setup{})
	found, ok = err.(plans.Findings)
	if !ok || len(found) != 2 || !strings.Contains(found.Error(), "one path") || !strings.Contains(found.Error(), "replace what source") {
		t.Fatalf("%v", err)
	}
}

func lastWords(r report.Report) string {
	var b strings.Builder
	report.WriteText(&b, r, "")
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	return lines[len(lines)-1]
}

// Inputs that are not there or cannot be used: a FAILED report whose last line says which.
func TestMissingInputs(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{"nothing/*.csv": "MissingFile", "gone.csv": "MissingFile"} {
		r := run(t, filepath.Join(dir, "plan.yaml"), fmt.Sprintf(`
sources: {o: {csv: {path: %q, columns: {k: BIGINT}}}}
sinks: {a: {from: o, csv: {path: x.csv}}}
`, name), setup{})
		if c := r.Failure.RootCause; c == nil || c.Class != want {
			t.Errorf("%s: %+v", name, r.Failure)
		}
		if w := lastWords(r); !strings.Contains(w, "root cause: MissingFile") || !strings.Contains(w, filepath.Base(name)) {
			t.Errorf("%s: the last line is %q", name, w)
		}
	}
}

// Keys take part in measures in whatever type those need.
func TestKeysInsideMeasures(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "id,v\n1,0.5\n1,1.5\n2,4\n")
	r := run(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {id: INT, v: DOUBLE}}}}
aggregations: {g: {from: o, group_by: [id], measures: {a: id + COUNT(*), b: id * MAX(v), c: SUM(id), d: "SUM(CAST(id AS BIGINT))", e: "SUM(id + v)"}}}
transforms: {s: {from: g, order_by: [id]}}
sinks: {out: {from: s, csv: {path: out.csv}}}
`, setup{})
	finished(t, r)
	if got := read(t, filepath.Join(dir, "out.csv")); got != "id,a,b,c,d,e\n1,3,1.5,2,2,4.0\n2,3,8.0,2,2,6.0\n" {
		t.Errorf("%s", got)
	}
}

// Behind an exchange rows have no place in a file any more: the least row that fails is reported. A
// source that several nodes read keeps the place all the same.
func TestRootCauseBehindExchanges(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("id,k,q\n")
	for i := range 300 {
		q := fmt.Sprint(i)
		if i%41 == 7 {
			q = fmt.Sprintf("bad%d_%d", i%9, i)
		}
		fmt.Fprintf(&b, "%d,%d,%s\n", i, i%13, q)
	}
	for i := range 4 {
		write(t, dir, fmt.Sprintf("o%d.csv", i), strings.ReplaceAll(b.String(), "bad", fmt.Sprintf("bad%d_", (i*3)%4)))
	}
	for name, nodes := range map[string]string{
		"group": "aggregations: {g: {from: o, group_by: [k, q], measures: {n: COUNT(*)}}}\n" +
			"transforms: {t: {from: g, select: {x: CAST(q AS INT), n: n}}}",
		"distinct": "transforms: {d: {from: o, select: {q: q}, distinct: true}, t: {from: d, select: {x: CAST(q AS INT)}}}",
		"union":    "transforms: {u: {from: [o, o], union: {}}, t: {from: u, select: {x: CAST(q AS INT)}}}",
		"measure":  "aggregations: {g: {from: o, group_by: [k], measures: {m: MAX(id) / (SUM(k) - SUM(k))}}}\ntransforms: {t: {from: g}}",
		"two":      "transforms: {a: {from: o, where: CAST(q AS INT) > 1}, b: {from: o, order_by: [id]}, t: {from: [a, b], union: {}}}",
	} {
		t.Run(name, func(t *testing.T) {
			text := "sources: {o: {csv: {path: \"o*.csv\", columns: {id: BIGINT, k: BIGINT, q: STRING}}}}\n" + nodes +
				"\nsinks: {out: {from: t, json: {path: out, mode: overwrite}}}\n"
			first := ""
			for range 3 {
				for _, o := range everyWay() {
					r := run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o})
					if r.State != "FAILED" || r.Failure.RootCause == nil {
						t.Fatalf("%v: %s", o, r.State)
					}
					c := r.Failure.RootCause
					got := fmt.Sprint(c.Class, c.Message, c.File, c.Line, c.Column, c.Field, c.Value, c.Expression)
					if first == "" {
						first = got
					}
					if got != first {
						t.Fatalf("%v\ngot  %s\nwant %s", o, got, first)
					}
					if name == "two" && (c.Line != 9 || filepath.Base(c.File) != "o0.csv") || strings.Contains(got, "$") {
						t.Fatalf("%v: %+v", o, c)
					}
				}
			}
		})
	}
}

// An option with a value that its connector refuses is a fault of the plan, at the option.
func TestOptionFaults(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k\n1\n")
	_, err := tryRun(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT}}}}
sinks:
  a: {from: o, parquet: {path: [x.parquet, y.parquet]}}
  b: {from: o, csv: {path: x.csv.gz}}
`, setup{})
	found, ok := err.(plans.Findings)
	if !ok || len(found) != 2 || found[0].Line != 4 || found[0].Column != 26 || found[1].Line != 5 {
		t.Fatalf("%v", err)
	}
}

// A value with control characters does not reach the terminal as they are, nor break the last line.
func TestLastLineIsOneLine(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k\n\"a\nb\x1b[31m"+strings.Repeat("long ", 1000)+"\"\n")
	r := run(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {k: STRING}}}}
transforms: {t: {from: o, select: {k: CAST(k AS INT)}}}
sinks: {a: {from: t, blackhole: {}}}
`, setup{})
	if w := lastWords(r); !strings.HasPrefix(w, "root cause: CastError") || strings.ContainsAny(w, "\x1b\n") || len(w) > 1000 || !strings.Contains(w, `a\nb\x1b`) {
		t.Errorf("%q", w)
	}
	if limit := run(t, filepath.Join(dir, "limit.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {k: STRING}}}}
transforms: {t: {from: o, limit: 9223372036854775807, offset: 9223372036854775807}, s: {from: o, order_by: [k], limit: 9223372036854775807, offset: 1}}
sinks: {a: {from: t, blackhole: {}}, b: {from: s, blackhole: {}}}
`, setup{}); limit.State != "FINISHED" {
		t.Errorf("%+v", limit.Failure)
	}
}

// Without slot sharing every vertex is a group of its own, and the result is the same.
func TestSlotSharing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k,s\n1,a\n2,b\n3,a\n")
	digest := ""
	for _, sharing := range []string{"true", "false"} {
		r := run(t, filepath.Join(dir, "plan.yaml"), faultPlan, setup{options: map[string]string{
			"runner.slot-sharing": sharing, "parallelism.default": "2", "execution.batch.adaptive.auto-parallelism.enabled": "false",
		}})
		finished(t, r)
		if digest == "" {
			digest = r.Sinks[0].Digest
		}
		groups := map[string]bool{}
		for _, v := range r.Vertices {
			groups[v.SlotSharingGroup] = true
		}
		want := map[string]int{"true": 1, "false": len(r.Vertices)}[sharing]
		if len(groups) != want || len(r.Slots.Groups) != want || r.Slots.Needed != map[string]int{"true": 2, "false": 5}[sharing] || r.Sinks[0].Digest != digest {
			t.Errorf("%s: %+v, %d vertices", sharing, r.Slots, len(r.Vertices))
		}
	}
}

// A column may be grouped by under several names.
func TestSameKeyTwice(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "id,s,v\n1,a,1.5\n1,a,1.5\n2,b,-2\n")
	for keys, want := range map[string]string{
		"[id, {k: id}, v]":              "id,k,v,n\n1,1,1.5,2\n2,2,-2.0,1\n",
		"[s, {x: s}, id]":               "s,x,id,n\na,a,1,2\nb,b,2,1\n",
		"[{a: id + 1}, {b: id + 1}, s]": "a,b,s,n\n2,2,a,2\n3,3,b,1\n",
	} {
		for _, o := range everyWay() {
			r := run(t, filepath.Join(dir, "plan.yaml"), fmt.Sprintf(`
sources: {o: {csv: {path: o.csv, columns: {id: BIGINT, s: STRING, v: DOUBLE}}}}
aggregations: {g: {from: o, group_by: %s, measures: {n: COUNT(*)}}}
transforms: {t: {from: g, order_by: [n DESC]}}
sinks: {out: {from: t, csv: {path: out.csv, mode: overwrite}}}
`, keys), setup{options: o})
			finished(t, r)
			if got := read(t, filepath.Join(dir, "out.csv")); got != want {
				t.Fatalf("%s: %q", keys, got)
			}
		}
	}
}

// DECIMALs are compared exactly, also where no DECIMAL holds the digits of both.
func TestWideDecimalsCompare(t *testing.T) {
	dir := t.TempDir()
	nines := strings.Repeat("9", 38)
	write(t, dir, "o.csv", "f,g,b\n"+nines+",0."+nines+",5\n-"+nines+",-0.5,-1\n1,0,1\n,,\n")
	r := run(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {f: "DECIMAL(38, 0)", g: "DECIMAL(38, 38)", b: BIGINT}}}}
transforms:
  t:
    from: o
    select: {a: f > 0.5, b: "f BETWEEN 0.5 AND 2.5", c: "f IN (1.0, 2.5)", d: "NULLIF(f, 1.0)", e: CASE f WHEN 1.0 THEN 'one' ELSE 'other' END, h: f IS DISTINCT FROM 1.0, i: g < 1, j: b > g, k: b = f, l: f = g}
sinks: {out: {from: t, csv: {path: out.csv, mode: overwrite}}}
`, setup{})
	finished(t, r)
	want := "a,b,c,d,e,h,i,j,k,l\n" +
		"true,false,false," + nines + ",other,true,true,true,false,false\n" +
		"false,false,false,-" + nines + ",other,true,true,false,false,false\n" +
		"true,true,true,,one,false,true,true,true,false\n,,,,other,true,,,,\n"
	if got := read(t, filepath.Join(dir, "out.csv")); got != want {
		t.Errorf("%s", got)
	}
}
