package calc_test

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/calc"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// A filter and a projection; expressions are checked trees.
func Example() {
	stages := []operatortest.Stage{{Component: operators.Erase(calc.Spec()), Options: `{"where": {"op": "column", "name": "paid", "col": 1, "type": "BOOLEAN", "pos": 0}, "select": [{"name": "land", "expr": {"op": "column", "name": "country", "type": "STRING", "pos": 0}}]}`}}
	in := []expr.Schema{operatortest.MustSchema("country STRING, paid BOOLEAN")}
	rows, err := operatortest.Result(stages, in, []string{"de, true\nfr, false\nit, true"}, operatortest.Setting{Memory: -1})
	fmt.Println(strings.Join(rows, "\n"), err)
	// Output:
	// de
	// it <nil>
}
