package parquet

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// shared is the folder of shared test data, which is no part of the repository.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RUNNER_SHARED")
	if dir == "" {
		t.Skip("RUNNER_SHARED is not set: no shared data")
	}
	return dir
}

// TestSuites reads the files of other projects' test suites: never a panic, never a number of rows
// that other engines do not see.
func TestSuites(t *testing.T) {
	for _, suite := range []struct{ list, dir string }{
		{"parquet-testing.csv", "parquet-testing"}, {"polars-parquet.csv", "polars-files"},
	} {
		root := filepath.Join(shared(t), "data")
		f, err := os.Open(filepath.Join(root, "expected", "suites", suite.list))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := csv.NewReader(f)
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			path := filepath.Join(root, "suites", suite.dir, row[0])
			if _, err := os.Stat(path); err != nil {
				t.Fatal(err)
			}
			t.Run(row[0], func(t *testing.T) {
				a := alloc(t)
				got, err := readAll(t, a, input{Options: Options{Path: []string{path}}})
				t.Logf("%d rows, error %v; duckdb %s %s, polars %s %s, pyarrow %s %s", len(got), err, row[1], row[2], row[6], row[7], row[11], row[12])
				if err != nil {
					var c interface{ Class() string }
					if !errors.As(err, &c) {
						t.Errorf("no class: %v", err)
					}
					return
				}
				for i := 1; i < len(row); i += 5 {
					if n, _ := strconv.Atoi(row[i+1]); row[i] == "ok" && n == len(got) {
						return
					}
				}
				t.Errorf("no other engine sees %d rows", len(got))
			})
		}
	}
}
