package runner_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph/bind"
)

// TestReadBack: a sink that writes where a source of its plan would read the next time is warned of.
func TestReadBack(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "in/a.csv", "id\n1\n")
	for _, c := range []struct {
		path, sink string
		warned     bool
	}{
		{"in/*.csv", "csv: {path: in/out.csv}", true},
		{"in", "csv: {path: in/out.csv}", true},
		{"in/**", "parquet: {path: in/parts}", true},
		{"in/*.csv", "parquet: {path: in/out.parquet}", false},
		{"in/*.csv", "csv: {path: in/sub/out.csv}", false},
		{"in/a.csv", "csv: {path: in/out.csv}", false},
		{"in/*.csv", "csv: {path: out}", false},
	} {
		text := "sources:\n  a: {csv: {path: \"" + c.path + "\", columns: {id: BIGINT}}}\nsinks:\n  out: {from: a, " + c.sink + "}\n"
		p, found := plans.Parse(filepath.Join(dir, "p.yaml"), []byte(text), nil, plans.KnownOf(catalogs(t).Connectors, catalogs(t).Operators))
		if found.Failed() {
			t.Fatal(found)
		}
		_, found, err := bind.Bind(t.Context(), p, catalogs(t).Connectors)
		if err != nil || found.Failed() {
			t.Fatalf("%s: %v %v", text, found, err)
		}
		if warned := strings.Contains(found.Error(), "the next run would read it"); warned != c.warned {
			t.Errorf("%s and %s: %t %v", c.path, c.sink, warned, found)
		}
	}
}
