package badrows

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// spooled writes records to a file.
func spooled(t *testing.T, path string, limit int, all []connectors.Record) Part {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSpool(f, limit)
	for _, r := range all {
		if err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.Finish()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	p.Path = path
	return p
}

func collect(seq iter.Seq2[connectors.Record, error]) (all []connectors.Record, err error) {
	for r, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// TestMerge: what goes in comes out, sorted, from one part or many, with one run or more than are merged at once.
func TestMerge(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 7, 5000} {
		for _, limit := range []int{1, 300, 20_000, DefaultLimit} {
			dir := t.TempDir()
			want := make([]connectors.Record, n)
			for i := range want {
				want[i] = connectors.Record{
					File: fmt.Sprint("f", i%3), Line: int64(rnd.IntN(3)), Offset: int64(i), Raw: strings.Repeat("é\x00\"", rnd.IntN(5)),
				}
			}
			if n > 100 {
				want[5].Raw = strings.Repeat("long", 100_000)
			}
			rnd.Shuffle(n, func(i, j int) { want[i], want[j] = want[j], want[i] })
			var parts []Part
			rows := int64(0)
			for i := range 3 {
				p := spooled(t, filepath.Join(dir, fmt.Sprint(i)), limit, want[n*i/3:n*(i+1)/3])
				parts, rows = append(parts, p), rows+p.Rows
			}
			slices.SortFunc(want, func(a, b connectors.Record) int { return a.Before(&b) })
			got, err := collect(Merge(dir, parts))
			if err != nil || !slices.Equal(got, want) || rows != int64(n) {
				t.Fatalf("%d records, limit %d: %d came, %v", n, limit, len(got), err)
			}
			for range Merge(dir, parts) {
				break // whoever has enough leaves nothing open and no error
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
				t.Fatal(left, err)
			}
		}
	}
}

// TestDamage: no byte may be another one, and nothing may be cut off, without an error.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	var all []connectors.Record
	for i := range 50 {
		all = append(all, connectors.Record{File: "f", Line: int64(i), Offset: int64(9 * i), Raw: fmt.Sprint("raw", i*i)})
	}
	p := spooled(t, filepath.Join(dir, "p"), 1500, all)
	good, err := os.ReadFile(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x55
		if err := os.WriteFile(p.Path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := collect(Merge(dir, []Part{p})); err == nil {
			t.Fatalf("byte %d is another one, and %d records came", i, len(got))
		}
		if err := os.WriteFile(p.Path, good[:i], 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := collect(Merge(dir, []Part{p})); err == nil {
			t.Fatalf("cut at byte %d, and %d records came", i, len(got))
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 3, errors.New("no space left") }

// TestFull: a disk that is full is an error.
func TestFull(t *testing.T) {
	s := NewSpool(full{}, 100)
	err := s.Add(connectors.Record{Raw: strings.Repeat("x", 100)})
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Error(err)
	}
}
