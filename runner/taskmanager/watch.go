package taskmanager

import (
	"sync/atomic"
	"time"
)

// A stopwatch sums the times in which its task waits for something. The task starts and stops it; anybody
// may read it, also while it runs.
type stopwatch struct {
	ns    atomic.Int64
	since atomic.Int64 // ns since 1970, 0 = it does not run
}

func (w *stopwatch) start(now time.Time) { w.since.Store(now.UnixNano()) }

func (w *stopwatch) stop(now time.Time) {
	w.ns.Add(max(0, now.UnixNano()-w.since.Swap(0)))
}

// total is the sum until now.
func (w *stopwatch) total(now time.Time) time.Duration {
	ns := w.ns.Load()
	if since := w.since.Load(); since != 0 {
		ns += max(0, now.UnixNano()-since)
	}
	return time.Duration(ns)
}
