package jobmaster

import (
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// commit checks the books and publishes the results, once.
func (j *JobMaster) commit() {
	if j.committing {
		return
	}
	j.books = j.balance()
	if !j.books.Balanced {
		j.failAtOnce(candidate{causes: []failure.Cause{{
			Class:   string(failure.UnbalancedBooks),
			Message: "the books do not balance, so the result is not published: " + strings.Join(j.books.Faults, "; "),
		}}})
		return
	}
	if c, over := j.tooManyRejects(); over {
		j.failAtOnce(candidate{causes: []failure.Cause{c}})
		return
	}
	j.committing = true
	if sinks := j.sinkCommits(); len(sinks) > 0 {
		j.command(Commit{Job: j.config.Job, Run: j.config.Run, Sinks: sinks})
		return
	}
	j.end(rpc.JobFinished)
}

// sinkCommits lists the sinks of the job with what winning and losing attempts prepared.
func (j *JobMaster) sinkCommits() []SinkCommit {
	var sinks []SinkCommit
	for _, v := range j.vertices {
		if v.sink == nil {
			continue
		}
		s := SinkCommit{Vertex: v.v.ID, Operator: *v.sink, Committables: []connectors.Committable{}, Discarded: v.discarded}
		for _, c := range v.committables {
			s.Committables = append(s.Committables, c...)
		}
		sinks = append(sinks, s)
	}
	return sinks
}

// committed ends the job. A commit that failed is tried again as the restart strategy allows: the intent is
// journalled, so it can only be rolled forward.
func (j *JobMaster) committed(e Committed) {
	if !j.committing || j.restart != nil {
		return
	}
	for vertex, files := range e.Files {
		j.commits[vertex] = files
	}
	if len(e.Causes) == 0 {
		j.end(rpc.JobFinished)
		return
	}
	f := failure.New(e.Causes, failure.Where{})
	if again, delayMs := j.strategy.OnFailure(j.now); again {
		f.Restarted(j.strategy, len(j.restarts)+1)
		j.restarts = append(j.restarts, RestartRecord{AtMs: j.now, Strategy: j.strategy.Name(), Cause: rootMessage(f), Failure: f})
		j.recommit = j.timer("commit", j.now+delayMs)
		return
	}
	f.Refused(j.strategy, len(j.restarts))
	j.failure = &f
	j.end(rpc.JobFailed)
}

// checkStopped ends a job that is to stop, when nothing of it runs.
func (j *JobMaster) checkStopped() {
	if j.state != rpc.JobFailing && j.state != rpc.JobCancelling || j.aborting || j.live() > 0 {
		return
	}
	j.aborting = true
	sinks := j.sinkCommits()
	if len(sinks) == 0 {
		j.sinksAborted(SinksAborted{})
		return
	}
	for i := range sinks {
		sinks[i].Committables = append(sinks[i].Committables, sinks[i].Discarded...)
		sinks[i].Discarded = nil
	}
	j.command(AbortSinks{Job: j.config.Job, Run: j.config.Run, Sinks: sinks})
}

func (j *JobMaster) sinksAborted(e SinksAborted) {
	if !j.aborting {
		return
	}
	j.abortCauses = e.Causes
	if j.state == rpc.JobCancelling {
		j.end(rpc.JobCanceled)
		return
	}
	j.end(rpc.JobFailed)
}

// end puts the job into its final state and gives everything back.
func (j *JobMaster) end(s rpc.JobState) {
	if j.slots.waitingMs >= 0 && len(j.stages) > 0 {
		j.slots.waitedMs += j.now - j.slots.waitingMs
		j.slots.waitingMs = -1
	}
	if len(j.stages) > 0 {
		for _, e := range j.edges {
			if !e.released {
				j.release(e)
			}
		}
		j.send(rpc.ResourceManager, rpc.DeclareSlots{Job: j.config.Job, Needed: 0})
	}
	j.enter(s)
	j.command(Finished{Result: j.Snapshot()})
}
