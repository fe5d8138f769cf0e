//go:build !unix

package runner

import "time"

// peakMemory is not known on this system.
func peakMemory() int64 { return 0 }

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
