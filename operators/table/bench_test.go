package table_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sys/unix"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// BenchmarkUpsert looks up batches of 32K rows among 1,000, 100,000 and a million keys, in CPU
// nanoseconds a row: neighbours on the machine do not count.
func BenchmarkUpsert(b *testing.B) {
	const rows, batches = 32 << 10, 64
	for _, schema := range []string{"a BIGINT", "a STRING", "a BIGINT, b BIGINT", "a STRING, b BIGINT"} {
		for _, keys := range []int{1000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", schema, keys), func(b *testing.B) {
				s := operatortest.MustSchema(schema)
				r := rand.New(rand.NewPCG(1, 1))
				cols := make([][]arrow.Array, batches)
				for i := range cols {
					for _, f := range s.Fields {
						cols[i] = append(cols[i], randomColumn(r, f.Type.Arrow(), keys, rows))
					}
				}
				task := operatortest.NewTask(b, -1)
				t, err := table.New(s, operators.TableOptions{Words: 1}, task.Memory, task.MaxParallelism, task.Alloc)
				if err != nil {
					b.Fatal(err)
				}
				defer t.Close()
				slots := make([]uint32, rows)
				before, n := cpu(), 0
				for b.Loop() {
					if _, err := t.Upsert(cols[n%batches], nil, nil, slots); err != nil {
						b.Fatal(err)
					}
					n++
				}
				b.ReportMetric(float64(cpu()-before)/float64(n)/rows, "cpu-ns/row")
			})
		}
	}
}

// randomColumn is a column of one of so many values; of two columns both depend on the same draw
// only by chance.
func randomColumn(r *rand.Rand, t arrow.DataType, values, rows int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	for range rows {
		n := r.IntN(values)
		switch b := b.(type) {
		case *array.Int64Builder:
			b.Append(int64(n))
		case *array.StringBuilder:
			b.Append(fmt.Sprintf("text-%07d", n))
		}
	}
	return b.NewArray()
}

func cpu() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
