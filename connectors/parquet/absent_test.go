package parquet

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// evolved writes three files of a source whose columns changed over time.
func evolved(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, list := range []string{
		"id BIGINT NOT NULL; s STRING", "more DATE; id BIGINT NOT NULL; d DECIMAL(9, 2); f FLOAT", "s STRING; id BIGINT; big DECIMAL(30, 2)",
	} {
		s := schemaOf(t, list)
		b := operators.Batch{Rec: record(memory.DefaultAllocator, s, 1, 5, false)}
		write(t, memory.DefaultAllocator, Options{Path: []string{filepath.Join(dir, fmt.Sprintf("%d.parquet", i))}, RowGroupRows: 2}, s, 1, b)
	}
	return dir
}

// TestMissingColumns: what a file has not is NULL in its rows, by name, whatever the type, also where a filter
// looks at it or a declared type is another one.
func TestMissingColumns(t *testing.T) {
	dir := evolved(t)
	all := "id BIGINT, s STRING, more DATE, d DECIMAL(9, 2), f DOUBLE, big DECIMAL(30, 2)"
	for _, c := range []struct {
		columns, schema, where string
		rows                   int
	}{
		{"", all, "", 15},
		{"big DECIMAL(38, 2); more DATE; id BIGINT; f FLOAT", "big DECIMAL(38, 2), more DATE, id BIGINT, f FLOAT", "", 15},
		{"more STRING; id DECIMAL(20, 0)", "more STRING, id DECIMAL(20, 0)", "", 15},
		{"id BIGINT; more DATE", "id BIGINT, more DATE", "more IS NULL", -1},
		{"id BIGINT; more DATE", "id BIGINT, more DATE", "more IS NOT NULL", -1},
		{"id BIGINT; more DATE; s STRING", "id BIGINT, more DATE, s STRING", "more > DATE '1900-01-01' OR s IS NOT NULL", -1},
	} {
		o := Options{Path: []string{filepath.Join(dir, "*.parquet")}, Missing: "nulls"}
		if c.columns != "" {
			o.Columns = schemaOf(t, c.columns).Fields
		}
		state, err := Spec.Bind(t.Context(), o, connectors.Env{Dir: dir})
		if err != nil {
			t.Errorf("%s: %v", c.columns, err)
			continue
		}
		src, err := Spec.Open(state)
		if err != nil {
			t.Fatal(err)
		}
		if got := src.Schema().String(); got != c.schema {
			t.Errorf("%s: the columns are %s, expected %s", c.columns, got, c.schema)
		}
		a := alloc(t)
		every, err := readAll(t, a, input{Options: o})
		if err != nil || len(every) != 15 {
			t.Errorf("%s: %d rows: %v", c.columns, len(every), err)
			continue
		}
		if c.where == "" {
			continue
		}
		s := src.Schema()
		push := connectors.Pushdown{Where: where(t, c.where, s), Limit: -1}
		for i := range s.Fields {
			push.Columns = append(push.Columns, i)
		}
		used, _ := readFilter(t, o, push)
		want := slices.DeleteFunc(every, func(l string) bool { return !slices.Contains(used, l) })
		if len(used) == 0 || len(used) == 15 || len(want) != len(used) {
			t.Errorf("%s: %d rows of 15", c.where, len(used))
		}
	}
}

// readFilter reads with a filter that the source takes.
func readFilter(t *testing.T, o Options, push connectors.Pushdown) ([]string, error) {
	t.Helper()
	got, err := readAll(t, alloc(t), input{Options: o, push: &push})
	if err != nil {
		t.Error(err)
	}
	return got, err
}

// TestMissingColumnsRefused: a name that no file has, NOT NULL, types that differ, and what holds without the option.
func TestMissingColumnsRefused(t *testing.T) {
	dir := evolved(t)
	for _, c := range []struct{ paths, columns, missing, text string }{
		{"*.parquet", "", "", "column s (STRING) of %/0.parquet is not in %/1.parquet"},
		{"*.parquet", "id BIGINT; more DATE", "error", "column more is not in %/0.parquet"},
		{"*.parquet", "id BIGINT; mor DATE", "nulls", "column mor is in none of the 3 files"},
		{"*.parquet", "more DATE NOT NULL", "nulls", "column more is not in %/0.parquet, so it is NULL there"},
		{"*.parquet", "more INT", "nulls", "column more is DATE in %/1.parquet and declared INT"},
	} {
		o := Options{Path: []string{filepath.Join(dir, c.paths)}, Missing: c.missing}
		if c.columns != "" {
			o.Columns = schemaOf(t, c.columns).Fields
		}
		_, err := Spec.Bind(t.Context(), o, connectors.Env{Dir: dir})
		var e *connectors.DataError
		if !errors.As(err, &e) || e.Kind != "SchemaMismatch" || !strings.Contains(err.Error(), strings.ReplaceAll(c.text, "%", dir)) {
			t.Errorf("%s %s: %v", c.columns, c.missing, err)
		}
	}
	// Columns that are not declared are counted, or refused.
	o := Options{Path: []string{filepath.Join(dir, "*.parquet")}, Columns: schemaOf(t, "id BIGINT").Fields}
	state, err := Spec.Bind(t.Context(), o, connectors.Env{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	src, err := Spec.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 3, 2} {
		if got := src.Inventory().Files[i].Extra; got != want {
			t.Errorf("file %d has %d columns more, expected %d", i, got, want)
		}
	}
	o.ExtraColumns = "error"
	if _, err = Spec.Bind(t.Context(), o, connectors.Env{Dir: dir}); err == nil || !strings.Contains(err.Error(), "column s of "+dir+"/0.parquet is not declared") {
		t.Errorf("extra_columns: error: %v", err)
	}
	// Of a column that a later file brought in, that file is named.
	s := schemaOf(t, "d DOUBLE")
	write(t, memory.DefaultAllocator, Options{Path: []string{filepath.Join(dir, "9.parquet")}}, s, 1, operators.Batch{Rec: record(memory.DefaultAllocator, s, 1, 1, false)})
	_, err = Spec.Bind(t.Context(), Options{Path: []string{filepath.Join(dir, "*.parquet")}, Missing: "nulls"}, connectors.Env{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "is DECIMAL(9, 2) in "+dir+"/1.parquet and DOUBLE in "+dir+"/9.parquet") {
		t.Errorf("two types: %v", err)
	}
}
