package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
)

// FuzzWrite writes what the data says as numbers and texts, in pages and row groups of random sizes, and
// reads it with two implementations.
func FuzzWrite(f *testing.F) {
	f.Add(uint64(1), []byte("one\ntwo\n\x00\x00\x00\x00\x00\x00\x00\x00\ntwo\n"))
	f.Add(uint64(2), []byte(strings.Repeat("same value ", 40)))
	f.Add(uint64(3), []byte{})
	f.Add(uint64(4), []byte(strings.Repeat("ä", 100)+"\n"+strings.Repeat("\U0010ffff", 30)))
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		rnd := rand.New(rand.NewPCG(seed, 29))
		s := schemaOf(t, "n BIGINT; i INT; f DOUBLE; s STRING; b BOOLEAN; t BIGINT NOT NULL")
		a := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer a.AssertSize(t, 0)
		texts := strings.Split(strings.ToValidUTF8(string(data), "?"), "\n")
		cols := make([]arrow.Array, len(s.Fields))
		for c, field := range s.Fields {
			b := array.NewBuilder(a, field.Type.Arrow())
			for i, text := range texts {
				word := binary.LittleEndian.Uint64(append([]byte(text), 0, 0, 0, 0, 0, 0, 0, 0))
				if !field.Type.NotNull && len(text)%5 == c {
					b.AppendNull()
					continue
				}
				switch b := b.(type) {
				case *array.Int64Builder:
					b.Append(int64(word) * int64(i%3))
				case *array.Int32Builder:
					b.Append(int32(word))
				case *array.Float64Builder:
					b.Append(math.Float64frombits(word))
				case *array.StringBuilder:
					b.Append(text)
				case *array.BooleanBuilder:
					b.Append(word&1 != 0)
				}
			}
			cols[c] = b.NewArray()
			b.Release()
		}
		batch := operators.Batch{Rec: column.NewRecord(s.Fields, cols, int64(len(texts)))}
		for _, c := range cols {
			c.Release()
		}
		want := lines(batch, s)
		l := &limits{pageRows: 1 + rnd.IntN(100), pageBytes: 1 + rnd.IntN(500), dictionary: rnd.IntN(500), mostBytes: 1 + rnd.Int64N(1<<14)}
		codec := []string{"none", "snappy", "zstd", "gzip"}[rnd.IntN(4)]
		out := encodeBatches(t, s, codec, l, int64(1+rnd.IntN(200)), []operators.Batch{batch})
		got, err := readAll(t, a, input{Options: Options{Path: []string{save(t, out)}, Columns: s.Fields}})
		if err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("seed %d", seed)
		same(t, what+", our reader", s, got, want)
		same(t, what+", the library", s, libraryLines(t, out, s), want)
	})
}
