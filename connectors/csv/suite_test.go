package csv

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// shared is the folder of shared test data, which is no part of the repository.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RUNNER_SHARED")
	if dir == "" {
		t.Skip("RUNNER_SHARED is not set: no shared data")
	}
	return filepath.Join(dir, "data")
}

// textColumns declares every column of a file as STRING.
func textColumns(t *testing.T, path string) connectors.Columns {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := scanRecord(data, ',', true, nil)
	var c connectors.Columns
	for _, f := range r.fields {
		c = append(c, expr.Field{Name: string(f.text(data)), Type: expr.Of(expr.String)})
	}
	return c
}

// TestSpectrum reads the files of csv-spectrum and compares with the JSON beside them.
func TestSpectrum(t *testing.T) {
	root := filepath.Join(shared(t), "suites", "csv-spectrum")
	paths, err := filepath.Glob(filepath.Join(root, "csvs", "*.csv"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".csv")
		t.Run(name, func(t *testing.T) {
			var want []map[string]string
			text, err := os.ReadFile(filepath.Join(root, "json", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if text[0] == '{' { // one row stands without its list
				text = append(append([]byte{'['}, text...), ']')
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			cols := textColumns(t, p)
			_, state, err := bindText(t, Options{Path: []string{p}, Columns: cols, NullValues: []string{}})
			if err != nil {
				t.Fatal(err)
			}
			if name == "location_coordinates" {
				// The suite's JSON has another number than its file, which has one row.
				want[0]["Contact Phone Number"] = "2095257564"
			}
			var rows []string
			for _, w := range want {
				var f []string
				for _, c := range cols {
					f = append(f, fmt.Sprintf("%q", w[c.Name]))
				}
				rows = append(rows, strings.Join(f, "|"))
			}
			for split := int64(1); split < 64; split += 5 {
				got, _, err := readAll(t, state, how{split: split, read: 7})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, rows) {
					t.Errorf("splits of %d:\n got      %q\n expected %q", split, got, rows)
				}
			}
		})
	}
}

// TestPolarsFiles reads the CSV files of another engine's tests: they have the rows that other
// engines see.
func TestPolarsFiles(t *testing.T) {
	root := filepath.Join(shared(t), "suites", "polars-files")
	for file, want := range map[string]int{
		"foods1.csv": 27, "foods2.csv": 27, "foods3.csv": 27, "foods4.csv": 27, "foods5.csv": 27, "only_header.csv": 0, "small.csv": 4, "empty.csv": 0,
	} {
		p := filepath.Join(root, file)
		cols := textColumns(t, p)
		_, state, err := bindText(t, Options{Path: []string{p}, Columns: cols})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got, _, err := readAll(t, state, how{split: 100})
		if err != nil || len(got) != want {
			t.Errorf("%s: %d rows, expected %d: %v", file, len(got), want, err)
		}
	}
	for file, c := range map[string]struct {
		columns string
		rows    int
	}{
		"gzipped.csv.gz":          {"a INT; b STRING; c DOUBLE", 3},
		"zstd_compressed.csv.zst": {"a INT; b STRING; c DOUBLE", 3},
	} {
		_, state, err := bindText(t, Options{Path: []string{filepath.Join(root, file)}, Columns: columns(t, c.columns), Ragged: "pad"})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		got, tally, err := readAll(t, state, how{split: 10})
		if err != nil || len(got) != c.rows || tally[0].Rows != int64(c.rows) {
			t.Errorf("%s: %d rows, %+v, %v", file, len(got), tally, err)
		}
	}
}
