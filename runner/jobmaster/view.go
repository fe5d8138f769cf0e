package jobmaster

import (
	"encoding/hex"
	"maps"
	"math/bits"

	"encoding/binary"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/runner/executiongraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// Snapshot is the job at this moment.
func (j *JobMaster) Snapshot() Snapshot {
	s := Snapshot{
		Job: j.config.Job, Run: j.config.Run, Name: j.graph.Name, Streaming: j.graph.Streaming(), State: j.state, Committing: j.committing, AtMs: maps.Clone(j.atMs),
		Restarts: append([]RestartRecord{}, j.restarts...), Failure: j.failure, AbortCauses: j.abortCauses, Books: j.books,
		Slots: SlotsSnapshot{
			Needed: j.slots.needed, Available: j.slots.most, WaitedMs: j.slots.waitedMs, Groups: maps.Clone(j.slots.groups),
			Waves: append([]Wave{}, j.slots.waves...),
		},
		Anomalies: Anomalies{Late: j.anomalies.Late, Illegal: j.anomalies.Illegal, Texts: append([]string{}, j.anomalies.Texts...)},
	}
	if j.strategy != nil {
		s.Strategy = j.strategy.Describe()
	}
	if len(j.stages) > 0 && j.slots.waitingMs >= 0 {
		s.Slots.WaitedMs += j.now - j.slots.waitingMs
	}
	if j.barriers.everyMs > 0 {
		b := j.barriers.stats
		s.Barriers = &b
	}
	for n, v := range j.vertices {
		s.Vertices = append(s.Vertices, vertexSnapshot(v, &j.exec.Vertices[n]))
		if v.sink != nil {
			s.Sinks = append(s.Sinks, j.sinkSnapshot(v, &s.Vertices[n]))
		}
	}
	return s
}

func vertexSnapshot(v *vertexRun, x *executiongraph.Vertex) VertexSnapshot {
	s := VertexSnapshot{ID: v.v.ID, Name: v.v.Name, SharingGroup: v.v.SharingGroup}
	for _, o := range v.v.Operators {
		s.Operators = append(s.Operators, o.Label)
	}
	if v.decision != nil {
		d := *v.decision
		d.Numbers = maps.Clone(d.Numbers)
		s.Decision = &d
	}
	if v.splits != nil {
		s.SplitsTotal, s.SplitsDone = v.splits.Total(), v.splits.Read()
	}
	s.Subtasks = make([]SubtaskSnapshot, len(x.Subtasks))
	for i := range x.Subtasks {
		s.Subtasks[i] = subtaskSnapshot(i, &x.Subtasks[i].Current)
		if v.splits != nil {
			s.Subtasks[i].Metrics.Splits = max(s.Subtasks[i].Metrics.Splits, v.splits.Given(i))
		}
		addMetrics(&s.Metrics, &s.Subtasks[i].Metrics)
	}
	return s
}

func subtaskSnapshot(i int, a *executiongraph.Attempt) SubtaskSnapshot {
	at := func(s rpc.TaskState) int64 { return a.At[executiongraph.StateIndex(s)] }
	s := SubtaskSnapshot{
		Index: i, Attempt: a.Number, State: a.State, TaskManager: a.Slot.TaskManager, Slot: a.Slot.Index,
		ScheduledMs: at(rpc.Scheduled), DeployedMs: at(rpc.Deploying), RunningMs: at(rpc.Running), Metrics: a.Metrics,
	}
	if a.State.Final() {
		s.EndedMs = at(a.State)
	}
	if s.DeployedMs > 0 {
		s.WaitedMs = s.DeployedMs - s.ScheduledMs
	}
	return s
}

// addMetrics sums the plain counters; books, files and digests are summed where they are checked.
func addMetrics(to, m *rpc.TaskMetrics) {
	to.RecordsIn += m.RecordsIn
	to.RecordsOut += m.RecordsOut
	to.BytesIn += m.BytesIn
	to.BytesOut += m.BytesOut
	to.SpilledBytes += m.SpilledBytes
	to.StateBytes += m.StateBytes
	to.Splits += m.Splits
	to.BusyMs += m.BusyMs
	to.IdleMs += m.IdleMs
	to.BackpressuredMs += m.BackpressuredMs
	to.SinkRows += m.SinkRows
	to.SinkBytes += m.SinkBytes
	to.TryCasts = addTryCasts(to.TryCasts, m.TryCasts)
}

func (j *JobMaster) sinkSnapshot(v *vertexRun, x *VertexSnapshot) SinkSnapshot {
	s := SinkSnapshot{
		Vertex: v.v.ID, Node: v.sink.Node, Files: append([]string{}, j.commits[v.v.ID]...),
		Rows: x.Metrics.SinkRows, Bytes: x.Metrics.SinkBytes, Shown: v.shown, NotDeterministic: v.sink.NotDeterministic,
		Committables: []connectors.Committable{},
	}
	var digest [16]byte
	for i := range x.Subtasks {
		addDigest(&digest, x.Subtasks[i].Metrics.Digest)
	}
	s.Digest = hex.EncodeToString(digest[:])
	for _, c := range v.committables {
		s.Committables = append(s.Committables, c...)
	}
	return s
}

// addDigest adds a digest of 32 hex digits, big-endian, mod 2^128. One that is none adds nothing.
func addDigest(sum *[16]byte, text string) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(sum) {
		return
	}
	lo, carry := bits.Add64(binary.BigEndian.Uint64(sum[8:]), binary.BigEndian.Uint64(b[8:]), 0)
	hi, _ := bits.Add64(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(b[:8]), carry)
	binary.BigEndian.PutUint64(sum[:8], hi)
	binary.BigEndian.PutUint64(sum[8:], lo)
}
