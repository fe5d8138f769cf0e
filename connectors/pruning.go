package connectors

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Pruning is what a reader passed over of a file since statistics in it say that no row there passes the
// filter, and which statistics it did not trust. The rows are [Tally].Pruned.
type Pruning struct {
	RowGroups int64 `json:"rowGroups"`        // passed over as a whole
	Judged    int64 `json:"judged,omitempty"` // row groups that were looked at, those among them
	Pages     int64 `json:"pages"`            // of columns that are read, passed over in row groups that are
	Bytes     int64 `json:"bytes"`            // as they are in the file, of columns that are read
	// Ignored are the statistics of the filter's columns that were not used, sorted.
	Ignored []IgnoredStatistics `json:"ignored,omitempty"`
}

// IgnoredStatistics are statistics of a column that a reader did not use, and why.
type IgnoredStatistics struct {
	Column string `json:"column"` // "" for all of the file
	Of     string `json:"of"`     // OfFile, OfRowGroups or OfPages
	Reason string `json:"reason"` // a stable word: older-form, least-above-most, nan …
	Text   string `json:"text"`   // "its least is above its most"
	Count  int64  `json:"count"`  // of files, row groups or pages
}

// What statistics are of.
const (
	OfFile      = "files"
	OfRowGroups = "row groups"
	OfPages     = "pages"
)

// Pruned is a source that can tell what its filter would pass over by statistics before anything is read.
type Pruned interface {
	// Foresee gives that per file with the rows, in the order of the inventory. It opens the files.
	Foresee(ctx context.Context) ([]Tally, error)
}

// PrunedBytes are the bytes that statistics let the reader pass over.
func (t *Tally) PrunedBytes() int64 {
	if t.Pruning == nil {
		return 0
	}
	return t.Pruning.Bytes
}

// Ignore notes statistics that are not used.
func (p *Pruning) Ignore(x IgnoredStatistics) {
	at, found := slices.BinarySearchFunc(p.Ignored, x, compareIgnored)
	switch {
	case !found:
		p.Ignored = slices.Insert(p.Ignored, at, x)
	case x.Of == OfFile: // every reader that opens it says so
		p.Ignored[at].Count = max(p.Ignored[at].Count, x.Count)
	default:
		p.Ignored[at].Count += x.Count
	}
}

func compareIgnored(a, b IgnoredStatistics) int {
	return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Of, b.Of), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Text, b.Text))
}

// Add takes what another reader passed over of the file along.
func (p *Pruning) Add(q *Pruning) {
	if q == nil { // and p may be
		return
	}
	p.RowGroups += q.RowGroups
	p.Judged += q.Judged
	p.Pages += q.Pages
	p.Bytes += q.Bytes
	for _, x := range q.Ignored {
		p.Ignore(x)
	}
}

// Clone is a copy of its own, nil of nil.
func (p *Pruning) Clone() *Pruning {
	if p == nil {
		return nil
	}
	c := *p
	c.Ignored = slices.Clone(p.Ignored)
	return &c
}

// String says which statistics are ignored: "statistics of d ignored in 2 row groups (nan): a bound is NaN".
func (x IgnoredStatistics) String() string {
	of := "statistics"
	if x.Column != "" {
		of += " of " + x.Column
	}
	what := x.Of
	if x.Count == 1 {
		what = strings.TrimSuffix(what, "s")
	}
	return fmt.Sprintf("%s ignored in %d %s (%s): %s", of, x.Count, what, x.Reason, x.Text)
}

// Absent holds where there are no statistics that could be trusted or not.
func (x IgnoredStatistics) Absent() bool { return x.Reason == ReasonMissing }

// ReasonMissing says that there are no statistics.
const ReasonMissing = "missing"
