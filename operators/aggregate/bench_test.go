package aggregate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sys/unix"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/aggregate"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

const benchRows = 32 << 10

type sink struct{}

func (sink) Emit(b operators.Batch) error           { b.Rec.Release(); return nil }
func (sink) Side(_ string, b operators.Batch) error { b.Rec.Release(); return nil }
func (sink) Count(operators.Counter, int64)         {}

// BenchmarkByCountry is 50 countries by dictionary code: COUNT(*), SUM and AVG.
func BenchmarkByCountry(b *testing.B) {
	for _, typ := range []string{"DOUBLE", "DECIMAL(12, 2)"} {
		b.Run(typ, func(b *testing.B) {
			in := operatortest.MustSchema("country STRING, amount " + typ)
			r := rand.New(rand.NewPCG(1, 1))
			codes := make([]int32, benchRows)
			for i := range codes {
				codes[i] = int32(r.IntN(50))
			}
			bench(b, in, []int{0}, []operators.Batch{record(in, countries(codes), amounts(r, in.Fields[1].Type))})
		})
	}
}

// BenchmarkByProductAndDay is a composite key of dictionary code and date.
func BenchmarkByProductAndDay(b *testing.B) {
	in := operatortest.MustSchema("product STRING, day DATE, amount DOUBLE")
	r := rand.New(rand.NewPCG(1, 1))
	codes := make([]int32, benchRows)
	days := array.NewDate32Builder(memory.DefaultAllocator)
	for i := range codes {
		codes[i] = int32(r.IntN(1000))
		days.Append(arrow.Date32(19000 + i*3/benchRows))
	}
	rec := record(in, countries(codes), days.NewArray(), amounts(r, in.Fields[2].Type))
	bench(b, in, []int{0, 1}, []operators.Batch{rec})
}

// BenchmarkByCustomer is an int64 key with many groups in one phase.
func BenchmarkByCustomer(b *testing.B) {
	for _, groups := range []int{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(groups), func(b *testing.B) {
			in := operatortest.MustSchema("customer BIGINT, amount DOUBLE")
			r := rand.New(rand.NewPCG(1, 1))
			var batches []operators.Batch
			for range 128 {
				keys := array.NewInt64Builder(memory.DefaultAllocator)
				for range benchRows {
					keys.Append(int64(r.IntN(groups)) * 7919)
				}
				batches = append(batches, record(in, keys.NewArray(), amounts(r, in.Fields[1].Type)))
			}
			b.Run("single", func(b *testing.B) { benchPhase(b, in, []int{0}, batches, aggregate.Single) })
			b.Run("local", func(b *testing.B) { benchPhase(b, in, []int{0}, batches, aggregate.Local) })
		})
	}
}

func countries(codes []int32) arrow.Array {
	idx := array.NewInt32Builder(memory.DefaultAllocator)
	idx.AppendValues(codes, nil)
	dict := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 1000 {
		dict.Append(fmt.Sprintf("country-%d", i))
	}
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, idx.NewArray(), dict.NewArray())
}

func amounts(r *rand.Rand, t expr.Type) arrow.Array {
	d := array.NewFloat64Builder(memory.DefaultAllocator)
	n := array.NewInt64Builder(memory.DefaultAllocator)
	for range benchRows {
		cents := r.Int64N(10_000_000)
		d.Append(float64(cents) / 100)
		n.Append(cents)
	}
	if t.Kind == expr.Double {
		return d.NewArray()
	}
	return n.NewArray()
}

func record(in expr.Schema, cols ...arrow.Array) operators.Batch {
	b := operators.Batch{Rec: column.NewRecord(in.Fields, cols, benchRows), Dict: make([]uint64, len(cols))}
	for i, c := range cols {
		if expr.IsDictionary(c.DataType()) {
			b.Dict[i] = 1
		}
	}
	return b
}

func bench(b *testing.B, in expr.Schema, keys []int, batches []operators.Batch) {
	benchPhase(b, in, keys, batches, aggregate.Local)
}

func benchPhase(b *testing.B, in expr.Schema, keys []int, batches []operators.Batch, phase string) {
	arg := len(in.Fields) - 1
	o := aggregate.Options{Phase: phase, Aggregate: expr.Aggregate{Keys: keys, Measures: []expr.AggCall{
		{Name: "n", Func: "COUNT", Arg: -1, Filter: -1, Type: expr.Of(expr.BigInt)},
		{Name: "s", Func: "SUM", Arg: arg, Filter: -1, Type: sumType(in.Fields[arg].Type)},
		{Name: "a", Func: "AVG", Arg: arg, Filter: -1, Type: sumType(in.Fields[arg].Type)},
	}}}
	js, err := json.Marshal(o)
	if err != nil {
		b.Fatal(err)
	}
	op, err := operators.Erase(aggregate.Spec()).New(js, []expr.Schema{in})
	if err != nil {
		b.Fatal(err)
	}
	task := operatortest.NewTask(b, -1)
	task.Alloc = memory.DefaultAllocator
	if err := op.Open(task); err != nil {
		b.Fatal(err)
	}
	rows := 0
	b.ResetTimer()
	before := cpu()
	for i := 0; b.Loop(); i++ {
		batch := batches[i%len(batches)]
		batch.Rec.Retain()
		if err := op.Process(0, batch, sink{}); err != nil {
			b.Fatal(err)
		}
		rows += benchRows
	}
	b.ReportMetric(float64(cpu()-before)/float64(rows), "cpu-ns/row")
	if err := op.Close(); err != nil {
		b.Fatal(err)
	}
}

// cpu is the process's processor time in nanoseconds: unlike the clock it does not count neighbours.
func cpu() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func sumType(t expr.Type) expr.Type {
	if t.Kind == expr.Double {
		return t
	}
	return expr.DecimalOf(38, 6)
}
