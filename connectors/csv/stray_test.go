package csv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestStrayQuotes: quotes inside unquoted fields are data, also where splits begin near them and where
// quoted fields hold line breaks, in a file that no prober can look over.
func TestStrayQuotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	plain := []string{`5" pipe`, `6"`, `x""y`, ` "q"`, `37°36'37.8"N 121°2'17.9"W`, "none", `a"b"`}
	inside := []string{"one\ntwo", `say ""hi""`, ",", "\n", `5"" pipe`, "7,8\n9,10", `x""`, ""}
	var text strings.Builder
	var want []string
	for i := range 12000 {
		switch k := rng.IntN(len(plain) + 4); {
		case k < len(plain):
			fmt.Fprintf(&text, "%d,%s\n", i, plain[k])
			want = append(want, fmt.Sprintf("%d|%q", i, plain[k]))
		default:
			v := inside[rng.IntN(len(inside))] + inside[rng.IntN(len(inside))]
			fmt.Fprintf(&text, "%d,\"%s\"\n", i, v)
			want = append(want, fmt.Sprintf("%d|%q", i, strings.ReplaceAll(v, `""`, `"`)))
		}
	}
	off := false
	_, state, err := bindText(t, Options{Columns: columns(t, "n BIGINT; s STRING"), Header: &off}, text.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range []int64{1 << 30, 65537, 4099, 257} {
		for _, read := range []int64{0, 100} {
			got, _, err := readAll(t, state, how{split: split, read: read})
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("splits of %d, reads of %d: %d rows of %d, %v", split, read, len(got), len(want), err)
			}
		}
	}
}
