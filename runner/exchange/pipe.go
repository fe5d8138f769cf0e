package exchange

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
)

// Credits bound what PIPELINED results hold. A record that is larger than its channel's bound still passes,
// alone.
type Credits struct {
	Channel int64 // bytes that each channel may hold of its own
	Gate    int64 // bytes that the channels of one gate may hold beyond that, together
}

// DefaultCredits are those of Flink: 2 buffers of 32 KiB for each channel, 8 more for each gate.
func DefaultCredits() Credits { return Credits{Channel: 2 * 32 << 10, Gate: 8 * 32 << 10} }

// recordOverhead is what every record counts at least: many tiny ones take memory for their headers.
const recordOverhead = 1 << 10

// SetCredits changes the bounds for results that are made from now on. It is not to be called while tasks run.
func (l *Local) SetCredits(c Credits) { l.credits = c }

// A pipe is one PIPELINED result: a lane for each subpartition. Lanes come to be when the first of
// producer and consumer asks for them.
type pipe struct {
	mu    sync.Mutex
	lanes map[int]*lane
	subs  int // 0 until the producer begins
}

func (p *pipe) lane(sub int, c Credits) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lanes[sub] == nil {
		p.lanes[sub] = &lane{own: c.Channel, room: make(chan struct{}, 1)}
	}
	return p.lanes[sub]
}

// drain drops what nobody will read any more.
func (p *pipe) drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ln := range p.lanes {
		ln.close()
	}
}

// pipeOf finds or makes the pipe of a result.
func (l *Local) pipeOf(id ResultID) *pipe {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pipes[id]
	if p == nil {
		p = &pipe{lanes: map[int]*lane{}}
		l.pipes[id] = p
	}
	return p
}

func (l *Local) dropPipe(id ResultID) {
	l.mu.Lock()
	p := l.pipes[id]
	delete(l.pipes, id)
	l.mu.Unlock()
	if p != nil {
		p.drain()
	}
}

// A lane is the queue of one subpartition: one producer puts in, one consumer takes out.
type lane struct {
	own  int64         // bytes it may hold without borrowing
	room chan struct{} // told when something was taken out
	full atomic.Bool   // its consumer needs no more

	mu       sync.Mutex
	items    []item
	first    int
	records  int
	held     int64 // bytes in items
	borrowed int64 // of held, from the gate
	gate     *pipeGate
	channel  int  // in the gate
	closed   bool // nobody reads any more
}

type item struct {
	rec   arrow.Record
	event Event
	size  int64
	bytes int64 // that count against the bounds
}

// admits reports whether n more bytes may wait. An empty lane takes a record of any size.
func (ln *lane) admits(n int64) bool {
	if ln.records == 0 || ln.held+n <= ln.own {
		return true
	}
	if ln.gate == nil || !ln.gate.borrow(n) {
		return false
	}
	ln.borrowed += n
	return true
}

// put waits for room. It takes rec's reference in any case.
func (ln *lane) put(ctx context.Context, rec arrow.Record, size int64) error {
	n := max(size, recordOverhead)
	ln.mu.Lock()
	for !ln.closed && !ln.admits(n) {
		ln.mu.Unlock()
		select {
		case <-ctx.Done():
			rec.Release()
			return context.Cause(ctx)
		case <-ln.room:
		}
		ln.mu.Lock()
	}
	if ln.closed {
		ln.mu.Unlock()
		rec.Release()
		return nil
	}
	ln.records++
	ln.held += n
	ln.push(item{rec: rec, size: size, bytes: n})
	ln.mu.Unlock()
	return nil
}

// say puts an event in, which needs no room: a watermark replaces one that nobody has seen yet, so no more
// events wait than records, but for barriers.
func (ln *lane) say(e Event) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.closed {
		return
	}
	if n := len(ln.items); n > ln.first && replaces(e, ln.items[n-1]) {
		ln.items[n-1].event = e
		return
	}
	ln.push(item{event: e})
}

// replaces reports whether an event says all that the item before it says.
func replaces(e Event, last item) bool {
	if last.rec != nil {
		return false
	}
	was := last.event.Kind
	return e.Kind == WatermarkEvent && (was == WatermarkEvent || was == IdleEvent) || e.Kind == IdleEvent && was == IdleEvent
}

// push needs the lock.
func (ln *lane) push(it item) {
	empty := len(ln.items) == ln.first
	if ln.first > 64 && ln.first*2 > len(ln.items) {
		n := copy(ln.items, ln.items[ln.first:])
		clear(ln.items[n:])
		ln.items, ln.first = ln.items[:n], 0
	}
	ln.items = append(ln.items, it)
	if empty && ln.gate != nil {
		ln.gate.offer(ln.channel)
	}
}

// take takes the first item out and reports whether there is another one.
func (ln *lane) take() (it item, more bool) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.first == len(ln.items) {
		return item{}, false
	}
	it = ln.items[ln.first]
	ln.items[ln.first] = item{}
	ln.first++
	if ln.first == len(ln.items) {
		ln.items, ln.first = ln.items[:0], 0
	}
	ln.freed(it)
	return it, ln.first < len(ln.items)
}

// freed gives an item's bytes back, what was borrowed first. It needs the lock.
func (ln *lane) freed(it item) {
	if it.rec == nil {
		return
	}
	ln.records--
	ln.held -= it.bytes
	if back := min(ln.borrowed, it.bytes); back > 0 {
		ln.borrowed -= back
		ln.gate.lent.Add(-back)
	}
	select {
	case ln.room <- struct{}{}:
	default:
	}
}

// close drops all that waits, and all that still comes.
func (ln *lane) close() {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	ln.closed = true
	ln.full.Store(true)
	for _, it := range ln.items[ln.first:] {
		ln.freed(it)
		if it.rec != nil {
			it.rec.Release()
		}
	}
	ln.items, ln.first = nil, 0
	select {
	case ln.room <- struct{}{}:
	default:
	}
}

// Pipe begins a PIPELINED result.
func (l *Local) Pipe(ctx context.Context, id ResultID, subs int) (Writer, error) {
	if subs < 1 {
		return nil, fmt.Errorf("a result needs at least one subpartition, not %d", subs)
	}
	p := l.pipeOf(id)
	p.mu.Lock()
	twice := p.subs > 0
	p.subs = subs
	p.mu.Unlock()
	if twice {
		return nil, fmt.Errorf("the result of subtask %d, attempt %d on edge %s exists already", id.Producer, id.Attempt, id.Edge)
	}
	w := &pipeWriter{ctx: ctx, l: l, id: id, lanes: make([]*lane, subs), sizers: make([]Sizer, subs), bytes: make([]int64, subs), rows: make([]int64, subs)}
	for s := range subs {
		w.lanes[s] = p.lane(s, l.credits)
	}
	return w, nil
}

type pipeWriter struct {
	ctx     context.Context
	l       *Local
	id      ResultID
	lanes   []*lane
	sizers  []Sizer
	bytes   []int64
	rows    []int64
	written atomic.Int64
}

// Written is the number of bytes written so far; anybody may ask.
func (w *pipeWriter) Written() int64 { return w.written.Load() }

// Wanted reports whether some consumer needs more.
func (w *pipeWriter) Wanted() bool {
	for _, ln := range w.lanes {
		if !ln.full.Load() {
			return true
		}
	}
	return false
}

func (w *pipeWriter) Write(sub int, rec arrow.Record) error {
	n, rows := w.sizers[sub].Bytes(rec), rec.NumRows()
	if err := w.lanes[sub].put(w.ctx, rec, n); err != nil {
		return err
	}
	w.bytes[sub] += n
	w.rows[sub] += rows
	w.written.Add(n)
	return nil
}

func (w *pipeWriter) Event(e Event) error {
	for _, ln := range w.lanes {
		ln.say(e)
	}
	return nil
}

// Finish says the end on all subpartitions. The result goes when its consumers have read it and it is released.
func (w *pipeWriter) Finish() (bytes, rows []int64, err error) {
	return w.bytes, w.rows, w.Event(Event{Kind: EndEvent})
}

// Abort leaves what was written to be read, and says no end. The consumers are stopped by the JobMaster: an
// error of theirs could arrive before the one that tells why.
func (w *pipeWriter) Abort(error) {}
