package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestNestedScripts runs testdata/nested.
//
//	rows    a column a line: "name TYPE = the rows as a JSON array"
//	eval    each line is an expression: as it is printed, its type, and its value of each row or the failure
//	select  each line is a condition: the rows that it keeps
//
// Every expression is evaluated also over a slice of the rows and over single ones.
func TestNestedScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/nested", func(t *testing.T, path string) {
		alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer alloc.AssertSize(t, 0)
		var in expr.Schema
		var rec arrow.Record
		drop := func() {
			if rec != nil {
				rec.Release()
				rec = nil
			}
		}
		defer drop()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "rows" {
				drop()
				in, rec = jsonRecord(t, alloc, d.Input)
				return fmt.Sprintf("%d rows of %s\n", rec.NumRows(), in)
			}
			var out strings.Builder
			for _, text := range strings.Split(d.Input, "\n") {
				fmt.Fprintln(&out, nestedResult(t, alloc, in, rec, text, d.Cmd == "select"))
			}
			return out.String()
		})
	})
}

func jsonRecord(t *testing.T, alloc memory.Allocator, text string) (expr.Schema, arrow.Record) {
	t.Helper()
	var in expr.Schema
	var cols []arrow.Array
	rows := 0
	for _, line := range strings.Split(text, "\n") {
		head, data, _ := strings.Cut(line, " = ")
		name, typ, _ := strings.Cut(head, " ")
		f := field(name, typ)
		arr, _, err := array.FromJSON(alloc, f.Type.Arrow(), strings.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		in.Fields = append(in.Fields, f)
		cols = append(cols, arr)
		rows = arr.Len()
		defer arr.Release()
	}
	return in, column.NewRecord(in.Fields, cols, int64(rows))
}

func nestedResult(t *testing.T, alloc memory.Allocator, in expr.Schema, rec arrow.Record, text string, condition bool) string {
	t.Helper()
	e, err := expr.Parse(text, nil)
	if err == nil {
		e, err = expr.Check(e, in, expr.CheckOptions{Aggregates: true})
	}
	if err != nil {
		return text + ": " + err.Error()
	}
	again, err := expr.Parse(e.String(), nil)
	if err != nil || again.String() != e.String() {
		t.Errorf("%s is printed as %s, which is read as %s: %v", text, e, again, err)
	}
	if e.Op == expr.OpAgg {
		return fmt.Sprintf("%s: %s", e, e.Type)
	}
	e = expr.Fold(e)
	p, err := expr.Compile(e, in)
	if err != nil {
		t.Fatal(err)
	}
	if condition {
		sel, err := p.Select(rec, nil, nil, nil)
		if err != nil {
			return described(err)
		}
		return fmt.Sprintf("%s: %v", e, sel)
	}
	values := func(rec arrow.Record, sel []int32) ([]string, error) {
		arr, _, err := p.Eval(alloc, rec, nil, sel)
		if err != nil {
			return nil, err
		}
		defer arr.Release()
		vals := make([]string, arr.Len())
		for i := range vals {
			vals[i] = string(column.AppendText(nil, arr, e.Type, i))
		}
		return vals, nil
	}
	all, err := values(rec, nil)
	if err != nil {
		return fmt.Sprintf("%s: %s: %s", e, e.Type, described(err))
	}
	for from := range rec.NumRows() {
		part := rec.NewSlice(from, rec.NumRows())
		some, err := values(part, nil)
		if err != nil || fmt.Sprint(some) != fmt.Sprint(all[from:]) {
			t.Errorf("%s gives %v of the rows from %d on, and %v of all: %v", e, some, from, all, err)
		}
		part.Release()
		one, err := values(rec, []int32{int32(from)})
		if err != nil || one[from] != all[from] {
			t.Errorf("%s gives %v of row %d, and %v of all: %v", e, one, from, all, err)
		}
	}
	return fmt.Sprintf("%s: %s: %s", e, e.Type, strings.Join(all, " | "))
}
