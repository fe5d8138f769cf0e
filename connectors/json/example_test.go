package json

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A path without an extension is a folder, to which several subtasks write.
func Example() {
	in := expr.SchemaOf(expr.Field{Name: "id", Type: expr.Of(expr.BigInt)})
	for _, path := range []string{"out", "out.jsonl"} {
		bound, err := Spec.BindSink(context.Background(), Options{Path: []string{path}, Mode: "overwrite"}, in, connectors.Env{Node: "result", Dir: "plans"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(filepath.Base(bound.Targets[0]), bound.SingleFile)
	}
	// Output:
	// out false
	// out.jsonl true
}
