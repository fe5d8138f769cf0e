package parquet

import (
	"errors"
	"strings"
	"testing"

	"github.com/xitongsys/parquet-go-source/buffer"
	format "github.com/xitongsys/parquet-go/parquet"
	"github.com/xitongsys/parquet-go/writer"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// lying is a file of two row groups of three rows each, whose footer is changed before it is written.
func lying(t *testing.T, change func(f *format.FileMetaData)) string {
	t.Helper()
	type row struct {
		A int64  `parquet:"name=a, type=INT64"`
		B int64  `parquet:"name=b, type=INT64"`
		S string `parquet:"name=s, type=BYTE_ARRAY, convertedtype=UTF8"`
	}
	buf := buffer.NewBufferFile()
	w, err := writer.NewParquetWriter(buf, new(row), 1)
	if err != nil {
		t.Fatal(err)
	}
	for g := range 2 {
		for i := range 3 {
			n := int64(10*g + i)
			if err := w.Write(row{n, 100 + n, strings.Repeat("x", i)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(true); err != nil {
			t.Fatal(err)
		}
	}
	change(w.Footer)
	if err := w.WriteStop(); err != nil {
		t.Fatal(err)
	}
	return save(t, buf.Bytes())
}

// TestLyingFooter: counts, sizes and places that are wrong fail by name, whichever columns are read, none
// of them too.
func TestLyingFooter(t *testing.T) {
	if got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{lying(t, func(*format.FileMetaData) {})}}}); err != nil || len(got) != 6 {
		t.Fatal(len(got), err)
	}
	group := func(f *format.FileMetaData) *format.RowGroup { return f.RowGroups[1] }
	column := func(f *format.FileMetaData) *format.ColumnMetaData { return group(f).Columns[1].MetaData }
	for name, c := range map[string]struct {
		change func(f *format.FileMetaData)
		where  string
		read   bool // only a plan that reads column b can know
	}{
		"rows of the file":             {func(f *format.FileMetaData) { f.NumRows++ }, "6", false},
		"fewer rows of the file":       {func(f *format.FileMetaData) { f.NumRows-- }, "6", false},
		"rows of a group and the file": {func(f *format.FileMetaData) { f.NumRows++; group(f).NumRows++ }, "row group 1", false},
		"fewer rows of both":           {func(f *format.FileMetaData) { f.NumRows--; group(f).NumRows-- }, "row group 1", false},
		"rows moved between groups":    {func(f *format.FileMetaData) { f.RowGroups[0].NumRows--; group(f).NumRows++ }, "row group 0", false},
		"all rows but in the columns":  {func(f *format.FileMetaData) { f.NumRows = 0; f.RowGroups[0].NumRows = 0; group(f).NumRows = 0 }, "row group 0", false},
		"a group is missing":           {func(f *format.FileMetaData) { f.RowGroups = f.RowGroups[:1] }, "6", false},
		"values of a column":           {func(f *format.FileMetaData) { column(f).NumValues++ }, "row group 1, column b", false},
		"fewer values of a column":     {func(f *format.FileMetaData) { column(f).NumValues-- }, "row group 1, column b", false},
		"consistent lies": {func(f *format.FileMetaData) {
			f.NumRows++
			group(f).NumRows++
			for _, c := range group(f).Columns {
				c.MetaData.NumValues++
			}
		}, "row group 1, column", true},
		"consistent lies, fewer": {func(f *format.FileMetaData) {
			f.NumRows--
			group(f).NumRows--
			for _, c := range group(f).Columns {
				c.MetaData.NumValues--
			}
		}, "row group 1, column", true},
		"columns swapped":         {func(f *format.FileMetaData) { x := group(f).Columns; x[0], x[1] = x[1], x[0] }, "row group 1", false},
		"a column is missing":     {func(f *format.FileMetaData) { group(f).Columns = group(f).Columns[:2] }, "row group 1", false},
		"size of a column":        {func(f *format.FileMetaData) { column(f).TotalCompressedSize += 1 << 20 }, "column b", true},
		"smaller size":            {func(f *format.FileMetaData) { column(f).TotalCompressedSize -= 5 }, "row group 1, column b", true},
		"place of a column":       {func(f *format.FileMetaData) { column(f).DataPageOffset += 3 }, "row group 1, column b", true},
		"place behind the file":   {func(f *format.FileMetaData) { column(f).DataPageOffset = 1 << 30 }, "column b", true},
		"place before the file":   {func(f *format.FileMetaData) { column(f).DataPageOffset = -8 }, "column b", true},
		"place of another column": {func(f *format.FileMetaData) { column(f).DataPageOffset = group(f).Columns[0].MetaData.DataPageOffset }, "column b", true},
		"codec":                   {func(f *format.FileMetaData) { column(f).Codec = format.CompressionCodec_GZIP }, "row group 1, column b", true},
		"type":                    {func(f *format.FileMetaData) { column(f).Type = format.Type_DOUBLE }, "column b", true},
	} {
		for _, columns := range [][]int{nil, {1}, {}, {0}} {
			if c.read && columns != nil && (len(columns) == 0 || columns[0] != 1) {
				continue
			}
			in := input{Options: Options{Path: []string{lying(t, c.change)}}}
			if columns != nil {
				in.push = &connectors.Pushdown{Columns: columns, Limit: -1}
			}
			got, err := readAll(t, alloc(t), in)
			var e *connectors.DataError
			if !errors.As(err, &e) || e.Kind != "DamagedFile" || e.File != in.Path[0] || !strings.Contains(err.Error(), c.where) {
				t.Errorf("%s, columns %v: %d rows, %v", name, columns, len(got), err)
			}
		}
	}
}
