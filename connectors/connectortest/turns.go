package connectortest

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// InTurns reads a source in splits that some readers take in turn, each to its end before the next one is
// taken: so that the batches come in the order of the input. each has to release what it is given.
func InTurns(t testing.TB, src connectors.Source, o connectors.SplitOptions, readers int, alloc memory.Allocator, each func(operators.Batch)) {
	t.Helper()
	en, err := src.Enumerator(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	rds := make([]connectors.Reader, readers)
	for i := range rds {
		if rds[i], err = src.Reader(&operators.Task{Ctx: t.Context(), Alloc: alloc}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for done := false; !done; {
		var splits []connectors.Split
		if splits, done, err = en.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, s := range splits {
			rd := rds[n%readers]
			n++
			rd.Add([]connectors.Split{s})
			for {
				b, st, err := rd.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if st != connectors.More {
					break
				}
				if b.Rec != nil {
					each(b)
				}
			}
		}
	}
	for _, rd := range rds {
		if err := rd.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := en.Close(); err != nil {
		t.Fatal(err)
	}
}
