package parquet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// byLibrary writes two rows of columns that hold NULLs where their type is Null, and 1 and 2 otherwise.
func byLibrary(t *testing.T, fields ...arrow.Field) string {
	t.Helper()
	b := array.NewRecordBuilder(alloc(t), arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range fields {
		switch c := b.Field(i).(type) {
		case *array.Int64Builder:
			c.AppendValues([]int64{1, 2}, nil)
		default:
			c.AppendNulls(2)
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "a.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(rec.Schema(), f, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNullColumns: writers give a column in which every value is NULL a type of its own.
func TestNullColumns(t *testing.T) {
	path := byLibrary(t, arrow.Field{Name: "none", Type: arrow.Null, Nullable: true}, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64})
	for _, o := range []Options{{}, {Columns: connectors.Columns(schemaOf(t, "none STRING; n BIGINT").Fields)}} {
		o.Path = []string{path}
		got, err := readAll(t, alloc(t), input{Options: o})
		if err != nil || len(got) != 2 || !strings.Contains(got[0], "NULL") || !strings.Contains(got[0], "1") {
			t.Errorf("%v: %v", got, err)
		}
	}
}

// TestNamesTwice: a file with two columns of a name is not damaged, and its other columns can be read.
func TestNamesTwice(t *testing.T) {
	a := arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64}
	path := byLibrary(t, a, a, arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int64})
	got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}, Columns: connectors.Columns(schemaOf(t, "b BIGINT").Fields)}})
	if err != nil || fmt.Sprint(got) == "[]" {
		t.Errorf("%v: %v", got, err)
	}
	_, err = readAll(t, alloc(t), input{Options: Options{Path: []string{path}, Columns: connectors.Columns(schemaOf(t, "a BIGINT").Fields)}})
	if err == nil || !strings.Contains(err.Error(), "two columns of that name") {
		t.Errorf("a name that stands twice: %v", err)
	}
}
