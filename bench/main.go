// Command bench times runner against other engines on the same questions, on this machine and in one
// run: `go run ./bench`. It makes its data with a seeded generator, installs the engines into bench/.venv,
// lets all take turns, and prints CPU seconds, wall seconds, peak memory and the ratio to the best of
// the others. Absolute times depend on the machine; ratios of one run are what counts.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

type settings struct {
	dir     string // of the benchmark's own files
	data    string
	rows    int
	runs    int
	races   []race
	rivals  []string
	startup int
	slots   int

	bin, python string
}

func main() {
	var s settings
	var tasks, rivals string
	flag.StringVar(&s.dir, "dir", "bench", "folder of the benchmark")
	flag.IntVar(&s.rows, "rows", 20_000_000, "orders")
	flag.IntVar(&s.runs, "runs", 3, "runs of each engine and task, taking turns")
	flag.StringVar(&tasks, "tasks", "plain:a", "INPUT:TASK, separated by commas; inputs: plain, quoted, snappy, zstd, mixed, mixed-snappy, mixed-zstd, json, mixed-json; tasks: a, b, c, d, e (copy all columns to Parquet); all: every pair")
	flag.StringVar(&rivals, "rivals", "duckdb,polars,datafusion", "engines to compare with, separated by commas")
	flag.IntVar(&s.startup, "startup", 20, "runs of the example plan, from process start to exit; 0: none")
	flag.IntVar(&s.slots, "slots", 0, "pairs of runs of plain:a with one slot and with two; 0: none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := s.choose(tasks, rivals)
	if err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func (s *settings) choose(tasks, rivals string) error {
	s.rivals = split(rivals)
	s.data = filepath.Join(s.dir, "data")
	for _, t := range split(tasks) {
		if t == "all" {
			s.races = append(s.races, every()...)
			continue
		}
		r, err := raceOf(t)
		if err != nil {
			return err
		}
		s.races = append(s.races, r)
	}
	return nil
}

func (s *settings) run(ctx context.Context) error {
	s.bin = filepath.Join(s.dir, ".bin", "runner")
	if err := command(ctx, "go", "build", "-o", s.bin, "./cmd/runner"); err != nil {
		return err
	}
	if err := os.MkdirAll(s.data, 0o755); err != nil {
		return err
	}
	if err := s.startTimes(ctx); err != nil {
		return err
	}
	if len(s.races) == 0 && s.slots == 0 {
		return nil
	}
	if err := s.install(ctx); err != nil {
		return err
	}
	if s.slots > 0 {
		if err := s.oneAndTwoSlots(ctx); err != nil {
			return err
		}
	}
	for _, r := range s.races {
		if err := s.race(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", r, err)
		}
	}
	return nil
}

// startTimes measures the example plan from the start of the process to its end.
func (s *settings) startTimes(ctx context.Context) error {
	if s.startup == 0 {
		return nil
	}
	var all []figures
	for range s.startup {
		f, err := measure(ctx, nil, s.bin, "run", "plans/orders.yaml", "--report", filepath.Join(s.data, "startup.json"))
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	m := median(all)
	fmt.Printf("example plan, process start to exit, median of %d: %.0f ms wall, %.0f ms CPU, %.0f MB\n\n", len(all), m.wall*1000, m.cpu*1000, m.peakMB)
	return nil
}

// install makes a Python environment with the engines in the versions of requirements.txt.
func (s *settings) install(ctx context.Context) error {
	venv := filepath.Join(s.dir, ".venv")
	s.python = filepath.Join(venv, "bin", "python")
	if _, err := os.Stat(s.python); err != nil {
		if err := command(ctx, "python3", "-m", "venv", venv); err != nil {
			return err
		}
	}
	return command(ctx, s.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", filepath.Join(s.dir, "requirements.txt"))
}

func command(ctx context.Context, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
