package union_test

import (
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
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
