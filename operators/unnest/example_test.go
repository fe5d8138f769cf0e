package unnest_test

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/unnest"
)

// A row for each element; a row without elements gives none.
func Example() {
	stages := []operatortest.Stage{{Component: operators.Erase(unnest.Spec()), Options: `{"col": 1, "names": ["word"], "ordinality": "n"}`}}
	in := []expr.Schema{operatortest.MustSchema("id BIGINT, words ARRAY<STRING>")}
	rows, err := operatortest.Result(stages, in, []string{"1, [\"a\", \"b\"]\n2, []\n3, NULL\n4, [null]"}, operatortest.Setting{Memory: -1})
	fmt.Println(strings.Join(rows, "\n"), err)
	// Output:
	// 1, a, 1
	// 1, b, 2
	// 4, NULL, 1 <nil>
}
