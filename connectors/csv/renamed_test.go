package csv

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRenamed: no name is there twice, and the least number that is free is taken.
func TestRenamed(t *testing.T) {
	for names, want := range map[string]string{
		"a,b":               "a,b",
		"a,a,a":             "a,a_2,a_3",
		"a,a_2,a,a":         "a,a_2,a_3,a_4",
		"a,a,a_2,a_2":       "a,a_3,a_2,a_2_2",
		",,":                ",_2,_3",
		"a_2,a,a,a_3,a,a_2": "a_2,a,a_4,a_3,a_5,a_2_2",
	} {
		if got := strings.Join(Renamed(strings.Split(names, ",")), ","); got != want {
			t.Errorf("%s: %s, expected %s", names, got, want)
		}
	}
	// Many of one name: the work grows with their number, not with its square.
	many := make([]string, 200_000)
	got := Renamed(many)
	if got[1] != "_2" || got[len(got)-1] != fmt.Sprintf("_%d", len(got)) {
		t.Errorf("%q … %q", got[1], got[len(got)-1])
	}
	slices.Sort(got)
	if len(slices.Compact(got)) != len(many) {
		t.Error("a name is there twice")
	}
}
