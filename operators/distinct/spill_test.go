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
