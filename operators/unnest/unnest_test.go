package unnest_test

import (
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/unnest"
)

// TestUnnest takes arrays of values and of ROWs, and maps, with and without the rows that have no elements.
func TestUnnest(t *testing.T) {
	c := operators.Erase(unnest.Spec())
	items := []expr.Schema{operatortest.MustSchema("a ARRAY<ROW<sku STRING, qty INT>>, id STRING")}
	rows := "[{\"sku\": \"x\", \"qty\": 1}, null, {\"sku\": null, \"qty\": 3}], k\n[], l\nNULL, m\n[{\"sku\": \"y\", \"qty\": null}], n"
	operatortest.Run(t, c, `{"col": 0, "names": ["sku", "qty"]}`, items,
		operatortest.Case{Name: "rows", In: []string{rows}, Want: "k, x, 1\nk, NULL, NULL\nk, NULL, 3\nn, y, NULL"},
		operatortest.Case{Name: "nothing", In: []string{""}},
	)
	operatortest.Run(t, c, `{"col": 0, "names": ["sku", "qty"], "outer": true, "ordinality": "at"}`, items,
		operatortest.Case{Name: "outer", In: []string{rows}, Want: "k, x, 1, 1\nk, NULL, NULL, 2\nk, NULL, 3, 3\nl, NULL, NULL, NULL\nm, NULL, NULL, NULL\nn, y, NULL, 1"},
	)
	pairs := []expr.Schema{operatortest.MustSchema("id INT, m MAP<STRING, ARRAY<INT>>")}
	operatortest.Run(t, c, `{"col": 1, "names": ["k", "v"]}`, pairs,
		operatortest.Case{Name: "entries", In: []string{"1, [{\"key\": \"a\", \"value\": [1, 2]}, {\"key\": \"b\", \"value\": null}]\n2, NULL"}, Want: "1, a, [1, 2]\n1, b, NULL"},
	)
	if _, err := unnest.Spec().Schema(unnest.Options{Unnest: expr.Unnest{Col: 0, Names: []string{"x"}}}, pairs); err == nil {
		t.Error("an INT is taken apart")
	}
}
