//go:build !unix

package failure

import "time"

var started = time.Now()

// usedCPU is the time since the start, where the processor's is not to be had.
func usedCPU() time.Duration { return time.Since(started) }
