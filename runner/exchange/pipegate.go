package exchange

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
)

// Connect opens one gate over the ranges. Each subpartition of a PIPELINED result has one consumer.
func (l *Local) Connect(from []Range) (StreamGate, error) {
	g := &pipeGate{credit: l.credits.Gate, wake: make(chan struct{}, 1)}
	for _, r := range from {
		if r.Lo < 0 || r.Lo >= r.Hi {
			return nil, fmt.Errorf("subpartitions %d to %d cannot be read", r.Lo, r.Hi)
		}
		for _, id := range r.From {
			p := l.pipeOf(id)
			for s := r.Lo; s < r.Hi; s++ {
				g.lanes = append(g.lanes, p.lane(s, l.credits))
			}
		}
	}
	g.blocked, g.ended = make([]bool, len(g.lanes)), make([]bool, len(g.lanes))
	for c, ln := range g.lanes {
		if err := ln.connect(g, c); err != nil {
			for _, mine := range g.lanes[:c] {
				mine.close()
			}
			return nil, err
		}
	}
	return g, nil
}

func (ln *lane) connect(g *pipeGate, channel int) error {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.gate != nil {
		return fmt.Errorf("a subpartition that flows has one consumer, and another one asks for it")
	}
	ln.gate, ln.channel = g, channel
	if len(ln.items) > ln.first {
		g.offer(channel)
	}
	return nil
}

// A pipeGate takes what its lanes offer, in the order in which they offered it.
type pipeGate struct {
	lanes  []*lane
	credit int64
	lent   atomic.Int64
	bytes  atomic.Int64
	wake   chan struct{}

	mu      sync.Mutex
	ready   []int // channels with items, each once
	blocked []bool
	ended   []bool
	ends    int
}

// borrow lends bytes to a lane while there are any.
func (g *pipeGate) borrow(n int64) bool {
	if g.lent.Add(n) <= g.credit {
		return true
	}
	g.lent.Add(-n)
	return false
}

// offer says that a channel has become ready.
func (g *pipeGate) offer(channel int) {
	g.mu.Lock()
	g.ready = append(g.ready, channel)
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// next is the channel whose turn it is, -1 where none has anything that may be read. done says that all
// have ended.
func (g *pipeGate) next() (channel int, done bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, c := range g.ready {
		if !g.blocked[c] {
			g.ready = append(g.ready[:i], g.ready[i+1:]...)
			return c, false
		}
	}
	return -1, g.ends == len(g.lanes)
}

// Ready reports whether Next would return at once.
func (g *pipeGate) Ready() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.ready {
		if !g.blocked[c] {
			return true
		}
	}
	return g.ends == len(g.lanes)
}

// Enough tells the producers that no more is needed.
func (g *pipeGate) Enough() {
	for _, ln := range g.lanes {
		ln.full.Store(true)
	}
}

// Bytes is the size of the records read so far; anybody may ask.
func (g *pipeGate) Bytes() int64 { return g.bytes.Load() }

func (g *pipeGate) Next(ctx context.Context) (int, arrow.Record, Event, error) {
	for {
		if ctx.Err() != nil {
			return 0, nil, Event{}, context.Cause(ctx)
		}
		c, done := g.next()
		if c >= 0 {
			it, more := g.lanes[c].take()
			if more {
				g.offer(c)
			}
			if it.rec == nil && it.event.Kind == NoEvent {
				continue // the lane was dropped meanwhile
			}
			if it.event.Kind == EndEvent {
				g.end(c)
			}
			g.bytes.Add(it.size)
			return c, it.rec, it.event, nil
		}
		if done {
			return 0, nil, Event{}, io.EOF
		}
		select {
		case <-ctx.Done():
		case <-g.wake:
		}
	}
}

func (g *pipeGate) end(channel int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended[channel] {
		g.ended[channel] = true
		g.ends++
	}
}

// Block keeps a channel from being read, or takes that back.
func (g *pipeGate) Block(channel int, on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blocked[channel] = on
}

// Close lets the producers of all channels go on without a reader.
func (g *pipeGate) Close() error {
	for _, ln := range g.lanes {
		ln.close()
	}
	return nil
}
