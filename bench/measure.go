package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"syscall"
	"time"
)

// figures of one run of a whole process.
type figures struct {
	cpu, wall float64 // seconds
	peakMB    float64
}

// measure runs a process to its end; one that fails is an error with what it printed.
func measure(ctx context.Context, name string, args ...string) (figures, error) {
	c := exec.CommandContext(ctx, name, args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	from := time.Now()
	err := c.Run()
	wall := time.Since(from).Seconds()
	if err != nil {
		return figures{}, fmt.Errorf("%s %v: %w\n%s", name, args, err, out.String())
	}
	u, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return figures{}, fmt.Errorf("this system does not say what a process used")
	}
	return figures{cpu: seconds(u.Utime) + seconds(u.Stime), wall: wall, peakMB: float64(u.Maxrss) / 1024}, nil
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

// sameAnswers compares what the engines wrote: keys and counts exactly, sums to within 1e-9, since the
// others add doubles in whatever order they come.
func sameAnswers(dir, task string, rivals []string) error {
	want, err := answers(filepath.Join(dir, "out_runner_"+task+".csv"))
	if err != nil {
		return err
	}
	for _, e := range rivals {
		got, err := answers(filepath.Join(dir, "out_"+e+"_"+task+".csv"))
		if err != nil {
			return err
		}
		if len(got) != len(want) {
			return fmt.Errorf("task %s: %s gives %d rows, runner %d", task, e, len(got), len(want))
		}
		for i := range want {
			for c := range want[i] {
				if !sameCell(want[i][c], got[i][c]) {
					return fmt.Errorf("task %s, row %d: %s gives %v, runner %v", task, i, e, got[i], want[i])
				}
			}
		}
	}
	return nil
}

func sameCell(a, b string) bool {
	if a == b {
		return true
	}
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}

// answers reads a result, sorted by all columns.
func answers(file string) ([][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	rows = rows[1:]
	sort.Slice(rows, func(i, j int) bool {
		for c := range rows[i] {
			if rows[i][c] != rows[j][c] {
				return rows[i][c] < rows[j][c]
			}
		}
		return false
	})
	return rows, nil
}
