package aggregate_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

const (
	referenceColumns  = "k STRING, j SMALLINT, v BIGINT, d DECIMAL(20, 2), s STRING, f BOOLEAN"
	referenceMeasures = `n = COUNT(*)
nf = COUNT(*) FILTER f
v0 = COUNT(v)
v1 = SUM(v)
v2 = AVG(v)
v3 = MIN(v)
v4 = MAX(v) FILTER f
v5 = COUNT(DISTINCT v)
v6 = SUM(DISTINCT v) FILTER f
d1 = SUM(d)
d2 = AVG(d) FILTER f
d3 = MIN(d)
d5 = AVG(DISTINCT d)
s3 = MIN(s)
s4 = MAX(s) FILTER f
s5 = COUNT(DISTINCT s) FILTER f`
)

// TestAgainstReference aggregates random rows and compares every way to run it with a second
// implementation that works on the rows' text and on rational numbers.
func TestAgainstReference(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 17))
		s := &operatortest.Script{In: []expr.Schema{operatortest.MustSchema(referenceColumns)}}
		s.Lines = []string{[]string{"keys k j", "keys k", "keys j s", "keys"}[seed%4]}
		for _, m := range strings.Split(referenceMeasures, "\n") {
			s.Lines = append(s.Lines, "measure "+m)
		}
		o, err := scriptOptions(s)
		if err != nil {
			t.Fatal(err)
		}
		rows := referenceRows(r, 1+r.IntN(400), 1+r.IntN(30))
		want := reference(rows, o.Keys, o.Measures)
		both, err := ways(o)
		if err != nil {
			t.Fatal(err)
		}
		for i, way := range both {
			for _, memory := range []int64{-1, 48 << 10} {
				set := operatortest.Setting{Memory: memory, Parallelism: 1 + r.IntN(4), Batch: 1 + r.IntN(100)}
				got, err := operatortest.Result(way, s.In, []string{text(rows)}, set)
				if err != nil {
					t.Fatalf("seed %d, way %d, %+v: %v", seed, i, set, err)
				}
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d, way %d, %+v:\n%s\nwanted:\n%s", seed, i, set, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
}

func referenceRows(r *rand.Rand, n, spread int) [][]string {
	null := func(s string) string {
		if r.IntN(8) == 0 {
			return "NULL"
		}
		return s
	}
	rows := make([][]string, n)
	for i := range rows {
		rows[i] = []string{
			null(fmt.Sprintf("k%d", r.IntN(spread))), null(fmt.Sprint(r.IntN(3))), null(fmt.Sprint(r.Int64N(int64(spread)) - 5)),
			null(fmt.Sprintf("%d.%02d", r.IntN(spread), r.IntN(100))), null(fmt.Sprintf("s%d", r.IntN(spread))), null(fmt.Sprint(r.IntN(2) == 0)),
		}
	}
	return rows
}

func text(rows [][]string) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.Join(r, ", ") + "\n")
	}
	return b.String()
}

func reference(rows [][]string, keys []int, measures []expr.AggCall) []string {
	groups := map[string][][]string{}
	if len(keys) == 0 {
		groups[""] = rows
	}
	for _, r := range rows {
		var key []string
		for _, k := range keys {
			key = append(key, r[k])
		}
		if len(keys) > 0 {
			id := strings.Join(key, ", ")
			groups[id] = append(groups[id], r)
		}
	}
	var out []string
	for id, g := range groups {
		var line []string
		if id != "" {
			line = append(line, id)
		}
		for _, m := range measures {
			line = append(line, referenceMeasure(g, m))
		}
		out = append(out, strings.Join(line, ", "))
	}
	slices.Sort(out)
	return out
}

func referenceMeasure(rows [][]string, m expr.AggCall) string {
	var values []string
	for _, r := range rows {
		if m.Filter >= 0 && r[m.Filter] != "true" {
			continue
		}
		if m.Arg < 0 {
			values = append(values, "")
		} else if v := r[m.Arg]; v != "NULL" && (!m.Distinct || !slices.Contains(values, v)) {
			values = append(values, v)
		}
	}
	if m.Func == "COUNT" {
		return fmt.Sprint(len(values))
	}
	if len(values) == 0 {
		return "NULL"
	}
	if m.Type.Kind == expr.String {
		slices.Sort(values)
		return map[string]string{"MIN": values[0], "MAX": values[len(values)-1]}[m.Func]
	}
	sum, least, most := new(big.Rat), number(values[0]), number(values[0])
	for _, v := range values {
		x := number(v)
		sum.Add(sum, x)
		if x.Cmp(least) < 0 {
			least = x
		}
		if x.Cmp(most) > 0 {
			most = x
		}
	}
	result := map[string]*big.Rat{"SUM": sum, "MIN": least, "MAX": most}[m.Func]
	if m.Func == "AVG" {
		result = sum.Quo(sum, big.NewRat(int64(len(values)), 1))
		if m.Type.Kind != expr.Decimal { // towards zero
			return new(big.Int).Quo(result.Num(), result.Denom()).String()
		}
	}
	return result.FloatString(m.Type.Scale) // halves go away from zero
}

func number(s string) *big.Rat {
	n, _ := new(big.Rat).SetString(s)
	return n
}
