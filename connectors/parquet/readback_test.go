package parquet

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A readbackColumn is what a column has, for the program that reads it back.
type readbackColumn struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Values []any  `json:"values"`
}

// TestReadBack lets PyArrow, DuckDB and DataFusion read what was written, each on its own: values,
// statistics, checksums and page indexes.
func TestReadBack(t *testing.T) {
	python := os.Getenv("RUNNER_PYTHON")
	if python == "" {
		t.Skip("RUNNER_PYTHON does not name a Python with duckdb, pyarrow and datafusion")
	}
	dir := t.TempDir()
	files := 0
	save := func(data []byte, s expr.Schema, columns []readbackColumn) {
		if len(columns[0].Values) == 0 && files > 0 {
			return // one file without rows is enough
		}
		name := filepath.Join(dir, fmt.Sprintf("%03d", files))
		files++
		j, err := json.Marshal(columns)
		if err != nil {
			t.Fatal(err)
		}
		for ext, b := range map[string][]byte{".parquet": data, ".json": j} {
			if err := os.WriteFile(name+ext, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	codecs := []string{"none", "snappy", "zstd", "gzip", "lz4_raw"}
	s := schemaOf(t, everyType)
	for i, rows := range []int{0, 1, 500, 70_000} {
		b := operators.Batch{Rec: record(memory.DefaultAllocator, s, 0, rows, true)}
		columns := readbackOf(t, s, b)
		save(encodeBatches(t, s, codecs[i], usualLimits(), 50_000, []operators.Batch{b}), s, columns)
	}
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 23))
		s, batches := randomBatches(t, memory.DefaultAllocator, rnd)
		columns := readbackOf(t, s, batches...)
		l := &limits{pageRows: 1 + rnd.IntN(200), pageBytes: 1 + rnd.IntN(3000), dictionary: rnd.IntN(2000), mostBytes: 1 + rnd.Int64N(1<<18)}
		save(encodeBatches(t, s, codecs[seed%5], l, int64(1+rnd.IntN(500)), batches), s, columns)
	}
	out, err := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "readback.py"), dir).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprint(files, " files") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func readbackOf(t *testing.T, s expr.Schema, batches ...operators.Batch) []readbackColumn {
	t.Helper()
	columns := make([]readbackColumn, len(s.Fields))
	for c, f := range s.Fields {
		columns[c] = readbackColumn{Name: f.Name, Type: f.Type.Nullable(true).String(), Values: []any{}}
		for _, b := range batches {
			for i := range b.Rows() {
				row := i
				if b.Sel != nil {
					row = int(b.Sel[i])
				}
				columns[c].Values = append(columns[c].Values, readbackValue(t, b, c, f.Type, row))
			}
		}
	}
	return columns
}

func readbackValue(t *testing.T, b operators.Batch, c int, typ expr.Type, row int) any {
	t.Helper()
	arr := b.Rec.Column(c)
	if arr.IsNull(row) {
		return nil
	}
	switch a := arr.(type) {
	case *array.Boolean:
		return a.Value(row)
	case *array.Int32:
		return a.Value(row)
	case *array.Date32:
		return int32(a.Value(row))
	case *array.Timestamp:
		return int64(a.Value(row))
	case *array.Int64:
		if typ.Kind == expr.Decimal {
			return fmt.Sprint(a.Value(row))
		}
		return a.Value(row)
	case *array.Decimal128:
		return a.Value(row).BigInt().String()
	case *array.Float64:
		if typ.Kind == expr.Float {
			return math.Float32bits(float32(a.Value(row)))
		}
		return math.Float64bits(a.Value(row))
	case *array.String:
		return a.Value(row)
	case *array.Binary:
		return fmt.Sprintf("%x", a.Value(row))
	case *array.Dictionary:
		return a.Dictionary().(*array.String).Value(a.GetValueIndex(row))
	}
	t.Fatalf("%T", arr)
	return nil
}
