package runner_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// badRows is a text of rows of which some are bad in different ways.
func badRows(rows int) string {
	var b strings.Builder
	b.WriteString("id,note,qty\n")
	for i := range rows {
		switch {
		case i%7 == 3:
			fmt.Fprintf(&b, "%d,\"a\nb\",much\n", i)
		case i%11 == 5:
			fmt.Fprintf(&b, "%d,short\n", i)
		case i%13 == 6:
			fmt.Fprintf(&b, "x%d,\"q\"\"q\",1\n", i)
		default:
			fmt.Fprintf(&b, "%d,n%d,%d\n", i, i, i%50)
		}
	}
	return b.String()
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// recordsOf are the records of the csv files at a path, sorted, with their header.
func recordsOf(t testing.TB, path string) []string {
	t.Helper()
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		t.Fatal(err)
	} else if info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(path, "*.csv"))
	}
	var all []string
	for _, f := range files {
		text := strings.ReplaceAll(read(t, f), "\n", "¶")
		// A record that holds a line break has an open quote before it.
		var rec string
		for _, line := range strings.SplitAfter(text, "¶") {
			if rec += line; strings.Count(rec, `"`)%2 == 0 && rec != "" {
				all, rec = append(all, rec), ""
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestRejectedPort: the bad rows of a source, and its good ones, are the same however the run is cut up;
// that somebody reads the bad ones changes nothing about the good ones; the books hold.
func TestRejectedPort(t *testing.T) {
	text := badRows(300)
	for _, c := range []struct{ name, file, data, where string }{
		{"plain", "o.csv", text, ""},
		{"gzip", "o.csv.gz", gzipped(t, text), ""},
		{"filter in the source", "o.csv", text, ", where: qty > 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.file, c.data)
			plan := func(sink string) string {
				return fmt.Sprintf(`
sources: {o: {csv: {path: %s, columns: {id: BIGINT, note: STRING, qty: BIGINT}}, on_error: skip}}
transforms: {q: {from: o, select: {id: id, qty: qty}%s}, named: {from: o.rejected, where: code <> 'nothing', select: {code: code, raw: raw}}}
sinks: {out: {from: q, csv: {path: out, mode: overwrite}}%s}
`, c.file, c.where, sink)
			}
			alone := run(t, filepath.Join(dir, "plan.yaml"), plan(""), setup{})
			good := recordsOf(t, filepath.Join(dir, "out"))
			var bad []string
			for _, o := range everyWay() {
				r := run(t, filepath.Join(dir, "plan.yaml"), plan(`,
  bad: {from: o.rejected, csv: {path: bad.csv, mode: overwrite}}, more: {from: named, csv: {path: more, mode: overwrite}}`), setup{options: o})
				if r.State != "FINISHED" || !r.Books.Balanced {
					t.Fatalf("%v: %s, %v, %v", o, r.State, r.Failure, r.Books)
				}
				got := recordsOf(t, filepath.Join(dir, "bad.csv"))
				if bad == nil {
					bad = got
				}
				if !slices.Equal(bad, got) {
					t.Fatalf("%v: bad rows\n got      %q\n expected %q", o, got, bad)
				}
				if out := recordsOf(t, filepath.Join(dir, "out")); !slices.Equal(out, good) {
					t.Fatalf("%v: the good rows are others:\n got      %q\n expected %q", o, out, good)
				}
				n := alone.Sources[0].Files[0].Rejected
				for _, k := range r.Sinks {
					if k.Node != "out" && k.Rows != n {
						t.Fatalf("%v: sink %s has %d rows, and %d were rejected", o, k.Node, k.Rows, n)
					}
				}
				if f := r.Sources[0].Files[0]; f.Rejected != n || int64(len(f.Rejects)) != min(n, 20) || f.Rejects[0].Line != alone.Sources[0].Files[0].Rejects[0].Line {
					t.Fatalf("%v: %+v", o, f)
				}
			}
		})
	}
}

// TestRejectsAlone: a source that nobody reads but its port checks no values, for the plan uses none; a
// LIMIT behind the source does not keep bad rows from the port.
func TestRejectsAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", badRows(300))
	short := strings.Count(badRows(300), "short")
	head := `
sources: {o: {csv: {path: o.csv, columns: {id: BIGINT, note: STRING, qty: BIGINT}}, on_error: skip}}
`
	for _, o := range everyWay() {
		r := run(t, filepath.Join(dir, "plan.yaml"), head+`sinks: {bad: {from: o.rejected, csv: {path: bad.csv, mode: overwrite}}}`, setup{options: o})
		if r.State != "FINISHED" || r.Sinks[0].Rows != int64(short) {
			t.Fatalf("%v: %s, %+v, expected %d rows", o, r.State, r.Sinks, short)
		}
		r = run(t, filepath.Join(dir, "plan.yaml"), head+`
transforms: {few: {from: o, limit: 2}}
sinks: {bad: {from: o.rejected, csv: {path: bad.csv, mode: overwrite}}, some: {from: few, blackhole: {}}}`, setup{options: o})
		var rows, rejected int64
		for _, k := range r.Sinks {
			if k.Node == "bad" {
				rows = k.Rows
			}
		}
		rejected = r.Sources[0].Files[0].Rejected
		if r.State != "FINISHED" || rows != rejected || rows < 80 {
			t.Fatalf("%v: %s, %d rows of %d rejected", o, r.State, rows, rejected)
		}
	}
}
