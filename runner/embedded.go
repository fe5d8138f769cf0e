package runner

import (
	"errors"
	"time"

	"github.com/seed-4b0e9f7c/runner/config"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/jobmanager"
	"github.com/seed-4b0e9f7c/runner/runner/jobmaster"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
	"github.com/seed-4b0e9f7c/runner/runner/rpc/inproc"
	"github.com/seed-4b0e9f7c/runner/runner/taskmanager"
)

const (
	client        = rpc.Address("client")
	taskManagerID = "taskmanager-1"
	poolBytes     = 128 << 20 // free buffers kept for reuse
	progressEvery = 100 * time.Millisecond
)

// An embedded is a JobManager and a TaskManager in this process.
type embedded struct {
	net      *inproc.Network
	jm       *jobmanager.JobManager
	tm       *taskmanager.TaskManager // set by the first delivery
	close    func() error
	results  *exchange.Local
	refused  chan string
	internal chan error
}

func (r *run) startEmbedded() *embedded {
	e := &embedded{refused: make(chan string, 1), internal: make(chan error, 1)}
	e.net = inproc.New(r.s.EncodeMessages, func(err error) {
		select {
		case e.internal <- err:
		default:
		}
	})
	pool := r.s.Alloc
	if pool == nil {
		pool = taskmanager.NewPool(poolBytes)
	}
	// Results between vertices may take as much memory again as the operators; beyond that they go to disk.
	e.results = exchange.NewLocal(pool, r.s.SpillDir, r.s.Options.Bytes(config.ManagedMemory))
	segment := r.s.Options.Bytes(config.SegmentSize)
	e.results.SetCredits(exchange.Credits{
		Channel: segment * int64(r.s.Options.Int(config.ChannelBuffers)), Gate: segment * int64(r.s.Options.Int(config.GateBuffers)),
	})
	e.net.Attach(client, func(m rpc.Envelope) {
		if s, ok := m.Body.(rpc.SubmitResult); ok && s.Refused != "" {
			e.refused <- s.Refused
		}
	})
	e.jm = jobmanager.New(jobmanager.Config{
		Leader: r.id, Catalogs: r.cat, Send: e.net.Send, Now: time.Now,
		Encode: r.s.EncodeMessages, FixedSlots: r.s.Options.Int(config.TaskSlots),
		HeartbeatTimeoutMs: -1, // one process lives and dies as a whole, also after it slept
	})
	e.net.Attach(rpc.Dispatcher, e.jm.Deliver)
	e.net.Attach(rpc.ResourceManager, e.jm.Deliver)
	e.net.Attach(rpc.JobMaster(r.job), e.jm.Deliver)
	inbox := make(chan *taskmanager.TaskManager, 1)
	e.net.Attach(rpc.TaskManager(taskManagerID), func(m rpc.Envelope) {
		if e.tm == nil {
			e.tm = <-inbox
		}
		e.tm.Deliver(m)
	})
	o := r.s.Options
	tm := taskmanager.New(taskmanager.Config{
		ID: taskManagerID, Leader: r.id, Slots: o.Int(config.TaskSlots), ManagedBytes: o.Bytes(config.ManagedMemory),
		SpillDir: r.s.SpillDir, RejectsDir: r.rejectsDir, Catalogs: r.cat, Exchange: e.results, Alloc: pool, Send: e.net.Send, Now: time.Now,
		ProgressMs: progressEvery.Milliseconds(), BatchRows: o.Int(config.BatchRows), CancelTimeoutMs: o.Millis(config.CancelTimeout),
	})
	inbox <- tm
	e.close = func() error {
		tm.Close()
		e.jm.Close()
		e.net.Close()
		r.out.Warnings = append(r.out.Warnings, tm.Stuck()...)
		return e.results.Close()
	}
	return e
}

// execute runs the job to a final state.
func (r *run) execute(g *jobgraph.Graph) error {
	e := r.startEmbedded()
	done := e.jm.Wait(r.job)
	e.net.Send(rpc.Envelope{From: client, To: rpc.Dispatcher, Leader: r.id, Body: rpc.SubmitJob{Job: r.job, Run: r.id, Graph: *g}})
	s, err := r.await(e, done)
	if cerr := e.close(); err == nil && cerr != nil {
		r.out.Warnings = append(r.out.Warnings, "cleaning up after the run: "+cerr.Error())
	}
	if err != nil {
		return err
	}
	r.out.Snapshot = &s
	r.timings(s)
	return nil
}

// await waits for the job's end. A cancel through the context is passed on, and its end awaited.
func (r *run) await(e *embedded, done <-chan jobmaster.Snapshot) (jobmaster.Snapshot, error) {
	cancelled := r.ctx.Done()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case s := <-done:
			return s, nil
		case why := <-e.refused:
			return jobmaster.Snapshot{}, errors.New(why)
		case err := <-e.internal:
			return jobmaster.Snapshot{}, err
		case <-cancelled:
			cancelled = nil
			e.net.Send(rpc.Envelope{From: client, To: rpc.Dispatcher, Leader: r.id, Body: rpc.CancelJob{Job: r.job}})
		case <-tick.C:
			if r.s.Progress == nil {
				continue
			}
			if s, ok := e.jm.Snapshot(r.job); ok {
				r.s.Progress(s)
			}
		}
	}
}

// timings reads from the job's states and attempts how long its parts took.
func (r *run) timings(s jobmaster.Snapshot) {
	created := s.AtMs[rpc.JobInitializing]
	first, last, end := int64(0), created, int64(0)
	for state, at := range s.AtMs {
		if state.Final() {
			end = at
		}
	}
	for _, v := range s.Vertices {
		for _, t := range v.Subtasks {
			if t.RunningMs > 0 && (first == 0 || t.RunningMs < first) {
				first = t.RunningMs
			}
			last = max(last, t.EndedMs)
		}
	}
	if first == 0 {
		first = last
	}
	r.out.Timings.ScheduleMs = max(0, first-created)
	r.out.Timings.RunMs = max(0, last-first)
	r.out.Timings.CommitMs = max(0, end-last)
}
