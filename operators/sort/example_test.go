package sort_test

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/sort"
)

// The two largest amounts.
func Example() {
	stages := []operatortest.Stage{{Component: operators.Erase(sort.Spec()), Options: `{"by": [{"col": 1, "desc": true}], "limit": 2, "offset": 0, "phase": "global"}`}}
	in := []expr.Schema{operatortest.MustSchema("country STRING, amount BIGINT")}
	rows, err := operatortest.Result(stages, in, []string{"de, 1\nfr, 7\nit, 3"}, operatortest.Setting{Memory: -1})
	fmt.Println(strings.Join(rows, "\n"), err)
	// Output:
	// fr, 7
	// it, 3 <nil>
}
