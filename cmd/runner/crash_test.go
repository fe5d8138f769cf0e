package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// command is the real program, run in dir. The test binary is the program when it is called so.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: exe, Args: append([]string{"runner"}, args...), Dir: dir, Env: os.Environ()}
}

const crashPlan = `
name: crash
params: {factor: 1}
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT, s: STRING}}}}
transforms:
  t: {from: o, select: {k: "k * ${factor}", s: s}}
  sorted: {from: t, order_by: [k]}
aggregations: {g: {from: t, group_by: [s], measures: {n: COUNT(*), m: SUM(k)}}}
sinks:
  file: {from: sorted, csv: {path: out/sorted.csv, mode: overwrite}}
  parts: {from: t, parquet: {path: out/parts, mode: overwrite}}
  groups: {from: g, json: {path: out/groups, mode: overwrite}}
`

// TestKill kills runs at random instants. Each target then is what it was before or what the run
// would have made, whole; and the next run finishes what was begun and leaves nothing behind.
func TestKill(t *testing.T) {
	kills := 4
	if s := os.Getenv("RUNNER_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	}
	dir := t.TempDir()
	var b bytes.Buffer
	b.WriteString("k,s\n")
	for i := range 150_000 {
		fmt.Fprintf(&b, "%d,%s\n", (i*7919)%150_000, strings.Repeat(string(rune('a'+i%26)), 1+i%3))
	}
	write(t, dir, "o.csv", b.String())
	write(t, dir, "plan.yaml", crashPlan)
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	states := map[string]map[string]string{} // by factor, by target
	var took time.Duration
	for _, factor := range []string{"1", "2"} {
		from := time.Now()
		runFactor(t, dir, factor)
		took = time.Since(from)
		states[factor] = targets(t, dir)
	}
	rng := rand.New(rand.NewPCG(11, uint64(kills)))
	old, next := "2", "1"
	for i := range kills {
		c := command(t, dir, "run", "plan.yaml", "--set", "factor="+next, "-D", "runner.source.split-size=64 kb")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(rng.Int64N(int64(took + took/8)))
		if i%2 == 0 {
			after = took/2 + after/2 // the end, where runs publish
		}
		timer := time.AfterFunc(after, func() {
			if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
		})
		err := c.Wait()
		timer.Stop()
		got := targets(t, dir)
		for name, state := range got {
			if state != states[old][name] && state != states[next][name] {
				t.Fatalf("kill %d after %v (%v): %s is neither the old nor the new output", i, after, err, name)
			}
		}
		runFactor(t, dir, next)
		if got := targets(t, dir); fmt.Sprint(got) != fmt.Sprint(states[next]) {
			t.Fatalf("kill %d after %v: the run after it gives %v, expected %v", i, after, got, states[next])
		}
		noLeavings(t, filepath.Join(dir, "out"))
		old, next = next, old
	}
}

func runFactor(t *testing.T, dir, factor string) {
	t.Helper()
	out, err := command(t, dir, "run", "plan.yaml", "--set", "factor="+factor, "-D", "runner.source.split-size=64 kb").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// targets are digests of what stands at the targets: the bytes of the sorted file, the lines of the
// others in any order, since parts are numbered by subtask and rows come as they come.
func targets(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"sorted.csv", "parts", "groups"} {
		path := filepath.Join(dir, "out", name)
		rows := 0
		h := sha256.New()
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") { // readers pass over a marker of ours
				return err
			}
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			if name == "parts" {
				if !bytes.HasPrefix(b, []byte("PAR1")) || !bytes.HasSuffix(b, []byte("PAR1")) {
					return fmt.Errorf("%s is no whole Parquet file", p)
				}
				return nil
			}
			rows += bytes.Count(b, []byte("\n"))
			if name == "sorted.csv" {
				h.Write(b)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		out[name] = fmt.Sprintf("%d %x", rows, h.Sum(nil))
		if name != "sorted.csv" {
			out[name] = contents(t, dir, name)
		}
	}
	return out
}

// contents is what a plan of its own makes of a target: an order-free digest of its rows.
func contents(t *testing.T, dir, name string) string {
	t.Helper()
	if name == "groups" {
		var lines []string
		files, err := filepath.Glob(filepath.Join(dir, "out", name, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasPrefix(filepath.Base(f), ".") {
				continue // readers pass over a marker of ours
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(strings.TrimSpace(string(b)), "\n")...)
		}
		sum := 0
		for _, l := range lines {
			h := sha256.Sum256([]byte(l))
			sum += int(h[0])<<16 | int(h[1])<<8 | int(h[2])
		}
		return fmt.Sprintf("%d %d", len(lines), sum)
	}
	plan := `
name: look
sources: {p: {parquet: {path: out/` + name + `}}}
aggregations: {g: {from: p, measures: {n: COUNT(*), k: SUM(k), s: SUM(CHAR_LENGTH(s)), d: COUNT(DISTINCT k)}}}
sinks: {out: {from: g, print: {format: csv}}}
`
	write(t, dir, "look.yaml", plan)
	out, err := command(t, dir, "run", "look.yaml").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func noLeavings(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".runner") {
			t.Errorf("%s is left in the folder of the target", e.Name())
		}
	}
}
