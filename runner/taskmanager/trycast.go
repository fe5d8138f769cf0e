package taskmanager

import (
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// noteTryCasts asks the chain what its TRY_CASTs gave NULL for. Where rows were run again one by one after
// a failure there is no true number, and nothing is noted.
func (t *task) noteTryCasts() {
	if t.salvages > 0 {
		return
	}
	t.tryCastsOf(0, t.reader)
	for _, m := range t.members {
		t.tryCastsOf(m.place, m.op)
	}
}

func (t *task) tryCastsOf(place int, x any) {
	c, ok := x.(operators.TryCaster)
	if !ok {
		return
	}
	for _, n := range c.TryCasts() {
		t.tries = append(t.tries, rpc.TryCast{Operator: place, TryCast: n})
	}
}
