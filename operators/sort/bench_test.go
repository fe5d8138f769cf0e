package sort_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/sort"
)

type sink struct{}

func (sink) Emit(b operators.Batch) error           { b.Rec.Release(); return nil }
func (sink) Side(_ string, b operators.Batch) error { b.Rec.Release(); return nil }
func (sink) Count(operators.Counter, int64)         {}

// BenchmarkSort orders half a million rows of two columns by the first, all of them or the first 100.
func BenchmarkSort(b *testing.B) {
	const batches, rows = 16, 32 << 10
	in := operatortest.MustSchema("n BIGINT, s STRING")
	r := rand.New(rand.NewPCG(1, 1))
	recs := make([]arrow.Record, batches)
	for i := range recs {
		n, s := array.NewInt64Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
		for range rows {
			n.Append(r.Int64())
			s.Append(fmt.Sprintf("text-%d", r.IntN(100_000)))
		}
		recs[i] = column.NewRecord(in.Fields, []arrow.Array{n.NewArray(), s.NewArray()}, rows)
	}
	for col, name := range []string{"BIGINT", "STRING"} {
		for _, limit := range []int64{-1, 100} {
			b.Run(fmt.Sprintf("%s limit %d", name, limit), func(b *testing.B) {
				o := sort.Options{Sort: expr.Sort{By: []expr.SortKey{{Col: col}}, Limit: limit}}
				for b.Loop() {
					sortOnce(b, o, in, recs)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batches/rows, "ns/row")
			})
		}
	}
}

func sortOnce(b *testing.B, o sort.Options, in expr.Schema, recs []arrow.Record) {
	s := stage(o, sort.Global)
	op, err := s.Component.New([]byte(s.Options), []expr.Schema{in})
	if err != nil {
		b.Fatal(err)
	}
	task := operatortest.NewTask(b, -1)
	task.Alloc = memory.DefaultAllocator
	if err := op.Open(task); err != nil {
		b.Fatal(err)
	}
	for _, rec := range recs {
		rec.Retain()
		if err := op.Process(0, operators.Batch{Rec: rec}, sink{}); err != nil {
			b.Fatal(err)
		}
	}
	if err := op.EndInput(0, sink{}); err != nil {
		b.Fatal(err)
	}
	if err := op.Close(); err != nil {
		b.Fatal(err)
	}
}
