package aggregate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// few are limits that some hundred rows go beyond in every way.
func few(hardly int) limits {
	return limits{groups: 16, partition: 32, hardly: hardly, most: 1 << 10, pass: 50, gather: 8}
}

// limited is the aggregate with other limits of its local phase.
func limited(lim limits, made func(*local)) operators.Component {
	s := Spec()
	s.New = func(o Options, in []expr.Schema) (operators.Operator, error) {
		l, err := newLayout(o, in)
		if err != nil {
			return nil, err
		}
		a := &local{layout: l, limits: lim}
		made(a)
		return a, nil
	}
	return operators.Erase(s)
}

// TestPartitions has the local phase gather rows by partition, in every variant of batches,
// selections and memory, with rows that partitions do not suit among them. What comes out must be what one phase gives.
func TestPartitions(t *testing.T) {
	cases := []struct {
		name   string
		in     string
		keys   []int
		blocks bool // the keys lie close together
		row    func(r *rand.Rand, i int) string
	}{
		{"BIGINT", "k BIGINT, x DOUBLE", []int{0}, false, func(r *rand.Rand, i int) string {
			if i > 300 && r.IntN(9) == 0 {
				return fmt.Sprintf("NULL, %d.5", r.IntN(100))
			}
			return fmt.Sprintf("%d, %d.25", r.IntN(200)*1000003, r.IntN(1000))
		}},
		{"two keys", "d DATE, k INT, x DOUBLE", []int{1, 0}, false, func(r *rand.Rand, _ int) string {
			return fmt.Sprintf("2024-01-%02d, %d, 1e%d", 1+r.IntN(20), r.IntN(12), r.IntN(300))
		}},
		{"DOUBLE", "k DOUBLE, x BIGINT", []int{0}, false, func(r *rand.Rand, i int) string {
			if i%100 == 99 {
				return fmt.Sprintf("%d, NULL", r.IntN(200))
			}
			return fmt.Sprintf("%s%d, %d", []string{"", "-"}[r.IntN(2)], r.IntN(200), r.IntN(50))
		}},
		{"close BIGINT", "k BIGINT, x DOUBLE", []int{0}, true, func(r *rand.Rand, i int) string {
			switch {
			case i > 300 && r.IntN(9) == 0:
				return fmt.Sprintf("NULL, %d.5", r.IntN(100))
			case i > 200 && r.IntN(9) == 0:
				return fmt.Sprintf("%d, 1.5", []int64{math.MinInt64, math.MaxInt64, 1 << 40, -1 << 40}[r.IntN(4)]+int64(r.IntN(3)-1))
			}
			return fmt.Sprintf("%d, %d.25", r.IntN(500)*4-1000, r.IntN(1000))
		}},
		{"close INT", "x BIGINT, k INT", []int{1}, true, func(r *rand.Rand, i int) string {
			if i > 350 {
				return fmt.Sprintf("7, %d", []int{math.MinInt32, math.MaxInt32}[r.IntN(2)])
			}
			return fmt.Sprintf("%d, %d", r.IntN(50), r.IntN(700)-350)
		}},
		{"close DATE", "k DATE, x DECIMAL(9, 2)", []int{0}, true, func(r *rand.Rand, _ int) string {
			return fmt.Sprintf("19%02d-%02d-%02d, %d.25", 69+r.IntN(3), 1+r.IntN(12), 1+r.IntN(28), r.IntN(1000))
		}},
		{"close TIMESTAMP", "k TIMESTAMP(6), x BIGINT", []int{0}, true, func(r *rand.Rand, _ int) string {
			return fmt.Sprintf("1970-01-01 00:00:00.000%03d, %d", r.IntN(300), r.IntN(1000))
		}},
		{"a key that is summed", "k BIGINT", []int{0}, false, func(r *rand.Rand, _ int) string {
			return fmt.Sprint(r.IntN(200))
		}},
	}
	for _, c := range cases {
		hardly := []int{64, 1 << 10}
		if c.blocks || len(c.keys) > 1 {
			hardly = hardly[1:]
		}
		for _, hardly := range hardly {
			t.Run(fmt.Sprintf("%s %d", c.name, hardly), func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, 9))
				var rows []string
				for i := range 400 {
					rows = append(rows, c.row(r, i))
				}
				in := []expr.Schema{operatortest.MustSchema(c.in)}
				testPartitions(t, in, c.keys, strings.Join(rows, "\n"), hardly, c.blocks)
			})
		}
	}
}

func testPartitions(t *testing.T, in []expr.Schema, keys []int, rows string, hardly int, blocks bool) {
	t.Helper()
	arg := slices.IndexFunc(in[0].Fields, func(f expr.Field) bool { return f.Name == "x" || len(in[0].Fields) == 1 })
	typ := in[0].Fields[arg].Type
	o := Options{Input: in[0], Aggregate: expr.Aggregate{Keys: keys}}
	for _, f := range []string{"COUNT", "SUM", "MIN"} {
		c := expr.AggCall{Name: strings.ToLower(f), Func: f, Arg: arg, Filter: -1, Type: typ, Text: f}
		if f == "COUNT" {
			c.Arg, c.Type = -1, expr.Of(expr.BigInt)
		}
		o.Measures = append(o.Measures, c)
	}
	options := func(phase string, keys []int) string {
		p := o
		p.Phase, p.Keys = phase, keys
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := make([]int, len(keys))
	for i := range first {
		first[i] = i
	}
	single := []operatortest.Stage{{Component: operators.Erase(Spec()), Options: options(Single, keys)}}
	want, err := operatortest.Result(single, in, []string{rows}, operatortest.Setting{Memory: -1})
	if err != nil {
		t.Fatal(err)
	}
	var all []*local
	component := limited(few(hardly), func(a *local) { all = append(all, a) })
	then := []operatortest.Stage{{Component: operators.Erase(Spec()), Options: options(Global, first)}}
	operatortest.Run(t, component, options(Local, keys), in, operatortest.Case{Name: "all", In: []string{rows}, Want: strings.Join(want, "\n"), Then: then})
	used, blocked := 0, 0
	for _, a := range all {
		used += a.partitioned
		blocked += a.blocked
	}
	if used == 0 || blocks != (blocked > 0) {
		t.Errorf("of %d local phases %d used partitions, %d by blocks", len(all), used, blocked)
	}
}
