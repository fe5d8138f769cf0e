package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A manager is a simulated TaskManager. It goes by another id each time it registers.
type manager struct {
	w       *World
	name    string
	id      string
	times   int
	slots   int
	dead    bool
	hung    int64 // until when it does nothing
	links   map[string]*link
	tasks   map[rpc.TaskID]*task
	results map[resultKey]bool
	pending []rpc.Envelope // arrived while it hung
}

type resultKey struct {
	job, edge         string
	producer, attempt int
}

func keyOf(id exchange.ResultID) resultKey {
	return resultKey{id.Job, id.Edge, id.Producer, id.Attempt}
}

// A result is a result partition somewhere in the cluster.
type result struct {
	owner    string // id of the TaskManager
	rows     [][]string
	released bool
}

func (w *World) addManager(slots int) {
	w.born++
	m := &manager{w: w, name: fmt.Sprintf("tm%d", w.born), slots: slots, links: map[string]*link{}}
	w.alive = append(w.alive, m)
	m.register()
	m.heartbeat()
	m.trouble()
}

// register makes a fresh start under a new id.
func (m *manager) register() {
	m.times++
	m.id = fmt.Sprintf("%s-%d", m.name, m.times)
	m.tasks, m.results, m.pending = map[rpc.TaskID]*task{}, map[resultKey]bool{}, nil
	address := string(rpc.TaskManager(m.id))
	m.links[address] = &link{}
	m.w.managers[address] = m
	m.send(rpc.ResourceManager, rpc.RegisterTaskManager{ID: m.id, Slots: m.slots, ManagedBytes: 1 << 20})
}

func (m *manager) send(to rpc.Address, b rpc.Message) {
	m.w.post(rpc.Envelope{From: rpc.TaskManager(m.id), To: to, Leader: leader, Body: b})
}

func (m *manager) heartbeat() {
	m.w.after(10_000, func() {
		if m.dead {
			return
		}
		if m.hung <= m.w.now {
			m.send(rpc.ResourceManager, rpc.Heartbeat{TaskManager: m.id})
		}
		m.heartbeat()
	})
}

// trouble befalls a TaskManager now and then, until it is left alone.
func (m *manager) trouble() {
	f := m.w.faults
	if f.Kill+f.Hang+f.Drop == 0 {
		return
	}
	m.w.after(m.w.between(500, 1500), func() {
		if m.dead || m.w.now > f.Until {
			return
		}
		switch {
		case m.w.chance(f.Kill):
			m.kill()
			m.w.after(m.w.between(0, 20_000), func() { m.w.addManager(m.slots) })
			return
		case m.w.chance(f.Hang):
			m.hang(m.w.between(100, 120_000))
		case m.w.chance(f.Drop):
			m.drop()
		}
		m.trouble()
	})
}

// kill ends the process: its connection breaks with it, or, seen from afar, it is just silent.
func (m *manager) kill() {
	m.dead = true
	m.forget()
	if m.w.chance(700) {
		m.breakLink()
		return
	}
	m.links[string(rpc.TaskManager(m.id))].broken = true
}

func (m *manager) breakLink() {
	id := m.id
	m.links[string(rpc.TaskManager(id))].broken = true
	m.w.after(m.w.between(1, 300), func() { m.w.jm.lost(id) })
}

// drop breaks the connection; the TaskManager starts afresh.
func (m *manager) drop() {
	m.forget()
	m.breakLink()
	m.w.after(m.w.between(1, 2000), func() {
		if !m.dead {
			m.register()
		}
	})
}

// forget drops tasks and results.
func (m *manager) forget() {
	for _, t := range m.tasks {
		t.over = true
	}
	m.tasks = map[rpc.TaskID]*task{}
	for k := range m.results {
		delete(m.w.results, k)
	}
	m.results = map[resultKey]bool{}
}

// hang does nothing for a while; then it goes on where it was.
func (m *manager) hang(forMs int64) {
	m.hung = max(m.hung, m.w.now+forMs)
	m.w.after(m.hung-m.w.now, func() {
		if m.dead || m.hung > m.w.now {
			return
		}
		late := m.pending
		m.pending = nil
		for _, e := range late {
			m.receive(e)
		}
	})
}

// whenAwake does something after a while, and not while the TaskManager hangs.
func (m *manager) whenAwake(t *task, delayMs int64, do func()) {
	m.w.after(delayMs, func() {
		switch {
		case m.dead || t.over:
		case m.hung > m.w.now:
			m.whenAwake(t, m.hung-m.w.now, do)
		default:
			do()
		}
	})
}

func (m *manager) receive(e rpc.Envelope) {
	if m.dead || e.Leader != leader {
		return
	}
	if m.hung > m.w.now {
		m.pending = append(m.pending, e)
		return
	}
	if e.To != rpc.TaskManager(m.id) {
		return
	}
	switch b := e.Body.(type) {
	case rpc.DeployTask:
		m.deploy(b)
	case rpc.CancelTask:
		m.cancel(b)
	case rpc.AssignSplits:
		if t := m.tasks[b.Task]; t != nil {
			t.assigned(b)
		}
	case rpc.TriggerBarrier:
		m.barrier(b)
	case rpc.ReleasePartitions:
		for _, id := range b.Results {
			if r := m.w.results[keyOf(id)]; r != nil && r.owner == m.id {
				r.released = true
				delete(m.results, keyOf(id))
			}
		}
	case rpc.RegisterAgain:
		if b.ID == m.id {
			m.forget()
			m.register()
		}
	}
}

// ids are the tasks in order.
func (m *manager) ids() []rpc.TaskID {
	return slices.SortedFunc(maps.Keys(m.tasks), func(a, b rpc.TaskID) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Vertex, b.Vertex), a.Subtask-b.Subtask, a.Attempt-b.Attempt)
	})
}

func (m *manager) cancel(c rpc.CancelTask) {
	t := m.tasks[c.Task]
	if t == nil {
		m.send(rpc.JobMaster(c.Task.Job), rpc.TaskUpdate{Task: c.Task, State: rpc.Canceled})
		return
	}
	m.whenAwake(t, m.w.between(0, 200), func() { t.end(rpc.TaskUpdate{State: rpc.Canceled}) })
}

// deploy checks what must hold for a task to start, and starts it.
func (m *manager) deploy(d rpc.DeployTask) {
	j := m.w.jm.jobs[d.Task.Job]
	if d.Slot.TaskManager != m.id || d.Slot.Index < 0 || d.Slot.Index >= m.slots {
		m.w.violate("%v is deployed into slot %v of %s", d.Task, d.Slot, m.id)
		return
	}
	group := j.Graph.Vertex(d.Task.Vertex).SharingGroup
	for id, t := range m.tasks {
		if t.d.Slot != d.Slot {
			continue
		}
		if id.Job != d.Task.Job || j.Graph.Vertex(id.Vertex).SharingGroup != group {
			m.w.violate("%v shares slot %v with %v of another job or group", d.Task, d.Slot, id)
		}
		if id.Vertex == d.Task.Vertex {
			m.w.violate("%v shares slot %v with %v of its vertex", d.Task, d.Slot, id)
		}
	}
	t := &task{m: m, j: j, d: d, id: d.Task}
	m.tasks[d.Task] = t
	j.runsOn[d.Task] = m.id
	t.start()
}
