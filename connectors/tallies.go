package connectors

import (
	"maps"
	"slices"
)

// Tallies are the books that a reader keeps, by the number of the file.
type Tallies map[int64]*Tally

// Of is the tally of a file, begun if need be.
func (t Tallies) Of(file int64, path string) *Tally {
	if t[file] == nil {
		t[file] = &Tally{File: path}
	}
	return t[file]
}

// All are the tallies that were begun, in the order of the files.
func (t Tallies) All() []Tally {
	var out []Tally
	for _, file := range slices.Sorted(maps.Keys(t)) {
		out = append(out, *t[file])
	}
	return out
}
