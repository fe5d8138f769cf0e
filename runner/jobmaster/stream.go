package jobmaster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// tooLarge says why a stream cannot run where the number of slots is fixed: all of it runs at once. It is ""
// for one that can, and for batch jobs, whose vertices take turns.
func (j *JobMaster) tooLarge() string {
	if !j.graph.Streaming() || j.config.FixedSlots == 0 {
		return ""
	}
	need, groups := j.decider.StreamSlots()
	if need <= j.config.FixedSlots {
		return ""
	}
	var parts []string
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		parts = append(parts, fmt.Sprintf("%s %d", g, groups[g]))
	}
	return fmt.Sprintf("slots needed: %d, slots there are: %d; a stream runs all its vertices at once, and needs as many slots as the largest of each slot sharing group has subtasks (%s)",
		need, j.config.FixedSlots, strings.Join(parts, ", "))
}

// noteDecisions puts down for a stream that is refused what each vertex would have got: a stream is sized
// before it starts, so the report can say where the number of slots comes from.
func (j *JobMaster) noteDecisions() {
	all, err := scheduler.Explain(j.graph)
	if err != nil {
		return // the decider was made of the same graph, and without numbers the report only says less
	}
	for i := range all {
		j.vertices[i].decision = &all[i]
	}
	j.slots.needed, j.slots.groups = j.decider.StreamSlots()
}

// unbounded reports whether some source of the job never ends by itself.
func (j *JobMaster) unbounded() bool {
	for _, v := range j.vertices {
		if v.source != nil && v.source.Source != nil && v.source.Source.Unbounded {
			return true
		}
	}
	return false
}

// endless reports whether a stage has a source that never ends, so that nobody may wait for the stage.
func (j *JobMaster) endless(stage int) bool {
	for _, n := range j.plan[stage].Vertices {
		if s := j.vertices[n].source; s != nil && s.Source != nil && s.Source.Unbounded {
			return true
		}
	}
	return false
}

// settles reports whether the region of a task, whose data failed, is to go on as far as something could
// still fail earlier in it.
func (j *JobMaster) settles(m scheduler.Member) bool {
	stage := j.stageOf[m.Vertex]
	return j.graph.Streaming() && len(j.regionOf(m).members) > 1 && !j.endless(stage)
}

// memberWanted reports whether a task of a settling region may still fail earlier than what is to be
// reported. Nothing behind the vertex at fault can.
func (j *JobMaster) memberWanted(m scheduler.Member) bool {
	if j.settle == nil {
		return true
	}
	best := j.settle.bestRank()
	switch v := j.vertices[m.Vertex]; {
	case !j.wanted(j.stageOf[m.Vertex]) || m.Vertex > best.vertex:
		return false
	case m.Vertex < best.vertex || j.settle.limit == nil || v.splits == nil:
		return true
	default:
		return v.splits.Unread(m.Subtask, j.settle.limit)
	}
}

// stopUnwanted cancels the tasks of a settling region that cannot fail earlier. What is written for them is
// dropped from then on, so that their producers go on.
func (j *JobMaster) stopUnwanted(r *regionRun) {
	for _, m := range r.members {
		if !j.memberWanted(m) {
			j.stopMember(m)
		}
	}
}

// unsettled reports whether a task of a settling region still runs that may fail earlier.
func (j *JobMaster) unsettled(r *regionRun) bool {
	for _, m := range r.members {
		switch j.exec.Attempt(m.Vertex, m.Subtask).State {
		case rpc.Deploying, rpc.Initializing, rpc.Running:
			if j.memberWanted(m) {
				return true
			}
		case rpc.Created, rpc.Scheduled, rpc.Canceling, rpc.Finished, rpc.Failed, rpc.Canceled:
		}
	}
	return false
}
