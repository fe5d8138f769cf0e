package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A World is one simulated cluster.
type World struct {
	now      int64
	seq      int
	queue    events
	random   *rand.Rand
	faults   Faults
	jm       *jobManager
	managers map[string]*manager // by current id; dead ones too, as nobody answers there
	alive    []*manager
	born     int
	lastMs   map[pair]int64 // latest delivery, so that order holds within a pair
	results  map[resultKey]*result
	faulty   []string // violations
	trace    func(string)
}

type pair struct{ from, to rpc.Address }

// Faults are the chances, in thousandths, of what can go wrong.
type Faults struct {
	TaskFails   int // an attempt fails for no reason of the data
	Doubled     int // an update is sent twice
	Late        int // an update of an old attempt comes again much later
	Kill        int // per second and TaskManager
	Hang        int // per second and TaskManager: silent for a while
	Drop        int // per second and TaskManager: the connection breaks
	CommitFails int // a commit fails
	MaxDelayMs  int64
	Until       int64 // ms after which TaskManagers are left alone
}

type event struct {
	atMs int64
	seq  int
	do   func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].atMs < q[j].atMs || q[i].atMs == q[j].atMs && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push adds an event.
func (q *events) Push(x any) { *q = append(*q, x.(event)) }

// Pop takes the last event.
func (q *events) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

// after does something delayMs later.
func (w *World) after(delayMs int64, do func()) {
	w.seq++
	heap.Push(&w.queue, event{atMs: w.now + max(delayMs, 0), seq: w.seq, do: do})
}

// chance is true in thousandths of the cases.
func (w *World) chance(thousandths int) bool { return w.random.IntN(1000) < thousandths }

// between is a random number from lo to hi.
func (w *World) between(lo, hi int64) int64 { return lo + w.random.Int64N(hi-lo+1) }

func (w *World) violate(format string, args ...any) {
	if len(w.faulty) < 20 {
		w.faulty = append(w.faulty, fmt.Sprintf("%d ms: ", w.now)+fmt.Sprintf(format, args...))
	}
}

// post sends a message. It is encoded and decoded, so that nothing is shared between the nouns.
func (w *World) post(e rpc.Envelope) {
	b, err := rpc.Encode(e)
	if err != nil {
		w.violate("%v", err)
		return
	}
	p := pair{e.From, e.To}
	at := max(w.lastMs[p], w.now+w.between(0, w.faults.MaxDelayMs))
	w.lastMs[p] = at
	link := w.link(e)
	w.after(at-w.now, func() {
		if link != nil && link.broken {
			return
		}
		got, err := rpc.Decode(b)
		if err != nil {
			w.violate("%v", err)
			return
		}
		if w.trace != nil {
			w.trace(fmt.Sprintf("%6d %s -> %s %T %+v", w.now, got.From, got.To, got.Body, got.Body))
		}
		w.deliver(got)
	})
}

// A link is the connection of a TaskManager, under one id.
type link struct{ broken bool }

// link finds the connection a message goes over, nil within the JobManager.
func (w *World) link(e rpc.Envelope) *link {
	for _, a := range []rpc.Address{e.From, e.To} {
		if m := w.managers[string(a)]; m != nil {
			return m.links[string(a)]
		}
	}
	return nil
}

func (w *World) deliver(e rpc.Envelope) {
	if m := w.managers[string(e.To)]; m != nil {
		if string(rpc.TaskManager(m.id)) == string(e.To) {
			m.receive(e)
		}
		return
	}
	w.jm.receive(e)
}

// run lets the world go on until every job has ended, or the limit is reached.
func (w *World) run(limitMs int64, ended func() bool) bool {
	for w.queue.Len() > 0 {
		e := heap.Pop(&w.queue).(event)
		if e.atMs > limitMs {
			return ended()
		}
		w.now = e.atMs
		e.do()
		if len(w.faulty) > 0 {
			return false
		}
		if ended() {
			return true
		}
	}
	return ended()
}
