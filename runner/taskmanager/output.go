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
	pending []pending
	rows    int64
	done    bool
	full    *stopwatch // runs while a consumer has no room; nil: it always has
	now     func() time.Time
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
	switch p.edge.Exchange {
	case jobgraph.HashBy:
		if p.subs > 1 {
			return p.scatter(b)
		}
	case jobgraph.Broadcast:
		rec := column.Compact(p.alloc, b)
		defer rec.Release()
		for s := range p.subs {
			rec.Retain()
			if err := p.put(s, rec); err != nil {
				return err
			}
		}
		return nil
	case jobgraph.Rebalance:
		s := p.next % p.subs
		p.next++
		return p.put(s, column.Compact(p.alloc, b))
	}
	return p.put(0, column.Compact(p.alloc, b))
}

// scatter sends each row to the subpartition of its key group.
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
	p.start = append(p.start[:0], make([]int32, p.subs+1)...)
	for i, h := range hashes {
		s := int32(column.KeyGroup(h, p.groups) * p.subs / p.groups)
		target[i] = s
		p.start[s+1]++
	}
	for s := range p.subs {
		p.start[s+1] += p.start[s]
	}
	at := append([]int32(nil), p.start[:p.subs]...)
	for i, s := range target {
		row := int32(i)
		if b.Sel != nil {
			row = b.Sel[i]
		}
		idx[at[s]] = row
		at[s]++
	}
	for s := range p.subs {
		rows := idx[p.start[s]:p.start[s+1]]
		if len(rows) == 0 {
			continue
		}
		if err := p.put(s, p.take(b.Rec, rows)); err != nil {
			return err
		}
	}
	return nil
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

// put writes a piece for a subpartition, or keeps it until there is enough for a batch.
func (p *output) put(s int, rec arrow.Record) error {
	q := &p.pending[s]
	q.recs = append(q.recs, rec)
	q.rows += rec.NumRows()
	if q.rows < smallRows {
		return nil
	}
	return p.flush(s)
}

func (p *output) flush(s int) error {
	q := &p.pending[s]
	if len(q.recs) == 0 {
		return nil
	}
	recs, rows := q.recs, q.rows
	q.recs, q.rows = nil, 0
	if len(recs) == 1 {
		return p.hand(s, recs[0])
	}
	cols := make([]arrow.Array, recs[0].NumCols())
	parts := make([]arrow.Array, len(recs))
	for c := range cols {
		for i, r := range recs {
			parts[i] = r.Column(c)
		}
		merged, err := column.Concat(p.alloc, parts)
		if err != nil {
			return fmt.Errorf("putting batches together on edge %s: %w", p.edge.ID, err)
		}
		cols[c] = merged
	}
	for _, r := range recs {
		r.Release()
	}
	return p.hand(s, p.record(cols, rows))
}

// hand gives a record to the exchange and measures how long that had no room for it.
func (p *output) hand(s int, rec arrow.Record) error {
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
	for s := range p.subs {
		if err := p.flush(s); err != nil {
			return err
		}
	}
	return nil
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
	for s := range p.pending {
		for _, r := range p.pending[s].recs {
			r.Release()
		}
		p.pending[s] = pending{}
	}
	if !p.done {
		p.w.Abort(errAborted)
	}
}
