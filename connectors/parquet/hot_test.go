package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/pierrec/lz4/v4"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestUnpack unpacks numbers of every width in pieces of random lengths, against single bits.
func TestUnpack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for width := 0; width <= 32; width++ {
		n := 8 * (1 + rnd.IntN(20))
		b := make([]byte, n*width/8)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		h := hybrid{packed: b, width: width, left: n}
		for at := 0; at < n; {
			out := make([]int32, 1+rnd.IntN(n-at))
			if err := fill(&h, out); err != nil {
				t.Fatal(err)
			}
			for i, v := range out {
				if want := int32(bitsAt(b, (at+i)*width, width)); v != want {
					t.Fatalf("width %d, number %d of %d: %d, want %d", width, at+i, n, v, want)
				}
			}
			at += len(out)
		}
	}
}

const plainColumns = "n BIGINT; dd DOUBLE; sss STRING; ii INT; b BOOLEAN"

// libraryFile is a file as the library writes it, with pages of a few rows, and with nulls or without.
func libraryFile(t *testing.T, seed uint64, p ...parquet.WriterProperty) []byte {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 7))
	s := schemaOf(t, plainColumns)
	fields, err := nodes(s)
	if err != nil {
		t.Fatal(err)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	e := &libraryEncoder{in: s, out: &sticky{w: &buf}, mostRows: int64(500 + rnd.IntN(2000))}
	for _, f := range s.Fields {
		e.columns = append(e.columns, newLibraryColumnWriter(f))
	}
	e.file = file.NewParquetWriter(e.out, root, file.WithWriterProps(parquet.NewWriterProperties(p...)))
	for at := 0; at < 2800; at += 700 {
		if err := e.Write(operators.Batch{Rec: record(memory.DefaultAllocator, s, at, 700, false)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// libraryRows reads a file with the library, value by value: slow and on its own.
func libraryRows(t *testing.T, data []byte) []string {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var rows []string
	for g := range r.NumRowGroups() {
		group := r.RowGroup(g)
		n := int(group.NumRows())
		lines := make([]string, n)
		for c := range r.MetaData().Schema.NumColumns() {
			col, err := group.Column(c)
			if err != nil {
				t.Fatal(err)
			}
			for row, v := range libraryColumn(t, col, n) {
				lines[row] += v + "|"
			}
		}
		rows = append(rows, lines...)
	}
	return rows
}

func libraryColumn(t *testing.T, col file.ColumnChunkReader, n int) []string {
	t.Helper()
	switch r := col.(type) {
	case *file.Int64ColumnChunkReader:
		return libraryValues(t, r.ReadBatch, n, func(v int64) string { return fmt.Sprint(v) })
	case *file.Int32ColumnChunkReader:
		return libraryValues(t, r.ReadBatch, n, func(v int32) string { return fmt.Sprint(v) })
	case *file.Float64ColumnChunkReader:
		return libraryValues(t, r.ReadBatch, n, func(v float64) string { return string(expr.AppendDouble(nil, v)) })
	case *file.ByteArrayColumnChunkReader:
		return libraryValues(t, r.ReadBatch, n, func(v parquet.ByteArray) string { return string(v) })
	case *file.BooleanColumnChunkReader:
		return libraryValues(t, r.ReadBatch, n, func(v bool) string { return fmt.Sprint(v) })
	}
	t.Fatalf("%T", col)
	return nil
}

func libraryValues[T any](t *testing.T, read func(int64, []T, []int16, []int16) (int64, int, error), n int, text func(T) string) []string {
	t.Helper()
	var out []string
	for len(out) < n {
		values, levels := make([]T, 1), make([]int16, 1)
		total, _, err := read(1, values, levels, nil)
		if err != nil || total != 1 {
			t.Fatal(total, err)
		}
		if levels[0] == 0 {
			out = append(out, "NULL")
		} else {
			out = append(out, text(values[0]))
		}
	}
	return out
}

// TestAgainstLibrary reads files of many page layouts, all rows and few, in batches of many sizes: the
// same as the library reads value by value.
func TestAgainstLibrary(t *testing.T) {
	for seed, p := range [][]parquet.WriterProperty{
		{parquet.WithDataPageSize(64)},
		{parquet.WithDataPageSize(100), parquet.WithDictionaryDefault(false), parquet.WithCompression(compress.Codecs.Snappy)},
		{parquet.WithDataPageSize(3000), parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageVersion(parquet.DataPageV2)},
		{parquet.WithDataPageSize(500), parquet.WithDictionaryPageSizeLimit(200), parquet.WithCompression(compress.Codecs.Gzip)},
		{parquet.WithDataPageSize(200), parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Snappy)},
		{parquet.WithDataPageSize(1 << 20), parquet.WithCompression(compress.Codecs.Zstd)},
	} {
		data := libraryFile(t, uint64(seed), p...)
		all := libraryRows(t, data)
		s := schemaOf(t, plainColumns)
		o := Options{Path: []string{save(t, data)}}
		for _, batch := range []int64{1, 7, 64, 1000, maxRows} {
			split := connectors.SplitOptions{ReadBytes: batch * bytesPerRow}
			for text, keep := range map[string]func(f []string) bool{
				"TRUE":                      func([]string) bool { return true },
				"sss = 'v1004'":             func(f []string) bool { return f[2] == "v1004" },
				"n IS NULL AND b":           func(f []string) bool { return f[0] == "NULL" && f[4] == "true" },
				"sss LIKE 'v3%' AND ii < 0": func(f []string) bool { return strings.HasPrefix(f[2], "v3") && f[3][0] == '-' },
				"dd IS NULL AND n > 5000000": func(f []string) bool {
					v, err := strconv.Atoi(f[0])
					return f[1] == "NULL" && err == nil && v > 5000000
				},
				"dd < -200000": func(f []string) bool { v, err := strconv.ParseFloat(f[1], 64); return err == nil && v < -200000 },
			} {
				var want []string
				for _, l := range all {
					if keep(strings.Split(l, "|")) {
						want = append(want, l)
					}
				}
				got := readRows(t, o, connectors.Pushdown{Columns: []int{0, 1, 2, 3, 4}, Where: where(t, text, s), Limit: -1}, split)
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Fatalf("layout %d, batches of %d, %q: %d rows, want %d", seed, batch, text, len(got), len(want))
				}
			}
		}
	}
}

// readRows reads all splits with one reader.
func readRows(t *testing.T, o Options, push connectors.Pushdown, split connectors.SplitOptions) []string {
	t.Helper()
	src := open1(t, o)
	s := src.Schema().Pick(push.Columns)
	src.Push(push)
	e, err := src.Enumerator(t.Context(), split, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, _, err := e.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Reader(&operators.Task{Ctx: t.Context(), Alloc: alloc(t)})
	if err != nil {
		t.Fatal(err)
	}
	r.Add(splits)
	var got []string
	for {
		b, status, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status != connectors.More {
			break
		}
		got = append(got, lines(b, s)...)
		b.Rec.Release()
	}
	checkBooks(t, r, src.Inventory(), len(got))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestHadoopLZ4 reads blocks with and without Hadoop's lengths, and refuses what is neither.
func TestHadoopLZ4(t *testing.T) {
	text := []byte(strings.Repeat("country,amount;", 40))
	block := func(b []byte) []byte {
		out := make([]byte, lz4.CompressBlockBound(len(b)))
		n, err := lz4.CompressBlock(b, out, nil)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		return out[:n]
	}
	framed := func(b []byte) []byte {
		c := block(b)
		out := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
		return append(binary.BigEndian.AppendUint32(out, uint32(len(c))), c...)
	}
	blocks := func(parts ...[]byte) []byte { // of the same bytes
		out := binary.BigEndian.AppendUint32(nil, uint32(len(text)))
		for _, p := range parts {
			out = binary.BigEndian.AppendUint32(out, uint32(len(block(p))))
			out = append(out, block(p)...)
		}
		return out
	}
	two := append(framed(text[:300]), framed(text[300:])...)
	for name, c := range map[string]struct {
		data []byte
		good bool
	}{
		"bare": {block(text), true}, "framed": {framed(text), true}, "two": {two, true},
		"blocks": {blocks(text[:200], text[200:450], text[450:]), true}, "a block less": {blocks(text[:200], text[200:450]), false},
		"cut": {two[:len(two)-3], false}, "short": {framed(text[:300]), false}, "rest": {append(framed(text), 1), false},
	} {
		var i inflater
		out, err := i.decompress(compress.Codecs.Lz4, c.data, make([]byte, len(text)), len(text))
		if (err == nil) != c.good || err == nil && !bytes.Equal(out, text) {
			t.Errorf("%s: %d bytes, %v", name, len(out), err)
		}
	}
}
