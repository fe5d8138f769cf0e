package runner_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/inspect"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph/bind"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// listedFile is a file as inspect and doctor take it.
func listedFile(t *testing.T, path string) files.File {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return files.File{Path: path, Name: path, Abs: path, Bytes: st.Size()}
}

// A hazardous is a file with one hazard, what a plan says about it, and what it reads then.
type hazardous struct {
	name, text string
	rule       string
	fails      bool   // a source that says nothing but the path does not read it
	read       string // the rows that the cure gives: a CSV of the sink
}

func hazards() []hazardous {
	late := "n,v\n"
	for i := range 5000 {
		if i == 4321 {
			late += "4321,x1\n"
			continue
		}
		late += fmt.Sprintf("%d,%d.50\n", i, i)
	}
	return []hazardous{
		{"bom.csv", "\xEF\xBB\xBF\"id\",\"n\"\n1,x\n", "bom", false, "id,n\n1,x\n"},
		{"latin.csv", "id,n\n1,caf\xe9\n", "encoding", true, "id,n\n1,café\n"},
		{"utf16.csv", "\xFF\xFEi\x00d\x00,\x00n\x00\n\x001\x00,\x00x\x00\n\x00", "encoding", false, "id,n\n1,x\n"},
		{"mixed.csv", "id,n\r\n1,x\n2,y\r\n", "line-ends", false, "id,n\n1,x\n2,y\n"},
		{"cr.csv", "id,n\r1,x\r2,y\r", "line-ends", true, "id,n\n1,x\n2,y\n"},
		{"long.csv", "id,n\n1,x\n2,y,z\n", "ragged", true, "id,n\n1,x\n"},
		{"short.csv", "id,n\n1,x\n2\n", "ragged", true, "id,n\n1,x\n2,\n"},
		{"twice.csv", "id,n,id\n1,x,2\n", "duplicate-names", true, "id,n,id_2\n1,x,2\n"},
		{"quotes.csv", "id,n\n1,\"5\"\"\n2,y\n", "quotes", true, "id,n\n1,\"\"\"5\"\"\"\"\"\n2,y\n"},
		{"backslash.csv", "id,n\n1,\"a \\\"b\\\"\"\n2,y\n", "quotes", true, "id,n\n1,\"a \"\"b\"\"\"\n2,y\n"},
		{"semicolon.csv", "id;n\n1;x\n", "delimiter", true, "id,n\n1,x\n"},
		{"single.csv", "id,n\n1,'a,b'\n2,'c,d'\n", "quotes", true, "id,n\n1,\"a,b\"\n2,\"c,d\"\n"},
		{"preamble.csv", "made by hand\nid,n\n1,x\n2,y\n", "preamble", true, "id,n\n1,x\n2,y\n"},
		{"comments.csv", "# made by hand\nid,n\n1,x\n2,y\n", "comments", true, "id,n\n1,x\n2,y\n"},
		{"headless.csv", "1,x\n2,y\n", "no-header", false, "column1,column2\n1,x\n2,y\n"},
		{"zip.csv", "zip,n\n02134,1\n", "leading-zeros", false, "zip\n02134\n"},
		{"comma.csv", "id,n\n1,\"1.234,50\"\n2,\"3,5\"\n", "decimal-comma", false, "id,n\n1,1234.50\n2,3.50\n"},
		{"zones.csv", "id,t\n1,2023-11-05 01:40:00-07:00\n2,2023-11-05 01:40:00\n", "mixed-zones", false, "t\n2023-11-05 08:40:00Z\n2023-11-05 01:40:00Z\n"},
		{"zone.csv", "id,t\n1,2023-11-05T01:40:00Z\n", "zone", false, "t\n2023-11-05 01:40:00Z\n"},
		{"dates.csv", "id,d\n1,24.12.2023\n2,13.01.2024\n", "date-format", false, "id,d\n1,2023-12-24\n2,2024-01-13\n"},
		{"blanks.csv", "id,n\n1, x\n2,y \n", "blanks", false, "id,n\n1,x\n2,y\n"},
		{"nulls.csv", "id,n\n1,NA\n2,3\n", "null-words", false, "id,n\n1,\n2,3\n"},
		{"odd.csv", late, "odd-values", false, ""},
		{"none.csv", "", "empty", false, "id\n"},
	}
}

// TestCures: each hazard is found, says rightly whether a run fails, and the lines of its cure do cure it.
func TestCures(t *testing.T) {
	for _, c := range hazards() {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, c.name, c.text)
			d, err := inspect.Examine(files.Local(), listedFile(t, filepath.Join(dir, c.name)))
			if err != nil {
				t.Fatal(err)
			}
			var found *inspect.Hazard
			for i := range d.Hazards {
				if d.Hazards[i].Rule == c.rule {
					found = &d.Hazards[i]
				}
			}
			if found == nil {
				t.Fatalf("no hazard %s: %+v", c.rule, d.Hazards)
			}
			state := "FINISHED" // of an empty file with declared columns
			if c.rule != "empty" {
				state = runSource(t, dir, c.name, nil).State
			}
			if (state == "FAILED") != c.fails || d.Failed() != c.fails {
				t.Errorf("a run is %s, the doctor says that it fails: %t, expected %t", state, d.Failed(), c.fails)
			}
			if c.rule == "odd-values" {
				if found.Line != 4323 || found.Column != "v" || !strings.Contains(found.Message, "DECIMAL(18, 2) but for 1 of 5000 values") {
					t.Errorf("%+v", found)
				}
				r := run(t, filepath.Join(dir, "p.yaml"), "sources:\n  a:\n    csv:\n      path: "+c.name+"\n      "+strings.Join(found.Cure, "\n      ")+"\n    on_error: skip\nsinks:\n  out: {from: a, csv: {path: out.csv, mode: overwrite}}\n", setup{})
				finished(t, r)
				if r.Sinks[0].Rows != 4999 {
					t.Errorf("%d rows", r.Sinks[0].Rows)
				}
				return
			}
			finished(t, runSource(t, dir, c.name, found.Cure))
			if b, err := os.ReadFile(filepath.Join(dir, "out.csv")); err != nil || string(b) != c.read {
				t.Errorf("cured by %q it is read as %q, expected %q %v", found.Cure, b, c.read, err)
			}
		})
	}
}

// TestCuresOfJSON: the same for JSON lines.
func TestCuresOfJSON(t *testing.T) {
	for _, c := range []hazardous{
		{"twice.jsonl", "{\"a\": 1, \"a\": 2}\n", "duplicate-keys", true, "a\n2\n"},
		{"array.json", "[{\"a\": 1},\n {\"a\": 2}]\n", "one-array", true, "a\n1\n2\n"},
		{"latin.jsonl", "{\"a\": \"caf\xe9\"}\n", "encoding", true, "a\ncafé\n"},
		{"mixed.jsonl", "{\"a\": 1}\n{\"a\": \"x\"}\n{\"a\": {\"b\": 1}}\n", "mixed-types", false, "a\n1\nx\n\"{\"\"b\"\": 1}\"\n"},
		{"deep.jsonl", "{\"a\": {\"b\": 1}}\n{\"a\": {\"b\": \"x\"}}\n", "mixed-types", false, "value\n1\nx\n"},
		{"large.jsonl", "{\"id\": 9007199254740993}\n{\"id\": 18446744073709551615}\n", "large-integers", false, "id\n9007199254740993\n18446744073709551615\n"},
		{"bom.jsonl", "\xEF\xBB\xBF{\"a\": 1}\n", "bom", false, "a\n1\n"},
		{"bad.jsonl", "{\"a\": 1}\n{\"a\": }\n", "not-json", true, "a\n1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, c.name, c.text)
			d, err := inspect.Examine(files.Local(), listedFile(t, filepath.Join(dir, c.name)))
			if err != nil {
				t.Fatal(err)
			}
			cure := []string{"none found"}
			for _, h := range d.Hazards {
				if h.Rule == c.rule {
					cure = h.Cure
				}
			}
			plain := runKind(t, dir, "json", c.name, nil)
			if (plain.State == "FAILED") != c.fails || d.Failed() != c.fails {
				t.Errorf("a run is %s, the doctor says that it fails: %t, expected %t: %+v", plain.State, d.Failed(), c.fails, d.Hazards)
			}
			finished(t, runKind(t, dir, "json", c.name, cure))
			if b, err := os.ReadFile(filepath.Join(dir, "out.csv")); err != nil || string(b) != c.read {
				t.Errorf("cured by %q it is read as %q, expected %q %v", cure, b, c.read, err)
			}
		})
	}
}

// runSource runs a plan that copies a file, with lines of a csv source beside its path.
func runSource(t *testing.T, dir, name string, lines []string) report.Report {
	t.Helper()
	return runKind(t, dir, "csv", name, lines)
}

// runKind is runSource for a source of any kind; a line that begins with on_error stands beside it.
func runKind(t *testing.T, dir, kind, name string, lines []string) report.Report {
	t.Helper()
	plan, beside := "sources:\n  a:\n    "+kind+":\n      path: "+name+"\n", ""
	for _, l := range lines {
		if strings.HasPrefix(l, "on_error") {
			beside += "    " + l + "\n"
			continue
		}
		plan += "      " + l + "\n"
	}
	plan += beside + "sinks:\n  out: {from: a, csv: {path: out.csv, mode: overwrite}}\n"
	r, err := tryRun(t, filepath.Join(dir, "p.yaml"), plan, setup{})
	var refused plans.Findings
	if errors.As(err, &refused) { // its columns cannot be inferred
		return report.Report{State: "FAILED", Verdict: err.Error()}
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var instants = regexp.MustCompile(`TIMESTAMP_LTZ\(\d\)`)

// TestInspectAgrees: the block that inspect writes and a source that has all of it but the columns mean the
// same columns, and the block reads all rows that the other one reads.
func TestInspectAgrees(t *testing.T) {
	paths := []string{}
	dir := t.TempDir()
	for _, c := range hazards() {
		if c.rule != "empty" && c.rule != "quotes" && c.name != "long.csv" { // which nothing reads as they are
			put(t, dir, c.name, c.text)
			paths = append(paths, filepath.Join(dir, c.name))
		}
	}
	put(t, dir, "nested.jsonl", `{"id": 1, "user": {"name": "Ada", "geo": {"lat": 1.5}}, "tags": [1], "user_name": "x"}`+"\n"+`{"id": 2, "user": null, "tags": []}`+"\n")
	paths = append(paths, filepath.Join(dir, "nested.jsonl"))
	if shared := os.Getenv("RUNNER_SHARED"); shared != "" {
		for _, p := range []string{"northwind/*.csv", "jaffle_shop/*.csv", "vega/*.csv", "vega/*.tsv", "flight_summary/csv/*.csv", "tpch_tbl/*.gz"} {
			more, err := filepath.Glob(filepath.Join(shared, "data", p))
			if err != nil || len(more) == 0 {
				t.Fatalf("%s: %v", p, err)
			}
			paths = append(paths, more...)
		}
	}
	for _, path := range paths {
		found, err := inspect.Look(files.Local(), listedFile(t, path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		block := found.Block("a")
		without, _, _ := strings.Cut(block, "      columns:\n")
		var schemas []string
		for _, b := range []string{block, without} {
			p, wrong := plans.Parse(filepath.Join(dir, "p.yaml"), []byte("sources:\n"+b+"sinks:\n  out: {from: a, blackhole: {}}\n"), nil, plans.KnownOf(catalogs(t).Connectors, catalogs(t).Operators))
			if wrong.Failed() {
				t.Fatalf("%s: %v\n%s", path, wrong, b)
			}
			bp, wrong, err := bind.Bind(t.Context(), p, catalogs(t).Connectors)
			if err != nil || wrong.Failed() {
				t.Fatalf("%s: %v %v\n%s", path, err, wrong, b)
			}
			schemas = append(schemas, bp.Sources["a"].Source.Schema().String())
		}
		// Times with an offset are instants in the block; a source that infers its columns leaves them as they stand.
		if instants.ReplaceAllString(schemas[0], "STRING") != schemas[1] {
			t.Errorf("%s:\n%s\n%s", path, schemas[0], schemas[1])
		}
		r := run(t, filepath.Join(dir, "p.yaml"), "sources:\n"+block+"sinks:\n  out: {from: a, blackhole: {}}\n", setup{})
		finished(t, r)
	}
}

// TestDoctorAgrees: of files that others made, broken ones among them, the doctor says what a run comes to.
func TestDoctorAgrees(t *testing.T) {
	dir := shared(t)
	seen := map[string]int{}
	rules := map[string]string{}
	for _, p := range []string{"suites/csv-spectrum/*/*.csv", "suites/polars-files/*/*", "suites/polars-files/*", "suites/parquet-testing/*/*.parquet", "suites/JSONTestSuite/*/[yn]_*.json", "northwind/*.csv", "vega/*"} {
		paths, err := filepath.Glob(filepath.Join(dir, "data", p))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if st.IsDir() || st.Size() == 0 {
				continue
			}
			d, err := inspect.Examine(files.Local(), listedFile(t, path))
			if err != nil {
				continue // a form that nothing reads
			}
			kind := "csv"
			switch {
			case strings.HasPrefix(d.Form, "Parquet"):
				kind = "parquet"
			case strings.Contains(d.Form, "JSON"):
				kind = "json"
			}
			name := strings.NewReplacer("*", "[*]", "?", "[?]").Replace(path)
			r, err := tryRun(t, filepath.Join(t.TempDir(), "p.yaml"), fmt.Sprintf("sources:\n  a:\n    %s:\n      path: %q\nsinks:\n  out: {from: a, blackhole: {}}\n", kind, name), setup{})
			failed := err != nil || r.State == "FAILED"
			if failed != d.Failed() {
				why := r.Verdict
				if err != nil {
					why = err.Error()
				}
				t.Errorf("%s: a run fails: %t (%s), the doctor says %t: %+v", path, failed, why, d.Failed(), d.Hazards)
			}
			seen[fmt.Sprint(kind, failed)]++
			for _, h := range d.Hazards {
				rules[h.Rule] += " " + filepath.Base(path)
			}
		}
	}
	for _, k := range []string{"csvtrue", "csvfalse", "parquettrue", "parquetfalse", "jsontrue", "jsonfalse"} {
		if seen[k] == 0 {
			t.Errorf("no file is %s: %v", k, seen)
		}
	}
	for rule, file := range map[string]string{
		"doubtful-statistics": "nan_in_stats.parquet", "int96": "alltypes_plain.parquet", "old-statistics": "alltypes_plain.parquet",
		"no-statistics": "datapage_v1-corrupt-checksum.parquet", "no-checksum": "sort_columns.parquet", "tiny-row-groups": "sort_columns.parquet",
		"damaged": "datapage_v1-corrupt-checksum.parquet",
	} {
		if !strings.Contains(rules[rule], file) {
			t.Errorf("%s is not said of %s:%s", rule, file, rules[rule])
		}
	}
}
