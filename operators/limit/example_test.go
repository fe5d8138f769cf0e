package limit_test

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/limit"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// Two rows after the first.
func Example() {
	stages := []operatortest.Stage{{Component: operators.Erase(limit.Spec()), Options: `{"limit": 2, "offset": 1, "phase": "global"}`}}
	in := []expr.Schema{operatortest.MustSchema("n BIGINT")}
	rows, err := operatortest.Result(stages, in, []string{"1\n2\n3\n4"}, operatortest.Setting{Memory: -1})
	fmt.Println(strings.Join(rows, "\n"), err)
	// Output:
	// 2
	// 3 <nil>
}
