package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// runOut runs a plan whose sink is out.csv beside it and gives the rows, sorted by the plan.
func runOut(t *testing.T, dir, plan string, options map[string]string) (string, report.Report) {
	t.Helper()
	r := run(t, filepath.Join(dir, "p.yaml"), plan, setup{options: options})
	finished(t, r)
	b, err := os.ReadFile(filepath.Join(dir, "out.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), r
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// parallelisms are option sets that cross every seam.
func parallelisms() []map[string]string {
	return []map[string]string{
		{"parallelism.default": "1"},
		{"parallelism.default": "2", "runner.source.split-size": "7 b", "runner.batch.rows": "2"},
		{"parallelism.default": "4", "runner.source.split-size": "20 b", "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "10 b"},
		{"parallelism.default": "7", "runner.source.split-size": "3 kb", "taskmanager.numberOfTaskSlots": "3"},
	}
}

// TestFileColumn: each row knows its file, as the plan writes it, in CSV, JSON lines and Parquet alike; a
// star does not give it.
func TestFileColumn(t *testing.T) {
	dir := t.TempDir()
	var csv, js strings.Builder
	for f := range 3 {
		csv.Reset()
		js.Reset()
		csv.WriteString("id,qty\n")
		for i := range 10 * (f + 1) {
			fmt.Fprintf(&csv, "%d,%d\n", i, f)
			fmt.Fprintf(&js, "{\"id\": %d, \"qty\": %d}\n", i, f)
		}
		put(t, dir, fmt.Sprintf("in/csv/f%d.csv", f), csv.String())
		put(t, dir, fmt.Sprintf("in/json/f%d.json", f), js.String())
	}
	for f := range 3 {
		runOut(t, dir, fmt.Sprintf(`
sources:
  a: {csv: {path: in/csv/f%d.csv, columns: {id: BIGINT, qty: BIGINT}}}
sinks:
  out: {from: a, csv: {path: out.csv, mode: overwrite}}
  copy: {from: a, parquet: {path: in/parquet/f%d.parquet, mode: overwrite}}
`, f, f), nil)
	}
	for _, kind := range []string{"csv", "json", "parquet"} {
		plan := `
sources:
  a: {` + kind + `: {path: "in/` + kind + `/*", columns: {id: BIGINT, qty: BIGINT}}}
transforms:
  all: {from: a, select: {"*": {}, file: _file}}
  o: {from: n, order_by: [_file]}
  rows: {from: a, select: {"*": {}}, order_by: [id], limit: 1}
aggregations:
  n: {from: a, group_by: [_file], measures: {n: COUNT(*), last: MAX(id)}}
  m: {from: all, group_by: [file], measures: {n: COUNT(*)}}
sinks:
  out: {from: o, csv: {path: out.csv, mode: overwrite}}
  other: {from: m, csv: {path: other.csv, mode: overwrite}}
  star: {from: rows, csv: {path: star.csv, mode: overwrite}}
  whole: {from: a, csv: {path: whole.csv, mode: overwrite}}
`
		want := "_file,n,last\n"
		for f := range 3 {
			want += fmt.Sprintf("in/%s/f%d.%s,%d,%d\n", kind, f, kind, 10*(f+1), 10*(f+1)-1)
		}
		for _, o := range parallelisms() {
			if got, _ := runOut(t, dir, plan, o); got != want {
				t.Errorf("%s %v:\n%s", kind, o, got)
			}
		}
		for _, f := range []string{"star.csv", "whole.csv"} {
			if b, err := os.ReadFile(filepath.Join(dir, f)); err != nil || !strings.HasPrefix(string(b), "id,qty\n") {
				t.Errorf("%s: %s: %.20s %v", kind, f, b, err)
			}
		}
	}
}

// TestFileCondition: of files that a condition on _file leaves out nothing is read, and the books say so;
// joined with others by AND only the part before what may fail counts, and by OR none does.
func TestFileCondition(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "in/2023.csv", "id,qty\n1,1\n2,2\n")
	put(t, dir, "in/2024.csv", "id,qty\n3,3\n4,4\n5,5\n")
	put(t, dir, "in/bad.csv", "id,qty\n6,six\n\"")
	for _, c := range []struct{ where, want string }{
		{"_file LIKE '%202_.csv'", "1 2 3 4 5"},
		{"_file = 'in/2024.csv'", "3 4 5"},
		{"qty > 3 AND _file <> 'in/bad.csv'", "4 5"},
		{"_file <> 'in/bad.csv' AND (_file = 'in/2023.csv' OR qty = 5)", "1 2 5"},
		{"_file = 'nothing'", ""},
		{"_file IN ('in/2023.csv') AND id = 2", "2"},
		{"CAST(REGEXP_EXTRACT(_file, '\\d+') AS INT) = 2023", "1 2"},
	} {
		for _, o := range parallelisms() {
			got, r := runOut(t, dir, `
sources:
  a: {csv: {path: in/*.csv, columns: {id: BIGINT, qty: BIGINT}}}
transforms:
  t: {from: a, where: "`+strings.ReplaceAll(c.where, `\`, `\\`)+`", select: [id, qty]}
  o: {from: t, select: [id], order_by: [id]}
sinks:
  out: {from: o, csv: {path: out.csv, mode: overwrite}}
`, o)
			if s := strings.Join(strings.Fields(got)[1:], " "); s != c.want {
				t.Errorf("%s %v: %s", c.where, o, s)
			}
			if r.Books == nil || !r.Books.Balanced {
				t.Errorf("%s: %+v", c.where, r.Books)
			}
		}
	}
	// What cannot be told from the name alone is looked at row by row, and its bad rows fail.
	for _, where := range []string{"_file <> 'in/bad.csv' OR qty > 3", "1 / (qty - 1) >= 0 AND _file <> 'in/bad.csv'"} {
		r, err := tryRun(t, filepath.Join(dir, "p.yaml"), `
sources:
  a: {csv: {path: in/*.csv, columns: {id: BIGINT, qty: BIGINT}}}
transforms:
  t: {from: a, where: "`+where+`", select: [id]}
sinks:
  out: {from: t, csv: {path: out.csv, mode: overwrite}}
`, setup{})
		if err != nil || r.State != "FAILED" {
			t.Errorf("%s: %s %v", where, r.State, err)
		}
	}
}

// TestFileColumnOfOthers: a column of the file that is called so comes first, and other sources have none.
func TestFileColumnOfOthers(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.csv", "_file,n\nx,1\n")
	got, _ := runOut(t, dir, `
sources:
  a: {csv: {path: a.csv, columns: {_file: STRING, n: BIGINT}}}
transforms:
  t: {from: a, select: {f: _file, "*": {}}}
sinks:
  out: {from: t, csv: {path: out.csv, mode: overwrite}}
`, nil)
	if got != "f,_file,n\nx,x,1\n" {
		t.Errorf("%q", got)
	}
	_, err := tryRun(t, filepath.Join(dir, "p.yaml"), `
sources:
  a: {csv: {path: a.csv, columns: {n: BIGINT}}}
transforms:
  t: {from: a, select: [n]}
  u: {from: t, select: [n, _file]}
sinks:
  out: {from: u, print: {}}
`, setup{})
	if err == nil || !strings.Contains(err.Error(), "there is no column `_file`") {
		t.Errorf("behind a transform: %v", err)
	}
}
