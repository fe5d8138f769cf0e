package connectortest

import (
	"iter"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// Records gives records as a [connectors.Replaying] source wants them.
func Records(all []connectors.Record) iter.Seq2[connectors.Record, error] {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b connectors.Record) int { return a.Before(&b) })
	return func(yield func(connectors.Record, error) bool) {
		for _, r := range sorted {
			if !yield(r, nil) {
				return
			}
		}
	}
}
