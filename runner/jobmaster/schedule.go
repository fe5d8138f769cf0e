package jobmaster

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/executiongraph"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/scheduler"
)

// advance does what the last event made possible.
func (j *JobMaster) advance() {
	j.checkSettled()
	j.checkRestart()
	if j.state == rpc.JobRunning || j.state == rpc.JobRestarting {
		j.giveBack()
		j.schedule()
		j.checkSettled()
		j.releaseConsumed()
		if j.allFinished() {
			j.commit()
		}
	}
	j.checkStopped()
	if !j.state.Final() {
		j.giveBack()
		j.declare()
		j.watchSlots()
		j.watchBarriers()
	}
}

// schedule decides the stages whose inputs are known and starts what fits into the slots, earlier stages
// first.
func (j *JobMaster) schedule() {
	for i, s := range j.stages {
		if s.regions != nil && s.pending == 0 {
			continue
		}
		if !j.wanted(i) || !j.ready(i) {
			continue
		}
		if s.regions == nil && !j.decide(i) {
			return
		}
		j.place(s)
	}
}

// ready reports whether all a stage reads is there: the splits of its sources are found, and the
// producers of its blocking inputs are done with results that can be read.
func (j *JobMaster) ready(stage int) bool {
	for _, n := range j.plan[stage].Vertices {
		v := j.vertices[n]
		if v.splits != nil && !v.splits.Closed() {
			return false
		}
		for _, e := range v.in {
			if e.e.Blocking && !j.readable(e) {
				return false
			}
		}
	}
	return true
}

func (j *JobMaster) readable(e *edgeRun) bool {
	return !e.released && len(e.from.lost) == 0 && j.exec.Vertices[e.from.index].Finished() &&
		!j.restart.has(j.stageOf[e.from.index])
}

// decide gives the vertices of a stage their parallelism, in order, so that one that follows another finds
// its number. It reports whether the job goes on.
func (j *JobMaster) decide(stage int) bool {
	s := j.stages[stage]
	for _, n := range j.plan[stage].Vertices {
		v := j.vertices[n]
		var d scheduler.Decision
		if v.splits != nil {
			d = j.decider.Source(v.v, v.splits.Total())
		} else {
			d, v.readings = j.decider.Downstream(v.v, j.inputsOf(v))
		}
		v.decision = &d
		v.committables = make([][]connectors.Committable, d.Decided)
		j.exec.Decide(j.now, n, d.Decided)
		for i := range d.Decided {
			j.transition(scheduler.Member{Vertex: n, Subtask: i}, rpc.Scheduled)
		}
		for _, e := range v.in {
			e.bytes = nil
		}
	}
	for _, members := range j.plan[stage].Regions(j.parallelism) {
		s.regions = append(s.regions, regionRun{members: members})
	}
	s.pending, s.readyMs = len(s.regions), j.now
	j.slots.needed, j.slots.groups = scheduler.SlotsNeeded(j.graph, j.parallelism)
	return j.fits(s)
}

func (j *JobMaster) inputsOf(v *vertexRun) []scheduler.Input {
	inputs := make([]scheduler.Input, len(v.in))
	for i, e := range v.in {
		inputs[i] = scheduler.Input{Edge: e.e, Producers: j.parallelism(e.from.index)}
		if e.e.Blocking {
			inputs[i].Volumes = e.volumes()
		}
	}
	return inputs
}

// volumes are the bytes of each subpartition, over all producers.
func (e *edgeRun) volumes() []int64 {
	sum := make([]int64, e.subs)
	for _, bytes := range e.bytes {
		for i, b := range bytes {
			if i < len(sum) {
				sum[i] += b
			}
		}
	}
	return sum
}

// parallelism of a vertex, 0 until it is decided.
func (j *JobMaster) parallelism(vertex int) int { return len(j.exec.Vertices[vertex].Subtasks) }

// fits refuses a region that can never have the slots it needs, where their number is fixed.
func (j *JobMaster) fits(s *stageRun) bool {
	need := j.regionNeed(s)
	if j.config.FixedSlots == 0 || need <= j.config.FixedSlots {
		return true
	}
	var names []string
	for _, n := range j.plan[s.index].Vertices {
		names = append(names, j.vertices[n].v.Name)
	}
	j.failAtOnce(candidate{causes: []failure.Cause{{
		Class: string(failure.NoSlots),
		Message: fmt.Sprintf("%s need %d slots at the same time, because pipelined exchanges join them, and there are %d",
			strings.Join(names, ", "), need, j.config.FixedSlots),
	}}})
	return false
}

// regionNeed is how many slots the largest region of a stage needs at once.
func (j *JobMaster) regionNeed(s *stageRun) int {
	if len(s.regions) == 0 {
		return 0
	}
	if j.plan[s.index].Pointwise {
		groups := map[string]bool{}
		for _, n := range j.plan[s.index].Vertices {
			groups[j.vertices[n].v.SharingGroup] = true
		}
		return len(groups)
	}
	need, _ := scheduler.SlotsNeeded(j.graph, func(v int) int {
		if j.stageOf[v] != s.index {
			return 0
		}
		return j.parallelism(v)
	})
	return need
}

// place starts the pending regions of a stage as long as slots last.
func (j *JobMaster) place(s *stageRun) {
	for ; s.pending > 0 && s.cursor < len(s.regions); s.cursor++ {
		r := &s.regions[s.cursor]
		if r.state != regionPending {
			continue
		}
		if !j.regionWanted(s.index, s.cursor) {
			return
		}
		slots, ok := j.pool.Place(r.members)
		if !ok {
			return
		}
		if s.wave < 0 {
			j.startWave(s)
		}
		r.state, r.live = regionActive, len(r.members)
		s.pending--
		for i, m := range r.members {
			j.deploy(m, slots[i])
		}
	}
}

func (j *JobMaster) deploy(m scheduler.Member, slot rpc.SlotID) {
	v := j.vertices[m.Vertex]
	j.transition(m, rpc.Deploying)
	a := j.exec.Attempt(m.Vertex, m.Subtask)
	a.Slot = slot
	j.send(rpc.TaskManager(slot.TaskManager), rpc.DeployTask{
		Task: j.taskID(m), Slot: slot, Name: v.v.Name, Operators: v.v.Operators,
		Parallelism: v.decision.Decided, MaxParallelism: j.decider.KeyGroups(v.v.ID),
		Inputs: j.gates(v, m.Subtask), Outputs: v.outputs, Run: j.config.Run, Options: j.graph.Options,
		Streaming: j.graph.Streaming(), Unbounded: j.unbounded(),
	})
}

// gates says what a subtask reads, one gate per input of the first operator.
func (j *JobMaster) gates(v *vertexRun, subtask int) []rpc.InputGate {
	var gates []rpc.InputGate
	for i, e := range v.in {
		for len(gates) <= e.e.Input {
			gates = append(gates, rpc.InputGate{})
		}
		ids := j.resultIDs(e)
		lo, hi := v.readings[i].From(subtask, len(ids))
		r := v.readings[i].Range(subtask)
		gates[e.e.Input].Channels = append(gates[e.e.Input].Channels, rpc.InputEdge{
			Edge: e.e.ID, From: ids[lo:hi:hi], Lo: r.Lo, Hi: r.Hi, Blocking: e.e.Blocking,
		})
	}
	return gates
}

// resultIDs are the results of the current attempts of an edge's producers. All consumers share the list.
func (j *JobMaster) resultIDs(e *edgeRun) []exchange.ResultID {
	if e.ids == nil {
		subtasks := j.exec.Vertices[e.from.index].Subtasks
		e.ids = make([]exchange.ResultID, len(subtasks))
		for i := range subtasks {
			e.ids[i] = exchange.ResultID{Job: j.config.Job, Edge: e.e.ID, Producer: i, Attempt: subtasks[i].Current.Number}
		}
	}
	return e.ids
}

func (j *JobMaster) taskID(m scheduler.Member) rpc.TaskID {
	return rpc.TaskID{
		Job: j.config.Job, Vertex: j.vertices[m.Vertex].v.ID, Subtask: m.Subtask,
		Attempt: j.exec.Attempt(m.Vertex, m.Subtask).Number,
	}
}

// transition moves an attempt; an illegal step changes nothing and is recorded.
func (j *JobMaster) transition(m scheduler.Member, to rpc.TaskState) bool {
	if err := j.exec.Transition(j.now, m.Vertex, m.Subtask, to); err != nil {
		j.anomalies.illegal(err.Error())
		return false
	}
	return true
}

// maxAnomalyTexts is how many anomalies are kept in words.
const maxAnomalyTexts = 10

func (a *Anomalies) illegal(text string) {
	a.Illegal++
	if len(a.Texts) < maxAnomalyTexts {
		a.Texts = append(a.Texts, text)
	}
}

func (j *JobMaster) allFinished() bool {
	for i := range j.exec.Vertices {
		if !j.exec.Vertices[i].Finished() {
			return false
		}
	}
	return j.restart == nil
}

// releaseConsumed drops the results of edges whose consumers are all done with them.
func (j *JobMaster) releaseConsumed() {
	for _, e := range j.edges {
		if !e.released && j.exec.Vertices[e.to.index].Finished() && j.exec.Vertices[e.from.index].Finished() && j.restart == nil {
			j.release(e)
		}
	}
}

// release drops what the current attempts of an edge's producers wrote, one message a TaskManager.
func (j *JobMaster) release(e *edgeRun) {
	e.released = true
	byManager := map[string][]exchange.ResultID{}
	var managers []string
	subtasks := j.exec.Vertices[e.from.index].Subtasks
	for i, id := range j.resultIDs(e) {
		a := &subtasks[i].Current
		// What flows is there from the first row on, whatever became of who wrote it.
		if a.State != rpc.Finished && e.e.Blocking || a.Slot.TaskManager == "" || e.from.lost[i] {
			continue
		}
		if byManager[a.Slot.TaskManager] == nil {
			managers = append(managers, a.Slot.TaskManager)
		}
		byManager[a.Slot.TaskManager] = append(byManager[a.Slot.TaskManager], id)
	}
	for _, m := range managers {
		j.send(rpc.TaskManager(m), rpc.ReleasePartitions{Results: byManager[m]})
	}
}

// releaseResults drops what one finished attempt wrote.
func (j *JobMaster) releaseResults(m scheduler.Member, a *executiongraph.Attempt) {
	v := j.vertices[m.Vertex]
	if len(v.out) == 0 || v.lost[m.Subtask] {
		return
	}
	var ids []exchange.ResultID
	for _, e := range v.out {
		if !e.released {
			ids = append(ids, exchange.ResultID{Job: j.config.Job, Edge: e.e.ID, Producer: m.Subtask, Attempt: a.Number})
		}
	}
	if len(ids) > 0 {
		j.send(rpc.TaskManager(a.Slot.TaskManager), rpc.ReleasePartitions{Results: ids})
	}
}
