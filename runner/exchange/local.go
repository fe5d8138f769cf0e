package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// ErrPipelined says that a result that flows while it is written was asked for as one that is kept.
var ErrPipelined = errors.New("PIPELINED results are made by Pipe")

// Local keeps the results of one process: BLOCKING ones as pointers to records while they fit into the
// memory given, in a temporary file beyond that; PIPELINED ones in bounded queues.
type Local struct {
	alloc   memory.Allocator
	dir     string // of spill files; "" = the system's temporary folder
	limit   int64
	credits Credits

	mu      sync.Mutex
	used    int64
	spilled int64
	results map[ResultID]*result
	pipes   map[ResultID]*pipe
}

// NewLocal makes a service that holds up to limit bytes of BLOCKING results in memory.
func NewLocal(alloc memory.Allocator, dir string, limit int64) *Local {
	return &Local{alloc: alloc, dir: dir, limit: limit, credits: DefaultCredits(), results: map[ResultID]*result{}, pipes: map[ResultID]*pipe{}}
}

// A result is one partition. It is written by one goroutine, and read only once it is done.
type result struct {
	subs  [][]piece
	bytes []int64
	rows  []int64
	held  int64
	done  bool
	file  *files.TempFile
	end   int64
}

// A piece is a record of a subpartition: in memory, or so many bytes of the result's file.
type piece struct {
	rec      arrow.Record
	off, len int64
	bucket   int // 0: none
}

// Create begins a result.
func (l *Local) Create(id ResultID, subs int, blocking bool) (Writer, error) {
	if !blocking {
		return nil, ErrPipelined
	}
	if subs < 1 {
		return nil, fmt.Errorf("a result needs at least one subpartition, not %d", subs)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.results[id] != nil {
		return nil, fmt.Errorf("the result of subtask %d, attempt %d on edge %s exists already", id.Producer, id.Attempt, id.Edge)
	}
	r := &result{subs: make([][]piece, subs), bytes: make([]int64, subs), rows: make([]int64, subs)}
	l.results[id] = r
	return &localWriter{l: l, id: id, r: r, sizers: make([]Sizer, subs)}, nil
}

// reserve takes bytes of the memory, or says that there are none left.
func (l *Local) reserve(n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used+n > l.limit {
		return false
	}
	l.used += n
	return true
}

// Release drops a result; one that is not there is none to drop.
func (l *Local) Release(id ResultID) error {
	l.dropPipe(id)
	l.mu.Lock()
	r := l.results[id]
	delete(l.results, id)
	if r != nil {
		l.used -= r.held
	}
	l.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.free()
}

// Close drops all results.
func (l *Local) Close() error {
	l.mu.Lock()
	all := l.results
	pipes := l.pipes
	l.results, l.pipes = map[ResultID]*result{}, map[ResultID]*pipe{}
	l.used = 0
	l.mu.Unlock()
	for _, p := range pipes {
		p.drain()
	}
	var errs []error
	for _, r := range all {
		errs = append(errs, r.free())
	}
	return errors.Join(errs...)
}

// SpilledBytes is how much went to files so far.
func (l *Local) SpilledBytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spilled
}

func (r *result) free() error {
	for _, s := range r.subs {
		for _, p := range s {
			if p.rec != nil {
				p.rec.Release()
			}
		}
	}
	r.subs = nil
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

type localWriter struct {
	l      *Local
	id     ResultID
	r      *result
	sizers []Sizer
}

func (w *localWriter) Write(sub int, rec arrow.Record) error { return w.WriteBucket(sub, 0, rec) }

// WriteBucket writes to a bucket of a subpartition; 0 is none.
func (w *localWriter) WriteBucket(sub, bucket int, rec arrow.Record) error {
	n := w.sizers[sub].Bytes(rec)
	w.r.bytes[sub] += n
	w.r.rows[sub] += rec.NumRows()
	if w.l.reserve(n) {
		w.r.held += n
		w.r.subs[sub] = append(w.r.subs[sub], piece{rec: rec, bucket: bucket})
		return nil
	}
	defer rec.Release()
	p, err := w.r.spill(w.l, rec)
	if err != nil {
		return fmt.Errorf("spilling the result of subtask %d on edge %s: %w", w.id.Producer, w.id.Edge, err)
	}
	p.bucket = bucket
	w.r.subs[sub] = append(w.r.subs[sub], p)
	return nil
}

// Event does nothing but the end, which Finish says: a BLOCKING result has no watermarks.
func (w *localWriter) Event(Event) error { return nil }

func (w *localWriter) Finish() (bytes, rows []int64, err error) {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.r.done = true
	return w.r.bytes, w.r.rows, nil
}

func (w *localWriter) Abort(error) {
	// The result is dropped whole, so that nobody reads a part of it. Its file is temporary: an
	// error in removing it must not hide why the attempt failed.
	_ = w.l.Release(w.id)
}

// Open reads subpartitions lo..hi-1 of finished results: one result after the other or, where all of it is in buckets, one
// bucket after the other.
func (l *Local) Open(_ context.Context, from []ResultID, lo, hi int) (Gate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := &localGate{l: l}
	buckets := true
	for i, id := range from {
		r := l.results[id]
		if r == nil || !r.done {
			return nil, &LostError{ID: id}
		}
		if lo < 0 || hi > len(r.subs) || lo > hi {
			return nil, fmt.Errorf("edge %s has %d subpartitions, not %d to %d", id.Edge, len(r.subs), lo, hi)
		}
		for s := lo; s < hi; s++ {
			for _, p := range r.subs[s] {
				g.todo = append(g.todo, todo{channel: i, piece: p, r: r, sub: s})
				buckets = buckets && p.bucket > 0
				if p.rec != nil {
					p.rec.Retain()
				}
			}
		}
		g.todo = append(g.todo, todo{channel: i, end: true})
	}
	if buckets {
		g.byBucket()
	}
	return g, nil
}

type todo struct {
	channel int
	piece   piece
	r       *result
	sub     int
	end     bool // of the channel
	bucket  bool // the end of a bucket
}

// byBucket orders what there is to read by subpartition and bucket, with a mark after each.
func (g *localGate) byBucket() {
	slices.SortStableFunc(g.todo, func(a, b todo) int {
		switch {
		case a.end && b.end:
			return 0
		case a.end:
			return 1
		case b.end:
			return -1
		}
		return cmp.Or(a.sub-b.sub, a.piece.bucket-b.piece.bucket)
	})
	var marked []todo
	for i, t := range g.todo {
		marked = append(marked, t)
		if t.end {
			continue
		}
		if next := g.todo[i+1]; next.end || next.sub != t.sub || next.piece.bucket != t.piece.bucket {
			marked = append(marked, todo{channel: t.channel, bucket: true})
		}
	}
	g.todo = marked
}

type localGate struct {
	l    *Local
	todo []todo
	next int
}

func (g *localGate) Next(ctx context.Context) (int, arrow.Record, Event, error) {
	if err := ctx.Err(); err != nil {
		return 0, nil, Event{}, err
	}
	if g.next == len(g.todo) {
		return 0, nil, Event{}, io.EOF
	}
	t := &g.todo[g.next]
	g.next++
	switch {
	case t.end:
		return t.channel, nil, Event{Kind: EndEvent}, nil
	case t.bucket:
		return t.channel, nil, Event{Kind: BucketEvent}, nil
	case t.piece.rec != nil:
		rec := t.piece.rec
		t.piece.rec = nil
		return t.channel, rec, Event{}, nil
	}
	rec, err := t.r.load(g.l.alloc, t.piece)
	return t.channel, rec, Event{}, err
}

// Block is for aligning barriers, which BLOCKING results do not carry.
func (g *localGate) Block(int, bool) {}

func (g *localGate) Close() error {
	for i := range g.todo {
		if r := g.todo[i].piece.rec; r != nil {
			r.Release()
			g.todo[i].piece.rec = nil
		}
	}
	g.next = len(g.todo)
	return nil
}
