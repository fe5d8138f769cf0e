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

// TestNestedColumns carries nested values with their rows, in memory, through spill files and an exchange; rows
// that are equal in what is sorted by come in one order however they were divided.
func TestNestedColumns(t *testing.T) {
	in := []expr.Schema{operatortest.MustSchema("k INT, items ARRAY<ROW<sku STRING, tags ARRAY<STRING>>>, m MAP<STRING, DOUBLE>, r ROW<a BOOLEAN, d DECIMAL(30, 2)>")}
	r := rand.New(rand.NewPCG(4, 4))
	var rows strings.Builder
	for i := range 3000 {
		items := []string{"NULL", "[]", `[null, {"sku": "a", "tags": ["x", null]}]`, fmt.Sprintf(`[{"sku": "b%d", "tags": null}, {"sku": null, "tags": []}]`, i)}[r.IntN(4)]
		m := []string{"NULL", "[]", fmt.Sprintf(`[{"key": "%d", "value": 1.5}, {"key": "z", "value": null}]`, r.IntN(9))}[r.IntN(3)]
		row := []string{"NULL", `{"a": true, "d": "1.50"}`, `{"a": null, "d": null}`}[r.IntN(3)]
		fmt.Fprintf(&rows, "%d, %s, %s, %s\n", r.IntN(50), items, m, row)
	}
	by := []expr.SortKey{{Col: 0}, {Col: 1, NullsFirst: true}, {Col: 2, NullsFirst: true}, {Col: 3, NullsFirst: true}}
	for _, limit := range []int64{-1, 500} {
		o := sort.Options{Sort: expr.Sort{By: by, Limit: limit}}
		var want []string
		for _, set := range []operatortest.Setting{{Memory: -1, Batch: 1000}, {Memory: 40 << 10, Batch: 300}, {Memory: 64 << 10, Batch: 7, Parallelism: 3}} {
			spills := 0
			set.Spills = &spills
			got, err := operatortest.Result([]operatortest.Stage{stage(o, sort.Local), stage(o, sort.Global)}, in, []string{rows.String()}, set)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("limit %d, %+v: the rows are others", limit, set)
			}
			if set.Memory > 0 && limit < 0 && spills == 0 {
				t.Errorf("%+v: nothing was spilled", set)
			}
		}
		if !strings.Contains(strings.Join(want, ""), "[NULL, (a, [x, NULL])]") {
			t.Error("no row has what was written")
		}
	}
}
