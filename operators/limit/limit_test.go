package limit_test

import (
	"fmt"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/limit"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
)

// TestScripts runs every case in one phase and in two; "limit 2 offset 1" is the line that says how many.
func TestScripts(t *testing.T) {
	c := operators.Erase(limit.Spec())
	operatortest.Scripts(t, func(s *operatortest.Script) ([][]operatortest.Stage, error) {
		var n, offset int
		if _, err := fmt.Sscanf(s.Words("limit")[0], "%d offset %d", &n, &offset); err != nil {
			return nil, err
		}
		stage := func(phase string) operatortest.Stage {
			return operatortest.Stage{Component: c, Options: fmt.Sprintf(`{"limit": %d, "offset": %d, "phase": %q}`, n, offset, phase)}
		}
		return [][]operatortest.Stage{{stage("global")}, {stage("local"), stage("global")}}, nil
	})
}

// TestSated says that a full limit needs no more input.
func TestSated(t *testing.T) {
	op, err := operators.Erase(limit.Spec()).New([]byte(`{"limit": 0, "phase": "global"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := op.(operators.Sated); !ok || !s.Sated() {
		t.Error("a limit of 0 rows wants input")
	}
}
