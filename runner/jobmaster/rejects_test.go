package jobmaster

import (
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// TestRejectLimits: a limit is the most that is allowed, and no limit allows all.
func TestRejectLimits(t *testing.T) {
	for _, x := range []struct {
		limits         jobgraph.RejectLimits
		read, rejected int64
		over           bool
	}{
		{jobgraph.RejectLimits{MaxRows: -1, MaxShare: -1}, 10, 10, false},
		{jobgraph.RejectLimits{MaxRows: 0, MaxShare: -1}, 10, 0, false},
		{jobgraph.RejectLimits{MaxRows: 0, MaxShare: -1}, 10, 1, true},
		{jobgraph.RejectLimits{MaxRows: 1, MaxShare: -1}, 10, 1, false},
		{jobgraph.RejectLimits{MaxRows: -1, MaxShare: 0.001}, 1000, 1, false},
		{jobgraph.RejectLimits{MaxRows: -1, MaxShare: 0.001}, 999, 1, true},
		{jobgraph.RejectLimits{MaxRows: -1, MaxShare: 0}, 0, 0, false},
		{jobgraph.RejectLimits{MaxRows: 5, MaxShare: 0.5}, 8, 5, true},
	} {
		if why := exceeds(x.limits, x.read, x.rejected); (why != "") != x.over {
			t.Errorf("%+v, %d of %d: %q", x.limits, x.rejected, x.read, why)
		}
	}
}

// TestFirstReject: the first one is told by file and place, whoever found it.
func TestFirstReject(t *testing.T) {
	a, b := &connectors.Reject{Order: [2]int64{1, 90}}, &connectors.Reject{Order: [2]int64{2, 5}}
	for _, pair := range [][2]*connectors.Reject{{a, b}, {b, a}, {a, nil}, {nil, a}, {a, a}} {
		if got := earlier(pair[0], pair[1]); got != a {
			t.Errorf("%+v", got)
		}
	}
}
