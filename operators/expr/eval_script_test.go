package expr_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestEvalScripts runs testdata/eval.
//
//	rows    the columns in the first line, "name TYPE | …", then the rows; NULL is NULL
//	eval [zone=name]  each line is an expression: its type, and its value of each row or the failure
//	select  each line is a condition: the rows that it keeps
//
// Every expression is also compared with the oracle under all kinds of selections and forms.
func TestEvalScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/eval", func(t *testing.T, path string) {
		var in expr.Schema
		var rows [][]any
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "rows" {
				in, rows = readRows(t, d.Input)
				return fmt.Sprintf("%d rows\n", len(rows))
			}
			zone := ""
			d.MaybeScanArgs(t, "zone", &zone)
			var out strings.Builder
			for _, text := range strings.Split(d.Input, "\n") {
				e, err := expr.Parse(text, nil)
				if err == nil {
					e, err = expr.Check(e, in, expr.CheckOptions{Zone: zone})
				}
				if err != nil {
					t.Fatalf("%s: %s: %v", d.Pos, text, err)
				}
				checkEval(t, in, rows, e, rand.New(rand.NewPCG(1, 2)))
				checkEval(t, in, rows, expr.Fold(e), rand.New(rand.NewPCG(1, 2)))
				if d.Cmd == "select" {
					fmt.Fprintf(&out, "%s: %s\n", text, scriptSelect(t, in, rows, e))
				} else {
					fmt.Fprintf(&out, "%s: %s: %s\n", text, e.Type, scriptEval(t, in, rows, e))
				}
			}
			return out.String()
		})
	})
}

func readRows(t *testing.T, input string) (expr.Schema, [][]any) {
	t.Helper()
	var in expr.Schema
	var rows [][]any
	for n, line := range strings.Split(input, "\n") {
		var row []any
		for c, cell := range strings.Split(line, "|") {
			if n == 0 {
				name, typ, _ := strings.Cut(strings.TrimSpace(cell), " ")
				in.Fields = append(in.Fields, field(name, typ))
				continue
			}
			cell = strings.TrimSuffix(strings.TrimPrefix(cell, " "), " ")
			if cell == "NULL" {
				row = append(row, nil)
				continue
			}
			row = append(row, fromString(cell, in.Fields[c].Type))
		}
		if n > 0 {
			rows = append(rows, row)
		}
	}
	return in, rows
}

// described is a failure with all it says.
func described(err error) string {
	var e *expr.EvalError
	if !errors.As(err, &e) {
		return err.Error()
	}
	return fmt.Sprintf("%s at row %d, field %q, value %q: %s", e.Kind, e.Row, e.Field, e.Value, e.Error())
}

func scriptEval(t *testing.T, in expr.Schema, rows [][]any, e *expr.Expr) string {
	t.Helper()
	p, err := expr.Compile(e, in)
	if err != nil {
		t.Fatal(err)
	}
	rec := buildRecord(memory.DefaultAllocator, in, rows, false)
	arr, _, err := p.Eval(memory.DefaultAllocator, rec, nil, nil)
	if err != nil {
		return described(err)
	}
	var vals []string
	for i := range rows {
		vals = append(vals, string(column.AppendText(nil, arr, e.Type, i)))
	}
	return strings.Join(vals, " | ")
}

func scriptSelect(t *testing.T, in expr.Schema, rows [][]any, e *expr.Expr) string {
	t.Helper()
	p, err := expr.Compile(e, in)
	if err != nil {
		t.Fatal(err)
	}
	rec := buildRecord(memory.DefaultAllocator, in, rows, true)
	sel, err := p.Select(rec, nil, nil, nil)
	if err != nil {
		return described(err)
	}
	return fmt.Sprint(sel)
}
