package taskmanager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// The options a stream's tasks read, with Flink's names and defaults.
const (
	optWatermarkInterval = "pipeline.auto-watermark-interval"
	optBufferTimeout     = "execution.buffer-timeout.interval"
	optSettleTimeout     = "runner.streaming.settle-timeout"

	defaultWatermarkInterval = 200 * time.Millisecond
	defaultBufferTimeout     = 100 * time.Millisecond
	defaultSettleTimeout     = 10 * time.Second
)

// A stream is what a task has besides when its inputs and outputs flow.
type stream struct {
	gate     exchange.StreamGate // nil of a source
	channels []channel
	marks    *marks
	align    alignment

	markEvery  time.Duration // how often a source gives watermarks
	flushEvery time.Duration // how long rows wait at most for a batch to be full
	settle     time.Duration // how long a task with a row that failed reads on
	settling   context.Context
	endSettle  context.CancelFunc
	marked     time.Time
	flushed    time.Time

	mark  int64 // given on last
	idle  bool  // said on
	given atomic.Pointer[int64]
}

// A channel is one of the gate's, with what it feeds.
type channel struct {
	input, edge int
	ended       bool
}

func newStream() *stream {
	return &stream{markEvery: defaultWatermarkInterval, flushEvery: defaultBufferTimeout, settle: defaultSettleTimeout, mark: connectors.NoWatermark}
}

// configure reads the options.
func (s *stream) configure(options []jobgraph.Option) error {
	for _, o := range options {
		to := map[string]*time.Duration{optWatermarkInterval: &s.markEvery, optBufferTimeout: &s.flushEvery, optSettleTimeout: &s.settle}[o.Name]
		if to == nil || o.Value == "" {
			continue
		}
		ms, err := o.Millis()
		if err != nil {
			return err
		}
		*to = time.Duration(ms) * time.Millisecond
	}
	return nil
}

// openStream connects the task to its producers.
func (t *task) openStream() error {
	var ranges []exchange.Range
	edge := 0
	for input, g := range t.d.Inputs {
		for _, e := range g.Channels {
			if e.Blocking {
				return fmt.Errorf("edge %s is blocking, in a stream", e.Edge)
			}
			ranges = append(ranges, exchange.Range{From: e.From, Lo: e.Lo, Hi: e.Hi})
			for range len(e.From) * (e.Hi - e.Lo) {
				t.stream.channels = append(t.stream.channels, channel{input: input, edge: edge})
			}
			edge++
		}
	}
	if len(ranges) == 0 {
		return nil
	}
	t.stream.marks = newMarks(len(t.stream.channels))
	var err error
	t.stream.gate, err = t.tm.cfg.Exchange.Connect(ranges)
	if err != nil {
		return fmt.Errorf("connecting %s to its inputs: %w", t.title(), err)
	}
	return nil
}

// runStream reads all inputs side by side until they have ended.
func (t *task) runStream() error {
	g := t.stream.gate
	if g == nil {
		return fmt.Errorf("vertex %s has neither a source nor an input", t.d.Name)
	}
	for {
		if !g.Ready() {
			if err := t.flushOutputs(); err != nil {
				return err
			}
		}
		t.idle.start(t.tm.cfg.Now())
		c, rec, e, err := g.Next(t.reading())
		t.idle.stop(t.tm.cfg.Now())
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case rec != nil:
			ch := t.stream.channels[c]
			t.bytesIn.Store(g.Bytes())
			t.edgeIn[ch.edge].Add(rec.NumRows())
			if err = t.woken(c); err != nil {
				rec.Release()
				return err
			}
			if err = t.deliver(0, ch.input, operators.Batch{Rec: rec}); err == nil {
				err = t.flushInTime()
			}
			if t.sated(0) {
				g.Enough()
			}
		default:
			err = t.event(c, e)
		}
		if err != nil {
			return err
		}
	}
}

// errSettled ends the reading of a task that knows a row that failed, and has read on long enough.
var errSettled = errors.New("no more is read after a row that failed")

// reading is the context to read in. Once a row has failed it ends some time later, whether anything comes
// or not.
func (t *task) reading() context.Context {
	s := t.stream
	if t.least == nil {
		return t.ctx
	}
	if s.settling == nil {
		s.settling, s.endSettle = context.WithTimeoutCause(t.ctx, s.settle, errSettled)
	}
	return s.settling
}

// settled takes the end of reading on for what it is: the least row that failed so far is the failure.
func (t *task) settled(err error) error {
	if t.stream.endSettle != nil {
		t.stream.endSettle()
	}
	if errors.Is(err, errSettled) {
		return t.least
	}
	return err
}

// woken takes note that something came from a channel that was idle.
func (t *task) woken(c int) error {
	m := t.stream.marks
	if !m.idle[c] {
		return nil
	}
	m.idle[c] = false
	return t.advance(m.least())
}

func (t *task) event(c int, e exchange.Event) error {
	s := t.stream
	switch e.Kind {
	case exchange.WatermarkEvent:
		s.marks.advance(c, e.Time)
		return t.advance(s.marks.least())
	case exchange.IdleEvent:
		s.marks.idle[c] = true
		return t.advance(s.marks.least())
	case exchange.BarrierEvent:
		return t.barrier(c, e.Checkpoint)
	case exchange.EndEvent:
		return t.ended(c)
	case exchange.NoEvent:
	}
	return nil
}

// ended takes the end of a channel, which may be the end of its input, and of the last one.
func (t *task) ended(c int) error {
	s := t.stream
	s.channels[c].ended = true
	s.marks.advance(c, connectors.EndWatermark)
	if err := t.advance(s.marks.least()); err != nil {
		return err
	}
	mine, any := false, false
	for _, x := range s.channels {
		any = any || !x.ended
		mine = mine || !x.ended && x.input == s.channels[c].input
	}
	if err := t.aligned(); err != nil {
		return err
	}
	if mine {
		return nil
	}
	return t.endInput(0, s.channels[c].input, !any)
}

// advance gives a watermark on where it is later than the last one, or says that the task is idle.
func (t *task) advance(ms int64, idle bool) error {
	s := t.stream
	switch {
	case idle:
		if s.idle {
			return nil
		}
		s.idle = true
		return t.toAll(0, exchange.Event{Kind: exchange.IdleEvent})
	case ms > s.mark:
		s.mark, s.idle = ms, false
		s.given.Store(&ms)
		return t.watermark(0, ms)
	case s.idle: // those behind have to know that it counts again
		s.idle = false
		return t.toAll(0, exchange.Event{Kind: exchange.WatermarkEvent, Time: s.mark})
	}
	return nil
}

// watermark tells the member at place, then those behind it. What a member gives out for it goes first.
func (t *task) watermark(place int, ms int64) error {
	m := t.members[place]
	if err := m.flush(); err != nil {
		return err
	}
	if w, ok := m.op.(operators.Watermarker); ok {
		if err := m.failed(w.Watermark(ms, m)); err != nil {
			return err
		}
	}
	for _, p := range m.next {
		if err := t.watermark(p, ms); err != nil {
			return err
		}
	}
	return t.say(place, exchange.Event{Kind: exchange.WatermarkEvent, Time: ms})
}

// flush has the member give out what it holds outside its state.
func (m *member) flush() error {
	if f, ok := m.op.(operators.Flusher); ok {
		return m.failed(f.Flush(m))
	}
	return nil
}

// toAll says an event on all edges that leave the chain at the member at place or behind it.
func (t *task) toAll(place int, e exchange.Event) error {
	for _, p := range t.members[place].next {
		if err := t.toAll(p, e); err != nil {
			return err
		}
	}
	return t.say(place, e)
}

// say writes an event to the edges that leave at the member at place, behind all rows written so far.
func (t *task) say(place int, e exchange.Event) error {
	for _, o := range t.outputs {
		if o.edge.Operator != place {
			continue
		}
		if err := o.flushAll(); err != nil {
			return err
		}
		if err := o.w.Event(e); err != nil {
			return fmt.Errorf("writing to edge %s: %w", o.edge.ID, err)
		}
	}
	return nil
}

// flushOutputs writes the rows that wait for a batch to be full.
func (t *task) flushOutputs() error {
	for _, o := range t.outputs {
		if err := o.flushAll(); err != nil {
			return err
		}
	}
	t.stream.flushed = t.tm.cfg.Now()
	return nil
}

// flushInTime does so when they have waited long enough.
func (t *task) flushInTime() error {
	if t.tm.cfg.Now().Sub(t.stream.flushed) < t.stream.flushEvery {
		return nil
	}
	return t.flushOutputs()
}

// letProducersGo closes the task's inputs, so that what is written for it is dropped. It is done also for a
// task that never got so far as to open them: its producers must not wait for it.
func (t *task) letProducersGo() error {
	if t.stream == nil {
		return nil
	}
	if t.stream.gate == nil {
		if err := t.openStream(); err != nil || t.stream.gate == nil {
			return err
		}
	}
	return t.stream.gate.Close()
}
