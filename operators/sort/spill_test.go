package sort_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/sort"
)

// TestSpill sorts within a fraction of the memory that the rows take, over more runs than are
// merged at a time, stably and with a limit.
func TestSpill(t *testing.T) {
	in := []expr.Schema{operatortest.MustSchema("k STRING, n BIGINT")}
	r := rand.New(rand.NewPCG(5, 5))
	var rows strings.Builder
	var want []string
	for i := range 12000 {
		line := fmt.Sprintf("key-%03d, %d", r.IntN(700), i)
		rows.WriteString(line + "\n")
		want = append(want, line)
	}
	slices.SortStableFunc(want, func(a, b string) int { return strings.Compare(a[:7], b[:7]) })
	for _, limit := range []int64{-1, 9000, 10} {
		o := sort.Options{Sort: expr.Sort{By: []expr.SortKey{{Col: 0}}, Limit: limit}}
		wanted := want
		if limit >= 0 {
			wanted = want[:limit]
		}
		for _, memory := range []int64{16 << 10, 60 << 10, -1} {
			spills := 0
			set := operatortest.Setting{Memory: memory, Batch: 1000, Spills: &spills}
			got, err := operatortest.Result([]operatortest.Stage{stage(o, sort.Global)}, in, []string{rows.String()}, set)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, wanted) {
				t.Errorf("limit %d within %d bytes: %d rows, not %d, or out of order", limit, memory, len(got), len(wanted))
			}
			if memory > 0 && spills == 0 {
				t.Errorf("limit %d within %d bytes: nothing was spilled", limit, memory)
			}
		}
	}
}

// TestTopOfMany finds the first rows of more than are held at a time; equal keys come in the order of
// the input, also where the last of them is cut off.
func TestTopOfMany(t *testing.T) {
	in := []expr.Schema{operatortest.MustSchema("k BIGINT, n BIGINT")}
	r := rand.New(rand.NewPCG(9, 9))
	var rows strings.Builder
	var want []string
	for i := range 90_000 {
		k := r.IntN(2000)
		fmt.Fprintf(&rows, "%d, %d\n", k, i)
		if k < 2 {
			want = append(want, fmt.Sprintf("%d, %d", k, i))
		}
	}
	slices.SortStableFunc(want, func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
	limit := len(want) - 7
	o := sort.Options{Sort: expr.Sort{By: []expr.SortKey{{Col: 0}}, Limit: int64(limit)}}
	for _, memory := range []int64{-1, 300 << 10} {
		stages := []operatortest.Stage{stage(o, sort.Local), stage(o, sort.Global)}
		got, err := operatortest.Result(stages, in, []string{rows.String()}, operatortest.Setting{Memory: memory, Batch: 5000, Parallelism: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want[:limit]) {
			t.Errorf("within %d bytes: %d rows, not %d, or out of order", memory, len(got), limit)
		}
	}
}
