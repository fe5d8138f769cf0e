// Package jobmanager drives the pure machines: it gives the Dispatcher, the ResourceManager and the
// JobMasters what happened, one event at a time, and does what they say: posts messages, sets timers,
// runs enumerators and committers. It decides nothing itself.
package jobmanager

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-4b0e9f7c/runner/runner/dispatcher"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/resourcemanager"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A Config is what a JobManager is made of.
type Config struct {
	Leader   string
	Catalogs jobgraph.Catalogs
	Send     func(rpc.Envelope) // to TaskManagers and clients
	Now      func() time.Time
	// FixedSlots is the number of slots where it cannot grow, as in one process; 0: it may.
	FixedSlots int
	Seed       uint64 // of the jitter of restart delays
	// HeartbeatTimeoutMs is after how long a silent TaskManager is lost; -1: never, 0: heartbeat.timeout.
	HeartbeatTimeoutMs int64
	Encode             bool // messages between the machines of this process go through Send too, not straight to them
}

// A JobManager is one process's Dispatcher, ResourceManager and JobMasters.
type JobManager struct {
	cfg    Config
	ctx    context.Context
	cancel context.CancelFunc
	queue  *queue
	loop   sync.WaitGroup // the loop that steps the machines
	io     sync.WaitGroup // enumerators and committers at work

	// Only the loop touches these.
	dispatcher *dispatcher.Dispatcher
	resources  *resourcemanager.ResourceManager
	jobs       map[string]*job
	timers     map[timerKey]*time.Timer

	mu      sync.Mutex
	waiting map[string]chan jobmaster.Snapshot
	watch   map[string]jobmaster.Snapshot
}

// A job is a JobMaster with its I/O.
type job struct {
	master   *jobmaster.JobMaster
	discover context.Context
	stop     context.CancelFunc
	commit   *jobmaster.Commit // once publishing was begun
}

type timerKey struct {
	at rpc.Address
	id string
}

// New makes a JobManager and starts its loop. Close ends it.
func New(cfg Config) *JobManager {
	ctx, cancel := context.WithCancel(context.Background())
	jm := &JobManager{
		cfg: cfg, ctx: ctx, cancel: cancel, queue: newQueue(),
		dispatcher: dispatcher.New(dispatcher.Config{Leader: cfg.Leader}),
		resources:  resourcemanager.New(resourcemanager.Config{Leader: cfg.Leader, HeartbeatTimeoutMs: cfg.HeartbeatTimeoutMs}),
		jobs:       map[string]*job{}, timers: map[timerKey]*time.Timer{},
		waiting: map[string]chan jobmaster.Snapshot{}, watch: map[string]jobmaster.Snapshot{},
	}
	jm.loop.Go(jm.run)
	return jm
}

// Close stops the loop. Jobs that still run are left as they are: cancel them before.
func (jm *JobManager) Close() {
	jm.cancel()
	jm.io.Wait()
	jm.queue.close()
	jm.loop.Wait()
}

// Deliver takes a message to one of the machines.
func (jm *JobManager) Deliver(e rpc.Envelope) { jm.queue.put(step{e.To, rpc.Received{Envelope: e}}) }

// Wait gives a channel that receives a job's last snapshot. It is to be called before the job is
// submitted.
func (jm *JobManager) Wait(job string) <-chan jobmaster.Snapshot {
	jm.mu.Lock()
	defer jm.mu.Unlock()
	c := make(chan jobmaster.Snapshot, 1)
	jm.waiting[job] = c
	return c
}

// Snapshot asks for the state of a job now; ok is false where there is none of that id.
func (jm *JobManager) Snapshot(job string) (s jobmaster.Snapshot, ok bool) {
	answer := make(chan jobmaster.Snapshot, 1)
	jm.queue.put(step{rpc.JobMaster(job), askSnapshot{answer}})
	select {
	case s, ok = <-answer:
		return s, ok
	case <-jm.ctx.Done():
		return s, false
	}
}

// askSnapshot is a question to a machine that is none of its events.
type askSnapshot struct{ answer chan<- jobmaster.Snapshot }

// Event marks the type.
func (askSnapshot) Event() {}

// A step is an event for the machine at an address.
type step struct {
	at rpc.Address
	ev rpc.Event
}

func (jm *JobManager) run() {
	for {
		s, ok := jm.queue.take()
		if !ok {
			break
		}
		jm.step(s)
	}
	for _, t := range jm.timers {
		t.Stop()
	}
	for _, j := range jm.jobs {
		j.stop()
	}
}

func (jm *JobManager) step(s step) {
	var m rpc.Machine
	switch s.at {
	case rpc.Dispatcher:
		m = jm.dispatcher
	case rpc.ResourceManager:
		m = jm.resources
	default:
		j := jm.jobs[strings.TrimPrefix(string(s.at), "jobmaster/")]
		if ask, yes := s.ev.(askSnapshot); yes {
			if j != nil {
				ask.answer <- j.master.Snapshot()
			}
			close(ask.answer)
			return
		}
		if j == nil {
			return
		}
		m = j.master
	}
	if fired, ok := s.ev.(rpc.TimerFired); ok && s.at != rpc.ResourceManager && s.at != rpc.Dispatcher {
		delete(jm.timers, timerKey{s.at, fired.ID}) // a JobMaster gives no id twice, and a stream starts timers for ever
	}
	err := guarded(func() error {
		for _, c := range m.Step(jm.now(), s.ev) {
			jm.do(s.at, c)
		}
		return nil
	})
	if err != nil {
		jm.broken(err)
	}
}

// broken ends all jobs: after a panic nobody knows what state the machines are in.
func (jm *JobManager) broken(err error) {
	for id, j := range jm.jobs {
		f := failure.FromErr(fmt.Errorf("the JobManager is broken: %w", err), failure.Where{})
		jm.finished(jobmaster.Snapshot{Job: id, State: rpc.JobFailed, Failure: &f, AtMs: map[rpc.JobState]int64{rpc.JobFailed: jm.now()}})
		j.stop()
	}
}

func (jm *JobManager) now() int64 { return jm.cfg.Now().UnixMilli() }

// do carries out a command of the machine at an address.
func (jm *JobManager) do(at rpc.Address, c rpc.Command) {
	switch c := c.(type) {
	case rpc.Send:
		if local(c.Envelope.To) && !jm.cfg.Encode {
			jm.Deliver(c.Envelope)
			return
		}
		jm.cfg.Send(c.Envelope)
	case rpc.StartTimer:
		jm.startTimer(at, c)
	case dispatcher.StartJobMaster:
		jm.startJob(c)
	case jobmaster.Discover:
		jm.discover(at, c)
	case jobmaster.StopDiscover:
		jm.jobOf(at).stop()
	case jobmaster.Commit:
		jm.jobOf(at).commit = &c
		jm.io.Go(func() { jm.queue.put(step{at, jm.commit(c)}) })
	case jobmaster.AbortSinks:
		jm.io.Go(func() { jm.queue.put(step{at, jm.abort(c)}) })
	case jobmaster.Finished:
		jm.finished(c.Result)
	default:
		panic(fmt.Sprintf("the driver does not know the command %T", c))
	}
}

func local(a rpc.Address) bool {
	return a == rpc.Dispatcher || a == rpc.ResourceManager || strings.HasPrefix(string(a), "jobmaster/")
}

func (jm *JobManager) jobOf(at rpc.Address) *job {
	return jm.jobs[strings.TrimPrefix(string(at), "jobmaster/")]
}

func (jm *JobManager) startTimer(at rpc.Address, c rpc.StartTimer) {
	k := timerKey{at, c.ID}
	if t := jm.timers[k]; t != nil {
		t.Stop()
	}
	d := time.Duration(max(0, c.AtMs-jm.now())) * time.Millisecond
	jm.timers[k] = time.AfterFunc(d, func() { jm.queue.put(step{at, rpc.TimerFired{ID: c.ID}}) })
}

func (jm *JobManager) startJob(c dispatcher.StartJobMaster) {
	ctx, stop := context.WithCancel(jm.ctx)
	m := jobmaster.New(jobmaster.Config{Leader: jm.cfg.Leader, Job: c.Job, Run: c.Run, Graph: &c.Graph, FixedSlots: jm.cfg.FixedSlots, Seed: jm.cfg.Seed})
	jm.jobs[c.Job] = &job{master: m, discover: ctx, stop: stop}
	jm.queue.put(step{rpc.JobMaster(c.Job), jobmaster.Started{}})
}

func (jm *JobManager) finished(s jobmaster.Snapshot) {
	j := jm.jobs[s.Job]
	if j == nil {
		jm.tell(s)
		return
	}
	j.stop()
	delete(jm.jobs, s.Job)
	for k, t := range jm.timers {
		if k.at == rpc.JobMaster(s.Job) {
			t.Stop()
			delete(jm.timers, k)
		}
	}
	if s.State == rpc.JobFinished || j.commit == nil {
		jm.tell(s)
		return
	}
	// Publishing failed for good: what is still staged goes, and nobody is to finish it later.
	jm.io.Go(func() {
		if a, ok := jm.abort(jobmaster.AbortSinks(*j.commit)).(jobmaster.SinksAborted); ok {
			s.AbortCauses = append(s.AbortCauses, a.Causes...)
		}
		if err := intentOf(*j.commit).remove(); err != nil {
			s.AbortCauses = append(s.AbortCauses, failure.FromError(err)...)
		}
		jm.tell(s)
	})
}

// tell hands a job's last snapshot to who waits for it.
func (jm *JobManager) tell(s jobmaster.Snapshot) {
	jm.mu.Lock()
	c := jm.waiting[s.Job]
	delete(jm.waiting, s.Job)
	jm.mu.Unlock()
	if c != nil {
		c <- s
	}
}
