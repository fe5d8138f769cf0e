package taskmanager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A task is one attempt of one subtask. Its goroutine owns everything but the atomic counters, the
// context and the channel of splits.
type task struct {
	d      rpc.DeployTask
	tm     *TaskManager
	ctx    context.Context
	cancel context.CancelCauseFunc
	alloc  memory.Allocator
	memory *taskMemory
	splits chan rpc.AssignSplits
	left   chan struct{} // closed when it has ended, or is waited for no more

	watched sync.Once // its end is, since it was cancelled

	barriers chan int64 // of a source in a stream: those to put in; made before anybody may ask for one

	members  []*member
	outputs  []*output
	tables   []operators.Table // keyed state of the members
	reader   connectors.Reader
	sink     *sinkEnd
	least    *salvaged // the least row that failed without an origin; the task fails with it at its end
	salvages int       // rows that were looked at one by one for it
	skipping bool      // a limit is full: what else comes is not read
	skipped  []connectors.Tally
	files    *fileNames         // of the source's rows; nil: nobody wants them
	journal  *journal           // of what the source leaves out; nil: nobody wants it
	tally    []connectors.Tally // the reader's, once it is closed
	tries    []rpc.TryCast      // once the chain is closed

	started   time.Time
	edgeIn    []atomic.Int64 // rows by edge of the inputs, in order
	gotSplits atomic.Int64
	bytesIn   atomic.Int64
	bytesOut  atomic.Int64
	spilled   atomic.Int64
	idle      stopwatch   // waits for input
	full      stopwatch   // waits for consumers
	opened    atomic.Bool // members and outputs are made, anybody may read their counters
	stream    *stream     // nil in batch
}

var errCancelled = errors.New("the task was cancelled")

// run takes the attempt from its start to a final state. Nothing that happens inside leaves it but as
// the update it returns.
func (t *task) run() rpc.TaskUpdate {
	u := rpc.TaskUpdate{Task: t.d.Task, State: rpc.Finished}
	err := t.guarded(func() error {
		if err := t.setUp(); err != nil {
			return err
		}
		t.tm.send(t.d.Task.Job, rpc.TaskUpdate{Task: t.d.Task, State: rpc.Running})
		if err := t.work(); err != nil {
			return err
		}
		if t.least != nil {
			return t.least
		}
		return t.complete(&u)
	})
	if cerr := t.guarded(t.tearDown); err == nil {
		err = cerr
	}
	u.Metrics = t.metrics(true)
	if err != nil && !errors.Is(context.Cause(t.ctx), errCancelled) {
		u.Metrics.TryCasts = nil // of a part of the rows that nobody can tell
	}
	switch {
	case err == nil:
	case t.ctx.Err() != nil && errors.Is(context.Cause(t.ctx), errCancelled):
		u.State, u.Results, u.Committables = rpc.Canceled, nil, nil
	default:
		u.State, u.Results, u.Committables = rpc.Failed, nil, nil
		u.Failure = t.taskFailure(err)
	}
	return u
}

// guarded is the recover boundary: no library is trusted with damage, and no operator with bugs.
func (t *task) guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	return f()
}

func (t *task) setUp() error {
	if t.stream != nil {
		if err := t.stream.configure(t.d.Options); err != nil {
			return err
		}
		if err := t.openStream(); err != nil {
			return err
		}
	}
	for _, o := range t.d.Outputs {
		out, err := t.newOutput(o)
		if err != nil {
			return err
		}
		t.outputs = append(t.outputs, out)
	}
	if err := t.open(); err != nil {
		return err
	}
	for _, o := range t.outputs {
		t.inBuckets(o)
	}
	t.opened.Store(true)
	if len(t.members) == 0 {
		return fmt.Errorf("vertex %s has no operators", t.d.Name)
	}
	if t.members[0].desc.Kind == jobgraph.SourceOp {
		if err := t.openSource(); err != nil {
			return err
		}
	}
	if m := t.sinkMember(); m != nil {
		return t.openSink(m)
	}
	return nil
}

// sinkMember is the member that is a sink, nil where there is none.
func (t *task) sinkMember() *member {
	for _, m := range t.members {
		if m.desc.Kind == jobgraph.SinkOp {
			return m
		}
	}
	return nil
}

func (t *task) work() error {
	switch {
	case t.stream != nil && t.reader != nil:
		if err := t.settled(t.runStreamSource()); err != nil {
			return err
		}
		if err := t.advance(connectors.EndWatermark, false); err != nil {
			return err
		}
		return t.endInput(0, 0, true)
	case t.stream != nil:
		return t.settled(t.runStream())
	case t.reader != nil:
		if err := t.runSource(); err != nil {
			return err
		}
		return t.endInput(0, 0, true)
	}
	return t.runGates()
}

// runGates reads the inputs to their ends, in the order the first operator wants.
func (t *task) runGates() error {
	edge := 0
	for input, g := range t.d.Inputs {
		for _, e := range g.Channels {
			if err := t.runGate(input, edge, e); err != nil {
				return err
			}
			edge++
		}
		if err := t.endInput(0, input, input == len(t.d.Inputs)-1); err != nil {
			return err
		}
	}
	return nil
}

func (t *task) runGate(input, edge int, e rpc.InputEdge) error {
	g, err := t.tm.cfg.Exchange.Open(t.ctx, e.From, e.Lo, e.Hi)
	if err != nil {
		return fmt.Errorf("reading edge %s: %w", e.Edge, err)
	}
	defer g.Close()
	var whole operators.Bucketed
	if len(t.d.Inputs) == 1 && len(t.d.Inputs[0].Channels) == 1 { // else other edges bring the same keys
		whole, _ = t.members[0].op.(operators.Bucketed)
	}
	for {
		_, rec, event, err := g.Next(t.ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading edge %s: %w", e.Edge, err)
		}
		if event.Kind == exchange.BucketEvent && whole != nil {
			if err := t.members[0].failed(whole.EndBucket(t.members[0])); err != nil {
				return err
			}
		}
		if rec == nil {
			continue
		}
		t.edgeIn[edge].Add(rec.NumRows())
		if err := t.deliver(0, input, operators.Batch{Rec: rec}); err != nil {
			return err
		}
	}
}

// complete seals what the attempt made.
func (t *task) complete(u *rpc.TaskUpdate) error {
	if t.sink != nil {
		all, err := t.sink.prepare(t.sinkMember())
		if err != nil {
			return err
		}
		u.Committables = all
	}
	for _, o := range t.outputs {
		r, err := o.finish()
		if err != nil {
			return err
		}
		if t.stream == nil { // what flows is counted on its way
			for _, b := range r.Bytes {
				t.bytesOut.Add(b)
			}
		}
		u.Results = append(u.Results, r)
	}
	return nil
}

// tearDown frees everything, whatever state the attempt is in.
func (t *task) tearDown() error {
	errs := []error{t.letProducersGo()}
	t.noteTryCasts()
	if t.reader != nil {
		t.noteReading()
		t.tally = append(append(t.tally, t.reader.Tally()...), t.skipped...)
		t.files.close()
		errs = append(errs, t.reader.Close())
	}
	for _, m := range t.members {
		if m.op != nil {
			errs = append(errs, m.op.Close())
		}
	}
	for _, tb := range t.tables {
		tb.Close()
	}
	if t.sink != nil {
		errs = append(errs, t.sink.w.Close())
	}
	for _, o := range t.outputs {
		o.close()
	}
	return errors.Join(append(errs, t.memory.close())...)
}

func (t *task) operatorTask(d jobgraph.Operator) *operators.Task {
	return &operators.Task{
		Ctx: t.ctx, UID: d.UID, Subtask: t.d.Task.Subtask, Parallelism: t.d.Parallelism, MaxParallelism: t.d.MaxParallelism,
		Alloc: t.alloc, Memory: t.memory, States: heapStates{t},
	}
}

// metrics are the attempt's counters so far. The parts that only the task's goroutine may read come
// with the last ones.
func (t *task) metrics(last bool) rpc.TaskMetrics {
	m := rpc.TaskMetrics{
		BytesIn: t.bytesIn.Load(), BytesOut: t.bytesOut.Load(), SpilledBytes: t.spilled.Load(),
		Splits: int(t.gotSplits.Load()),
	}
	now := t.tm.cfg.Now()
	idle, full := t.idle.total(now), t.full.total(now)
	m.IdleMs, m.BackpressuredMs = idle.Milliseconds(), full.Milliseconds()
	m.BusyMs = max(0, (now.Sub(t.started) - idle - full).Milliseconds())
	if t.stream != nil {
		m.WatermarkMs = t.stream.given.Load()
	}
	if t.opened.Load() {
		t.countRecords(&m)
	}
	if !last {
		return m
	}
	for _, x := range t.members {
		m.Operators = append(m.Operators, x.books())
	}
	edge := 0
	for _, g := range t.d.Inputs {
		for _, e := range g.Channels {
			m.Edges = append(m.Edges, rpc.EdgeBooks{Edge: e.Edge, In: t.edgeIn[edge].Load()})
			edge++
		}
	}
	for _, o := range t.outputs {
		m.Edges = append(m.Edges, rpc.EdgeBooks{Edge: o.edge.ID, Out: o.rows})
	}
	m.Files, m.TryCasts, m.Rejects = t.tally, t.tries, t.journal.end()
	if t.sink != nil {
		m.SinkRows, m.SinkBytes, m.Digest = t.sink.rows, t.sink.bytes, t.sink.hexDigest()
		if s, ok := t.sink.w.(connectors.Showing); ok {
			m.SinkShown = s.Shown()
		}
	}
	m.StateBytes = t.memory.peak
	return m
}

// countRecords reads the counters that anybody may read once the chain is open.
func (t *task) countRecords(m *rpc.TaskMetrics) {
	for i, x := range t.members {
		if i == 0 {
			m.RecordsIn = x.in.Load()
		}
		if len(x.next) == 0 || t.leaves(i, "") {
			m.RecordsOut += x.out.Load()
		}
	}
	for _, o := range t.outputs {
		if w, ok := o.w.(interface{ Written() int64 }); ok {
			m.BytesOut += w.Written()
		}
	}
}
