package jobmaster

import (
	"fmt"

	"github.com/seed-4b0e9f7c/runner/runner/executiongraph"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// find resolves a task to its current attempt. ok is false where the task is not of the job, the attempt
// is over, or it runs somewhere else than the sender says.
func (j *JobMaster) find(from rpc.Address, id rpc.TaskID) (m scheduler.Member, a *executiongraph.Attempt, ok bool) {
	m = scheduler.Member{Vertex: j.exec.Index(id.Vertex), Subtask: id.Subtask}
	a = j.exec.Attempt(m.Vertex, m.Subtask)
	if a == nil || id.Job != j.config.Job || id.Attempt > a.Number || id.Attempt == a.Number && !runsOn(a, from) {
		j.anomalies.illegal(fmt.Sprintf("%s speaks of subtask %d, attempt %d of vertex %s, which is not there", from, id.Subtask, id.Attempt, id.Vertex))
		return m, nil, false
	}
	if id.Attempt < a.Number || a.State.Final() {
		j.anomalies.Late++
		return m, nil, false
	}
	return m, a, true
}

// runsOn reports whether an attempt was deployed to the TaskManager.
func runsOn(a *executiongraph.Attempt, manager rpc.Address) bool {
	return a.Slot.TaskManager != "" && manager == rpc.TaskManager(a.Slot.TaskManager)
}

func (j *JobMaster) taskUpdate(from rpc.Address, u rpc.TaskUpdate) {
	m, a, ok := j.find(from, u.Task)
	if !ok {
		return
	}
	switch u.State {
	case rpc.Initializing, rpc.Running:
		if a.State != rpc.Canceling { // it crossed the order to stop
			j.transition(m, u.State)
		}
	case rpc.Finished:
		j.taskFinished(m, a, u)
	case rpc.Failed:
		j.taskFailed(m, a, u)
	case rpc.Canceled:
		j.taskCanceled(m, a, u)
	default:
		j.anomalies.illegal(fmt.Sprintf("%s reports %s as %s", from, j.exec.Vertices[m.Vertex].TaskName(m.Subtask), u.State))
	}
}

func (j *JobMaster) taskProgress(from rpc.Address, p rpc.TaskProgress) {
	for _, t := range p.Tasks {
		if _, a, ok := j.find(from, t.Task); ok {
			a.Metrics = t.Metrics
		}
	}
}

func (j *JobMaster) taskFinished(m scheduler.Member, a *executiongraph.Attempt, u rpc.TaskUpdate) {
	v := j.vertices[m.Vertex]
	if a.State == rpc.Canceling { // it ended before the order to stop arrived; nobody waits for it any more
		j.transition(m, rpc.Canceled)
		j.measured(v, a, u.Metrics)
		v.discarded = append(v.discarded, u.Committables...)
		j.releaseResults(m, a)
		j.left(m, a)
		return
	}
	if !j.transition(m, rpc.Finished) {
		return
	}
	j.measured(v, a, u.Metrics)
	v.committables[m.Subtask] = u.Committables
	if v.splits != nil {
		v.splits.Finish(m.Subtask)
	}
	for _, r := range u.Results {
		for _, e := range v.out {
			if e.e.ID == r.ID.Edge && j.parallelism(e.to.index) == 0 {
				if e.bytes == nil {
					e.bytes = make([][]int64, j.parallelism(m.Vertex))
				}
				e.bytes[m.Subtask] = r.Bytes
			}
		}
	}
	j.left(m, a)
}

func (j *JobMaster) taskCanceled(m scheduler.Member, a *executiongraph.Attempt, u rpc.TaskUpdate) {
	asked := a.State == rpc.Canceling
	if !j.transition(m, rpc.Canceled) {
		return
	}
	j.measured(j.vertices[m.Vertex], a, u.Metrics)
	j.left(m, a)
	if !asked {
		j.infrastructureFailure(m, a, []failure.Cause{{
			Class:   string(failure.Internal),
			Message: fmt.Sprintf("%s was cancelled by its TaskManager, which nobody had asked for", j.exec.Vertices[m.Vertex].TaskName(m.Subtask)),
		}})
	}
}

func (j *JobMaster) taskFailed(m scheduler.Member, a *executiongraph.Attempt, u rpc.TaskUpdate) {
	asked := a.State == rpc.Canceling
	if !j.transition(m, rpc.Failed) {
		return
	}
	f := u.Failure
	if f == nil || len(f.Causes) == 0 {
		f = &rpc.TaskFailure{Causes: []failure.Cause{{
			Class:   string(failure.Internal),
			Message: fmt.Sprintf("%s failed without saying why", j.exec.Vertices[m.Vertex].TaskName(m.Subtask)),
		}}}
	}
	a.Failure = f
	j.measured(j.vertices[m.Vertex], a, u.Metrics)
	data := f.Lost == nil && (f.HasOrder || f.Key != "")
	if r := j.regionOf(m); data && !asked && r.state == regionActive && j.settles(m) {
		r.state = regionSettling
	}
	j.left(m, a)
	if asked {
		return // it was not to go on anyway
	}
	if f.Lost != nil {
		j.resultLost(*f.Lost)
	}
	if data {
		j.dataFailure(m, a, f)
		return
	}
	j.infrastructureFailure(m, a, f.Causes)
}

// measured takes the last metrics of an attempt.
func (j *JobMaster) measured(v *vertexRun, a *executiongraph.Attempt, m rpc.TaskMetrics) {
	a.Metrics = m
	v.shown += m.SinkShown
}

// left books an attempt that has reached its final state out of its slot and its region.
func (j *JobMaster) left(m scheduler.Member, a *executiongraph.Attempt) {
	j.pool.Free(a.Slot, m)
	stage := j.stageOf[m.Vertex]
	s := j.stages[stage]
	r := &s.regions[j.plan[stage].RegionOf(m)]
	r.live--
	if a.State != rpc.Finished {
		j.giveUpBarrier()
		if r.state != regionSettling {
			j.stopRegion(r)
		}
		return
	}
	j.barrierDone(m)
	if r.live == 0 && r.state == regionActive {
		r.state = regionFinished
	}
}

// stopRegion cancels what still runs of a region.
func (j *JobMaster) stopRegion(r *regionRun) {
	if r.state == regionActive || r.state == regionSettling {
		r.state = regionStopping
	}
	if r.live == 0 {
		return
	}
	for _, m := range r.members {
		j.stopMember(m)
	}
}

// stopMember cancels a task that runs.
func (j *JobMaster) stopMember(m scheduler.Member) {
	a := j.exec.Attempt(m.Vertex, m.Subtask)
	switch a.State {
	case rpc.Deploying, rpc.Initializing, rpc.Running:
		j.transition(m, rpc.Canceling)
		j.send(rpc.TaskManager(a.Slot.TaskManager), rpc.CancelTask{Task: j.taskID(m)})
	case rpc.Created, rpc.Scheduled, rpc.Canceling, rpc.Finished, rpc.Failed, rpc.Canceled:
	}
}

// live is the number of attempts in slots.
func (j *JobMaster) live() int {
	n := 0
	for i := range j.exec.Vertices {
		n += j.exec.Vertices[i].Active()
	}
	return n
}
