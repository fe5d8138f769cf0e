package taskmanager

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/table"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A Config is what a TaskManager is made of.
type Config struct {
	ID           string
	Leader       string // id of the JobManager it serves
	Slots        int
	ManagedBytes int64 // divided evenly among the slots
	SpillDir     string
	RejectsDir   string // folder for the rows that sources leave out; "": they are not kept
	Catalogs     jobgraph.Catalogs
	Exchange     exchange.Streams
	Alloc        memory.Allocator
	Send         func(rpc.Envelope)
	Now          func() time.Time
	ProgressMs   int64 // how often running tasks report; 0: never
	BatchRows    int   // most rows of a source batch; 0: as the reader gives them
	// CancelTimeoutMs is how long a task may take to end when it is cancelled; 0: for ever.
	CancelTimeoutMs int64
}

// A TaskManager runs tasks in its slots.
type TaskManager struct {
	cfg    Config
	ctx    context.Context
	cancel context.CancelFunc
	slots  []*slotMemory

	mu    sync.Mutex
	tasks map[rpc.TaskID]*task
	stuck []string // tasks that did not react to their cancellation
	wg    sync.WaitGroup
}

// New makes a TaskManager and registers it. Close ends it.
func New(cfg Config) *TaskManager {
	ctx, cancel := context.WithCancel(context.Background())
	tm := &TaskManager{cfg: cfg, ctx: ctx, cancel: cancel, tasks: map[rpc.TaskID]*task{}}
	for range cfg.Slots {
		tm.slots = append(tm.slots, &slotMemory{limit: cfg.ManagedBytes / int64(cfg.Slots)})
	}
	tm.post(rpc.ResourceManager, rpc.RegisterTaskManager{ID: cfg.ID, Slots: cfg.Slots, ManagedBytes: cfg.ManagedBytes})
	if cfg.ProgressMs > 0 {
		tm.wg.Go(tm.reportProgress)
	}
	return tm
}

// Close cancels all tasks and waits for them, but for those that are stuck.
func (tm *TaskManager) Close() {
	tm.mu.Lock()
	for _, t := range tm.tasks {
		tm.stop(t)
	}
	tm.mu.Unlock()
	tm.cancel()
	tm.wg.Wait()
}

func (tm *TaskManager) post(to rpc.Address, m rpc.Message) {
	tm.cfg.Send(rpc.Envelope{From: rpc.TaskManager(tm.cfg.ID), To: to, Leader: tm.cfg.Leader, Body: m})
}

func (tm *TaskManager) send(job string, m rpc.Message) { tm.post(rpc.JobMaster(job), m) }

// Deliver takes a message. It never blocks on a task.
func (tm *TaskManager) Deliver(e rpc.Envelope) {
	if e.Leader != tm.cfg.Leader {
		return
	}
	switch m := e.Body.(type) {
	case rpc.DeployTask:
		tm.deploy(m)
	case rpc.CancelTask:
		tm.cancelTask(m.Task)
	case rpc.AssignSplits:
		tm.mu.Lock()
		t := tm.tasks[m.Task]
		tm.mu.Unlock()
		if t != nil {
			t.splits <- m
		}
	case rpc.TriggerBarrier:
		tm.triggerBarrier(m)
	case rpc.ReleasePartitions:
		for _, id := range m.Results {
			// A result that cannot be removed is a temporary file left over; the job does not depend on it.
			_ = tm.cfg.Exchange.Release(id)
		}
	}
}

func (tm *TaskManager) deploy(d rpc.DeployTask) {
	if stuck := tm.Stuck(); len(stuck) > 0 {
		tm.refuse(d, fmt.Sprintf("TaskManager %s takes no more tasks: %s", tm.cfg.ID, stuck[0]))
		return
	}
	if d.Slot.Index < 0 || d.Slot.Index >= len(tm.slots) {
		tm.refuse(d, fmt.Sprintf("TaskManager %s has no slot %d", tm.cfg.ID, d.Slot.Index))
		return
	}
	ctx, cancel := context.WithCancelCause(tm.ctx)
	t := &task{
		d: d, tm: tm, ctx: ctx, cancel: cancel, alloc: tm.cfg.Alloc,
		splits: make(chan rpc.AssignSplits, 16), started: tm.cfg.Now(), left: make(chan struct{}),
	}
	if d.Streaming {
		t.barriers, t.stream = make(chan int64, 16), newStream()
	}
	t.memory = &taskMemory{slot: tm.slots[d.Slot.Index], dir: tm.cfg.SpillDir, name: d.Name, spilled: &t.spilled, files: map[*spillFile]bool{}}
	edges := 0
	for _, g := range d.Inputs {
		edges += len(g.Channels)
	}
	t.edgeIn = make([]atomic.Int64, edges)
	tm.mu.Lock()
	defer tm.mu.Unlock()
	if tm.tasks[d.Task] != nil || tm.ctx.Err() != nil {
		cancel(errCancelled)
		return // a message that came twice, or after the end
	}
	tm.tasks[d.Task] = t
	go func() {
		u := t.run()
		cancel(nil)
		tm.mu.Lock()
		here := tm.tasks[d.Task] == t
		if here {
			delete(tm.tasks, d.Task)
		}
		tm.mu.Unlock()
		if here { // and nobody has given it up
			tm.send(d.Task.Job, u)
			close(t.left)
		}
	}()
	tm.wg.Go(func() { <-t.left })
}

// triggerBarrier hands a barrier to a source. One that is still busy with sixteen others misses it, and the
// JobMaster goes on without.
func (tm *TaskManager) triggerBarrier(b rpc.TriggerBarrier) {
	tm.mu.Lock()
	t := tm.tasks[b.Task]
	tm.mu.Unlock()
	if t == nil || t.barriers == nil {
		return
	}
	select {
	case t.barriers <- b.Barrier:
	default:
	}
}

func (tm *TaskManager) refuse(d rpc.DeployTask, why string) {
	t := &task{d: d, tm: tm}
	if d.Streaming {
		t.stream = newStream()
		// What keeps it from starting is told; that its inputs could not be closed would add nothing.
		_ = t.letProducersGo()
	}
	tm.send(d.Task.Job, rpc.TaskUpdate{Task: d.Task, State: rpc.Failed, Failure: t.taskFailure(fmt.Errorf("%s", why))})
}

// cancelTask stops an attempt. One that has ended has said so already.
func (tm *TaskManager) cancelTask(id rpc.TaskID) {
	tm.mu.Lock()
	t := tm.tasks[id]
	tm.mu.Unlock()
	if t != nil {
		tm.stop(t)
	}
}

// reportProgress sends the counters of running tasks from time to time.
func (tm *TaskManager) reportProgress() {
	tick := time.NewTicker(time.Duration(tm.cfg.ProgressMs) * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tm.ctx.Done():
			return
		case <-tick.C:
		}
		byJob := map[string][]rpc.TaskMetricsOf{}
		tm.mu.Lock()
		for id, t := range tm.tasks {
			byJob[id.Job] = append(byJob[id.Job], rpc.TaskMetricsOf{Task: id, Metrics: t.metrics(false)})
		}
		tm.mu.Unlock()
		for job, ms := range byJob {
			tm.send(job, rpc.TaskProgress{Tasks: ms})
		}
	}
}

// heapStates keeps keyed state in tables of the task's memory.
type heapStates struct{ t *task }

// Table makes a keyed table.
func (s heapStates) Table(name string, key, _ expr.Schema, o operators.TableOptions) (operators.Table, error) {
	tb, err := table.New(key, o, s.t.memory, s.t.d.MaxParallelism, s.t.alloc)
	if err != nil {
		return nil, fmt.Errorf("state %s: %w", name, err)
	}
	s.t.tables = append(s.t.tables, tb)
	return tb, nil
}

// List makes a list of operator state.
func (s heapStates) List(string, operators.ListMode) (operators.List, error) { return &heapList{}, nil }

type heapList struct{ items [][]byte }

func (l *heapList) Get() [][]byte  { return l.items }
func (l *heapList) Set(b [][]byte) { l.items = b }
