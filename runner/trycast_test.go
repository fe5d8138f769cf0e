package runner_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// tried lists what a report counted of TRY_CASTs, operator by operator.
func tried(r report.Report) string {
	var b strings.Builder
	for _, v := range r.Vertices {
		for _, x := range v.TryCasts {
			fmt.Fprintf(&b, "%s %s %s %d\n", x.Operator, x.Expression, x.Reason, x.Rows)
		}
	}
	return b.String()
}

// quantities puts the bad values of a column, in several shares of repetition, into CSV, JSON lines and
// Parquet, which has them as a dictionary.
func quantities(t *testing.T, dir string) {
	t.Helper()
	var csv, js strings.Builder
	csv.WriteString("id,qty\n")
	for i := range 700 {
		q := []string{"1", "", "\u00207", "+5", "3.0", "x", "2147483648"}[i%7]
		if q == "" {
			fmt.Fprintf(&js, "{\"id\": %d, \"qty\": null}\n", i)
		} else {
			fmt.Fprintf(&js, "{\"id\": %d, \"qty\": %q}\n", i, q)
		}
		fmt.Fprintf(&csv, "%d,%s\n", i, q)
	}
	put(t, dir, "in/t.csv", csv.String())
	put(t, dir, "in/t.json", js.String())
	r := run(t, filepath.Join(dir, "w.yaml"), `
sources:
  t: {csv: {path: in/t.csv, columns: {id: BIGINT, qty: STRING}}}
sinks:
  out: {from: t, parquet: {path: in/t.parquet, mode: overwrite}}
`, setup{})
	finished(t, r)
}

// TestTryCastIsCounted: what TRY_CAST gives NULL for is counted by expression and reason, once a row,
// wherever it stands, alike for every kind of source and every parallelism.
func TestTryCastIsCounted(t *testing.T) {
	dir := t.TempDir()
	quantities(t, dir)
	const each = " TRY_CAST(qty AS INT) fraction 100\n? TRY_CAST(qty AS INT) malformed 100\n? TRY_CAST(qty AS INT) out-of-range 100\n"
	for name, c := range map[string]struct{ plan, want string }{
		"select": {`
transforms:
  o: {from: t, select: {n: TRY_CAST(qty AS INT), m: "TRY_CAST(qty AS INT) + 1", id: id}}
`, "Calc" + each},
		"where": {`
transforms:
  o: {from: t, where: "id >= 0 AND (TRY_CAST(qty AS INT) > 0 OR TRY_CAST(qty AS INT) IS NULL)", select: {id: id}}
`, "Source" + each},
		"where and select": {`
transforms:
  o: {from: t, where: "TRY_CAST(qty AS INT) IS NULL", select: {n: TRY_CAST(qty AS INT)}}
`, "Source" + each + "Calc" + each},
		"selected rows": {`
transforms:
  o: {from: t, where: "id < 70", select: {n: "CASE WHEN id < 35 THEN TRY_CAST(qty AS INT) END"}}
`, "Calc TRY_CAST(qty AS INT) fraction 5\n? TRY_CAST(qty AS INT) malformed 5\n? TRY_CAST(qty AS INT) out-of-range 5\n"},
		"branches": {`
transforms:
  o: {from: t, select: {b: "id < 70 AND TRY_CAST(qty AS INT) > 1", o: "id >= 35 OR TRY_CAST(qty AS SMALLINT) > 1"}}
`, "Calc TRY_CAST(qty AS INT) fraction 10\n? TRY_CAST(qty AS INT) malformed 10\n? TRY_CAST(qty AS INT) out-of-range 10\n" +
			"? TRY_CAST(qty AS SMALLINT) fraction 5\n? TRY_CAST(qty AS SMALLINT) malformed 5\n? TRY_CAST(qty AS SMALLINT) out-of-range 5\n"},
		"group_by": {`
transforms:
  k: {from: t, select: {k: TRY_CAST(qty AS INT)}}
aggregations:
  o: {from: k, group_by: [k], measures: {n: COUNT(*)}}
`, "Calc" + each},
		"measures": {`
aggregations:
  o: {from: t, group_by: [qty], measures: {n: SUM(TRY_CAST(qty AS INT)), big: MAX(TRY_CAST(qty AS BIGINT))}}
`, "Calc TRY_CAST(qty AS BIGINT) fraction 100\n? TRY_CAST(qty AS BIGINT) malformed 100\n?" + each},
		"nothing": {`
transforms:
  o: {from: t, where: "id % 7 = 0", select: {n: TRY_CAST(qty AS INT), c: TRY_CAST('x' AS INT)}}
`, ""},
	} {
		for _, kind := range []string{"csv", "json", "parquet"} {
			columns := ", columns: {id: BIGINT, qty: STRING}"
			plan := "\nsources:\n  t: {" + kind + ": {path: in/t." + kind + columns + "}}\n" + strings.TrimPrefix(c.plan, "\n") +
				"sinks:\n  out: {from: o, csv: {path: out.csv, mode: overwrite}}\n"
			options := parallelisms()
			if kind != "csv" {
				options = options[:2]
			}
			for _, o := range options {
				_, r := runOut(t, dir, plan, o)
				if got := withoutNumbers(tried(r)); got != expand(c.want) {
					t.Errorf("%s of %s at %v:\n%swant\n%s", name, kind, o, got, expand(c.want))
				}
			}
		}
	}
}

// expand puts the operator of the line before in the place of each question mark.
func expand(want string) string {
	label := ""
	var b strings.Builder
	for line := range strings.Lines(want) {
		word, rest, _ := strings.Cut(line, " ")
		if word != "?" {
			label = word
		}
		b.WriteString(label + " " + rest)
	}
	return b.String()
}

// withoutNumbers leaves the first word of each operator's label.
func withoutNumbers(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		label, rest, _ := strings.Cut(line, " TRY_CAST")
		label, _, _ = strings.Cut(label, "[")
		label, _, _ = strings.Cut(label, ":")
		b.WriteString(label + " TRY_CAST" + rest)
	}
	return b.String()
}

// TestTryCastOnTheConsole: one line for each expression says how many rows became NULL and why.
func TestTryCastOnTheConsole(t *testing.T) {
	dir := t.TempDir()
	quantities(t, dir)
	_, r := runOut(t, dir, `
sources:
  t: {csv: {path: in/t.csv, columns: {id: BIGINT, qty: STRING}}}
transforms:
  o: {from: t, select: {n: TRY_CAST(qty AS INT)}}
sinks:
  out: {from: o, csv: {path: out.csv, mode: overwrite}}
`, nil)
	var b strings.Builder
	report.WriteText(&b, r, "")
	const want = "]: TRY_CAST(qty AS INT) gave NULL for 300 rows: 100 fraction, 100 malformed, 100 out of range\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("no line %q in\n%s", want, b.String())
	}
}

// TestTryCastOfAFailedTask: a task that failed, whose rows may have been looked at again, counts nothing.
func TestTryCastOfAFailedTask(t *testing.T) {
	dir := t.TempDir()
	quantities(t, dir)
	for _, o := range parallelisms() {
		r := run(t, filepath.Join(dir, "p.yaml"), `
sources:
  t: {csv: {path: in/t.csv, columns: {id: BIGINT, qty: STRING}}}
transforms:
  a: {from: t, order_by: [id]}
  o: {from: a, select: {n: TRY_CAST(qty AS INT), f: 1 / (id - 699)}}
sinks:
  out: {from: o, csv: {path: out.csv, mode: overwrite}}
`, setup{options: o})
		if got := tried(r); r.State != "FAILED" || got != "" {
			t.Errorf("%v: %s, counted\n%s", o, r.State, got)
		}
	}
}
