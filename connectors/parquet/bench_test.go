package parquet

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// benchFile writes a million orders through the sink.
func benchFile(b *testing.B, rows int) string {
	b.Helper()
	in := expr.SchemaOf(
		expr.Field{Name: "id", Type: expr.Of(expr.BigInt)}, expr.Field{Name: "country", Type: expr.Of(expr.String)},
		expr.Field{Name: "amount", Type: expr.DecimalOf(12, 2)},
	)
	path := filepath.Join(b.TempDir(), "x.parquet")
	bound, err := Spec.BindSink(b.Context(), Options{Path: []string{path}}, in, connectors.Env{})
	if err != nil {
		b.Fatal(err)
	}
	sink, err := Spec.OpenSink(bound.State, in)
	if err != nil {
		b.Fatal(err)
	}
	w, err := sink.Writer(&operators.Task{Ctx: b.Context(), Alloc: memory.DefaultAllocator}, "run", nil)
	if err != nil {
		b.Fatal(err)
	}
	for at := 0; at < rows; at += 1 << 14 {
		ids, amounts := array.NewInt64Builder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
		names := array.NewStringBuilder(memory.DefaultAllocator)
		for i := at; i < min(at+1<<14, rows); i++ {
			ids.Append(int64(i))
			names.Append(fmt.Sprintf("C%02d-land", i*i%50))
			amounts.Append(int64(i * 7919 % 100000))
		}
		cols := []arrow.Array{ids.NewArray(), names.NewArray(), amounts.NewArray()}
		if err := w.Write(operators.Batch{Rec: column.NewRecord(in.Fields, cols, int64(cols[0].Len()))}); err != nil {
			b.Fatal(err)
		}
	}
	c, err := w.Prepare(0, true)
	if err != nil {
		b.Fatal(err)
	}
	k, err := sink.Committer()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := k.Commit(b.Context(), "run", 0, c); err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkRead(b *testing.B) {
	const rows = 1_000_000
	path := benchFile(b, rows)
	for name, cols := range map[string][]int{"country": {1}, "amount": {2}, "all": {0, 1, 2}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				state, err := Spec.Bind(b.Context(), Options{Path: []string{path}}, connectors.Env{})
				if err != nil {
					b.Fatal(err)
				}
				src, err := Spec.Open(state)
				if err != nil {
					b.Fatal(err)
				}
				src.Push(connectors.Pushdown{Columns: cols, Limit: -1})
				e, err := src.Enumerator(b.Context(), connectors.SplitOptions{}, nil)
				if err != nil {
					b.Fatal(err)
				}
				splits, _, err := e.Discover(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				r, err := src.Reader(&operators.Task{Ctx: b.Context(), Alloc: memory.DefaultAllocator})
				if err != nil {
					b.Fatal(err)
				}
				r.Add(splits)
				n := 0
				for {
					batch, status, err := r.Next(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					if status != connectors.More {
						break
					}
					n += batch.Rows()
					batch.Rec.Release()
				}
				if n != rows {
					b.Fatal(n)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
