package parquet

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/examples/orders"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestFiles matches files by name, and refuses what does not fit, naming both.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	make := func(name, list string) {
		s := schemaOf(t, list)
		b := operators.Batch{Rec: record(memory.DefaultAllocator, s, 1, 1, false)}
		write(t, memory.DefaultAllocator, Options{Path: []string{filepath.Join(dir, name)}}, s, 1, b)
	}
	make("a.parquet", "id BIGINT NOT NULL; ab STRING")
	make("b.parquet", "ab STRING; id BIGINT")
	make("c.parquet", "id BIGINT NOT NULL")
	make("d.parquet", "id INT NOT NULL; ab STRING")
	make("e.parquet", "id BIGINT NOT NULL; ab STRING; more DATE")
	for _, c := range []struct {
		paths, columns string
		want, text     string
	}{
		{"a.parquet", "", "id BIGINT NOT NULL, ab STRING", ""},
		{"a.parquet b.parquet", "", "id BIGINT, ab STRING", ""},
		{"b.parquet a.parquet", "", "id BIGINT, ab STRING", ""},
		{"a.parquet c.parquet", "", "", "column ab (STRING) of %/a.parquet is not in %/c.parquet"},
		{"a.parquet d.parquet", "", "", "column id is BIGINT NOT NULL in %/a.parquet and INT NOT NULL in %/d.parquet"},
		{"a.parquet e.parquet", "", "", "column more (DATE) of %/e.parquet is not in %/a.parquet"},
		{"*.parquet", "id BIGINT", "id BIGINT", ""},
		{"*.parquet", "id DECIMAL(20, 2)", "id DECIMAL(20, 2)", ""},
		{"*.parquet", "id STRING", "id STRING", ""},
		{"a.parquet", "Id BIGINT", "", "column Id is not in %/a.parquet (did you mean id?)"},
		{"a.parquet", "id DOUBLE", "", "CAST(… AS DOUBLE)"},
		{"e.parquet", "more INT", "", "is DATE in"},
		{"a.parquet", "ab INT", "ab INT", ""},
	} {
		o := Options{Path: strings.Fields(c.paths)}
		if c.columns != "" {
			o.Columns = schemaOf(t, c.columns).Fields
		}
		state, err := Spec.Bind(t.Context(), o, connectors.Env{Dir: dir})
		if c.text != "" {
			var e *connectors.DataError
			if !errors.As(err, &e) || e.Kind != "SchemaMismatch" || !strings.Contains(err.Error(), strings.ReplaceAll(c.text, "%", dir)) {
				t.Errorf("%s %s: %v", c.paths, c.columns, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", c.paths, c.columns, err)
			continue
		}
		src, err := Spec.Open(state)
		if err != nil {
			t.Fatal(err)
		}
		if got := src.Schema().String(); got != c.want {
			t.Errorf("%s %s: %s", c.paths, c.columns, got)
		}
	}
}

// TestDeclared brings values to declared types, or fails at the row as a CAST would.
func TestDeclared(t *testing.T) {
	s := schemaOf(t, "id BIGINT; name STRING; m DECIMAL(9, 2); t6 TIMESTAMP(6)")
	path := filepath.Join(t.TempDir(), "x.parquet")
	write(t, memory.DefaultAllocator, Options{Path: []string{path}}, s, 1,
		operators.Batch{Rec: record(memory.DefaultAllocator, s, 8, 1, false)}, operators.Batch{Rec: record(memory.DefaultAllocator, s, 9, 1, true)})
	for _, c := range []struct{ columns, want, class string }{
		{"id INT; m DECIMAL(30, 4)", "NULL|0.1400|", ""},
		{"t6 TIMESTAMP(0); id STRING", "", ""},
		{"name INT", "", "CastError"},
		{"id BIGINT NOT NULL", "", "NullViolation"},
	} {
		got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}, Columns: schemaOf(t, c.columns).Fields}})
		if c.class != "" {
			var e *connectors.DataError
			if !errors.As(err, &e) || e.Kind != c.class || e.Line == 0 || e.Field == "" || e.File != path {
				t.Errorf("%s: %+v", c.columns, err)
			}
			continue
		}
		if err != nil || len(got) != 2 || c.want != "" && got[0] != c.want && got[1] != c.want {
			t.Errorf("%s: %q, %v", c.columns, got, err)
		}
	}
}

// TestExamples reads the example orders as the generator made them.
func TestExamples(t *testing.T) {
	got, err := readAll(t, alloc(t), input{
		Options: Options{Path: []string{filepath.Join("..", "..", "examples", "data", "orders.parquet")}},
		split:   connectors.SplitOptions{SplitBytes: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, q := range orders.Make(orders.Seed) {
		want = append(want, strings.Split(strings.TrimSpace(string(orders.CSV(q.Orders))), "\n")[1:]...)
	}
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		g := strings.Split(got[i], "|")
		w := strings.Split(want[i], ",")
		if g[0] != w[0] || g[1] != w[1] && !(g[1] == "NULL" && w[1] == "") || g[6] != w[len(w)-1]+".000" || g[4] != w[len(w)-3] {
			t.Fatalf("row %d: %s, want %s", i, got[i], want[i])
		}
	}
}

// TestOptions lets defaults of sink options pass on a source, and refuses what was written.
func TestOptions(t *testing.T) {
	path := []string{save(t, sample(t, "snappy", 3))}
	for _, c := range []struct {
		o    Options
		text string
	}{
		{Options{Path: path, Mode: "error", Compression: "snappy", RowGroupRows: 1_000_000}, ""},
		{Options{Path: path, Mode: "append"}, "mode: belongs to sinks"},
		{Options{Path: path, Compression: "zstd"}, "compression: belongs to sinks"},
		{Options{Path: path, RowGroupRows: 5}, "row_group_rows: belongs to sinks"},
	} {
		_, err := Spec.Bind(t.Context(), c.o, connectors.Env{})
		if (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	in := schemaOf(t, "id BIGINT")
	for _, c := range []struct {
		o    Options
		text string
	}{
		{Options{Path: []string{"a", "b"}}, "one target, and 2"},
		{Options{Path: []string{"a"}, Columns: in.Fields}, "columns: belongs to sources"},
		{Options{Path: []string{"a"}, Compression: "brotli"}, "expected snappy, zstd, gzip, lz4_raw or none"},
		{Options{Path: []string{"a"}, RowGroupRows: 2_000_000}, "not between 1 and 1000000"},
	} {
		_, err := Spec.BindSink(t.Context(), c.o, in, connectors.Env{Dir: t.TempDir()})
		var fault *files.Error // of the plan, not of the target
		if err == nil || !strings.Contains(err.Error(), c.text) || !errors.As(err, &fault) || fault.Kind != files.InvalidOption {
			t.Errorf("%+v: %T %v", c.o, err, err)
		}
	}
	in.Fields = append(in.Fields, expr.Field{Name: "nothing", Type: expr.Type{Kind: expr.Null}})
	_, err := Spec.BindSink(t.Context(), Options{Path: []string{"a"}}, in, connectors.Env{Dir: t.TempDir()})
	if fault := (*files.Error)(nil); !errors.As(err, &fault) || fault.Kind != files.InvalidOption || !strings.Contains(err.Error(), "CAST(NULL AS") {
		t.Errorf("a column without a type: %T %v", err, err)
	}
}
