package blackhole

import (
	"context"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// It has no options and no target.
func Example() {
	bound, err := Spec.BindSink(context.Background(), Options{}, expr.Schema{}, connectors.Env{Node: "nowhere"})
	fmt.Println(len(bound.Targets), bound.SingleFile, err)
	// Output: 0 false <nil>
}
