//go:build unix

package runner

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// peakMemory is the most memory this process had at once, in bytes; 0 where the system does not say.
func peakMemory() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}

// cpuTime is the processor time this process has used so far, 0 where the system does not say.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
