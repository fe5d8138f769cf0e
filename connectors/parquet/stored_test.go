package parquet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// TestSaysStored reads pages of the second kind whose writers said that they are not compressed, and compressed
// them: by their length, and by the writer where the lengths are equal.
func TestSaysStored(t *testing.T) {
	a := alloc(t)
	for _, writer := range []string{"parquet-cpp version 1.5.1", "parquet-cpp-arrow version 2.0.0", "another version 1.0"} {
		for _, value := range []string{"x", strings.Repeat("x", 500)} {
			for _, nested := range []bool{false, true} {
				file := pageOfSecondKind(t, a, writer, value, nested)
				want, err := readAll(t, a, input{Options: Options{Path: []string{save(t, file)}}})
				if err != nil || len(want) != 2 || !strings.Contains(want[0], value) {
					t.Fatal(want, err)
				}
				got, err := readAll(t, a, input{Options: Options{Path: []string{save(t, saidStored(t, file))}}})
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, nested %v: %q, %v, want %q", writer, nested, got, err, want)
				}
			}
		}
	}
}

// pageOfSecondKind is a file of one compressed page, of texts or of lists of one text.
func pageOfSecondKind(t *testing.T, a memory.Allocator, writer, value string, nested bool) []byte {
	t.Helper()
	b := array.NewStringBuilder(a)
	defer b.Release()
	b.AppendValues([]string{value, ""}, nil)
	l := array.NewListBuilder(a, arrow.BinaryTypes.String)
	defer l.Release()
	for _, v := range []string{value, ""} {
		l.Append(true)
		l.ValueBuilder().(*array.StringBuilder).Append(v)
	}
	col := b.NewArray()
	if nested {
		col.Release()
		col = l.NewArray()
	}
	defer col.Release()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "s", Type: col.DataType()}}, nil), []arrow.Array{col}, 2)
	defer rec.Release()
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(rec.Schema(), &buf, parquet.NewWriterProperties(parquet.WithCreatedBy(writer), parquet.WithDictionaryDefault(false),
		parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Snappy)), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(rec)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// saidStored is the file with a page that says that it is not compressed.
func saidStored(t *testing.T, b []byte) []byte {
	t.Helper()
	page := b[len(magic):]
	var w thriftWriter
	w.reset()
	h := thrift{rest: page}
	h.copy(&w, 0, func(id int, _ byte) bool {
		if id != 8 {
			return false
		}
		w.open(8)
		h.copy(&w, 1, func(id int, _ byte) bool {
			if id == 6 { // the last before it
				w.int32(6, h.int32())
				w.boolean(7, false)
			}
			return id == 6
		})
		return true
	})
	more := len(w.b) - (len(page) - len(h.rest))
	if h.bad || more != 1 {
		t.Fatalf("%d bytes more", more)
	}
	out := append([]byte(magic), append(w.b, h.rest...)...)
	return changedFooter(t, out, func(r *thrift, w *thriftWriter, id int, kind byte) bool {
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
				w.list(1, thriftStruct, 1)
				r.list(1, func() {
					w.element()
					r.copy(w, 2, func(id int, _ byte) bool {
						if id != 3 {
							return false
						}
						w.open(3)
						r.copy(w, 3, func(id int, _ byte) bool {
							if id == 7 { // the bytes of the chunk
								w.int64(7, r.int64()+int64(more))
							}
							return id == 7
						})
						return true
					})
				})
				return true
			})
		})
		return true
	})
}
