package connectortest

import (
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// Publish writes one batch to a sink and commits it.
func Publish(t testing.TB, sink connectors.Sink, b operators.Batch) {
	t.Helper()
	w, err := sink.Writer(&operators.Task{Ctx: t.Context()}, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	c, err := w.Prepare(0, true)
	if err != nil {
		t.Fatal(err)
	}
	k, err := sink.Committer()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Commit(t.Context(), "run", 0, c); err != nil {
		t.Fatal(err)
	}
}
