package taskmanager

import (
	"time"

	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// An alignment waits for one barrier on all channels. Those that brought it are blocked until then, so that
// nothing from behind it mixes with what comes before it elsewhere.
type alignment struct {
	barrier int64 // 0 = none
	since   time.Time
	from    map[int]bool // channels that brought it
	last    int64        // barrier that has passed
}

// barrier takes a barrier of a channel.
func (t *task) barrier(c int, n int64) error {
	s := t.stream
	a := &s.align
	if n <= a.last || n < a.barrier {
		return nil // one that was given up
	}
	if n > a.barrier {
		t.unblock()
		a.barrier, a.since, a.from = n, t.tm.cfg.Now(), map[int]bool{}
	}
	a.from[c] = true
	s.gate.Block(c, true)
	return t.aligned()
}

// aligned gives the barrier on when no channel is left that has still to bring it. One that has ended brings
// no more.
func (t *task) aligned() error {
	s := t.stream
	if s.align.barrier == 0 {
		return nil
	}
	for c := range s.channels {
		if !s.channels[c].ended && !s.align.from[c] {
			return nil
		}
	}
	n, took := s.align.barrier, t.tm.cfg.Now().Sub(s.align.since)
	t.unblock()
	return t.pass(n, took)
}

func (t *task) unblock() {
	a := &t.stream.align
	for c := range a.from {
		t.stream.gate.Block(c, false)
	}
	a.barrier, a.from = 0, nil
}

// pass has the members give out what they hold outside their state, gives the barrier on and says so.
func (t *task) pass(n int64, took time.Duration) error {
	t.stream.align.last = n
	if err := t.passMember(0, n); err != nil {
		return err
	}
	t.tm.send(t.d.Task.Job, rpc.AcknowledgeBarrier{Task: t.d.Task, Barrier: n, AlignedMs: took.Milliseconds()})
	return nil
}

func (t *task) passMember(place int, n int64) error {
	m := t.members[place]
	if err := m.flush(); err != nil {
		return err
	}
	for _, p := range m.next {
		if err := t.passMember(p, n); err != nil {
			return err
		}
	}
	return t.say(place, exchange.Event{Kind: exchange.BarrierEvent, Checkpoint: n})
}

// putBarriers puts the barriers into a source's stream that were asked for.
func (t *task) putBarriers() error {
	for {
		select {
		case n := <-t.barriers:
			if n > t.stream.align.last {
				if err := t.pass(n, 0); err != nil {
					return err
				}
			}
		default:
			return nil
		}
	}
}
