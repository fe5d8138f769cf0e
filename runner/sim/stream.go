package sim

import (
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// connect notes that a consumer is there for the results of an edge. It stays so when the consumer ends: what
// is written for it is dropped then.
func (t *task) connect(c rpc.InputEdge) {
	if c.Blocking {
		return
	}
	for _, id := range c.From {
		k := keyOf(id)
		if t.j.connected[k] == nil {
			t.j.connected[k] = map[int]bool{}
		}
		for s := c.Lo; s < c.Hi; s++ {
			if t.j.connected[k][s] && t.current() && t.id.Attempt == id.Attempt {
				t.m.w.violate("%v reads subpartition %d of %v, which has another consumer", t.id, s, id)
			}
			t.j.connected[k][s] = true
		}
	}
}

// consumed reports whether every subpartition the task writes has a consumer.
func (t *task) consumed() bool {
	for _, o := range t.d.Outputs {
		id := exchange.ResultID{Job: t.id.Job, Edge: o.Edge.ID, Producer: t.id.Subtask, Attempt: t.id.Attempt}
		for s := range o.Subpartitions {
			if !o.Edge.Blocking && !t.j.connected[keyOf(id)][s] {
				return false
			}
		}
	}
	return true
}

func (t *task) partitioned() bool {
	op := t.d.Operators[0]
	return t.d.Streaming && op.Kind == jobgraph.SourceOp && op.Source.Partitioned
}

// barrier is what a source does when it is told to put one in: it passes the source, and in time all other
// tasks of the job that still run.
func (m *manager) barrier(b rpc.TriggerBarrier) {
	t := m.tasks[b.Task]
	if t == nil {
		return
	}
	if t.d.Operators[0].Kind != jobgraph.SourceOp {
		m.w.violate("%v is told to put in barrier %d, and is no source", t.id, b.Barrier)
	}
	if b.Barrier < t.j.triggered {
		m.w.violate("%v is told to put in barrier %d after %d", t.id, b.Barrier, t.j.triggered)
	}
	t.pass(b.Barrier)
	if b.Barrier == t.j.triggered {
		return
	}
	t.j.triggered = b.Barrier
	for _, other := range m.w.alive {
		for _, id := range other.ids() {
			if u := other.tasks[id]; u.j == t.j && u.d.Operators[0].Kind != jobgraph.SourceOp {
				u.pass(b.Barrier)
			}
		}
	}
}

// pass acknowledges a barrier after a while.
func (t *task) pass(barrier int64) {
	t.m.whenAwake(t, t.m.w.between(1, 400), func() {
		t.m.send(rpc.JobMaster(t.id.Job), rpc.AcknowledgeBarrier{Task: t.id, Barrier: barrier, AlignedMs: 1})
	})
}
