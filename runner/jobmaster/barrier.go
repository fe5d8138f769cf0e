package jobmaster

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// OptBarrierInterval is how often barriers are put into a stream; unset: never.
const OptBarrierInterval = "runner.streaming.barrier-interval"

// barrierRun is the barriers of a stream: one at a time.
type barrierRun struct {
	everyMs int64 // 0: never
	timer   string
	current int64 // 0 = none is on its way
	sinceMs int64
	last    int64
	waits   map[scheduler.Member]bool // tasks it has not passed
	stats   Barriers
}

// Barriers counts the barriers of a stream. They align, and flush what operators hold back; nothing is
// stored, so a job cannot start again from one.
type Barriers struct {
	Triggered          int64 `json:"triggered"`
	Passed             int64 `json:"passed"`             // by all tasks
	GivenUp            int64 `json:"givenUp"`            // because a task failed or was cancelled meanwhile
	LongestMs          int64 `json:"longestMs"`          // from the trigger to the last task
	LongestAlignmentMs int64 `json:"longestAlignmentMs"` // of one task, from the first channel to the last
}

// watchBarriers starts the time to the next barrier, once all tasks run.
func (j *JobMaster) watchBarriers() {
	b := &j.barriers
	if b.everyMs > 0 && b.timer == "" && b.current == 0 && j.flowing() {
		b.timer = j.timer("barrier", j.now+b.everyMs)
	}
}

// flowing reports whether every task runs or has finished, and some source still runs.
func (j *JobMaster) flowing() bool {
	if j.state != rpc.JobRunning || !j.graph.Streaming() || j.settle != nil {
		return false
	}
	sources := false
	for n := range j.exec.Vertices {
		v := &j.exec.Vertices[n]
		if len(v.Subtasks) == 0 || v.Count(rpc.Running)+v.Count(rpc.Finished) < len(v.Subtasks) {
			return false
		}
		sources = sources || j.vertices[n].source != nil && v.Count(rpc.Running) > 0
	}
	return sources
}

// trigger puts a barrier into every source that still runs. Those that end before they see it need not:
// their end stands for it.
func (j *JobMaster) trigger() {
	if !j.flowing() || j.barriers.current != 0 {
		return
	}
	b := &j.barriers
	b.last++
	b.current, b.sinceMs, b.waits = b.last, j.now, map[scheduler.Member]bool{}
	b.stats.Triggered++
	for n, v := range j.vertices {
		for i := range j.exec.Vertices[n].Subtasks {
			a := j.exec.Attempt(n, i)
			if a.State != rpc.Running {
				continue
			}
			m := scheduler.Member{Vertex: n, Subtask: i}
			b.waits[m] = true
			if v.source != nil {
				j.send(rpc.TaskManager(a.Slot.TaskManager), rpc.TriggerBarrier{Task: j.taskID(m), Barrier: b.current})
			}
		}
	}
}

func (j *JobMaster) barrierPassed(from rpc.Address, k rpc.AcknowledgeBarrier) {
	m, _, ok := j.find(from, k.Task)
	if !ok {
		return
	}
	b := &j.barriers
	if k.Barrier > b.last || k.Barrier < 1 {
		j.anomalies.illegal(fmt.Sprintf("%s speaks of barrier %d, which nobody has triggered", from, k.Barrier))
		return
	}
	if k.Barrier == b.current {
		b.stats.LongestAlignmentMs = max(b.stats.LongestAlignmentMs, k.AlignedMs)
		j.barrierDone(m)
	}
}

// barrierDone takes note that the barrier has passed a task, or never will because the task has finished.
func (j *JobMaster) barrierDone(m scheduler.Member) {
	b := &j.barriers
	if b.current == 0 {
		return
	}
	delete(b.waits, m)
	if len(b.waits) == 0 {
		b.stats.Passed++
		b.stats.LongestMs = max(b.stats.LongestMs, j.now-b.sinceMs)
		b.current, b.waits = 0, nil
	}
}

// giveUpBarrier forgets the barrier on its way: a task that it has to pass is gone.
func (j *JobMaster) giveUpBarrier() {
	if b := &j.barriers; b.current != 0 {
		b.stats.GivenUp++
		b.current, b.waits = 0, nil
	}
}
