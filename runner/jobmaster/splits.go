package jobmaster

import (
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// discover begins to look for the splits of a source, from nothing.
func (j *JobMaster) discover(v *vertexRun) {
	bytes := j.decider.Options().SplitBytes
	v.splits, v.unfound = scheduler.NewSplits(bytes), false
	j.command(Discover{Vertex: v.v.ID, Operator: *v.source, Options: connectors.SplitOptions{SplitBytes: bytes}})
}

func (j *JobMaster) splitsFound(e SplitsFound) {
	v := j.source(e.Vertex)
	if v == nil {
		return
	}
	v.splits.Add(e.Splits)
	if e.Done {
		v.splits.Close()
	}
}

func (j *JobMaster) discoverFailed(e DiscoverFailed) {
	v := j.source(e.Vertex)
	if v == nil || j.state != rpc.JobRunning && j.state != rpc.JobRestarting {
		return
	}
	v.unfound = true
	j.enumerationFailed(v, e.Causes)
}

// source finds a source whose splits are still being looked for.
func (j *JobMaster) source(vertex string) *vertexRun {
	n := j.indexOf(vertex)
	if n < 0 || j.vertices[n].splits == nil || j.vertices[n].splits.Closed() || j.vertices[n].unfound {
		return nil
	}
	return j.vertices[n]
}

func (j *JobMaster) indexOf(vertex string) int {
	if j.exec == nil {
		return -1
	}
	return j.exec.Index(vertex)
}

func (j *JobMaster) requestSplit(from rpc.Address, q rpc.RequestSplit) {
	m, a, ok := j.find(from, q.Task)
	if !ok || a.State == rpc.Canceling {
		return
	}
	v := j.vertices[m.Vertex]
	if v.splits == nil {
		j.anomalies.illegal(string(from) + " asks for splits of " + v.v.Name + ", which has no source")
		return
	}
	if v.source.Source != nil && v.source.Source.Partitioned && j.graph.Streaming() {
		j.send(from, rpc.AssignSplits{Task: q.Task, Splits: v.splits.Share(m.Subtask, j.parallelism(m.Vertex)), NoMore: true})
		return
	}
	give, noMore := v.splits.Request(m.Subtask, j.parallelism(m.Vertex), q.Done)
	if len(give) == 0 && j.settle != nil && !j.liveWanted(m) {
		// All it could still do lies behind the failure.
		if r := j.regionOf(m); r.state == regionSettling {
			j.stopMember(m)
		} else {
			j.stopRegion(r)
		}
		return
	}
	j.send(from, rpc.AssignSplits{Task: q.Task, Splits: give, NoMore: noMore})
}
