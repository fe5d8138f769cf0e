package parquet

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// strangeFile has columns n, g and m, and g has a logical type of a number that the library does not
// know: its annotation, JSON at first, is written over.
func strangeFile(t *testing.T, number byte) []byte {
	t.Helper()
	json, err := schema.NewPrimitiveNodeLogical("g", parquet.Repetitions.Required, schema.JSONLogicalType{}, parquet.Types.ByteArray, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	fields := schema.FieldList{schema.NewInt64Node("n", parquet.Repetitions.Required, -1), json, schema.NewInt64Node("m", parquet.Repetitions.Required, -1)}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root)
	group := w.AppendRowGroup()
	for range fields {
		c, err := group.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		switch c := c.(type) {
		case *file.Int64ColumnChunkWriter:
			_, err = c.WriteBatch([]int64{1, 2}, nil, nil)
		case *file.ByteArrayColumnChunkWriter:
			_, err = c.WriteBatch([]parquet.ByteArray{[]byte("{}"), {0xff}}, nil, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := buf.Bytes()
	end := len(b) - tailSize
	footer := b[end-int(binary.LittleEndian.Uint32(b[end:])) : end]
	known := []byte{0xcc, 0, 0} // field 12, an empty structure, and the end
	if bytes.Count(footer, known) != 1 {
		t.Fatalf("%x", footer)
	}
	changed := bytes.Replace(footer, known, []byte{0x0c, number * 2, 0, 0}, 1)
	out := append(bytes.Clone(b[:end-len(footer)]), changed...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(changed))), magic...)
}

// TestStrangeTypes reads a column whose logical type came later as it is stored, and names that type.
func TestStrangeTypes(t *testing.T) {
	for number, name := range map[byte]string{16: "VARIANT", 17: "GEOMETRY", 18: "GEOGRAPHY", 40: "logical type number 40"} {
		path := save(t, strangeFile(t, number))
		got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}})
		if err != nil || strings.Join(got, " ") != "1|e30=|1| 2|/w==|2|" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if left := open1(t, Options{Path: []string{path}}).(connectors.Partial).Unreadable(); len(left) != 0 {
			t.Errorf("%s: %+v", name, left)
		}
		if c := summaryOf(t, path).Columns[1]; !strings.Contains(c.Note, name) || c.Type.String() != "BYTES NOT NULL" {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func summaryOf(t *testing.T, path string) *Summary {
	t.Helper()
	s, err := Summarize(files.Local(), files.File{Abs: path, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStrangeFooters cuts a footer with such a type anywhere: no panic, and nothing is made up.
func TestStrangeFooters(t *testing.T) {
	b := strangeFile(t, 17)
	end := len(b) - tailSize
	footer := b[end-int(binary.LittleEndian.Uint32(b[end:])) : end]
	for i := range footer {
		if cut, strange := withoutStrange(footer[:i]); cut != nil || strange != nil {
			t.Errorf("cut at byte %d: %v", i, strange)
		}
	}
}
