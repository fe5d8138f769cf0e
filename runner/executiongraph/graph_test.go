package executiongraph

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// TestTable prints the one table of transitions, so that a change of it is seen.
func TestTable(t *testing.T) {
	datadriven.RunTest(t, "testdata/table", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for _, from := range States() {
			fmt.Fprintf(&b, "%s:", from)
			for _, to := range States() {
				if Legal(from, to) {
					fmt.Fprintf(&b, " %s", to)
				}
			}
			b.WriteString("\n")
		}
		return b.String()
	})
}

// TestEveryStep tries every step from every state: the legal ones are taken and counted, the others are
// reported and change nothing.
func TestEveryStep(t *testing.T) {
	for _, from := range States() {
		for _, to := range States() {
			g := New([]string{"v"}, []string{"name"})
			g.Decide(1, 0, 2)
			v := &g.Vertices[0]
			v.counts[StateIndex(rpc.Created)]--
			v.counts[StateIndex(from)]++
			v.Subtasks[1].Current.State = from
			err := g.Transition(7, 0, 1, to)
			var illegal *IllegalTransition
			switch {
			case Legal(from, to):
				if err != nil || v.Subtasks[1].Current.State != to || v.Subtasks[1].Current.At[StateIndex(to)] != 7 {
					t.Errorf("%s to %s was not taken: %v", from, to, err)
				}
			case !errors.As(err, &illegal) || v.Subtasks[1].Current.State != from || !strings.Contains(err.Error(), "name (2/2), attempt 0"):
				t.Errorf("%s to %s was taken: %v", from, to, err)
			}
			total := 0
			for _, s := range States() {
				total += v.Count(s)
			}
			if total != 2 || v.Count(v.Subtasks[1].Current.State) == 0 {
				t.Errorf("%s to %s: counts %v", from, to, v.counts)
			}
		}
	}
}

func TestRetry(t *testing.T) {
	g := New([]string{"v"}, []string{"name"})
	if g.Index("v") != 0 || g.Index("w") != -1 || g.Attempt(0, 0) != nil || g.Attempt(-1, 0) != nil {
		t.Error("a vertex is found that is not there, or not decided")
	}
	g.Decide(1, 0, 1)
	if err := g.Retry(2, 0, 0); err == nil {
		t.Error("an attempt that runs is tried again")
	}
	for _, s := range []rpc.TaskState{rpc.Scheduled, rpc.Deploying, rpc.Running, rpc.Finished} {
		if err := g.Transition(3, 0, 0, s); err != nil {
			t.Fatal(err)
		}
	}
	if !g.Vertices[0].Finished() || g.Vertices[0].Active() != 0 {
		t.Error("the vertex is not finished")
	}
	if err := g.Retry(4, 0, 0); err != nil {
		t.Fatal(err)
	}
	s := g.Vertices[0].Subtasks[0]
	if s.Current.Number != 1 || s.Current.State != rpc.Created || len(s.Past) != 1 || s.Past[0].State != rpc.Finished {
		t.Errorf("%+v", s)
	}
}
