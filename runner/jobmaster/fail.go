package jobmaster

import (
	"cmp"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/executiongraph"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// A candidate is a failure that may become the job's, with its rank: the least one is reported.
type candidate struct {
	rank   rank
	causes []failure.Cause
	where  failure.Where
}

// A rank orders data failures in a way that does not depend on when they were found.
type rank struct {
	depth, vertex int
	kind          rankKind
	order         [3]int64
	key, text     string
}

type rankKind int

const (
	byOrder rankKind = iota // place in file order
	byKey                   // behind a shuffle: key, then expression
	byNone                  // neither
)

func (r rank) compare(o rank) int {
	return cmp.Or(
		cmp.Compare(r.depth, o.depth), cmp.Compare(r.vertex, o.vertex), cmp.Compare(r.kind, o.kind),
		cmp.Compare(r.order[0], o.order[0]), cmp.Compare(r.order[1], o.order[1]), cmp.Compare(r.order[2], o.order[2]),
		cmp.Compare(r.key, o.key), cmp.Compare(r.text, o.text),
	)
}

// A settlement waits for what could still fail earlier than the failures seen so far.
type settlement struct {
	best   int // place of the least candidate
	failed []candidate
	limit  *[2]int64 // splits behind it do not matter, nil = all do; of the best's vertex
}

func (s *settlement) bestRank() rank { return s.failed[s.best].rank }

func (j *JobMaster) candidateOf(m scheduler.Member, a *executiongraph.Attempt, causes []failure.Cause) candidate {
	return candidate{
		rank:   rank{depth: j.plan[j.stageOf[m.Vertex]].Depth, vertex: m.Vertex, kind: byNone, text: textOf(causes)},
		causes: causes,
		where:  failure.Where{Task: j.exec.Vertices[m.Vertex].TaskName(m.Subtask), TaskManager: a.Slot.TaskManager},
	}
}

// textOf is what tells two failures at the same place apart.
func textOf(causes []failure.Cause) string {
	root := causes[len(causes)-1]
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", root.Expression, root.Class, root.Message, root.Value)
}

// dataFailure takes a failure of the data, which another one that is found later may precede.
func (j *JobMaster) dataFailure(m scheduler.Member, a *executiongraph.Attempt, f *rpc.TaskFailure) {
	c := j.candidateOf(m, a, f.Causes)
	if f.HasOrder {
		c.rank.kind, c.rank.order = byOrder, f.Order
	} else {
		c.rank.kind, c.rank.key = byKey, f.Key
	}
	j.addCandidate(c)
}

// enumerationFailed takes the failure to find a source's splits: it precedes all of the vertex's others.
func (j *JobMaster) enumerationFailed(v *vertexRun, causes []failure.Cause) {
	if len(causes) == 0 {
		causes = []failure.Cause{{Class: string(failure.Internal), Message: "the splits of " + v.v.Name + " could not be found"}}
	}
	j.addCandidate(candidate{
		rank:   rank{depth: j.plan[j.stageOf[v.index]].Depth, vertex: v.index, kind: byOrder, text: textOf(causes)},
		causes: causes,
		where:  failure.Where{Operator: v.source.Node, Task: v.v.Name},
	})
}

// addCandidate begins or narrows the settlement.
func (j *JobMaster) addCandidate(c candidate) {
	if j.state != rpc.JobRunning && j.state != rpc.JobRestarting {
		return
	}
	if j.settle == nil {
		j.settle = &settlement{failed: []candidate{c}}
		if j.graph.Streaming() {
			j.settleTimer = j.timer("settle", j.now+j.settleMs)
		}
	} else {
		j.settle.failed = append(j.settle.failed, c)
		if c.rank.compare(j.settle.bestRank()) >= 0 {
			return
		}
		j.limitSplits(nil)
		j.settle.best = len(j.settle.failed) - 1
	}
	j.settle.limit = nil
	if c.rank.kind == byOrder {
		j.settle.limit = &[2]int64{c.rank.order[0], c.rank.order[1]}
	}
	j.limitSplits(j.settle.limit)
	for i, s := range j.stages {
		for k := range s.regions {
			switch r := &s.regions[k]; r.state {
			case regionActive:
				if !j.regionWanted(i, k) {
					j.stopRegion(r)
				}
			case regionSettling:
				j.stopUnwanted(r)
			case regionPending, regionStopping, regionFinished:
			}
		}
	}
}

func (j *JobMaster) limitSplits(limit *[2]int64) {
	if v := j.vertices[j.settle.bestRank().vertex]; v.splits != nil {
		v.splits.Limit(limit)
	}
}

// wanted reports whether a stage may still fail earlier than what is to be reported; without a failure
// every stage is wanted.
func (j *JobMaster) wanted(stage int) bool {
	if j.settle == nil {
		return true
	}
	if j.endless(stage) {
		return false
	}
	best, p := j.settle.bestRank(), j.plan[stage]
	return p.Depth < best.depth || p.Depth == best.depth && p.Vertices[0] <= best.vertex
}

// regionWanted is wanted for a region: of the stage at fault, those count that may still read a split up
// to the place at fault.
func (j *JobMaster) regionWanted(stage, region int) bool {
	if !j.wanted(stage) {
		return false
	}
	if j.settle == nil || stage != j.stageOf[j.settle.bestRank().vertex] {
		return true
	}
	v := j.vertices[j.settle.bestRank().vertex]
	if v.unfound {
		return false
	}
	if j.settle.limit == nil || v.splits == nil || !j.plan[stage].Pointwise {
		return true
	}
	return v.splits.Unread(region, j.settle.limit)
}

// liveWanted is regionWanted for the region of a task.
func (j *JobMaster) liveWanted(m scheduler.Member) bool {
	stage := j.stageOf[m.Vertex]
	if j.regionOf(m).state == regionSettling {
		return j.memberWanted(m)
	}
	return j.regionWanted(stage, j.plan[stage].RegionOf(m))
}

func (j *JobMaster) regionOf(m scheduler.Member) *regionRun {
	stage := j.stageOf[m.Vertex]
	return &j.stages[stage].regions[j.plan[stage].RegionOf(m)]
}

// checkSettled ends the settlement once nothing is left that could fail earlier.
func (j *JobMaster) checkSettled() {
	if j.settle == nil || j.state != rpc.JobRunning && j.state != rpc.JobRestarting {
		return
	}
	for i, s := range j.stages {
		if !j.wanted(i) {
			continue
		}
		if s.regions == nil && !j.hopeless(i) {
			return
		}
		for k := range s.regions {
			r := &s.regions[k]
			if (r.state == regionPending || r.state == regionActive) && j.regionWanted(i, k) || r.state == regionSettling && j.unsettled(r) {
				return
			}
		}
	}
	j.conclude()
}

// hopeless reports whether a stage will not be decided: the splits of one of its sources were not found, and
// no earlier source that could also fail so is still looking.
func (j *JobMaster) hopeless(stage int) bool {
	unfound := false
	for _, n := range j.plan[stage].Vertices {
		switch v := j.vertices[n]; {
		case v.splits == nil:
		case v.unfound:
			unfound = true
		case !v.splits.Closed() && n < j.settle.bestRank().vertex:
			return false
		}
	}
	return unfound
}

// conclude fails the job for the least failure seen.
func (j *JobMaster) conclude() {
	s := j.settle
	j.limitSplits(nil)
	j.settle, j.settleTimer = nil, ""
	all := append([]candidate{s.failed[s.best]}, s.failed[:s.best]...)
	j.fail(append(all, s.failed[s.best+1:]...)...)
}

// infrastructureFailure takes a failure that another attempt may not have. While a settlement waits, the
// failure of the data stays the one reported.
func (j *JobMaster) infrastructureFailure(m scheduler.Member, a *executiongraph.Attempt, causes []failure.Cause) {
	j.fail(j.candidateOf(m, a, causes))
}

// failureOf makes the job's failure: the first candidate, with the rest beside it.
func failureOf(cs []candidate) failure.Failure {
	f := failure.New(cs[0].causes, cs[0].where)
	for _, c := range cs[1:] {
		f.Concurrent = append(f.Concurrent, failure.New(c.causes, c.where))
	}
	return f
}

// fail asks the restart strategy, and restarts what failed or ends the job.
func (j *JobMaster) fail(cs ...candidate) {
	if j.state != rpc.JobRunning && j.state != rpc.JobRestarting {
		return
	}
	if s := j.settle; s != nil {
		s.failed = append(s.failed, cs...)
		j.conclude()
		return
	}
	f := failureOf(cs)
	again, delayMs := j.strategy.OnFailure(j.now)
	if !again {
		f.Refused(j.strategy, len(j.restarts))
		j.failure = &f
		j.toFailing()
		return
	}
	f.Restarted(j.strategy, len(j.restarts)+1)
	j.restartAfter(delayMs, f)
}

// failAtOnce ends the job for a reason that no restart helps.
func (j *JobMaster) failAtOnce(c candidate) {
	f := failureOf([]candidate{c})
	f.RestartStrategy = j.strategy.Name()
	f.Restart.Attempts = len(j.restarts)
	j.failure = &f
	j.toFailing()
}

// toFailing stops all that runs; the job ends when nothing does.
func (j *JobMaster) toFailing() {
	j.enter(rpc.JobFailing)
	j.stopAll()
}

func (j *JobMaster) stopAll() {
	j.settle, j.restart = nil, nil
	for _, v := range j.vertices {
		if v.splits != nil && !v.splits.Closed() && !v.unfound {
			j.command(StopDiscover{})
			break
		}
	}
	for _, s := range j.stages {
		for k := range s.regions {
			r := &s.regions[k]
			j.stopRegion(r)
			for _, m := range r.members {
				if a := j.exec.Attempt(m.Vertex, m.Subtask); a.State == rpc.Created || a.State == rpc.Scheduled {
					j.transition(m, rpc.Canceled)
				}
			}
		}
		s.pending = 0
	}
}

// cancel stops the job, unless it is ending already or its results are being published.
func (j *JobMaster) cancel() {
	if j.committing || j.state != rpc.JobRunning && j.state != rpc.JobRestarting {
		return
	}
	j.enter(rpc.JobCancelling)
	j.stopAll()
}

// managerLost takes the loss of a TaskManager: what ran there failed, what was written there is gone.
func (j *JobMaster) managerLost(l rpc.TaskManagerLost) {
	j.pool.RemoveManager(l.TaskManager)
	c := candidate{
		rank:  rank{kind: byNone},
		where: failure.Where{TaskManager: l.TaskManager},
		causes: []failure.Cause{{
			Class: string(failure.TaskManagerLost), Message: l.Reason, TaskManager: l.TaskManager,
		}},
	}
	died, needed := false, false
	for n := range j.exec.Vertices {
		for i := range j.exec.Vertices[n].Subtasks {
			m := scheduler.Member{Vertex: n, Subtask: i}
			a := j.exec.Attempt(n, i)
			if a.Slot.TaskManager != l.TaskManager {
				continue
			}
			switch a.State {
			case rpc.Deploying, rpc.Initializing, rpc.Running:
				died = true
				c.where.Task = cmp.Or(c.where.Task, j.exec.Vertices[n].TaskName(i))
				j.transition(m, rpc.Failed)
				a.Failure = &rpc.TaskFailure{Causes: c.causes}
				j.left(m, a)
			case rpc.Canceling:
				j.transition(m, rpc.Canceled)
				j.left(m, a)
			case rpc.Finished:
				needed = j.lose(m) || needed
			case rpc.Created, rpc.Scheduled, rpc.Failed, rpc.Canceled:
			}
		}
	}
	if died || needed {
		j.fail(c)
	}
}

// resultLost takes what a consumer says of a result that it cannot read.
func (j *JobMaster) resultLost(id exchange.ResultID) {
	for _, e := range j.edges {
		if e.e.ID != id.Edge {
			continue
		}
		a := j.exec.Attempt(e.from.index, id.Producer)
		if a != nil && a.Number == id.Attempt && a.State == rpc.Finished {
			j.lose(scheduler.Member{Vertex: e.from.index, Subtask: id.Producer})
		}
	}
}

// lose marks the results of a finished subtask as gone, and reports whether somebody still needs them.
func (j *JobMaster) lose(m scheduler.Member) bool {
	v := j.vertices[m.Vertex]
	needed := false
	for _, e := range v.out {
		if !e.released && !j.exec.Vertices[e.to.index].Finished() {
			needed = true
		}
	}
	if needed {
		v.lost[m.Subtask] = true
	}
	return needed
}
