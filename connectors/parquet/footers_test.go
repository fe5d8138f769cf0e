package parquet

import (
	"bytes"
	"encoding/binary"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// withSchema writes two rows of two INT64 columns, 1 and 2, and puts a schema into the footer whose elements
// elements writes; it has two columns of that type, or the footer is not about the file.
func withSchema(t *testing.T, n int, elements func(w *thriftWriter)) string {
	t.Helper()
	fields := schema.FieldList{schema.NewInt64Node("a", parquet.Repetitions.Required, -1), schema.NewInt64Node("b", parquet.Repetitions.Required, -1)}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	out := file.NewParquetWriter(&buf, root)
	group := out.AppendRowGroup()
	for range fields {
		c, err := group.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.(*file.Int64ColumnChunkWriter).WriteBatch([]int64{1, 2}, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return save(t, changedFooter(t, buf.Bytes(), func(r *thrift, w *thriftWriter, id int, kind byte) bool {
		if id != 2 || kind != thriftList {
			return false
		}
		r.skip(kind, 0)
		w.list(2, thriftStruct, n)
		elements(w)
		return true
	}))
}

// changedFooter writes a file's footer anew; field writes those fields that change.
func changedFooter(t *testing.T, b []byte, field func(r *thrift, w *thriftWriter, id int, kind byte) bool) []byte {
	t.Helper()
	end := len(b) - tailSize
	start := end - int(binary.LittleEndian.Uint32(b[end:]))
	r := thrift{rest: b[start:end]}
	var w thriftWriter
	w.reset()
	r.copy(&w, 0, func(id int, kind byte) bool { return field(&r, &w, id, kind) })
	if r.bad {
		t.Fatal("the footer cannot be decoded")
	}
	out := append(bytes.Clone(b[:start]), w.b...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(w.b))), magic...)
}

// element writes an element of a schema; children -1: a column of INT64s. more writes further fields.
func element(w *thriftWriter, name string, children int, more func()) {
	w.element()
	if children < 0 {
		w.int32(1, physicalInt64)
	}
	w.int32(3, 0) // required
	w.text(4, name)
	if children >= 0 {
		w.int32(5, int32(children))
	}
	if more != nil {
		more()
	}
	w.end()
}

// TestOddSchemas reads files whose schemas have what does not belong there: the columns that this does not touch
// are read, and the others are refused with the reason.
func TestOddSchemas(t *testing.T) {
	logical := func(w *thriftWriter, number int) func() {
		return func() {
			w.open(10)
			w.empty(number)
			w.end()
		}
	}
	old := func(w *thriftWriter, number int32) func() { return func() { w.int32(6, number) } }
	for _, c := range []struct {
		name             string
		n                int
		elements         func(w *thriftWriter)
		schema, row, why string // of the first column that is left out
		note             string
	}{
		{
			name: "a group that says all its values are NULL", n: 4,
			elements: func(w *thriftWriter) {
				element(w, "schema", 2, nil)
				element(w, "g", 1, logical(w, 11))
				element(w, "x", -1, nil)
				element(w, "b", -1, nil)
			},
			schema: "g ROW<x BIGINT NOT NULL> NOT NULL, b BIGINT NOT NULL", row: "(1)|1|",
		},
		{
			name: "a VARIANT", n: 4,
			elements: func(w *thriftWriter) {
				element(w, "schema", 1, nil)
				element(w, "g", 2, logical(w, 16))
				element(w, "metadata", -1, nil)
				element(w, "value", -1, nil)
			},
			schema: "g ROW<`metadata` BIGINT NOT NULL, `value` BIGINT NOT NULL> NOT NULL", row: "(1, 1)|", note: "VARIANT",
		},
		{
			name: "a part of a type that came later", n: 4,
			elements: func(w *thriftWriter) {
				element(w, "schema", 1, nil)
				element(w, "g", 2, nil)
				element(w, "x", -1, logical(w, 90))
				element(w, "y", -1, nil)
			},
			schema: "g ROW<x BIGINT NOT NULL, y BIGINT NOT NULL> NOT NULL", row: "(1, 1)|", note: "g.x is of logical type number 90",
		},
		{
			name: "groups without columns", n: 5,
			elements: func(w *thriftWriter) {
				element(w, "schema", 3, nil)
				element(w, "a", -1, nil)
				element(w, "g", 1, nil)
				element(w, "inner", 0, nil)
				element(w, "b", -1, nil)
			},
			schema: "a BIGINT NOT NULL, b BIGINT NOT NULL", row: "1|1|", why: "without columns",
		},
		{
			name: "a part without columns", n: 5,
			elements: func(w *thriftWriter) {
				element(w, "schema", 2, nil)
				element(w, "a", -1, nil)
				element(w, "g", 2, nil)
				element(w, "inner", 0, nil)
				element(w, "b", -1, nil)
			},
			schema: "a BIGINT NOT NULL, g ROW<b BIGINT NOT NULL> NOT NULL", row: "1|(1)|", note: "without g.inner",
		},
		{
			name: "a STRING of numbers", n: 3,
			elements: func(w *thriftWriter) {
				element(w, "schema", 2, nil)
				element(w, "a", -1, logical(w, logicalString))
				element(w, "b", -1, nil)
			},
			schema: "b BIGINT NOT NULL", row: "1|", why: "its annotation STRING contradicts its storage, INT64",
		},
		{
			name: "a DATE of INT64, annotated in the old way", n: 3,
			elements: func(w *thriftWriter) {
				element(w, "schema", 2, nil)
				element(w, "a", -1, old(w, 6))
				element(w, "b", -1, nil)
			},
			schema: "b BIGINT NOT NULL", row: "1|", why: "its annotation DATE contradicts its storage, INT64",
		},
		{
			name: "a list that is a number, within a group", n: 5,
			elements: func(w *thriftWriter) {
				element(w, "schema", 2, nil)
				element(w, "g", 1, nil)
				element(w, "h", 1, old(w, convertedUTF8))
				element(w, "a", -1, old(w, convertedList))
				element(w, "b", -1, nil)
			},
			schema: "b BIGINT NOT NULL", row: "1|", why: "its part g.h.a: its annotation LIST contradicts",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := withSchema(t, c.n, c.elements)
			if s := open1(t, Options{Path: []string{path}}).Schema().String(); s != c.schema {
				t.Errorf("got  %s\nwant %s", s, c.schema)
			}
			got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}})
			if err != nil || len(got) != 2 || got[0] != c.row {
				t.Errorf("%q, %v, want %q first", got, err, c.row)
			}
			why, note := "", ""
			for _, l := range summaryOf(t, path).Columns {
				why, note = why+l.Why, note+l.Note
			}
			if (why == "") != (c.why == "") || !strings.Contains(why, c.why) || (note == "") != (c.note == "") || !strings.Contains(note, c.note) {
				t.Errorf("left out: %s, note: %s", why, note)
			}
		})
	}
}

// TestNoColumns: a file without columns is not damaged, and says what it is.
func TestNoColumns(t *testing.T) {
	path := withSchema(t, 1, func(w *thriftWriter) { element(w, "schema", 0, nil) })
	_, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}})
	if err == nil || !strings.Contains(err.Error(), "it has none") {
		t.Errorf("%v", err)
	}
}

// TestGroupTwice: a footer that has a row group twice has its rows twice.
func TestGroupTwice(t *testing.T) {
	b, err := os.ReadFile(withSchema(t, 3, func(w *thriftWriter) {
		element(w, "schema", 2, nil)
		element(w, "a", -1, nil)
		element(w, "b", -1, nil)
	}))
	if err != nil {
		t.Fatal(err)
	}
	twice := changedFooter(t, b, func(r *thrift, w *thriftWriter, id int, kind byte) bool {
		switch {
		case id == 3 && kind == thriftInt64:
			r.int64()
			w.int64(3, 4)
		case id == 4 && kind == thriftList:
			before := r.rest
			r.skip(kind, 0)
			one := before[1 : len(before)-len(r.rest)] // behind the head of the list
			w.list(4, thriftStruct, 2)
			w.b = append(append(w.b, one...), one...)
		default:
			return false
		}
		return true
	})
	got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{save(t, twice)}}})
	if err != nil || strings.Join(got, " ") != "1|1| 2|2| 1|1| 2|2|" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestFarChunks: a footer whose row groups are in other files is refused by name, and so is one that does not say
// where a column is.
func TestFarChunks(t *testing.T) {
	b, err := os.ReadFile(withSchema(t, 3, func(w *thriftWriter) {
		element(w, "schema", 2, nil)
		element(w, "a", -1, nil)
		element(w, "b", -1, nil)
	}))
	if err != nil {
		t.Fatal(err)
	}
	// chunks writes the row group anew, with column chunks as chunk writes them.
	chunks := func(chunk func(r *thrift, w *thriftWriter, id int, kind byte) bool) string {
		return save(t, changedFooter(t, b, func(r *thrift, w *thriftWriter, id int, kind byte) bool {
			if id != 4 || kind != thriftList {
				return false
			}
			w.list(4, thriftStruct, 1)
			r.list(0, func() {
				w.element()
				r.copy(w, 1, func(id int, kind byte) bool {
					if id != 1 || kind != thriftList {
						return false
					}
					w.list(1, thriftStruct, 2)
					r.list(1, func() {
						w.element()
						r.copy(w, 2, func(id int, kind byte) bool { return chunk(r, w, id, kind) })
					})
					return true
				})
			})
			return true
		}))
	}
	far := chunks(func(r *thrift, w *thriftWriter, id int, kind byte) bool {
		if id == 2 { // its place
			w.text(1, "part-0.parquet")
		}
		return false
	})
	nowhere := chunks(func(r *thrift, _ *thriftWriter, id int, kind byte) bool {
		if id == 3 {
			r.skip(kind, 2)
		}
		return id == 3
	})
	for path, want := range map[string]string{
		far: "row group 0, column a: its values are in another file, part-0.parquet", nowhere: "row group 0, column a: the footer does not say where it is",
	} {
		_, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestLongLists: a footer that says that a list in it is longer than itself asks for no memory.
func TestLongLists(t *testing.T) {
	b := sample(t, "none", 10)
	long := changedFooter(t, b, func(r *thrift, w *thriftWriter, id int, kind byte) bool {
		if id != 4 || kind != thriftList {
			return false
		}
		r.skip(kind, 0)
		w.list(4, thriftStruct, 200_000_000)
		return true
	})
	path := save(t, long)
	var stats [2]runtime.MemStats
	runtime.ReadMemStats(&stats[0])
	_, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}})
	runtime.ReadMemStats(&stats[1])
	if err == nil || !strings.Contains(err.Error(), "ends before what it says") || stats[1].TotalAlloc-stats[0].TotalAlloc > 64<<20 {
		t.Errorf("%v, %d bytes", err, stats[1].TotalAlloc-stats[0].TotalAlloc)
	}
}

// TestNoGzip: bytes that are compressed in no way are an error, and not a panic that keeps memory.
func TestNoGzip(t *testing.T) {
	var i inflater
	for _, codec := range []compress.Compression{compress.Codecs.Gzip, compress.Codecs.Brotli} {
		for _, b := range []string{"", "x", "\x1f\x8b\x08", "no such thing"} {
			if out, err := i.decompress(codec, []byte(b), make([]byte, 4), 4); err == nil {
				t.Errorf("%s, %q: %q", codec, b, out)
			}
		}
	}
}
