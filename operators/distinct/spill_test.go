package distinct_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/distinct"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// TestSpill keeps one of each row although managed memory holds a fraction of them.
func TestSpill(t *testing.T) {
	in := []expr.Schema{operatortest.MustSchema("a BIGINT, b STRING")}
	r := rand.New(rand.NewPCG(3, 3))
	var rows strings.Builder
	want := map[string]bool{}
	for range 8000 {
		n := r.IntN(5000)
		line := fmt.Sprintf("%d, text-%d", n, n%7)
		want[line] = true
		rows.WriteString(line + "\n")
	}
	spills := 0
	for _, memory := range []int64{16 << 10, 100 << 10, -1} {
		stages := []operatortest.Stage{{Component: operators.Erase(distinct.Spec()), Options: `{"phase": "global"}`}}
		got, err := operatortest.Result(stages, in, []string{rows.String()}, operatortest.Setting{Memory: memory, Batch: 1000, Parallelism: 2, Spills: &spills})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(want) {
			t.Errorf("within %d bytes: %d rows, not %d", memory, len(got), len(want))
		}
	}
	if spills == 0 {
		t.Error("nothing was spilled")
	}
}

// TestLocalPasses runs more rows than the local phase remembers through both phases: nearly all
// distinct, so that it gives up, and mostly duplicates.
func TestLocalPasses(t *testing.T) {
	in := []expr.Schema{operatortest.MustSchema("a BIGINT")}
	c := operators.Erase(distinct.Spec())
	stages := []operatortest.Stage{{Component: c, Options: `{"phase": "local"}`}, {Component: c, Options: `{"phase": "global"}`}}
	for _, spread := range []int{40_000, 1_000_000} {
		r := rand.New(rand.NewPCG(1, uint64(spread)))
		var rows strings.Builder
		want := map[int]bool{}
		for range 100_000 {
			n := r.IntN(spread)
			want[n] = true
			fmt.Fprintln(&rows, n)
		}
		got, err := operatortest.Result(stages, in, []string{rows.String()}, operatortest.Setting{Memory: -1, Batch: 9000})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Errorf("%d rows, not %d", len(got), len(want))
		}
	}
}
