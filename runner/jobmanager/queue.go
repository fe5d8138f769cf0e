package jobmanager

import "sync"

// A queue holds events for the loop. It has no bound, so that nobody who posts has to wait.
type queue struct {
	mu     sync.Mutex
	more   *sync.Cond
	todo   []step
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.more = sync.NewCond(&q.mu)
	return q
}

func (q *queue) put(s step) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.todo = append(q.todo, s)
		q.more.Signal()
	}
}

// take waits for an event; false after close.
func (q *queue) take() (step, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.todo) == 0 && !q.closed {
		q.more.Wait()
	}
	if q.closed {
		return step{}, false
	}
	s := q.todo[0]
	q.todo[0] = step{}
	q.todo = q.todo[1:]
	return s, true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Broadcast()
}
