package table_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// TestCloseKeys upserts integers that go up, go down, lie close together and then no longer, among them NULL and the
// least and greatest there are, with and without memory to go on, and compares the table with a map.
func TestCloseKeys(t *testing.T) {
	s := operatortest.MustSchema("a BIGINT")
	ways := []struct {
		name string
		key  func(r *rand.Rand, i int) int64
	}{
		{"up", func(_ *rand.Rand, i int) int64 { return int64(i) }},
		{"down", func(_ *rand.Rand, i int) int64 { return -int64(i) }},
		{"by steps", func(_ *rand.Rand, i int) int64 { return int64(i) * 5 }},
		{"both ways", func(_ *rand.Rand, i int) int64 { return int64(i) * int64(1-i%2*2) }},
		{"at random", func(r *rand.Rand, _ int) int64 { return int64(r.IntN(20000)) - 10000 }},
		{"far off in the end", func(r *rand.Rand, i int) int64 { return int64(i) << (i / 4000 * 30) }},
		{"far off first", func(r *rand.Rand, i int) int64 { return int64(i) << ((9999 - i) / 4000 * 20) }},
		{"at the upper end", func(r *rand.Rand, _ int) int64 { return math.MaxInt64 - int64(r.IntN(9000)) }},
		{"at the lower end", func(r *rand.Rand, _ int) int64 { return math.MinInt64 + int64(r.IntN(9000)) }},
		{"at both ends", func(r *rand.Rand, _ int) int64 { return math.MinInt64 + int64(r.IntN(9000)) - 4500 }},
	}
	for _, w := range ways {
		for _, budget := range []int64{-1, 60 << 10} {
			t.Run(fmt.Sprintf("%s within %d bytes", w.name, budget), func(t *testing.T) {
				r := rand.New(rand.NewPCG(2, 3))
				task := operatortest.NewTask(t, budget)
				tab, err := table.New(s, operators.TableOptions{Words: 2, BytesCol: 1}, task.Memory, task.MaxParallelism, task.Alloc)
				if err != nil {
					t.Fatal(err)
				}
				defer tab.Close()
				m := &model{slots: map[string]uint32{}}
				for i := 0; i < 10_000; {
					var rows strings.Builder
					for range 1 + r.IntN(1500) {
						if k := w.key(r, i); r.IntN(700) == 0 {
							rows.WriteString("NULL\n")
						} else {
							fmt.Fprintln(&rows, k)
						}
						i++
					}
					rec, err := operatortest.ParseRows(task.Alloc, s, rows.String())
					if err != nil {
						t.Fatal(err)
					}
					upsert(t, tab, m, s, operators.Batch{Rec: rec})
					rec.Release()
					switch r.IntN(12) {
					case 0:
						remove(t, tab, m, r)
					case 1:
						tab.Clear()
						m.cut(0)
					}
				}
				compare(t, tab, m, s)
			})
		}
	}
}
