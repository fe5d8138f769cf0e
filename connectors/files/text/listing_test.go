package text

import (
	"errors"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// recordsAt are records of files, where each is a number of places.
func recordsAt(files []string, n int) iter.Seq2[connectors.Record, error] {
	return func(yield func(connectors.Record, error) bool) {
		for _, f := range files {
			for i := range n {
				if !yield(connectors.Record{File: f, Offset: int64(3 * i), Raw: strings.Repeat("x", i%3)}, nil) {
					return
				}
			}
		}
	}
}

// TestListing: what is listed is read, from every place on, and what the books count adds up; a list that was cut is
// an error.
func TestListing(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a", "b", "c"}
	name := func(i int) (string, string) { return names[i], "/" + names[i] }
	listed := func(_ int, r connectors.Record) (Listed, error) {
		l := ListedOf(r)
		l.With = r.Offset%2 == 1
		return l, nil
	}
	const n = 2*piece + 5
	lists, err := List(dir, recordsAt([]string{"a", "c"}, n), 3, name, listed)
	if err != nil || lists[1] != nil {
		t.Fatal(err, lists)
	}
	var x Lister
	for _, l := range []*Listing{lists[0], lists[2]} {
		if err := x.Turn(l); err != nil || x.Len() != n {
			t.Fatal(err, x.Len())
		}
		before := int64(0)
		for _, i := range []int{n - 1, 0, piece, piece - 1, 1} {
			if got, err := x.At(i); err != nil || got.At != int64(3*i) || got.With != (3*i%2 == 1) || got.Len != int64(i%3) {
				t.Fatalf("%d: %+v, %v", i, got, err)
			}
		}
		for i := range n {
			got, err := x.At(i)
			if err != nil || got.Before != before {
				t.Fatalf("%d: %+v, %v", i, got, err)
			}
			before += got.Size()
		}
		if all, err := x.Before(n); err != nil || all != before || l.Size != before {
			t.Fatal(all, before, err)
		}
		if i, err := x.Find(7, n, func(l Listed) bool { return l.At >= 3000 }); err != nil || i != 1000 {
			t.Fatal(i, err)
		}
		if i, err := x.Find(7, n, func(l Listed) bool { return false }); err != nil || i != n {
			t.Fatal(i, err)
		}
	}
	if err := os.Truncate(lists[0].Path, 10*listedSize); err != nil {
		t.Fatal(err)
	}
	if _, err := x.At(0); err == nil {
		t.Error("a list that was cut is read")
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := List(dir, recordsAt([]string{"a", "b", "a"}, 2), 3, name, listed); err == nil || !strings.Contains(err.Error(), "not together") {
		t.Error(err)
	}
	if _, err := List(dir, recordsAt([]string{"a", "a"}, 1), 3, name, listed); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Error(err)
	}
	if _, err := List(dir, recordsAt([]string{"a", "a"}, 2), 3, name, listed); err == nil || !strings.Contains(err.Error(), "in the order of the file") {
		t.Error(err)
	}
	bad := errors.New("bad")
	fails := func(yield func(connectors.Record, error) bool) { yield(connectors.Record{}, bad) }
	if _, err := List(dir, fails, 3, name, listed); !errors.Is(err, bad) {
		t.Error(err)
	}
}
