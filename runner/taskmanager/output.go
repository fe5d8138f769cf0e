package taskmanager

import (
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// smallRows is below how many rows a piece for one subpartition waits for more before it is written.
const smallRows = 2048

// An output writes the rows of a chain's end to one edge: it decides the subpartition of each row.
type output struct {
	edge    jobgraph.Edge
	id      exchange.ResultID
	w       exchange.Writer
	alloc   memory.Allocator
	subs    int
	groups  int // max parallelism: number of key groups
	next    int // of REBALANCE
	hasher  *column.Hasher
	hashes  []uint64
	target  []int32
	start   []int32
	idx     []int32
	keys    []arrow.Array
	dict    []uint64
	pending []pending // by subpartition and bucket
	rows    int64
	done    bool
	full    *stopwatch // runs while a consumer has no room; nil: it always has
	now     func() time.Time

	bucketed exchange.BucketWriter // nil: there are no buckets, however large the result
	buckets  int                   // of a subpartition, once the result is large
	held     pending               // rows to be put into buckets, or not
	pieces   pieces                // of buckets
}

// pending are small pieces for one subpartition.
type pending struct {
	recs []arrow.Record
	rows int64
}

func (t *task) newOutput(o rpc.Output) (*output, error) {
	id := exchange.ResultID{Job: t.d.Task.Job, Edge: o.Edge.ID, Producer: t.d.Task.Subtask, Attempt: t.d.Task.Attempt}
	p := &output{
		edge: o.Edge, id: id, alloc: t.alloc, subs: o.Subpartitions, groups: o.MaxParallelism,
		next: t.d.Task.Subtask, pending: make([]pending, o.Subpartitions),
	}
	var err error
	if o.Edge.Blocking {
		p.w, err = t.tm.cfg.Exchange.Create(id, o.Subpartitions, true)
	} else {
		p.full, p.now = &t.full, t.tm.cfg.Now
		p.w, err = t.tm.cfg.Exchange.Pipe(t.ctx, id, o.Subpartitions)
	}
	if err != nil {
		return nil, err
	}
	if o.Edge.Exchange == jobgraph.HashBy {
		types := make([]expr.Type, len(o.Edge.Keys))
		for i, k := range o.Edge.Keys {
			types[i] = o.Edge.Schema.Fields[k].Type
		}
		p.hasher = column.NewHasher(types)
		p.keys = make([]arrow.Array, len(types))
		p.dict = make([]uint64, len(types))
	}
	return p, nil
}

// write takes one reference of b's record.
func (p *output) write(b operators.Batch) error {
	n := b.Rows()
	p.rows += int64(n)
	if n == 0 {
		b.Rec.Release()
		return nil
	}
	if p.bucketed != nil {
		return p.sort(b)
	}
	return p.send(b)
}

func (p *output) send(b operators.Batch) error {
	switch p.edge.Exchange {
	case jobgraph.HashBy:
		if len(p.pending) > 1 {
			return p.scatter(b)
		}
	case jobgraph.Broadcast:
		rec := column.Compact(p.alloc, b)
		defer rec.Release()
		for s := range p.subs {
			rec.Retain()
			if err := p.put(s, rec, smallRows); err != nil {
				return err
			}
		}
		return nil
	case jobgraph.Rebalance:
		s := p.next % p.subs
		p.next++
		return p.put(s, column.Compact(p.alloc, b), smallRows)
	}
	return p.put(0, column.Compact(p.alloc, b), smallRows)
}

// scatter sends each row to the subpartition of its key group, and there to the bucket of its key.
func (p *output) scatter(b operators.Batch) error {
	defer b.Rec.Release()
	for i, k := range p.edge.Keys {
		p.keys[i] = b.Rec.Column(k)
		p.dict[i] = 0
		if b.Dict != nil {
			p.dict[i] = b.Dict[k]
		}
	}
	n := b.Rows()
	if cap(p.hashes) < n {
		p.hashes, p.target, p.idx = make([]uint64, n), make([]int32, n), make([]int32, n)
	}
	hashes, target, idx := p.hashes[:n], p.target[:n], p.idx[:n]
	p.hasher.Hash(p.keys, p.dict, b.Sel, hashes)
	targets := len(p.pending)
	p.start = append(p.start[:0], make([]int32, targets+1)...)
	p.targets(hashes, target)
	for _, s := range target {
		p.start[s+1]++
	}
	for s := range targets {
		p.start[s+1] += p.start[s]
	}
	at := append([]int32(nil), p.start[:targets]...)
	for i, s := range target {
		row := int32(i)
		if b.Sel != nil {
			row = b.Sel[i]
		}
		idx[at[s]] = row
		at[s]++
	}
	add := p.buckets > 0 && p.pieces.suit(b.Rec)
	enough := int64(smallRows)
	if p.buckets > 0 {
		enough /= 4
	}
	for s := range targets {
		rows := idx[p.start[s]:p.start[s+1]]
		if len(rows) == 0 {
			continue
		}
		if add {
			if err := p.pieces.add(p, s, b.Rec, rows); err != nil {
				return err
			}
			continue
		}
		if err := p.put(s, p.take(b.Rec, rows), enough); err != nil {
			return err
		}
	}
	return nil
}

// targets are the places in pending of keys with the given hashes.
func (p *output) targets(hashes []uint64, target []int32) {
	switch {
	case p.buckets == 0:
		for i, h := range hashes {
			target[i] = int32(column.KeyGroup(h, p.groups) * p.subs / p.groups)
		}
	case p.subs == 1:
		for i, h := range hashes {
			target[i] = int32(h >> bucketAt & (1<<bucketBits - 1))
		}
	default:
		for i, h := range hashes {
			s := column.KeyGroup(h, p.groups) * p.subs / p.groups
			target[i] = int32(s<<bucketBits | int(h>>bucketAt&(1<<bucketBits-1)))
		}
	}
}

func (p *output) take(rec arrow.Record, rows []int32) arrow.Record {
	cols := make([]arrow.Array, rec.NumCols())
	for i, c := range rec.Columns() {
		cols[i] = column.Take(p.alloc, c, rows)
	}
	return p.record(cols, int64(len(rows)))
}

// record makes a record of columns it then owns.
func (p *output) record(cols []arrow.Array, rows int64) arrow.Record {
	rec := column.NewRecord(p.edge.Schema.Fields, cols, rows)
	for _, c := range cols {
		c.Release()
	}
	return rec
}

// put writes a piece for a subpartition or bucket, or keeps it until there are enough rows for a batch.
func (p *output) put(s int, rec arrow.Record, enough int64) error {
	q := &p.pending[s]
	q.add(rec)
	if q.rows < enough {
		return nil
	}
	return p.flush(s)
}

func (p *output) flush(s int) error {
	if len(p.pending[s].recs) == 0 {
		return nil
	}
	rec, err := p.joined(&p.pending[s])
	if err != nil {
		return err
	}
	return p.hand(s, rec)
}

func (q *pending) add(rec arrow.Record) {
	q.recs = append(q.recs, rec)
	q.rows += rec.NumRows()
}

func (q *pending) release() {
	for _, r := range q.recs {
		r.Release()
	}
	*q = pending{}
}

// joined takes all pieces of a pending as one record.
func (p *output) joined(q *pending) (arrow.Record, error) {
	recs, rows := q.recs, q.rows
	if len(recs) == 1 {
		*q = pending{}
		return recs[0], nil
	}
	defer q.release()
	cols := make([]arrow.Array, recs[0].NumCols())
	parts := make([]arrow.Array, len(recs))
	for c := range cols {
		for i, r := range recs {
			parts[i] = r.Column(c)
		}
		merged, err := column.Concat(p.alloc, parts)
		if err != nil {
			return nil, fmt.Errorf("putting batches together on edge %s: %w", p.edge.ID, err)
		}
		cols[c] = merged
	}
	return p.record(cols, rows), nil
}

// hand gives a record to the exchange and measures how long that had no room for it.
func (p *output) hand(s int, rec arrow.Record) error {
	if p.buckets > 0 {
		return p.bucketed.WriteBucket(s/p.buckets, 1+s%p.buckets, rec)
	}
	if p.full == nil {
		return p.w.Write(s, rec)
	}
	p.full.start(p.now())
	err := p.w.Write(s, rec)
	p.full.stop(p.now())
	return err
}

// flushAll writes all that is kept.
func (p *output) flushAll() error {
	if err := p.sortHeld(); err != nil {
		return err
	}
	for s := range p.pending {
		if err := p.flush(s); err != nil {
			return err
		}
	}
	return p.pieces.finishAll(p)
}

// finish seals the result.
func (p *output) finish() (rpc.ResultInfo, error) {
	if err := p.flushAll(); err != nil {
		return rpc.ResultInfo{}, err
	}
	bytes, rows, err := p.w.Finish()
	if err != nil {
		return rpc.ResultInfo{}, fmt.Errorf("finishing the result on edge %s: %w", p.edge.ID, err)
	}
	p.done = true
	return rpc.ResultInfo{ID: p.id, Bytes: bytes, Rows: rows}, nil
}

var errAborted = errors.New("the attempt ended before its result was complete")

// close drops the result unless it was finished.
func (p *output) close() {
	p.held.release()
	p.pieces.release()
	for s := range p.pending {
		p.pending[s].release()
	}
	if !p.done {
		p.w.Abort(errAborted)
	}
}
