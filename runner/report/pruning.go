package report

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// PruningOf is what was passed over of a file, nil where its statistics were not asked.
func PruningOf(t *connectors.Tally) *Pruning {
	p := t.Pruning
	if p == nil {
		return nil
	}
	return &Pruning{RowGroups: p.RowGroups, Of: p.Judged, Pages: p.Pages, Rows: t.Pruned, Bytes: p.Bytes, Ignored: p.Ignored}
}

// String says what was passed over: "7 of 10 row groups and 12 pages, 70,000 rows, 1.2 MB".
func (p *Pruning) String() string {
	s := fmt.Sprintf("%s of %s row groups", Thousands(p.RowGroups), Thousands(p.Of))
	if p.Pages > 0 {
		s += fmt.Sprintf(" and %s pages", Thousands(p.Pages))
	}
	return fmt.Sprintf("%s, %s, %s", s, Rows(p.Rows), Bytes(p.Bytes))
}

// mostFiles is how many files of a source a short text names.
const mostFiles = 3

// WritePruning says shortly what the filter of a source passes over by statistics, and why where those are not
// used. Of many files it says so of all together.
func WritePruning(b *strings.Builder, node string, all []SourceFile, indent string) {
	writePruning(b, node, all, indent, false)
}

// writePruning leaves nothing out in full.
func writePruning(b *strings.Builder, node string, all []SourceFile, indent string, full bool) {
	sum := SourceFile{Path: node, Pruning: &Pruning{}}
	var total connectors.Pruning
	var some []SourceFile
	for _, f := range all {
		p := f.Pruning
		if p == nil {
			continue
		}
		some = append(some, f)
		s := sum.Pruning
		s.RowGroups, s.Of, s.Pages, s.Rows, s.Bytes = s.RowGroups+p.RowGroups, s.Of+p.Of, s.Pages+p.Pages, s.Rows+p.Rows, s.Bytes+p.Bytes
		for _, x := range p.Ignored {
			total.Ignore(x)
		}
	}
	sum.Pruning.Ignored = total.Ignored
	if !full && len(some) > mostFiles {
		some = []SourceFile{sum}
	}
	for _, f := range some {
		if full || f.Pruning.Rows > 0 {
			fmt.Fprintf(b, "%s%s: passed over by statistics: %s\n", indent, f.Path, f.Pruning)
		}
		for _, x := range f.Pruning.Ignored {
			if full || !x.Absent() {
				fmt.Fprintf(b, "%s%s: %s\n", indent, f.Path, x)
			}
		}
	}
}
