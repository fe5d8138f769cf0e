package files

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// An owner identifies a process, so that leavings of dead ones can be told from the work of living
// ones. It is written as a file name: a name is there whole or not at all.
type owner struct {
	pid       int
	start     string // when the process started, in ticks since boot
	boot      string // of the machine
	namespace string // of process ids: two containers of one machine may count alike
	host      string
}

const lockPrefix = "lock."

// self is this process. Parts that the system does not tell stay empty.
func self() owner {
	o := owner{pid: os.Getpid(), start: startOf("self")}
	o.host, _ = os.Hostname()
	o.host = fileName(o.host)
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		o.boot, _, _ = strings.Cut(string(b), "-")
	}
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		o.namespace = strings.Trim(ns, "pid:[]")
	}
	return o
}

// startOf is the start time of a process, "" where the system does not tell.
func startOf(pid string) string {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	// The command in parentheses may hold anything; start time is the 20th field after it.
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 20 {
		return ""
	}
	return f[19]
}

func (o owner) String() string {
	return fmt.Sprintf("%s%d.%s.%s.%s.%s", lockPrefix, o.pid, o.start, o.boot, o.namespace, o.host)
}

func parseOwner(name string) (owner, bool) {
	rest, ok := strings.CutPrefix(name, lockPrefix)
	p := strings.SplitN(rest, ".", 5)
	if !ok || len(p) < 5 {
		return owner{}, false
	}
	pid, err := strconv.Atoi(p[0])
	return owner{pid, p[1], p[2], p[3], p[4]}, err == nil && pid > 0
}

// dead reports whether the process is known to have ended, as seen by me; in doubt it lives.
func (o owner) dead(me owner) bool {
	if o.host != me.host {
		return false
	}
	if o.boot != me.boot {
		return true
	}
	if o.namespace != me.namespace {
		return false
	}
	if o.pid == me.pid {
		return o.start != me.start
	}
	p, err := os.FindProcess(o.pid)
	if err != nil {
		return true
	}
	if err := p.Signal(syscall.Signal(0)); errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return true
	}
	now := startOf(strconv.Itoa(o.pid))
	return now != "" && o.start != "" && now != o.start
}

// fileName replaces what is no good in a file name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, s)
}
