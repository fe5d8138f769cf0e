package files_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// Tests of what a process alone cannot show run this test binary again in a role.
const roleVariable, targetVariable = "RUNNER_FILES_ROLE", "RUNNER_FILES_TARGET"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Getenv(targetVariable)); err != nil {
		var c interface{ Class() string }
		if errors.As(err, &c) {
			fmt.Print(c.Class(), "|")
		}
		fmt.Print(err)
	}
}

func play(role, path string) error {
	ctx := context.Background()
	if role == "list" {
		_, err := files.List(ctx, []string{path}, ".")
		return err
	}
	if role == "full disk" {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}); err != nil {
			return err
		}
	}
	target, err := files.BindTarget(files.Local(), path, files.ModeOverwrite, ".txt", ".")
	if err != nil {
		return err
	}
	j := newJob(files.Local(), target, role, 1)
	switch role {
	case "full disk":
		j.parts[0] = 1 << 20
		return errors.Join(j.write(ctx), j.abort(ctx))
	case "killed":
		w, err := j.sink.Writer(&operators.Task{Ctx: ctx}, j.run, nil)
		if err != nil {
			return err
		}
		if err := w.Write(rows(10)); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return j.write(ctx)
}

func roleOf(t *testing.T, role, target string, uid uint32) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe)
	c.Env = append(os.Environ(), roleVariable+"="+role, targetVariable+"="+target)
	if uid != 0 {
		// The binary and the working directory may be closed to that user.
		c.Dir = "/"
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		if exe = reachable(t, exe); exe == "" {
			t.Skip("no folder that another user may run a program from")
		}
		c.Path, c.Args[0] = exe, exe
	}
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Skipf("the test binary cannot be run again: %v", err)
	}
	return string(out)
}

// reachable copies a program to where any user may run it.
func reachable(t *testing.T, exe string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "runner-test")
	if err != nil {
		return ""
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b, err := os.ReadFile(exe)
	if err != nil {
		return ""
	}
	path := filepath.Join(dir, "files.test")
	if os.Chmod(dir, 0o755) != nil || os.WriteFile(path, b, 0o755) != nil {
		return ""
	}
	return path
}

func linuxOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("rests on Linux")
	}
}

func TestFullDisk(t *testing.T) {
	linuxOnly(t)
	path := filepath.Join(t.TempDir(), "out.txt")
	if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	got := roleOf(t, "full disk", path, 0)
	if !strings.HasPrefix(got, files.DiskFull+"|") || !strings.Contains(got, path) {
		t.Errorf("got %q", got)
	}
	if look(t, path) != "before" {
		t.Errorf("the target is %s", look(t, path))
	}
	clean(t, path)
}

// TestKilled finds what a killed run left, and leaves what a living one is at.
func TestKilled(t *testing.T) {
	linuxOnly(t)
	for _, name := range []string{"out", "out.txt"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		roleOf(t, "killed", path, 0)
		if _, err := os.Stat(filepath.Join(dir, ".runner-killed")); err != nil {
			t.Fatal(err)
		}
		if got := look(t, path); got != "nothing" {
			t.Errorf("a killed run published %s", got)
		}
		target := bindTarget(t, path, files.ModeOverwrite)
		living := newJob(files.Local(), target, "living", 1)
		if err := living.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		j := newJob(files.Local(), target, "next", 1)
		if err := j.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := j.commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, ".runner-killed")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the killed run's files are still there: %v", err)
		}
		if _, err := living.commit(t.Context()); err != nil {
			t.Errorf("the living run's files are gone: %v", err)
		}
		clean(t, path)
	}
}

// TestPermission is told who may not, since root may do all.
func TestPermission(t *testing.T) {
	linuxOnly(t)
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir, err := os.MkdirTemp("", "runner-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(closed, "a.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ role, path string }{
		{"write", filepath.Join(dir, "out.txt")}, {"write", filepath.Join(dir, "out")},
		{"write", filepath.Join(closed, "out.txt")}, {"write", filepath.Join(closed, "deep", "out")},
		{"list", filepath.Join(closed, "a.csv")}, {"list", filepath.Join(closed, "*.csv")}, {"list", closed}, {"list", filepath.Join(dir, "**", "*.csv")},
	} {
		got := roleOf(t, c.role, c.path, 65534)
		if !strings.HasPrefix(got, files.PermissionDenied+"|") || !strings.Contains(got, strings.TrimPrefix(dir, "/")) || strings.Contains(got, "goroutine") {
			t.Errorf("%s %s: %q", c.role, c.path, got)
		}
	}
}
