package union_test

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/union"
)

// Duplicates are kept, and the first input names the columns.
func Example() {
	stages := []operatortest.Stage{{Component: operators.Erase(union.Spec()), Options: `{}`}}
	in := []expr.Schema{operatortest.MustSchema("a BIGINT"), operatortest.MustSchema("b BIGINT")}
	rows, err := operatortest.Result(stages, in, []string{"1\n2", "2"}, operatortest.Setting{Memory: -1})
	fmt.Println(strings.Join(rows, "\n"), err)
	// Output:
	// 1
	// 2
	// 2 <nil>
}
