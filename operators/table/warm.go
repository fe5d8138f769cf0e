package table

import "github.com/seed-4b0e9f7c/runner/operators"

const cacheLine = 64

// Warm reads through an in-memory table of integer keys in order, which brings it into the processor's
// cache much faster than the random places of a batch's rows would. It pays before a batch that touches
// most of it.
func Warm(t operators.Table) {
	m, ok := t.(*Table)
	if !ok {
		return
	}
	x, ok := m.index.(*intIndex)
	if !ok {
		return
	}
	var seen uint64
	for i := 0; i < len(x.entries); i += cacheLine / intEntrySize {
		seen |= x.entries[i]
	}
	for i := 0; i < len(x.cells.all); i += cacheLine / cellSize {
		seen |= uint64(x.cells.all[i])
	}
	for i := 0; i < len(x.keys) && x.entries != nil; i += cacheLine / 8 {
		seen |= uint64(x.keys[i])
	}
	for _, w := range m.words {
		for i := 0; i < len(w); i += cacheLine / 8 {
			seen |= w[i]
		}
	}
	m.warmed = seen
}
