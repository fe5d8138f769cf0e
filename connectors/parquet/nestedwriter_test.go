package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func randomNestedFile(t *testing.T, seed uint64) (expr.Schema, []arrow.Record, []operators.Batch, *rand.Rand) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 37))
	var s expr.Schema
	for i := range 1 + r.IntN(3) {
		s.Fields = append(s.Fields, expr.Field{Name: fmt.Sprintf("c%d", i), Type: randomNested(r, 1+r.IntN(4))})
	}
	var recs []arrow.Record // as they come out
	var batches []operators.Batch
	for range 1 + r.IntN(3) {
		rec := randomRecord(r, s, 1+r.IntN(150))
		b := operators.Batch{Rec: rec}
		if r.IntN(2) == 0 {
			b.Sel = []int32{}
			for row := range int(rec.NumRows()) {
				if r.IntN(3) > 0 {
					b.Sel = append(b.Sel, int32(row))
				}
			}
		}
		rec.Retain()
		recs = append(recs, column.Compact(memory.DefaultAllocator, operators.Batch{Rec: rec, Sel: b.Sel}))
		batches = append(batches, b)
	}
	return s, recs, batches, r
}

// TestNestedFiles writes random nested values with small pages, dictionaries and row groups, and reads them
// back with two implementations.
func TestNestedFiles(t *testing.T) {
	for seed := range uint64(40) {
		s, recs, batches, r := randomNestedFile(t, seed)
		want := nestedLines(s, recs...)
		l := &limits{pageRows: 1 + r.IntN(100), pageBytes: 1 + r.IntN(2000), dictionary: r.IntN(300), mostBytes: 1 + r.Int64N(1<<16)}
		codec := []string{"none", "snappy", "zstd", "gzip"}[r.IntN(4)]
		data := encodeBatches(t, s, codec, l, int64(1+r.IntN(300)), batches)
		got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{save(t, data)}}})
		if err != nil {
			t.Fatalf("seed %d, %v: %v", seed, s, err)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("seed %d, %v: %s", seed, s, firstOther(got, want))
		}
		if got := libraryNested(t, data, s); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("seed %d, %v, the library: %s", seed, s, firstOther(got, want))
		}
		checkNestedPages(t, data)
	}
}

// libraryNested reads a file with the Arrow library.
func libraryNested(t *testing.T, data []byte, s expr.Schema) []string {
	t.Helper()
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 1 << 20}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]string, table.NumRows())
	for c, field := range s.Fields {
		at := 0
		for _, chunk := range table.Column(c).Data().Chunks() {
			for i := range chunk.Len() {
				rows[at] += string(column.AppendText(nil, chunk, field.Type, i)) + "|"
				at++
			}
		}
	}
	return rows
}

// checkNestedPages holds counts of footer, pages and page index against each other.
func checkNestedPages(t *testing.T, data []byte) {
	t.Helper()
	for g, group := range otherFooter(t, data).RowGroups {
		for _, chunk := range group.Columns {
			m := chunk.MetaData
			at := m.DataPageOffset
			end := at + m.TotalCompressedSize
			if d := m.DictionaryPageOffset; d != nil {
				end = *d + m.TotalCompressedSize
			}
			firsts := readOffsetIndex(data[*chunk.OffsetIndexOffset : *chunk.OffsetIndexOffset+int64(*chunk.OffsetIndexLength)])
			values := int64(0)
			for n := range firsts {
				h, _, rest, err := nextPage(data[at:end])
				if err != nil || !h.hasCRC {
					t.Fatal(h, err)
				}
				values += int64(h.values)
				at = end - int64(len(rest))
				if n > 0 && firsts[n].from <= firsts[n-1].from || firsts[n].from >= group.NumRows {
					t.Errorf("row group %d of %d rows, column %v: pages begin at %v", g, group.NumRows, m.PathInSchema, firsts)
				}
			}
			if values != m.NumValues || at != end || *m.Statistics.NullCount > values {
				t.Errorf("row group %d, column %v: %d values in pages, %d in the footer", g, m.PathInSchema, values, m.NumValues)
			}
		}
	}
}
