package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// inputs are the files that are read: kind of source, name of the orders, ending.
var inputs = []struct{ name, kind, orders, ending string }{
	{"plain", "csv", "plain", ".csv"},
	{"quoted", "csv", "quoted", ".csv"},
	{"snappy", "parquet", "plain", "_snappy.parquet"},
	{"zstd", "parquet", "plain", "_zstd.parquet"},
	{"mixed", "csv", "mixed", ".csv"},
	{"mixed-snappy", "parquet", "mixed", "_snappy.parquet"},
	{"mixed-zstd", "parquet", "mixed", "_zstd.parquet"},
	{"json", "json", "plain", ".jsonl"},
	{"mixed-json", "json", "mixed", ".jsonl"},
}

// A race is one question of one input.
type race struct{ input, task string }

func (r race) String() string { return r.input + ":" + r.task }

func raceOf(s string) (race, error) {
	input, task, ok := strings.Cut(s, ":")
	if !ok || len(task) != 1 || !strings.Contains("abcde", task) {
		return race{}, fmt.Errorf("task %q: expected INPUT:TASK with a task of a, b, c, d, e, such as plain:a", s)
	}
	for _, in := range inputs {
		if in.name == input {
			return race{input, task}, nil
		}
	}
	return race{}, fmt.Errorf("task %q: there is no input %q", s, input)
}

func every() []race {
	var all []race
	for _, in := range inputs {
		for _, t := range []string{"a", "b", "c", "d", "e"} {
			if t != "e" || in.name == "plain" || in.name == "mixed" {
				all = append(all, race{in.name, t})
			}
		}
	}
	return all
}

// prepare makes the race's input, if it is not there yet, and the plan for runner.
func (s *settings) prepare(ctx context.Context, r race) (file, plan string, err error) {
	i := slices.IndexFunc(inputs, func(in struct{ name, kind, orders, ending string }) bool { return in.name == r.input })
	in := inputs[i]
	csv := filepath.Join(s.data, "orders_"+in.orders+".csv")
	fresh, err := generate(csv, in.orders, s.rows)
	if err != nil {
		return "", "", err
	}
	file = "orders_" + in.orders + in.ending
	if _, err := os.Stat(filepath.Join(s.data, file)); in.kind == "parquet" && (fresh || err != nil) {
		if err := command(ctx, s.python, filepath.Join(s.dir, "rivals.py"), "make", in.orders, s.data); err != nil {
			return "", "", err
		}
	}
	if _, err := os.Stat(filepath.Join(s.data, file)); in.kind == "json" && (fresh || err != nil) {
		if err := asJSON(csv, filepath.Join(s.data, file)); err != nil {
			return "", "", err
		}
	}
	var text []byte
	for _, part := range []string{in.kind, r.task} {
		b, err := os.ReadFile(filepath.Join(s.dir, "plans", part+".yaml"))
		if err != nil {
			return "", "", err
		}
		text = append(text, b...)
	}
	plan = filepath.Join(s.dir, "plans", ".race.yaml") // beside its parts, whose paths are relative
	return file, plan, os.WriteFile(plan, text, 0o644)
}

// race lets all engines answer one question in turn.
func (s *settings) race(ctx context.Context, r race) error {
	file, plan, err := s.prepare(ctx, r)
	if err != nil {
		return err
	}
	defer os.Remove(plan)
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(file, ".csv"), ".parquet"), ".jsonl")
	results := map[string][]figures{}
	engines := append([]string{"runner"}, s.rivals...)
	for range s.runs {
		for _, e := range engines {
			args := []string{s.python, filepath.Join(s.dir, "rivals.py"), e, file, r.task, s.data}
			if e == "runner" {
				args = []string{s.bin, "run", plan, "--set", "input=" + name, "--report", filepath.Join(s.data, "report.json")}
			}
			f, err := measure(ctx, nil, args[0], args[1:]...)
			if err != nil {
				return err
			}
			results[e] = append(results[e], f)
		}
	}
	if err := os.Rename(filepath.Join(s.data, "out.parquet"), filepath.Join(s.data, "out_runner.parquet")); err != nil {
		return err
	}
	if err := command(ctx, s.python, append([]string{filepath.Join(s.dir, "rivals.py"), "compare", r.task, s.data}, engines...)...); err != nil {
		return err
	}
	return s.print(r, engines, results)
}

func (s *settings) print(r race, engines []string, results map[string][]figures) error {
	fmt.Printf("%s, %d CPUs, medians of %d; answers are equal\n%-12s %8s %8s %8s %10s %12s %12s\n",
		r, runtime.NumCPU(), s.runs, "engine", "CPU s", "wall s", "anon MB", "output MB", "CPU / runner", "wall / runner")
	for _, e := range engines {
		m := median(results[e])
		size, err := sizeOf(filepath.Join(s.data, "out_"+e+".parquet"))
		if err != nil {
			return err
		}
		cpu, wall := ratios(results[e], results["runner"])
		fmt.Printf("%-12s %8.2f %8.2f %8.0f %10.1f %12.2f %12.2f\n", e, m.cpu, m.wall, m.peakMB, float64(size)/1e6, cpu, wall)
	}
	if len(engines) > 1 {
		cpu, wall := ratios(bestOf(results), results["runner"])
		fmt.Printf("best of the others / runner: CPU %.2fx, wall %.2fx\n", cpu, wall)
	}
	fmt.Println()
	return nil
}

// bestOf takes in each round the least of the others, figure by figure.
func bestOf(results map[string][]figures) []figures {
	var best []figures
	for e, all := range results {
		if e == "runner" {
			continue
		}
		if best == nil {
			best = slices.Clone(all)
		}
		for i, f := range all {
			best[i].cpu, best[i].wall = min(best[i].cpu, f.cpu), min(best[i].wall, f.wall)
		}
	}
	return best
}

func sizeOf(path string) (int64, error) {
	var size int64
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// oneAndTwoSlots runs question a of the plain file with one slot on one CPU and with two on two, in turn.
func (s *settings) oneAndTwoSlots(ctx context.Context) error {
	_, plan, err := s.prepare(ctx, race{"plain", "a"})
	if err != nil {
		return err
	}
	defer os.Remove(plan)
	var one, two []figures
	for range s.slots {
		for _, n := range []string{"1", "2"} {
			f, err := measure(ctx, []string{"GOMAXPROCS=" + n}, s.bin, "run", plan, "--slots", n, "--report", filepath.Join(s.data, "report.json"))
			if err != nil {
				return err
			}
			if n == "1" {
				one = append(one, f)
			} else {
				two = append(two, f)
			}
		}
	}
	cpu, _ := ratios(two, one)
	_, wall := ratios(one, two)
	fmt.Printf("plain:a with two slots against one, medians of %d pairs: CPU %.2fx, %.2fx faster by wall\n\n", s.slots, cpu, wall)
	return nil
}
