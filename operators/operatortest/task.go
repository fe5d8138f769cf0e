// Package operatortest runs operators in tests: every case again with batches of several sizes, over
// several subtasks, with selections and dictionaries, with hardly any memory, and with a checked
// allocator; results and books must be the same each time.
package operatortest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// MaxParallelism is the number of key groups of a test's tasks.
const MaxParallelism = 128

// NewTask makes a task of one subtask whose slot has budget bytes of managed memory (negative: no
// limit). The test fails if, at its end, memory is still allocated or reserved, or a spill file open.
func NewTask(t testing.TB, budget int64) *operators.Task {
	f := newTask(budget, 0, 1)
	t.Cleanup(func() {
		if err := f.finish(); err != nil {
			t.Error(err)
		}
	})
	return f.task
}

// A fakeTask is a task with what the harness looks at afterwards.
type fakeTask struct {
	task   *operators.Task
	alloc  *memory.CheckedAllocator
	memory *Memory
	states *states
}

func newTask(budget int64, subtask, parallelism int) *fakeTask {
	f := &fakeTask{alloc: memory.NewCheckedAllocator(memory.NewGoAllocator()), memory: &Memory{Budget: budget}}
	f.task = &operators.Task{
		Ctx: context.Background(), UID: "test", Subtask: subtask, Parallelism: parallelism,
		MaxParallelism: MaxParallelism, Alloc: f.alloc, Memory: f.memory,
	}
	f.states = &states{task: f.task}
	f.task.States = f.states
	return f
}

// finish says what the operator did not give back.
func (f *fakeTask) finish() error {
	f.states.close()
	leaks := &leak{}
	f.alloc.AssertSize(leaks, 0)
	if f.memory.Held != 0 {
		fmt.Fprintf(leaks, "%d bytes of managed memory are still reserved\n", f.memory.Held)
	}
	if f.memory.open != 0 {
		fmt.Fprintf(leaks, "%d spill files are still open\n", f.memory.open)
	}
	if f.memory.dir != "" {
		if err := os.RemoveAll(f.memory.dir); err != nil {
			return err
		}
	}
	if leaks.Len() > 0 {
		return errors.New(leaks.String())
	}
	return nil
}

// leak collects what a checked allocator complains about.
type leak struct{ strings.Builder }

// Errorf is what the allocator calls.
func (l *leak) Errorf(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

// Helper marks nothing.
func (l *leak) Helper() {}

// Memory is a slot's managed memory in tests.
type Memory struct {
	Budget  int64 // negative: no limit
	Held    int64
	Most    int64 // the most that was held at a time
	Refused int   // how often Reserve said no
	Spills  int   // how many files were opened
	open    int
	dir     string
}

// Reserve takes bytes from the budget.
func (m *Memory) Reserve(bytes int64) bool {
	if m.Budget >= 0 && m.Held+bytes > m.Budget {
		m.Refused++
		return false
	}
	m.Held += bytes
	m.Most = max(m.Most, m.Held)
	return true
}

// Release gives bytes back.
func (m *Memory) Release(bytes int64) { m.Held -= bytes }

// OnPressure is not used by tests: a slot has one task here.
func (m *Memory) OnPressure(func(want int64) (freed int64)) {}

// Spill opens a file in the test's directory.
func (m *Memory) Spill(name string) (operators.SpillFile, error) {
	if m.dir == "" {
		dir, err := os.MkdirTemp("", "operatortest-")
		if err != nil {
			return nil, err
		}
		m.dir = dir
	}
	m.Spills++
	f, err := os.Create(filepath.Join(m.dir, fmt.Sprintf("%s-%d", filepath.Base(name), m.Spills)))
	if err != nil {
		return nil, err
	}
	m.open++
	return &spillFile{File: f, memory: m}, nil
}

type spillFile struct {
	*os.File
	memory *Memory
	closed bool
}

// Close removes the file; closing it twice is a fault.
func (f *spillFile) Close() error {
	if f.closed {
		return os.ErrClosed
	}
	f.closed = true
	f.memory.open--
	if err := f.File.Close(); err != nil {
		return err
	}
	return os.Remove(f.Name())
}

type states struct {
	task   *operators.Task
	tables []operators.Table
	lists  map[string]*list
}

// Table makes an in-memory table.
func (s *states) Table(_ string, key, _ expr.Schema, o operators.TableOptions) (operators.Table, error) {
	t, err := table.New(key, o, s.task.Memory, s.task.MaxParallelism, s.task.Alloc)
	if err == nil {
		s.tables = append(s.tables, t)
	}
	return t, err
}

// List is a list that starts empty.
func (s *states) List(name string, _ operators.ListMode) (operators.List, error) {
	if s.lists == nil {
		s.lists = map[string]*list{}
	}
	if s.lists[name] == nil {
		s.lists[name] = &list{}
	}
	return s.lists[name], nil
}

func (s *states) close() {
	for _, t := range s.tables {
		t.Close()
	}
	s.tables = nil
}

type list struct{ items [][]byte }

// Get is what was last set.
func (l *list) Get() [][]byte { return l.items }

// Set replaces the items.
func (l *list) Set(items [][]byte) { l.items = items }
