package blackhole

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestRows counts live rows, frees them and publishes nothing.
func TestRows(t *testing.T) {
	a := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer a.AssertSize(t, 0)
	in := expr.SchemaOf(expr.Field{Name: "n", Type: expr.Of(expr.BigInt)})
	bound, err := Spec.BindSink(t.Context(), Options{}, in, connectors.Env{Node: "out"})
	if err != nil || bound.SingleFile || len(bound.Targets) > 0 {
		t.Fatalf("%+v, %v", bound, err)
	}
	sink, err := Spec.OpenSink(bound.State, in)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sink.Writer(&operators.Task{Subtask: 3}, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sel := range [][]int32{nil, {1}} {
		b := array.NewInt64Builder(a)
		b.AppendValues([]int64{1, 2, 3}, nil)
		col := b.NewArray()
		rec := column.NewRecord(in.Fields, []arrow.Array{col}, 3)
		col.Release()
		b.Release()
		if err := w.Write(operators.Batch{Rec: rec, Sel: sel}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := w.Prepare(0, true)
	if err != nil || len(c) != 1 || c[0].Rows != 4 || c[0].Subtask != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	k, err := sink.Committer()
	if err != nil {
		t.Fatal(err)
	}
	if names, err := k.Commit(t.Context(), "run", 0, c); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	if err := k.Abort(t.Context(), "run", c); err != nil {
		t.Error(err)
	}
}
