package taskmanager

import (
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

const (
	bucketBits = 6
	bucketAt   = 24 // which bits of a key's hash are its bucket: key groups use the lowest, spilled partitions the highest

	// bucketRows is how many rows a result has at least that is kept in buckets: fewer are no trouble to their reader. Rows
	// that cannot be added to pieces one by one cost more to part, so that there have to be costlyRows.
	bucketRows = 16 << 10
	costlyRows = 256 << 10
	// sortRows is how many rows are put into buckets at a time where that has to be done by pieces.
	sortRows = 64 << 10
)

// inBuckets has an output keep its result in buckets by key, if it is large, and where the operator that it comes from says that
// its keys may be many.
func (t *task) inBuckets(p *output) {
	op, ok := t.members[p.edge.Operator].op.(operators.Partial)
	if !ok || !op.Partial() || p.hasher == nil || p.edge.Port != "" || !p.edge.Blocking || p.edge.Exchange != jobgraph.HashBy {
		return
	}
	p.bucketed, _ = p.w.(exchange.BucketWriter)
}

// sort puts a batch into buckets, or holds it: until it is known that the result is large, and rows of texts until
// there are enough of them for pieces of some size.
func (p *output) sort(b operators.Batch) error {
	if p.buckets > 0 && p.pieces.suit(b.Rec) {
		return p.send(b)
	}
	rec := column.Compact(p.alloc, b)
	p.held.add(rec)
	switch {
	case p.buckets > 0 && p.held.rows >= sortRows:
		return p.sortHeld()
	case p.buckets == 0 && (p.held.rows >= costlyRows || p.held.rows >= bucketRows && p.pieces.suit(rec)):
		p.buckets = 1 << bucketBits
		p.pending = make([]pending, p.subs*p.buckets)
		p.pieces.open = make([]openPiece, len(p.pending))
	}
	return nil
}

// sortHeld writes what is held.
func (p *output) sortHeld() error {
	if len(p.held.recs) == 0 {
		return nil
	}
	rec, err := p.joined(&p.held)
	if err != nil {
		return err
	}
	return p.send(operators.Batch{Rec: rec})
}
