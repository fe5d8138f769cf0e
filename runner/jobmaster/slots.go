package jobmaster

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// slotsRun is what a job knows of its slots besides the pool.
type slotsRun struct {
	timeoutMs int64 // slot.request.timeout
	declared  int
	share     int // most to hold while other jobs wait, 0 = no limit
	total     int // slots of all TaskManagers, as last heard
	most      int // held at once
	needed    int
	groups    map[string]int
	waves     []Wave
	waitingMs int64  // since when nothing runs for lack of slots, -1 = it does not wait
	waitedMs  int64  // waits that are over
	timer     string // of the slot request timeout
}

func (j *JobMaster) slotsGranted(g rpc.SlotsGranted) {
	j.slots.total = g.Total
	j.pool.Add(g.Slots)
	j.slots.most = max(j.slots.most, j.pool.Held())
	for _, s := range j.stages {
		if s.wave >= 0 && s.pending > 0 {
			j.slots.waves[s.wave].has(j.pool.Held())
		}
	}
}

// has takes note of the slots there are for a wave, while some of it has not started.
func (w *Wave) has(slots int) {
	w.Available = max(w.Available, slots, 1)
	w.Rounds = (w.Needed + w.Available - 1) / w.Available
}

// need is how many slots the job can use now: per sharing group the largest number of subtasks of one
// vertex that run or wait.
func (j *JobMaster) need() int {
	n, _ := scheduler.SlotsNeeded(j.graph, func(v int) int {
		x := &j.exec.Vertices[v]
		waiting := x.Count(rpc.Scheduled)
		if !j.wanted(j.stageOf[v]) {
			waiting = 0
		}
		return x.Active() + waiting
	})
	return n
}

// declare tells the ResourceManager what the job needs. A job claims one slot until its end, so that it
// hears of lost TaskManagers that hold its results.
func (j *JobMaster) declare() {
	n := max(j.need(), 1)
	if n != j.slots.declared {
		j.slots.declared = n
		j.send(rpc.ResourceManager, rpc.DeclareSlots{Job: j.config.Job, Needed: n})
	}
}

// giveBack releases idle slots beyond what the job needs or may have, while other jobs wait for slots. A region
// that needs more than the fair share could not run on it at all, so that many are kept.
func (j *JobMaster) giveBack() {
	if j.slots.share == 0 || j.pool.Idle() == 0 {
		return
	}
	largest := 1
	for _, s := range j.stages {
		if s.pending > 0 {
			largest = max(largest, j.regionNeed(s))
		}
	}
	keep := min(max(j.need(), 1), max(j.slots.share, largest))
	if extra := j.pool.Held() - keep; extra > 0 {
		if ids := j.pool.TakeIdle(extra); len(ids) > 0 {
			j.send(rpc.ResourceManager, rpc.ReleaseSlots{Job: j.config.Job, Slots: ids})
		}
	}
}

// startWave records how a stage started.
func (j *JobMaster) startWave(s *stageRun) {
	needed, _ := scheduler.SlotsNeeded(j.graph, func(v int) int {
		if j.stageOf[v] != s.index {
			return 0
		}
		return j.parallelism(v)
	})
	w := Wave{Needed: needed, ReadyMs: s.readyMs, WaitedMs: j.now - s.readyMs}
	w.has(j.pool.Held())
	for _, n := range j.plan[s.index].Vertices {
		w.Vertices = append(w.Vertices, j.vertices[n].v.Name)
	}
	s.wave = len(j.slots.waves)
	j.slots.waves = append(j.slots.waves, w)
}

// starved reports whether something could run and nothing does, for lack of slots.
func (j *JobMaster) starved() bool {
	if j.state != rpc.JobRunning || j.live() > 0 {
		return false
	}
	for i, s := range j.stages {
		if s.pending > 0 && j.wanted(i) && j.ready(i) {
			return true
		}
	}
	return false
}

// watchSlots measures how long the job waits for its first slot, and limits it.
func (j *JobMaster) watchSlots() {
	switch starved := j.starved(); {
	case starved && j.slots.waitingMs < 0:
		j.slots.waitingMs = j.now
		j.slots.timer = j.timer("slots", j.now+j.slots.timeoutMs)
	case !starved && j.slots.waitingMs >= 0:
		j.slots.waitedMs += j.now - j.slots.waitingMs
		j.slots.waitingMs, j.slots.timer = -1, ""
	}
}

func (j *JobMaster) slotsTimedOut() {
	if !j.starved() {
		return
	}
	since := j.slots.waitingMs
	j.slots.waitedMs += j.now - since
	j.slots.waitingMs = -1
	if j.settle != nil {
		j.conclude()
		return
	}
	j.fail(candidate{causes: []failure.Cause{{
		Class: string(failure.NoSlots),
		Message: fmt.Sprintf("slots needed: %d, held: %d; the job has waited for %d ms without being able to run (%s); "+
			"slots of all TaskManagers: %d", j.need(), j.pool.Held(), j.now-since, OptSlotTimeout, j.slots.total),
	}}})
}
