package spec

import (
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Near is the candidate that the name was most likely meant to be, "" where none is near enough.
// A third of the letters may be wrong, at least one and at most three; case counts half.
func Near(name string, candidates []string) string {
	best, bestCost := "", 0
	limit := min(max((len(name)+1)/3, 1), 3) * 2
	low := strings.ToLower(name)
	for _, c := range candidates {
		if c == name {
			continue
		}
		cost := 2 * levenshtein.ComputeDistance(low, strings.ToLower(c))
		if cost == 0 {
			cost = 1
		}
		if swapped(low, strings.ToLower(c)) {
			cost = 2
		}
		if cost <= limit && (best == "" || cost < bestCost) {
			best, bestCost = c, cost
		}
	}
	return best
}

// swapped reports whether b is a with two neighbouring bytes exchanged.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// quote puts a value into a message, cut where it is long.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		cut := most
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strconv.Quote(s)
}

// list joins names for a message: "a, b or c".
func list(names []string, last string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}

// List joins names for a message: "a, b or c".
func List(names []string) string { return list(names, "or") }

// And joins names to "a, b and c".
func And(names []string) string { return list(names, "and") }
