package aggregate_test

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/aggregate"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// Revenue per country in two phases: the global one knows the original input's columns by Input.
func Example() {
	component := operators.Erase(aggregate.Spec())
	measures := `[{"name": "orders", "func": "COUNT", "arg": -1, "filter": -1, "type": "BIGINT NOT NULL", "text": "COUNT(*)"},
		{"name": "revenue", "func": "SUM", "arg": 1, "filter": -1, "type": "DECIMAL(38, 2)", "text": "SUM(amount)"}]`
	input := `{"fields": [{"name": "country", "type": "STRING"}, {"name": "amount", "type": "DECIMAL(12, 2)"}]}`
	options := func(phase string) string {
		return fmt.Sprintf(`{"phase": %q, "keys": [0], "measures": %s, "input": %s}`, phase, measures, input)
	}
	rows, err := operatortest.Result(
		[]operatortest.Stage{{Component: component, Options: options("local")}, {Component: component, Options: options("global")}},
		[]expr.Schema{operatortest.MustSchema("country STRING, amount DECIMAL(12, 2)")},
		[]string{"de, 10.00\nfr, 5.00\nde, 2.50"},
		operatortest.Setting{Memory: -1},
	)
	fmt.Println(strings.Join(rows, "\n"), err)
	// Output:
	// de, 2, 12.50
	// fr, 1, 5.00 <nil>
}
