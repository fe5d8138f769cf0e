package aggregate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/aggregate"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// TestScripts runs every aggregate in one phase and in two.
func TestScripts(t *testing.T) {
	operatortest.Scripts(t, func(s *operatortest.Script) ([][]operatortest.Stage, error) {
		o, err := scriptOptions(s)
		if err != nil {
			return nil, err
		}
		return ways(o)
	})
}

// ways are the stages of one phase and of two.
func ways(o aggregate.Options) ([][]operatortest.Stage, error) {
	stage := func(phase string, keys []int) operatortest.Stage {
		p := o
		p.Phase, p.Keys = phase, keys
		b, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		return operatortest.Stage{Component: operators.Erase(aggregate.Spec()), Options: string(b)}
	}
	first := make([]int, len(o.Keys))
	for i := range first {
		first[i] = i
	}
	return [][]operatortest.Stage{
		{stage(aggregate.Single, o.Keys)},
		{stage(aggregate.Local, o.Keys), stage(aggregate.Global, first)},
	}, nil
}

var measurePattern = regexp.MustCompile(`^(\w+) = (\w+)\((DISTINCT )?(\*|\w+)\)(?: FILTER (\w+))?(?: AS (.*))?$`)

// scriptOptions reads lines such as "keys country" and "measure n = SUM(DISTINCT x) FILTER paid".
func scriptOptions(s *operatortest.Script) (aggregate.Options, error) {
	in := s.In[0]
	o := aggregate.Options{Phase: aggregate.Single, Input: in}
	for _, k := range strings.Fields(strings.Join(s.Words("keys"), " ")) {
		o.Keys = append(o.Keys, in.Index(k))
	}
	for _, text := range s.Words("measure") {
		m := measurePattern.FindStringSubmatch(text)
		if m == nil {
			return o, fmt.Errorf("%q is not a measure", text)
		}
		c := expr.AggCall{Name: m[1], Func: m[2], Arg: in.Index(m[4]), Filter: in.Index(m[5]), Distinct: m[3] != ""}
		c.Text = fmt.Sprintf("%s(%s%s)", m[2], m[3], m[4])
		var arg expr.Type
		if c.Arg >= 0 {
			arg = in.Fields[c.Arg].Type
		}
		t, err := expr.AggType(c.Func, arg, false)
		if m[6] != "" {
			t, err = expr.ParseType(m[6])
		}
		if err != nil {
			return o, err
		}
		c.Type = t
		o.Measures = append(o.Measures, c)
	}
	return o, nil
}

// TestNoColumns counts rows of which no column is needed.
func TestNoColumns(t *testing.T) {
	o := aggregate.Options{Phase: aggregate.Single}
	o.Measures = []expr.AggCall{{Name: "n", Func: "COUNT", Arg: -1, Filter: -1, Type: expr.Of(expr.BigInt).Nullable(false), Text: "COUNT(*)"}}
	both, err := ways(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range both {
		first := way[0]
		operatortest.Run(t, first.Component, first.Options, []expr.Schema{{}},
			operatortest.Case{Name: first.Options[:30], In: []string{"-\n-\n-\n-\n-"}, Want: "5", Then: way[1:]})
	}
}

// TestBadOptions are refused with what would be right.
func TestBadOptions(t *testing.T) {
	in := []expr.Schema{operatortest.MustSchema("a STRING, b BIGINT")}
	for options, want := range map[string]string{
		`{"phase": "x"}`:                   "expected local, global or single",
		`{"phase": "single", "keys": [2]}`: "not one of the input's 2",
		`{"phase": "single", "measures": [{"name": "s", "func": "SUM", "arg": 0, "filter": -1}]}`:    "there is no SUM of STRING",
		`{"phase": "single", "measures": [{"name": "s", "func": "SUM", "arg": 9, "filter": -1}]}`:    "not one of the input's 2",
		`{"phase": "single", "measures": [{"name": "s", "func": "SUM", "arg": -1, "filter": -1}]}`:   "needs an argument",
		`{"phase": "single", "measures": [{"name": "s", "func": "COUNT", "arg": -1, "filter": 1}]}`:  "a filter is BOOLEAN",
		`{"phase": "single", "measures": [{"name": "s", "func": "MEDIAN", "arg": 1, "filter": -1}]}`: "expected COUNT, SUM, AVG, MIN or MAX",
		`{"phase": "global", "measures": [{"name": "s", "func": "SUM", "arg": 1, "filter": -1}]}`:    "needs the original input's schema",
		`{"phase": 1}`: "reading the options of aggregate",
	} {
		_, err := operators.Erase(aggregate.Spec()).New([]byte(options), in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, expected: %s", options, err, want)
		}
	}
}

// TestOverflowTellsWhere looks at what a failure report needs: class, value, expression and the least
// key, the same over any number of subtasks and batches of any size.
func TestOverflowTellsWhere(t *testing.T) {
	s := &operatortest.Script{
		In:    []expr.Schema{operatortest.MustSchema("k STRING, d DECIMAL(38, 2)")},
		Lines: []string{"keys k", "measure total = SUM(d)"},
	}
	o, err := scriptOptions(s)
	if err != nil {
		t.Fatal(err)
	}
	both, err := ways(o)
	if err != nil {
		t.Fatal(err)
	}
	const most = "999999999999999999999999999999999999.99"
	rows := fmt.Sprintf("z, %[1]s\nz, %[1]s\nb, -%[1]s\nb, -%[1]s\na, 1.00\nc, %[1]s\nc, %[1]s\nc, -%[1]s", most)
	for _, way := range both {
		for batch := range 4 {
			_, err := operatortest.Result(way, s.In, []string{rows}, operatortest.Setting{Memory: -1, Batch: batch})
			var f interface {
				Class() string
				Datum() (field, value, expression string)
				Key() string
			}
			if !errors.As(err, &f) {
				t.Fatalf("batches of %d: %v is not a failure with a place", batch, err)
			}
			field, value, text := f.Datum()
			got := []string{f.Class(), f.Key(), field, value, text}
			want := []string{"Overflow", "k=b", "", "-1999999999999999999999999999999999999.98", "SUM(d)"}
			if !slices.Equal(got, want) {
				t.Errorf("batches of %d: %q instead of %q", batch, got, want)
			}
		}
	}
}
