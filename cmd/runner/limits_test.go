//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const limitPlan = `
name: limits
sources: {o: {csv: {path: in/o.csv, columns: {k: BIGINT, s: STRING}}}}
transforms: {sorted: {from: o, order_by: [k]}}
sinks: {file: {from: sorted, csv: {path: out/sorted.csv, mode: overwrite}}}
`

// limits lays out a folder with the plan, a larger input and an earlier output.
func limits(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "runner-limits-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for _, d := range []string{"in", "out"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("k,s\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, "%d,some text of row %d\n", (i*7919)%100_000, i)
	}
	write(t, filepath.Join(dir, "in"), "o.csv", b.String())
	write(t, filepath.Join(dir, "out"), "sorted.csv", "before\n")
	write(t, dir, "plan.yaml", limitPlan)
	return dir
}

// failsWith wants exit code 1, the class in the last line, and the earlier output.
func failsWith(t *testing.T, dir string, c *exec.Cmd, class, what string) {
	t.Helper()
	out, err := c.CombinedOutput()
	var e *exec.ExitError
	if !errors.As(err, &e) || e.ExitCode() != exitFailed {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "root cause: "+class) || !strings.Contains(last, what) || bytes.Contains(out, []byte("goroutine")) {
		t.Errorf("the last line is %q, expected class %s and %s\n%s", last, class, what, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "out", "sorted.csv"))
	if err != nil || string(b) != "before\n" {
		t.Errorf("the earlier output is %q %v", b, err)
	}
	noLeavings(t, filepath.Join(dir, "out"))
}

// A disk that fills up, as a limit on the size of files.
func TestDiskFull(t *testing.T) {
	dir := limits(t)
	c := command(t, dir, "run", "plan.yaml")
	script := fmt.Sprintf(`ulimit -f 200; exec -a runner %q run plan.yaml`, c.Path)
	c.Path, c.Args = "/bin/bash", []string{"bash", "-c", script}
	failsWith(t, dir, c, "DiskFull", "sorted.csv")
}

// A file system that is full for real.
func TestFileSystemFull(t *testing.T) {
	if os.Getenv("RUNNER_SMALL_DISK") == "" {
		t.Skip("RUNNER_SMALL_DISK is not set: it says that this process may mount a small file system, which needs root")
	}
	dir := limits(t)
	out := filepath.Join(dir, "out")
	if err := syscall.Mount("tmpfs", out, "tmpfs", 0, "size=200k"); err != nil {
		t.Fatalf("mounting a small file system: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(out, 0); err != nil {
			t.Error(err)
		}
	}()
	write(t, out, "sorted.csv", "before\n")
	failsWith(t, dir, command(t, dir, "run", "plan.yaml"), "DiskFull", "sorted.csv")
}

// Folders without permission, as a user that is not root.
func TestNoPermission(t *testing.T) {
	name := os.Getenv("RUNNER_OTHER_USER")
	if name == "" {
		t.Skip("RUNNER_OTHER_USER is not set: it names a user without rights; root may do everything")
	}
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	for folder, what := range map[string]string{"in": "o.csv", "out": "out"} {
		t.Run(folder, func(t *testing.T) {
			dir := limits(t)
			exe := copyProgram(t, dir)
			mode := os.FileMode(0o755)
			if folder == "in" {
				mode = 0o700
			}
			if err := os.Chmod(filepath.Join(dir, folder), mode); err != nil {
				t.Fatal(err)
			}
			reports, err := os.MkdirTemp("", "runner-reports-*")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(reports)
			if err := os.Chown(reports, uid, gid); err != nil {
				t.Fatal(err)
			}
			c := command(t, dir, "run", "plan.yaml", "--report", filepath.Join(reports, "r.json"))
			c.Path = exe
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
			failsWith(t, dir, c, "PermissionDenied", what)
			if _, err := os.Stat(filepath.Join(reports, "r.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

// copyProgram puts the program where any user may run it.
func copyProgram(t *testing.T, dir string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(dir, "program")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Ctrl-C: a CANCELED report, code 130, and the earlier output.
func TestInterrupt(t *testing.T) {
	dir := limits(t)
	var big bytes.Buffer
	big.WriteString("k,s\n")
	for i := range 3_000_000 {
		fmt.Fprintf(&big, "%d,%d\n", i*7919%3_000_000, i)
	}
	write(t, filepath.Join(dir, "in"), "o.csv", big.String())
	// The print sink's first row says that the run is under way.
	write(t, dir, "plan.yaml", limitPlan[:strings.LastIndex(limitPlan, "}")]+", rows: {from: o, print: {format: csv}}}\n")
	c := command(t, dir, "run", "plan.yaml", "--report", "r.json", "--slots", "1")
	var out bytes.Buffer
	c.Stderr = &out
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
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, rows); err != nil {
		t.Fatal(err)
	}
	err = c.Wait()
	var e *exec.ExitError
	if !errors.As(err, &e) || e.ExitCode() != exitCancelled {
		t.Fatalf("%v\n%s", err, out.String())
	}
	b, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil || !bytes.Contains(b, []byte(`"state": "CANCELED"`)) {
		t.Errorf("the report: %v\n%s", err, b)
	}
	got, err := os.ReadFile(filepath.Join(dir, "out", "sorted.csv"))
	if err != nil || string(got) != "before\n" {
		t.Errorf("the earlier output is %q %v", got, err)
	}
	noLeavings(t, filepath.Join(dir, "out"))
}
