package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// stuck starts a run that prints into a pipe which nobody empties, and waits until it hangs there.
func stuck(t *testing.T, args ...string) (c *exec.Cmd, dir string, out *bytes.Buffer) {
	t.Helper()
	dir = limits(t)
	write(t, filepath.Join(dir, "in"), "o.csv", "k,s\n"+strings.Repeat("1,a row that takes room in a pipe\n", 100_000))
	write(t, dir, "plan.yaml", `
sources: {o: {csv: {path: in/o.csv, columns: {k: BIGINT, s: STRING}}}}
sinks:
  rows: {from: o, print: {format: csv}}
  out: {from: o, csv: {path: out/sorted.csv, mode: overwrite}}
`)
	c = command(t, dir, append([]string{"run", "plan.yaml", "--report", "r.json"}, args...)...)
	out = &bytes.Buffer{}
	c.Stderr = out
	rows, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(rows, make([]byte, 1)); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return c, dir, out
}

// TestInterruptOfAStuckRun: Ctrl-C ends a run also where a task hangs in a call that cannot be broken off.
func TestInterruptOfAStuckRun(t *testing.T) {
	c, dir, out := stuck(t, "-D", "task.cancellation.timeout=100 ms")
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var e *exec.ExitError
	if err := c.Wait(); !errors.As(err, &e) || e.ExitCode() != exitCancelled {
		t.Fatalf("%v\n%s", err, out.String())
	}
	b, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil || !bytes.Contains(b, []byte(`"state": "CANCELED"`)) || !bytes.Contains(b, []byte("did not react to its cancellation within 100 ms")) {
		t.Errorf("the report: %v\n%s", err, b)
	}
	got, err := os.ReadFile(filepath.Join(dir, "out", "sorted.csv"))
	if err != nil || string(got) != "before\n" {
		t.Errorf("the earlier output is %q %v", got, err)
	}
	noLeavings(t, filepath.Join(dir, "out"))
}

// TestSecondInterrupt: who presses Ctrl-C again does not wait for anything.
func TestSecondInterrupt(t *testing.T) {
	c, dir, out := stuck(t)
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var err error
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		default:
			// It fails once the process has ended.
			_ = c.Process.Signal(os.Interrupt)
		}
	}
	var e *exec.ExitError
	if !errors.As(err, &e) || !e.Sys().(syscall.WaitStatus).Signaled() {
		t.Fatalf("%v\n%s", err, out.String())
	}
	got, err := os.ReadFile(filepath.Join(dir, "out", "sorted.csv"))
	if err != nil || string(got) != "before\n" {
		t.Errorf("the earlier output is %q %v", got, err)
	}
}
