package parquet

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestSource runs the tests of every source over two files of several row groups.
func TestSource(t *testing.T) {
	dir := t.TempDir()
	s := schemaOf(t, everyType)
	var rows []string
	var numbers []int64
	for i, n := range []int{37, 0, 55} {
		b := operators.Batch{Rec: record(memory.DefaultAllocator, s, i*100, n, false)}
		for k, l := range lines(b, s) {
			rows = append(rows, strings.TrimSuffix(l, "|"))
			numbers = append(numbers, int64(k+1))
		}
		write(t, memory.DefaultAllocator, Options{Path: []string{filepath.Join(dir, string(rune('a'+i))+".parquet")}, RowGroupRows: 10}, s, 1, b)
	}
	state, err := Spec.Bind(t.Context(), Options{Path: []string{"*.parquet"}, Columns: s.Fields}, connectors.Env{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	connectortest.Source{
		Open: func(fs files.FS) (connectors.Source, error) { return openIn(fs, state) },
		Rows: rows, Lines: numbers, Sizes: []int64{1, 2000, 5000},
		Where:  where(t, "l > 0", s),
		Passes: func(row string) bool { f := strings.Split(row, "|"); return f[2][0] != '-' && f[2] != "0" },
	}.Run(t)
}

// TestSink runs the tests of every sink, and reads back what was written.
func TestSink(t *testing.T) {
	s := schemaOf(t, everyType)
	connectortest.Sink{
		Component: connectors.Erase(Spec), In: s, Ext: ".parquet", Folders: true,
		Options: func(target, mode string) any {
			return Options{Path: []string{target}, Mode: mode, Compression: "zstd", RowGroupRows: 200}
		},
		Read: func(t *testing.T, names []string, in expr.Schema, a memory.Allocator) []string {
			t.Helper()
			got, err := readAll(t, a, input{Options: Options{Path: names, Columns: in.Fields}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = strings.TrimSuffix(got[i], "|")
			}
			return got
		},
	}.Run(t)
}
