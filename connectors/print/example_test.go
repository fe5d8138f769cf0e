package print

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// A result is printed when the run commits.
func Example() {
	spec := Spec(os.Stdout)
	ctx := context.Background()
	bound, err := spec.BindSink(ctx, Options{}, schema(), connectors.Env{Node: "result"})
	if err != nil {
		fmt.Println(err)
		return
	}
	sink, err := spec.OpenSink(bound.State, schema())
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := sink.Writer(&operators.Task{Ctx: ctx}, "run-1", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Write(batch([]string{"DE", "-"}, []int64{1250, 70})); err != nil {
		fmt.Println(err)
	}
	prepared, err := w.Prepare(0, true)
	if err != nil {
		fmt.Println(err)
	}
	committer, err := sink.Committer()
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := committer.Commit(ctx, "run-1", 0, prepared); err != nil {
		fmt.Println(err)
	}
	// Output:
	// country  amount
	// -------  ------
	// DE        12.50
	// NULL       0.70
}
