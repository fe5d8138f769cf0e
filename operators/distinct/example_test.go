package distinct_test

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/distinct"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// One of each row; NULL equals NULL.
func Example() {
	stages := []operatortest.Stage{{Component: operators.Erase(distinct.Spec()), Options: `{"phase": "global"}`}}
	in := []expr.Schema{operatortest.MustSchema("country STRING")}
	rows, err := operatortest.Result(stages, in, []string{"de\nNULL\nde\nNULL"}, operatortest.Setting{Memory: -1})
	fmt.Println(strings.Join(rows, "\n"), err)
	// Output:
	// de
	// NULL <nil>
}
