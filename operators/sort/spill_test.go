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
