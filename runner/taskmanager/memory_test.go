package taskmanager

import (
	"io"
	"os"
	"sync/atomic"
	"testing"
)

// Tasks share their slot's memory, each can have its minimum, and all comes back.
func TestTaskMemory(t *testing.T) {
	dir := t.TempDir()
	slot := &slotMemory{limit: 1 << 20}
	var spilled atomic.Int64
	task := func() *taskMemory {
		return &taskMemory{slot: slot, dir: dir, name: "t", spilled: &spilled, files: map[*spillFile]bool{}}
	}
	a, b := task(), task()
	if !a.Reserve(1<<20) || a.Reserve(1) {
		t.Fatal("a slot of 1 MiB does not hold just that")
	}
	if !b.Reserve(taskMinimum) || b.Reserve(1) {
		t.Fatal("a task does not get just its minimum beside a greedy one")
	}
	freed := false
	a.OnPressure(func(want int64) int64 {
		freed = true
		a.Release(want)
		return want
	})
	if !a.Reserve(1000) || !freed {
		t.Error("a task's own operators were not asked to free")
	}
	b.Release(taskMinimum)
	a.Release(1 << 19)
	if !b.Reserve(1 << 19) {
		t.Error("memory that was released is not to be had")
	}
	f, err := b.Spill("run")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(1, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != "ello" || spilled.Load() != 5 {
		t.Errorf("%q %v, %d bytes", got, err, spilled.Load())
	}
	if err := a.close(); err != nil {
		t.Error(err)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || slot.used.Load() != 0 {
		t.Errorf("left: %v %v, %d bytes", left, err, slot.used.Load())
	}
}
