package taskmanager

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/seed-4b0e9f7c/runner/operators"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// slotMemory is the managed memory of one slot, shared by the operators of the tasks in it.
type slotMemory struct {
	limit int64
	used  atomic.Int64
}

func (m *slotMemory) reserve(n int64) bool {
	for {
		u := m.used.Load()
		if u+n > m.limit {
			return false
		}
		if m.used.CompareAndSwap(u, u+n) {
			return true
		}
	}
}

// taskMemory is the slot's memory as one task sees it. It knows what the task holds, so that a task
// that dies gives everything back.
type taskMemory struct {
	slot    *slotMemory
	dir     string
	name    string
	held    int64 // of the slot
	least   int64 // of the task's own minimum
	peak    int64
	spilled *atomic.Int64
	files   map[*spillFile]bool
	free    []func(want int64) int64
}

// taskMinimum is what a task gets also where others hold all of its slot: without it, whether an operator
// can so much as begin to spill would depend on which tasks happen to run beside it.
const taskMinimum = 256 << 10

// Reserve takes n bytes, after asking the operators of this task to free what they can.
func (m *taskMemory) Reserve(n int64) bool {
	if !m.take(n) {
		for _, f := range m.free {
			f(n)
		}
		if !m.take(n) {
			return false
		}
	}
	m.peak = max(m.peak, m.held+m.least)
	return true
}

func (m *taskMemory) take(n int64) bool {
	if m.slot.reserve(n) {
		m.held += n
		return true
	}
	if m.held+m.least+n > taskMinimum {
		return false
	}
	m.least += n
	return true
}

// Release gives n bytes back, the slot's first.
func (m *taskMemory) Release(n int64) {
	ofSlot := min(n, m.held)
	m.held -= ofSlot
	m.least -= n - ofSlot
	m.slot.used.Add(-ofSlot)
}

// OnPressure registers what can be freed.
func (m *taskMemory) OnPressure(f func(want int64) int64) { m.free = append(m.free, f) }

// Spill opens a temporary file.
func (m *taskMemory) Spill(name string) (operators.SpillFile, error) {
	f, err := files.Temp(m.dir, "runner-spill-"+filepath.Base(name)+"-*")
	if err != nil {
		return nil, fmt.Errorf("opening a spill file for %s: %w", m.name, err)
	}
	s := &spillFile{TempFile: f, m: m}
	m.files[s] = true
	return s, nil
}

// close gives back all memory and removes what files are left.
func (m *taskMemory) close() error {
	m.slot.used.Add(-m.held)
	m.held, m.least = 0, 0
	var errs []error
	for f := range m.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

type spillFile struct {
	*files.TempFile
	m *taskMemory
}

func (f *spillFile) Write(b []byte) (int, error) {
	n, err := f.TempFile.Write(b)
	f.m.spilled.Add(int64(n))
	return n, err
}

// Close removes the file; closing twice does nothing more.
func (f *spillFile) Close() error {
	if !f.m.files[f] {
		return nil
	}
	delete(f.m.files, f)
	return f.TempFile.Close()
}
