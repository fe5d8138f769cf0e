package parquet

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// randomNested is a random type, deeper than a plain one where depth allows it.
func randomNested(r *rand.Rand, depth int) expr.Type {
	leaf := func() expr.Type {
		return []expr.Type{expr.Of(expr.Boolean), expr.Of(expr.Int), expr.Of(expr.BigInt), expr.Of(expr.Double), expr.Of(expr.String), expr.Of(expr.Date),
			expr.TimestampOf(6), expr.DecimalOf(30, 2)}[r.IntN(8)]
	}
	if depth <= 0 || r.IntN(4) == 0 {
		return leaf()
	}
	switch r.IntN(5) {
	case 0, 1:
		return expr.ArrayOf(randomNested(r, depth-1))
	case 2:
		return expr.MapOf([]expr.Type{expr.Of(expr.String), expr.Of(expr.Int)}[r.IntN(2)].Nullable(false), randomNested(r, depth-1))
	}
	var fields []expr.Field
	for i := range 1 + r.IntN(3) {
		fields = append(fields, expr.Field{Name: fmt.Sprintf("f%d", i), Type: randomNested(r, depth-1)})
	}
	return expr.RowOf(fields...)
}

// randomValue appends a value, NULLs and empty lists at every level.
func randomValue(r *rand.Rand, b array.Builder) {
	if r.IntN(5) == 0 {
		b.AppendNull()
		return
	}
	randomPart(r, b)
}

func randomPart(r *rand.Rand, b array.Builder) {
	switch b := b.(type) {
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			randomValue(r, b.FieldBuilder(i))
		}
	case *array.MapBuilder:
		b.Append(true)
		for range r.IntN(4) {
			randomPart(r, b.KeyBuilder())
			randomValue(r, b.ItemBuilder())
		}
	case *array.ListBuilder:
		b.Append(true)
		for range r.IntN(5) {
			randomValue(r, b.ValueBuilder())
		}
	case *array.BooleanBuilder:
		b.Append(r.IntN(2) == 0)
	case *array.Int32Builder:
		b.Append(int32(r.IntN(100) - 50))
	case *array.Int64Builder:
		b.Append(r.Int64() - r.Int64())
	case *array.Float64Builder:
		b.Append(float64(r.IntN(1000)) / 8)
	case *array.StringBuilder:
		b.Append(strings.Repeat("é", r.IntN(3)) + strconv.Itoa(r.IntN(40)))
	case *array.Date32Builder:
		b.Append(arrow.Date32(r.IntN(40000)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(r.Int64N(1 << 50)))
	case *array.Decimal128Builder:
		if err := b.AppendValueFromString(fmt.Sprintf("%d.%02d", r.Int64N(1<<60), r.IntN(100))); err != nil {
			panic(err)
		}
	}
}

func randomRecord(r *rand.Rand, s expr.Schema, rows int) arrow.Record {
	cols := make([]arrow.Array, len(s.Fields))
	for i, f := range s.Fields {
		b := array.NewBuilder(memory.DefaultAllocator, f.Type.Arrow())
		for range rows {
			randomValue(r, b)
		}
		cols[i] = b.NewArray()
	}
	return column.NewRecord(s.Fields, cols, int64(rows))
}

// writeNested writes records with the library, in pages of a few values of random forms.
func writeNested(t *testing.T, r *rand.Rand, path string, recs ...arrow.Record) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	page := []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[r.IntN(2)]
	codec := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd}[r.IntN(3)]
	batch := []int64{1, 3, 1024}[r.IntN(3)]
	if page == parquet.DataPageV2 { // the library looks for the end of a row within a batch, for ever
		batch = 1024
	}
	props := parquet.NewWriterProperties(parquet.WithDataPageVersion(page), parquet.WithDictionaryDefault(r.IntN(2) == 0), parquet.WithCompression(codec),
		parquet.WithDataPageSize([]int64{1, 40, 300, 1 << 20}[r.IntN(4)]), parquet.WithBatchSize(batch))
	w, err := pqarrow.NewFileWriter(recs[0].Schema(), f, props, pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(memory.DefaultAllocator)))
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func nestedLines(s expr.Schema, recs ...arrow.Record) []string {
	var out []string
	for _, rec := range recs {
		for row := range int(rec.NumRows()) {
			var line []byte
			for c, f := range s.Fields {
				line = append(column.AppendText(line, rec.Column(c), f.Type, row), '|')
			}
			out = append(out, string(line))
		}
	}
	return out
}

// loosened is a type in which every part may be NULL, but the keys of a MAP.
func loosened(t expr.Type) string {
	return strings.ReplaceAll(t.Nullable(true).String(), " NOT NULL", "")
}

// TestRandomNested reads files that the library wrote: random nested types, NULLs and empty lists at every level,
// pages of a few values, several row groups, batches of a few rows.
func TestRandomNested(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		var s expr.Schema
		for i := range 1 + r.IntN(3) {
			typ := randomNested(r, 1+r.IntN(4))
			s.Fields = append(s.Fields, expr.Field{Name: fmt.Sprintf("c%d", i), Type: typ})
		}
		var recs []arrow.Record
		for range 1 + r.IntN(3) {
			recs = append(recs, randomRecord(r, s, r.IntN(60)))
		}
		path := filepath.Join(t.TempDir(), "n.parquet")
		writeNested(t, r, path, recs...)
		a := alloc(t)
		src := openPath(t, path)
		for i, f := range src.Schema().Fields {
			if loosened(f.Type) != loosened(s.Fields[i].Type) {
				t.Fatalf("seed %d: column %s is %s, not %s", seed, f.Name, f.Type, s.Fields[i].Type)
			}
		}
		got, err := readAll(t, a, input{Options: Options{Path: []string{path}}, split: connectors.SplitOptions{ReadBytes: []int64{0, 64, 7 * 64}[r.IntN(3)]}})
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, s, err)
		}
		want := nestedLines(s, recs...)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("seed %d, %s: %s", seed, s, firstOther(got, want))
		}
	}
}

func openPath(t *testing.T, path string, columns ...expr.Field) connectors.Source {
	t.Helper()
	state, err := Spec.Bind(t.Context(), Options{Path: []string{path}, Columns: columns}, connectors.Env{Node: "in"})
	if err != nil {
		t.Fatal(err)
	}
	src, err := Spec.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// firstOther says where two lists of rows part.
func firstOther(got, want []string) string {
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Sprintf("row %d of %d is\n%s\nand not, of %d,\n%s", i, len(got), g, len(want), w)
		}
	}
	return ""
}
