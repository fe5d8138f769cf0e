package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Batches live in reused buffers, so that garbage is rare and looking for it often does not pay. But
// what tables leave behind as they grow is large: so there may be this much garbage, and at most four times
// or at least a third as much as there is in use.
const (
	garbage      = 64 << 20
	mostGarbage  = 400 // percent of what is in use
	leastGarbage = 33
)

// tuneGC sets the garbage collector's pace, and again after each collection.
func tuneGC() {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	pace := -1
	var collected func(*[]byte)
	collected = func(mark *[]byte) {
		metrics.Read(inUse)
		percent := mostGarbage
		if n := inUse[0].Value.Uint64(); n > 0 {
			percent = int(min(max(100*garbage/n, leastGarbage), mostGarbage))
		}
		if percent != pace {
			pace = percent
			debug.SetGCPercent(percent)
		}
		runtime.SetFinalizer(mark, collected)
	}
	collected(&[]byte{0})
}
