package resourcemanager

import (
	"fmt"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// Config is what a ResourceManager is made of. Zero times are Flink's defaults.
type Config struct {
	Leader              string
	HeartbeatIntervalMs int64 // heartbeat.interval, 10 s
	// HeartbeatTimeoutMs is heartbeat.timeout, 50 s. Negative: a TaskManager is never lost for being silent,
	// as where all live in the JobManager's own process, which may sleep with its machine for hours.
	HeartbeatTimeoutMs int64
}

// A ResourceManager is the machine.
type ResourceManager struct {
	config   Config
	managers []*taskManager // in the order they registered
	byID     map[string]*taskManager
	jobs     []*claim // in the order they first declared
	byJob    map[string]*claim
	free     int
	out      []rpc.Command
}

type taskManager struct {
	id           string
	managedBytes int64
	lastMs       int64
	slots        []*claim // who has each slot, nil = free
}

// A claim is what a job needs and has.
type claim struct {
	job          string
	needed, held int
	share        int // last told by SlotsWanted, 0 = no limit
}

const heartbeatTimer = "heartbeat"

// New makes a ResourceManager without TaskManagers.
func New(c Config) *ResourceManager {
	if c.HeartbeatIntervalMs <= 0 {
		c.HeartbeatIntervalMs = 10_000
	}
	if c.HeartbeatTimeoutMs == 0 {
		c.HeartbeatTimeoutMs = 50_000
	}
	return &ResourceManager{config: c, byID: map[string]*taskManager{}, byJob: map[string]*claim{}}
}

// Step takes one event.
func (r *ResourceManager) Step(now int64, ev rpc.Event) []rpc.Command {
	r.out = nil
	switch e := ev.(type) {
	case rpc.Received:
		if e.Envelope.Leader == r.config.Leader {
			r.receive(now, e.Envelope)
		}
	case rpc.Disconnected:
		id := strings.TrimPrefix(string(e.Peer), string(rpc.TaskManager("")))
		if m := r.byID[id]; m != nil {
			r.lose(m, fmt.Sprintf("TaskManager with id %s is no longer reachable.", id))
		}
	case rpc.TimerFired:
		if e.ID == heartbeatTimer {
			r.expire(now)
		}
	}
	r.grant()
	r.want()
	return r.out
}

func (r *ResourceManager) receive(now int64, e rpc.Envelope) {
	switch m := e.Body.(type) {
	case rpc.RegisterTaskManager:
		r.register(now, m)
	case rpc.Heartbeat:
		r.heartbeat(now, e.From, m)
	case rpc.DeclareSlots:
		r.declare(m)
	case rpc.ReleaseSlots:
		if c := r.byJob[m.Job]; c != nil {
			for _, s := range m.Slots {
				r.release(c, s)
			}
		}
	}
}

func (r *ResourceManager) register(now int64, m rpc.RegisterTaskManager) {
	if old := r.byID[m.ID]; old != nil {
		r.lose(old, fmt.Sprintf("TaskManager with id %s registered again.", m.ID))
	}
	t := &taskManager{id: m.ID, managedBytes: m.ManagedBytes, lastMs: now, slots: make([]*claim, max(m.Slots, 0))}
	r.managers = append(r.managers, t)
	r.byID[m.ID] = t
	r.free += len(t.slots)
	r.send(rpc.TaskManager(m.ID), rpc.TaskManagerRegistered{
		ID: m.ID, HeartbeatIntervalMs: r.config.HeartbeatIntervalMs, HeartbeatTimeoutMs: r.config.HeartbeatTimeoutMs,
	})
	if len(r.managers) == 1 && r.config.HeartbeatTimeoutMs > 0 {
		r.out = append(r.out, rpc.StartTimer{ID: heartbeatTimer, AtMs: now + r.config.HeartbeatTimeoutMs})
	}
}

func (r *ResourceManager) heartbeat(now int64, from rpc.Address, m rpc.Heartbeat) {
	if t := r.byID[m.TaskManager]; t != nil {
		t.lastMs = now
		return
	}
	r.send(from, rpc.RegisterAgain{ID: m.TaskManager})
}

// expire loses the TaskManagers that were silent for too long.
func (r *ResourceManager) expire(now int64) {
	next := now + r.config.HeartbeatTimeoutMs
	for _, t := range append([]*taskManager(nil), r.managers...) {
		if now-t.lastMs >= r.config.HeartbeatTimeoutMs {
			r.lose(t, fmt.Sprintf("Heartbeat of TaskManager with id %s timed out.", t.id))
			r.send(rpc.TaskManager(t.id), rpc.RegisterAgain{ID: t.id})
			continue
		}
		next = min(next, t.lastMs+r.config.HeartbeatTimeoutMs)
	}
	if len(r.managers) > 0 {
		r.out = append(r.out, rpc.StartTimer{ID: heartbeatTimer, AtMs: next})
	}
}

// lose drops a TaskManager and tells every job that claims slots, because one may have results there
// although it holds no slot of it any more.
func (r *ResourceManager) lose(t *taskManager, reason string) {
	delete(r.byID, t.id)
	for i, m := range r.managers {
		if m == t {
			r.managers = append(r.managers[:i:i], r.managers[i+1:]...)
			break
		}
	}
	for _, c := range t.slots {
		if c == nil {
			r.free--
		} else {
			c.held--
		}
	}
	for _, c := range r.jobs {
		r.send(rpc.JobMaster(c.job), rpc.TaskManagerLost{TaskManager: t.id, Reason: reason})
	}
}

func (r *ResourceManager) declare(m rpc.DeclareSlots) {
	c := r.byJob[m.Job]
	if c == nil && m.Needed > 0 {
		c = &claim{job: m.Job}
		r.jobs = append(r.jobs, c)
		r.byJob[m.Job] = c
	}
	if c == nil {
		return
	}
	c.needed = max(m.Needed, 0)
	if c.needed == 0 {
		r.forget(c)
	}
}

// forget ends a job's claim; slots it did not give back are taken.
func (r *ResourceManager) forget(c *claim) {
	for _, t := range r.managers {
		for i, owner := range t.slots {
			if owner == c {
				t.slots[i] = nil
				r.free++
			}
		}
	}
	delete(r.byJob, c.job)
	for i, other := range r.jobs {
		if other == c {
			r.jobs = append(r.jobs[:i:i], r.jobs[i+1:]...)
			break
		}
	}
}

func (r *ResourceManager) release(c *claim, s rpc.SlotID) {
	t := r.byID[s.TaskManager]
	if t == nil || s.Index < 0 || s.Index >= len(t.slots) || t.slots[s.Index] != c {
		return // a slot of a TaskManager that was lost meanwhile
	}
	t.slots[s.Index] = nil
	c.held--
	r.free++
}

// Total is the number of slots of all TaskManagers.
func (r *ResourceManager) Total() int {
	n := 0
	for _, t := range r.managers {
		n += len(t.slots)
	}
	return n
}

// Free is the number of slots that no job has.
func (r *ResourceManager) Free() int { return r.free }

func (r *ResourceManager) send(to rpc.Address, m rpc.Message) {
	r.out = append(r.out, rpc.Send{Envelope: rpc.Envelope{From: rpc.ResourceManager, To: to, Leader: r.config.Leader, Body: m}})
}
