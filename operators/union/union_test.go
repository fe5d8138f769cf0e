package union_test

import (
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/union"
)

// TestScripts runs every case.
func TestScripts(t *testing.T) {
	c := operators.Erase(union.Spec())
	operatortest.Scripts(t, func(*operatortest.Script) ([][]operatortest.Stage, error) {
		return [][]operatortest.Stage{{{Component: c, Options: `{}`}}}, nil
	})
}

// TestThreeInputs keeps duplicates within and between inputs.
func TestThreeInputs(t *testing.T) {
	in := []expr.Schema{operatortest.MustSchema("a STRING"), operatortest.MustSchema("b STRING"), operatortest.MustSchema("a STRING")}
	operatortest.Run(t, operators.Erase(union.Spec()), `{}`, in,
		operatortest.Case{Name: "duplicates", In: []string{"x\nx", "x\nNULL", ""}, Want: "x\nx\nx\nNULL"},
		operatortest.Case{Name: "nothing", In: []string{"", "", ""}},
	)
}
