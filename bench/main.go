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
	"runtime"
	"strings"
)

type settings struct {
	dir     string // of the benchmark's own files
	data    string
	rows    int
	runs    int
	tasks   []string
	rivals  []string
	startup int
}

func main() {
	var s settings
	var tasks, rivals string
	flag.StringVar(&s.dir, "dir", "bench", "folder of the benchmark")
	flag.IntVar(&s.rows, "rows", 20_000_000, "orders")
	flag.IntVar(&s.runs, "runs", 3, "runs of each engine and task, taking turns")
	flag.StringVar(&tasks, "tasks", "a", "tasks, separated by commas: a, b, c, d")
	flag.StringVar(&rivals, "rivals", "duckdb,polars,datafusion", "engines to compare with, separated by commas")
	flag.IntVar(&s.startup, "startup", 20, "runs of the example plan, from process start to exit; 0: none")
	compare := flag.String("compare", "", "only compare the answers to this task; used by the program itself")
	flag.Parse()
	s.tasks, s.rivals = split(tasks), split(rivals)
	s.data = filepath.Join(s.dir, "data")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	work := s.run
	if *compare != "" {
		work = func(context.Context) error { return sameAnswers(s.data, *compare, s.rivals) }
	}
	if err := work(ctx); err != nil {
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

func (s *settings) run(ctx context.Context) error {
	bin := filepath.Join(s.dir, ".bin", "runner")
	if err := command(ctx, "go", "build", "-o", bin, "./cmd/runner"); err != nil {
		return err
	}
	if err := s.startTimes(ctx, bin); err != nil {
		return err
	}
	if len(s.tasks) == 0 {
		return nil
	}
	if err := generate(filepath.Join(s.data, "orders.csv"), s.rows); err != nil {
		return err
	}
	python, err := s.install(ctx)
	if err != nil {
		return err
	}
	for _, task := range s.tasks {
		if err := s.race(ctx, bin, python, task); err != nil {
			return err
		}
	}
	return nil
}

// startTimes measures the example plan from the start of the process to its end.
func (s *settings) startTimes(ctx context.Context, bin string) error {
	if s.startup == 0 {
		return nil
	}
	reports := filepath.Join(s.data, "startup.json")
	if err := os.MkdirAll(s.data, 0o755); err != nil {
		return err
	}
	var all []figures
	for range s.startup {
		f, err := measure(ctx, bin, "run", "plans/orders.yaml", "--report", reports)
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
func (s *settings) install(ctx context.Context) (python string, err error) {
	venv := filepath.Join(s.dir, ".venv")
	python = filepath.Join(venv, "bin", "python")
	if len(s.rivals) == 0 {
		return python, nil
	}
	if _, err := os.Stat(python); err != nil {
		if err := command(ctx, "python3", "-m", "venv", venv); err != nil {
			return "", err
		}
	}
	return python, command(ctx, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", filepath.Join(s.dir, "requirements.txt"))
}

func command(ctx context.Context, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// race lets all engines answer one question in turn.
func (s *settings) race(ctx context.Context, bin, python, task string) error {
	results := map[string][]figures{}
	engines := append([]string{"runner"}, s.rivals...)
	for range s.runs {
		for _, e := range engines {
			args := []string{python, filepath.Join(s.dir, "rivals.py"), e, task, s.data}
			if e == "runner" {
				args = []string{bin, "run", filepath.Join(s.dir, "plans", task+".yaml"), "--report", filepath.Join(s.data, "report.json")}
			}
			f, err := measure(ctx, args[0], args[1:]...)
			if err != nil {
				return err
			}
			results[e] = append(results[e], f)
		}
	}
	// In a process of its own: the system counts a parent's memory as the peak of its children too.
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := command(ctx, self, "-dir", s.dir, "-rivals", strings.Join(s.rivals, ","), "-compare", task); err != nil {
		return err
	}
	print(task, engines, results)
	return nil
}

func print(task string, engines []string, results map[string][]figures) {
	fmt.Printf("CSV %s, %d CPUs, medians\n%-12s %8s %8s %8s %12s %12s\n", task, runtime.NumCPU(), "engine", "CPU s", "wall s", "peak MB", "CPU / runner", "wall / runner")
	us := median(results["runner"])
	bestCPU, bestWall := 0.0, 0.0
	for _, e := range engines {
		m := median(results[e])
		fmt.Printf("%-12s %8.2f %8.2f %8.0f %12.2f %12.2f\n", e, m.cpu, m.wall, m.peakMB, m.cpu/us.cpu, m.wall/us.wall)
		if e == "runner" {
			continue
		}
		if bestCPU == 0 || m.cpu < bestCPU {
			bestCPU = m.cpu
		}
		if bestWall == 0 || m.wall < bestWall {
			bestWall = m.wall
		}
	}
	if bestCPU > 0 {
		fmt.Printf("best of the others / runner: CPU %.2fx, wall %.2fx\n", bestCPU/us.cpu, bestWall/us.wall)
	}
	fmt.Println()
}
