package parquet

import (
	"bytes"
	"strings"
	"testing"
	"time"

	library "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// annotatedFile writes a row and a NULL of each column with the library's own writer.
func annotatedFile(t *testing.T, nodes []schema.Node, values ...any) string {
	t.Helper()
	root, err := schema.NewGroupNode("schema", library.Repetitions.Required, nodes, -1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root)
	g := w.AppendRowGroup()
	levels := []int16{1, 0}
	for _, v := range values {
		c, err := g.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		switch c := c.(type) {
		case *file.Int32ColumnChunkWriter:
			_, err = c.WriteBatch([]int32{v.(int32)}, levels, nil)
		case *file.Int64ColumnChunkWriter:
			_, err = c.WriteBatch([]int64{v.(int64)}, levels, nil)
		case *file.ByteArrayColumnChunkWriter:
			_, err = c.WriteBatch([]library.ByteArray{[]byte(v.(string))}, levels, nil)
		case *file.FixedLenByteArrayColumnChunkWriter:
			_, err = c.WriteBatch([]library.FixedLenByteArray{[]byte(v.(string))}, levels, nil)
		}
		if err == nil {
			err = c.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return save(t, b.Bytes())
}

func optionalNode(t *testing.T, name string, l schema.LogicalType, p library.Type, size int) schema.Node {
	t.Helper()
	n, err := schema.NewPrimitiveNodeLogical(name, library.Repetitions.Optional, l, p, size, -1)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFurtherAnnotations reads annotations that the sink does not write, and refuses values beyond a day.
func TestFurtherAnnotations(t *testing.T) {
	types, none := library.Types, schema.NoLogicalType{}
	nodes := []schema.Node{
		optionalNode(t, "ms", schema.NewTimeLogicalType(true, schema.TimeUnitMillis), types.Int32, 0),
		optionalNode(t, "us", schema.NewTimeLogicalType(false, schema.TimeUnitMicros), types.Int64, 0),
		optionalNode(t, "ns", schema.NewTimeLogicalType(false, schema.TimeUnitNanos), types.Int64, 0),
		optionalNode(t, "ltz", schema.NewTimestampLogicalType(true, schema.TimeUnitNanos), types.Int64, 0),
		optionalNode(t, "local", schema.NewTimestampLogicalType(false, schema.TimeUnitMillis), types.Int64, 0),
		optionalNode(t, "json", schema.JSONLogicalType{}, types.ByteArray, 0),
		optionalNode(t, "bson", schema.BSONLogicalType{}, types.ByteArray, 0),
		optionalNode(t, "uuid", schema.UUIDLogicalType{}, types.FixedLenByteArray, 16),
		optionalNode(t, "fixed", none, types.FixedLenByteArray, 3),
		optionalNode(t, "bare", none, types.ByteArray, 0),
	}
	uuid := "\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66\x14\x17\x40\x00"
	at := time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.UTC)
	path := annotatedFile(t, nodes, int32(86399999), int64(1), int64(1999), at.UnixNano(), at.UnixMilli(), `{"a":1}`, "\x05\x00", uuid, "\x00\x01\x02", "\xff")
	src := open1(t, Options{Path: []string{path}})
	if got, want := src.Schema().String(), "ms TIME(3), us TIME(6), ns TIME(6), ltz TIMESTAMP_LTZ(6), local TIMESTAMP(3), json STRING, bson BYTES, uuid STRING, fixed BYTES, bare BYTES"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}})
	want := []string{
		"23:59:59.999|00:00:00.000001|00:00:00.000001|2024-02-29 12:00:00.123456Z|2024-02-29 12:00:00.123|{\"a\":1}|BQA=|123e4567-e89b-12d3-a456-426614174000|AAEC|/w==|",
		strings.Repeat("NULL|", 10),
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
	}
	for _, c := range []struct{ columns, want, text string }{
		{"ltz TIMESTAMP(3)", "2024-02-29 12:00:00.123|", ""},
		{"us TIME(0); ms TIME(6)", "00:00:00|23:59:59.999000|", ""},
		{"local TIMESTAMP_LTZ(3)", "", "CAST(… AS TIMESTAMP_LTZ(3))"},
		{"ltz STRING", "", "CAST(… AS STRING)"},
		{"json BYTES", "eyJhIjoxfQ==|", ""},
		{"bare BYTES", "/w==|", ""},
		{"bare STRING", "", "declare it BYTES"},
		{"ms BIGINT", "", "declare it TIME(3)"},
	} {
		o := Options{Path: []string{path}, Columns: schemaOf(t, c.columns).Fields}
		if c.text != "" {
			_, err := Spec.Bind(t.Context(), o, connectors.Env{})
			if err == nil {
				_, err = readAll(t, alloc(t), input{Options: o})
			}
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: %v", c.columns, err)
			}
			continue
		}
		got, err := readAll(t, alloc(t), input{Options: o})
		if err != nil || len(got) != 2 || got[0] != c.want {
			t.Errorf("%s: %q, %v", c.columns, got, err)
		}
	}
	for _, v := range []int32{-1, 86400000} {
		path := annotatedFile(t, nodes[:1], v)
		if _, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}}); err == nil || !strings.Contains(err.Error(), "units of the day") {
			t.Errorf("%d ms of the day: %v", v, err)
		}
	}
}

// TestStoredAsIs reads an INTERVAL, for which there is no type, as its bytes.
func TestStoredAsIs(t *testing.T) {
	n, err := schema.NewPrimitiveNodeConverted("i", library.Repetitions.Optional, library.Types.FixedLenByteArray, schema.ConvertedTypes.Interval, 12, 0, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	path := annotatedFile(t, []schema.Node{n}, "\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00")
	got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}})
	if err != nil || strings.Join(got, "") != "AQAAAAIAAAADAAAA|NULL|" {
		t.Errorf("%q, %v", got, err)
	}
	if note := summaryOf(t, path).Columns[0].Note; !strings.HasPrefix(note, "INTERVAL") {
		t.Error(note)
	}
}

// TestMoreDigits: a DECIMAL whose writer wrote more digits than it said is read where more are declared.
func TestMoreDigits(t *testing.T) {
	fixed := string(make([]byte, 12)) + "\x01\x00\x00\x00" // 16777216
	path := annotatedFile(t, []schema.Node{
		optionalNode(t, "i", schema.NewDecimalLogicalType(4, 2), library.Types.Int32, 0),
		optionalNode(t, "l", schema.NewDecimalLogicalType(4, 2), library.Types.Int64, 0),
		optionalNode(t, "f", schema.NewDecimalLogicalType(7, 2), library.Types.FixedLenByteArray, 16),
		optionalNode(t, "b", schema.NewDecimalLogicalType(4, 2), library.Types.ByteArray, 0),
		optionalNode(t, "e", schema.NewDecimalLogicalType(4, 2), library.Types.ByteArray, 0),
	}, int32(123456), int64(-123456), fixed, "\x01\xe2\x40", "")
	for _, c := range []struct{ columns, want string }{
		{"i DECIMAL(6, 2); l DECIMAL(6, 2); f DECIMAL(8, 2); b DECIMAL(6, 2)", "1234.56|-1234.56|167772.16|1234.56|"},
		{"i DECIMAL(9, 4); l DECIMAL(38, 2); f DECIMAL(38, 3); b DECIMAL(20, 2)", "1234.5600|-1234.56|167772.160|1234.56|"},
		{"e DECIMAL(4, 2)", "without bytes is no DECIMAL"},
		{"i STRING", "1234.56 does not fit DECIMAL(4, 2); declared as DECIMAL(38, 2)"},
		{"l DECIMAL(5, 2)", "-1234.56 does not fit DECIMAL(5, 2)"},
		{"f DECIMAL(8, 3)", "167772.16 does not fit DECIMAL(7, 2)"},
	} {
		got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}, Columns: schemaOf(t, c.columns).Fields}})
		if err != nil {
			got = []string{err.Error()}
		}
		if !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want %s", c.columns, got, c.want)
		}
	}
}

// TestOldTimestamps: a converted type alone does not tell instants from local times, so that it is a TIMESTAMP,
// and may be declared as an instant.
func TestOldTimestamps(t *testing.T) {
	n, err := schema.NewPrimitiveNodeConverted("t", library.Repetitions.Optional, library.Types.Int64, schema.ConvertedTypes.TimestampMillis, 0, 0, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	path := annotatedFile(t, []schema.Node{n}, int64(1000))
	if s := open1(t, Options{Path: []string{path}}).Schema().String(); s != "t TIMESTAMP(3)" && s != "t TIMESTAMP_LTZ(3)" {
		t.Error(s)
	}
	got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}, Columns: schemaOf(t, "t TIMESTAMP_LTZ(0)").Fields}})
	if err != nil || len(got) != 2 || got[0] != "1970-01-01 00:00:01Z|" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestArrowReads lets the library's reader tell the types of what the sink wrote.
func TestArrowReads(t *testing.T) {
	s := schemaOf(t, "c3 TIME(3); c6 TIME(6); l3 TIMESTAMP_LTZ(3); l6 TIMESTAMP_LTZ(6); y BYTES")
	a := alloc(t)
	path := t.TempDir() + "/x.parquet"
	write(t, a, Options{Path: []string{path}}, s, 1, operators.Batch{Rec: record(a, s, 1, 6, false)})
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := pqarrow.FromParquet(r.MetaData().Schema, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"time32[ms]", "time64[us]", "timestamp[ms, tz=UTC]", "timestamp[us, tz=UTC]", "binary"}
	for i, f := range got.Fields() {
		if f.Type.String() != want[i] {
			t.Errorf("%s is %s, want %s", f.Name, f.Type, want[i])
		}
	}
}
