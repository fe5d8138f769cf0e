package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// figures of one run of a whole process.
type figures struct {
	cpu, wall float64 // seconds
	peakMB    float64 // of anonymous memory, by samples; pages of files that are mapped do not count
}

// measure runs a process to its end; one that fails is an error with what it printed.
func measure(ctx context.Context, env []string, name string, args ...string) (figures, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	from := time.Now()
	if err := c.Start(); err != nil {
		return figures{}, err
	}
	stop, peak := make(chan struct{}), make(chan float64)
	go func() { peak <- watch(c.Process.Pid, stop) }()
	err := c.Wait()
	wall := time.Since(from).Seconds()
	close(stop)
	f := figures{wall: wall, peakMB: <-peak}
	if err != nil {
		return figures{}, fmt.Errorf("%s %v: %w\n%s", name, args, err, out.String())
	}
	u, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return figures{}, fmt.Errorf("this system does not say what a process used")
	}
	f.cpu = seconds(u.Utime) + seconds(u.Stime)
	return f, nil
}

// watch samples the anonymous memory of a process until told to stop, and gives its peak in MB.
func watch(pid int, stop <-chan struct{}) float64 {
	tick := time.NewTicker(4 * time.Millisecond)
	defer tick.Stop()
	peak := 0.0
	for {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
			_, rest, _ := strings.Cut(string(b), "RssAnon:")
			if kb, err := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64); err == nil {
				peak = max(peak, kb/1024)
			}
		}
		select {
		case <-stop:
			return peak
		case <-tick.C:
		}
	}
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

// median takes each figure by itself.
func median(all []figures) figures {
	pick := func(f func(figures) float64) float64 {
		v := make([]float64, len(all))
		for i, x := range all {
			v[i] = f(x)
		}
		sort.Float64s(v)
		return v[len(v)/2]
	}
	return figures{
		cpu:    pick(func(f figures) float64 { return f.cpu }),
		wall:   pick(func(f figures) float64 { return f.wall }),
		peakMB: pick(func(f figures) float64 { return f.peakMB }),
	}
}

// ratios are the medians, round by round, of what a needs against b.
func ratios(a, b []figures) (cpu, wall float64) {
	rounds := make([]figures, len(a))
	for i := range a {
		rounds[i] = figures{cpu: a[i].cpu / b[i].cpu, wall: a[i].wall / b[i].wall}
	}
	m := median(rounds)
	return m.cpu, m.wall
}
