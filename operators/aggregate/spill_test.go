package aggregate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// TestSpill aggregates more groups and distinct values than managed memory holds: the results are
// those of unlimited memory.
func TestSpill(t *testing.T) {
	cases := []struct{ keys, measures string }{
		{"k", "n = COUNT(*); s = SUM(v); d = SUM(x); lo = MIN(t); hi = MAX(t); e = SUM(e)"},
		{"k", "n = COUNT(*); u = COUNT(DISTINCT v); t = COUNT(DISTINCT t) FILTER f; s = SUM(v)"},
		{"t k", "n = COUNT(*); a = AVG(x); m = MAX(e)"},
		{"", "n = COUNT(*); u = COUNT(DISTINCT v); t = COUNT(DISTINCT t); d = SUM(DISTINCT x); s = SUM(v)"},
	}
	rows := spillRows(3000)
	for _, c := range cases {
		t.Run(c.keys+" "+c.measures, func(t *testing.T) {
			s := &operatortest.Script{
				In:    []expr.Schema{operatortest.MustSchema("k BIGINT, v BIGINT, x DOUBLE, e DECIMAL(38, 2), t STRING, f BOOLEAN")},
				Lines: []string{"keys " + c.keys},
			}
			for _, m := range strings.Split(c.measures, "; ") {
				s.Lines = append(s.Lines, "measure "+m)
			}
			o, err := scriptOptions(s)
			if err != nil {
				t.Fatal(err)
			}
			both, err := ways(o)
			if err != nil {
				t.Fatal(err)
			}
			want, err := operatortest.Result(both[0], s.In, []string{rows}, operatortest.Setting{Memory: -1})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(want)
			for i, way := range both {
				for _, memory := range []int64{24 << 10, 100 << 10} {
					spills := 0
					set := operatortest.Setting{Memory: memory, Parallelism: 2, Batch: 500, Spills: &spills}
					got, err := operatortest.Result(way, s.In, []string{rows}, set)
					if err != nil {
						t.Fatalf("way %d within %d bytes: %v", i, memory, err)
					}
					slices.Sort(got)
					if !slices.Equal(got, want) {
						t.Errorf("way %d within %d bytes: %d rows, not %d, or they differ", i, memory, len(got), len(want))
					}
					if spills == 0 {
						t.Errorf("way %d within %d bytes: nothing was spilled", i, memory)
					}
				}
			}
		})
	}
}

func spillRows(n int) string {
	r := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%d, %d, %s, %d.%02d, text-%d, %t\n", r.IntN(1500), r.IntN(2000),
			[]string{"1e16", "-1e16", "0.1", "1e-300", "NULL", "12345.678"}[r.IntN(6)], r.Int64(), r.IntN(100), r.IntN(2000), r.IntN(2) == 0)
	}
	return b.String()
}

// TestManyGroups has more groups than the local phase holds: it flushes where rows reduce, and passes
// them on where they do not.
func TestManyGroups(t *testing.T) {
	for _, spread := range []int{36_000, 1_000_000} {
		s := &operatortest.Script{In: []expr.Schema{operatortest.MustSchema("k BIGINT, x DOUBLE, t STRING")}}
		s.Lines = []string{"keys k", "measure n = COUNT(*)", "measure x = SUM(x)", "measure t = MAX(t)"}
		o, err := scriptOptions(s)
		if err != nil {
			t.Fatal(err)
		}
		both, err := ways(o)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(4, uint64(spread)))
		var rows strings.Builder
		for range 150_000 {
			fmt.Fprintf(&rows, "%d, %d.25, t%d\n", r.IntN(spread), r.IntN(1000), r.IntN(50))
		}
		var results [2][]string
		for i, way := range both {
			got, err := operatortest.Result(way, s.In, []string{rows.String()}, operatortest.Setting{Memory: -1, Batch: 10_000})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			results[i] = got
		}
		if !slices.Equal(results[0], results[1]) {
			t.Errorf("over %d keys one phase gives %d groups, two give %d, or they differ", spread, len(results[0]), len(results[1]))
		}
	}
}
