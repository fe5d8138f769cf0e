package jobmaster

import (
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// A pendingRestart waits for the restart delay, and for the tasks of its regions to stop.
type pendingRestart struct {
	timer   string
	atMs    int64
	due     bool
	stages  map[int]bool
	regions map[scheduler.Region]bool
	order   []scheduler.Region
}

// has reports whether regions of a stage wait to run again.
func (p *pendingRestart) has(stage int) bool { return p != nil && p.stages[stage] }

// restartAfter stops the regions that have to run again, and begins the delay. A failure that comes while
// another one's delay runs joins it.
func (j *JobMaster) restartAfter(delayMs int64, f failure.Failure) {
	if j.restart == nil {
		j.restart = &pendingRestart{stages: map[int]bool{}, regions: map[scheduler.Region]bool{}}
	}
	p := j.restart
	var failed []scheduler.Region
	for i, s := range j.stages {
		for k := range s.regions {
			r := scheduler.Region{Stage: i, Index: k}
			if s.regions[k].state == regionStopping || s.regions[k].state == regionSettling || p.regions[r] || j.lostResult(i, k) {
				failed = append(failed, r)
			}
		}
	}
	tasks := 0
	for _, r := range scheduler.Failover(j.graph, j.plan, j.stageOf, world{j}, failed) {
		if !p.regions[r] {
			p.regions[r] = true
			p.order = append(p.order, r)
		}
		p.stages[r.Stage] = true
		j.stopRegion(&j.stages[r.Stage].regions[r.Index])
		tasks += len(j.stages[r.Stage].regions[r.Index].members)
	}
	if at := j.now + delayMs; p.timer == "" || at > p.atMs {
		p.atMs, p.due = at, false
		p.timer = j.timer("restart", at)
	}
	j.restarts = append(j.restarts, RestartRecord{
		AtMs: j.now, Strategy: j.strategy.Name(), Cause: rootMessage(f), Failure: f, Tasks: tasks,
	})
	if j.state != rpc.JobRestarting {
		j.enter(rpc.JobRestarting)
	}
}

func rootMessage(f failure.Failure) string {
	if f.RootCause != nil {
		return f.RootCause.Message
	}
	return f.Headline
}

// lostResult reports whether a member of a region wrote a result that is gone and needed.
func (j *JobMaster) lostResult(stage, region int) bool {
	for _, m := range j.stages[stage].regions[region].members {
		if j.vertices[m.Vertex].lost[m.Subtask] {
			return true
		}
	}
	return false
}

// checkRestart gives the regions that wait another attempt, once the delay is over and nothing of them
// runs any more.
func (j *JobMaster) checkRestart() {
	p := j.restart
	if p == nil || !p.due || j.state != rpc.JobRestarting {
		return
	}
	for _, r := range p.order {
		if j.stages[r.Stage].regions[r.Index].live > 0 {
			return
		}
	}
	j.restart = nil
	for _, r := range p.order {
		j.renew(r)
	}
	for _, v := range j.vertices {
		if v.unfound {
			j.discover(v)
		}
	}
	j.enter(rpc.JobRunning)
}

// renew makes a region pending again.
func (j *JobMaster) renew(at scheduler.Region) {
	s := j.stages[at.Stage]
	r := &s.regions[at.Index]
	if r.state == regionPending {
		return
	}
	flows := j.graph.Streaming()
	r.state = regionPending
	s.pending++
	s.cursor = min(s.cursor, at.Index)
	for _, m := range r.members {
		v := j.vertices[m.Vertex]
		a := j.exec.Attempt(m.Vertex, m.Subtask)
		if a.State == rpc.Finished || flows && a.Slot.TaskManager != "" {
			j.releaseResults(m, a)
		}
		if v.splits != nil {
			v.splits.Return(m.Subtask)
		}
		v.discarded = append(v.discarded, v.committables[m.Subtask]...)
		v.committables[m.Subtask] = nil
		delete(v.lost, m.Subtask)
		for _, e := range v.out {
			e.released, e.ids = false, nil
			if e.bytes != nil {
				e.bytes[m.Subtask] = nil
			}
		}
		if a.State.Final() {
			if err := j.exec.Retry(j.now, m.Vertex, m.Subtask); err != nil {
				j.anomalies.illegal(err.Error())
				continue
			}
			j.transition(m, rpc.Scheduled)
		}
	}
}

// world shows the job to the failover rule.
type world struct{ j *JobMaster }

// Regions is the number of regions of a stage.
func (w world) Regions(stage int) int { return len(w.j.stages[stage].regions) }

// Started reports whether a region was deployed.
func (w world) Started(r scheduler.Region) bool {
	return w.j.stages[r.Stage].regions[r.Index].state != regionPending
}

// Available reports whether a producer's result is there, or will be made because it has not finished.
func (w world) Available(edge, i int) bool {
	e := w.j.edges[edge]
	a := w.j.exec.Attempt(e.from.index, i)
	return a == nil || a.State != rpc.Finished || !e.released && !e.from.lost[i]
}

// Members are the subtasks of a region.
func (w world) Members(r scheduler.Region) []scheduler.Member {
	return w.j.stages[r.Stage].regions[r.Index].members
}
