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
	splits, err := discover(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	rds := make([]connectors.Reader, readers)
	for i := range rds {
		if rds[i], err = src.Reader(&operators.Task{Ctx: t.Context(), Alloc: alloc}); err != nil {
			t.Fatal(err)
		}
	}
	for n, s := range splits {
		rd := rds[n%readers]
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
	for _, rd := range rds {
		if err := rd.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// EachSplit reads every split of a source with a reader of its own, in the order of the input, up to the first
// error of read, and sums the books of the files by their path.
func EachSplit(t testing.TB, src connectors.Source, o connectors.SplitOptions, alloc memory.Allocator, read func(connectors.Reader) error) (map[string]connectors.Tally, error) {
	t.Helper()
	splits, err := discover(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	books := map[string]connectors.Tally{}
	for _, s := range splits {
		rd, err := src.Reader(&operators.Task{Ctx: t.Context(), Alloc: Dirty{alloc}})
		if err != nil {
			t.Fatal(err)
		}
		rd.Add([]connectors.Split{s})
		err = read(rd)
		for _, y := range rd.Tally() {
			x := books[y.File]
			x.File, x.Rows, x.Read, x.Filtered, x.Bytes = y.File, x.Rows+y.Rows, x.Read+y.Read, x.Filtered+y.Filtered, x.Bytes+y.Bytes
			x.Rejected, x.Padded = x.Rejected+y.Rejected, x.Padded+y.Padded
			if y.FirstReject != nil && (x.FirstReject == nil || y.FirstReject.Order[1] < x.FirstReject.Order[1]) {
				x.FirstReject = y.FirstReject
			}
			books[y.File] = x
		}
		if e := rd.Close(); e != nil {
			t.Fatal(e)
		}
		if err != nil {
			return books, err
		}
	}
	return books, nil
}
