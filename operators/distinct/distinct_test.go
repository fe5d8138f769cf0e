package distinct_test

import (
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/distinct"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// TestScripts runs every case in one phase and in two.
func TestScripts(t *testing.T) {
	c := operators.Erase(distinct.Spec())
	operatortest.Scripts(t, func(*operatortest.Script) ([][]operatortest.Stage, error) {
		return [][]operatortest.Stage{
			{{Component: c, Options: `{"phase": "global"}`}},
			{{Component: c, Options: `{"phase": "local"}`}, {Component: c, Options: `{"phase": "global"}`}},
		}, nil
	})
}
