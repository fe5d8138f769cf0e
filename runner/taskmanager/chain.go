package taskmanager

import (
	"fmt"
	"sync/atomic"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A member is one operator of a task's chain, with its books. It is also the collector it emits to.
type member struct {
	t         *task
	place     int // in the chain
	desc      jobgraph.Operator
	op        operators.Operator // nil for the source and the sink
	takesSel  bool
	stateless bool
	in, out   atomic.Int64
	counts    [operators.NumCounters]atomic.Int64
	err       error // what stopped the task here, to tell it from errors further down
}

// books are the member's books so far. What is not accounted for otherwise was passed on.
func (m *member) books() rpc.OperatorBooks {
	b := rpc.OperatorBooks{
		In: m.in.Load(), Out: m.out.Load(),
		Filtered: m.counts[operators.Filtered].Load(), Rejected: m.counts[operators.Rejected].Load(),
		Late: m.counts[operators.Late].Load(), Absorbed: m.counts[operators.Absorbed].Load(),
		Released: m.counts[operators.Released].Load(),
	}
	b.Passed = b.In - b.Filtered - b.Rejected - b.Late - b.Absorbed
	return b
}

// Emit hands a batch to the next member, or to the outputs behind the last.
func (m *member) Emit(b operators.Batch) error {
	m.out.Add(int64(b.Rows()))
	return m.t.deliver(m.place+1, 0, b)
}

// Side sends rows to a port; without a consumer they are dropped, and stay counted.
func (m *member) Side(port string, b operators.Batch) error {
	return m.t.toOutputs(m.place, port, b)
}

// Count keeps a line of the books.
func (m *member) Count(c operators.Counter, rows int64) { m.counts[c].Add(rows) }

// process gives the member a batch, compacted if it does not understand selections.
func (m *member) process(input int, b operators.Batch) error {
	m.in.Add(int64(b.Rows()))
	if b.Sel != nil && !m.takesSel {
		b.Rec, b.Sel, b.From = column.Compact(m.t.alloc, b), nil, operators.Origin{}
	}
	return m.failed(m.op.Process(input, b, m))
}

// failed notes the innermost member at which an error arose.
func (m *member) failed(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*memberError); ok {
		return err
	}
	return &memberError{label: m.desc.Label, err: err}
}

// A memberError says which operator of a chain an error came from.
type memberError struct {
	label string
	err   error
}

func (e *memberError) Error() string    { return e.err.Error() }
func (e *memberError) Unwrap() error    { return e.err }
func (e *memberError) Operator() string { return e.label }

// deliver takes one reference of b's record to the member at place.
func (t *task) deliver(place, input int, b operators.Batch) error {
	if place == len(t.members) {
		return t.toOutputs(place-1, "", b)
	}
	m := t.members[place]
	if m.desc.Kind == jobgraph.SinkOp {
		return m.failed(t.sink.write(m, b))
	}
	return m.process(input, b)
}

// toOutputs writes a batch to the edges that leave the chain at a member and port.
func (t *task) toOutputs(place int, port string, b operators.Batch) error {
	var last *output
	for _, o := range t.outputs {
		if o.edge.Operator != place || o.edge.Port != port {
			continue
		}
		if last != nil {
			b.Rec.Retain()
			if err := last.write(b); err != nil {
				b.Rec.Release()
				return err
			}
		}
		last = o
	}
	if last == nil {
		b.Rec.Release()
		return nil
	}
	if err := t.ctx.Err(); err != nil {
		b.Rec.Release()
		return err
	}
	return last.write(b)
}

// endInput tells the chain from a member on that an input has ended. Each member may still emit.
func (t *task) endInput(place, input int) error {
	for p := place; p < len(t.members); p++ {
		m := t.members[p]
		if m.op == nil {
			continue
		}
		if err := m.failed(m.op.EndInput(input, m)); err != nil {
			return err
		}
		input = 0
	}
	return nil
}

// sated reports whether some member of the chain needs no more input.
func (t *task) sated() bool {
	for _, m := range t.members {
		if s, ok := m.op.(operators.Sated); ok && s.Sated() {
			return true
		}
	}
	return false
}

// open makes and opens the operators of the chain.
func (t *task) open() error {
	for i, d := range t.d.Operators {
		m := &member{t: t, place: i, desc: d}
		t.members = append(t.members, m)
		if d.Kind != jobgraph.TransformOp {
			continue
		}
		op, err := t.newOperator(m)
		if err != nil {
			return err
		}
		m.op = op
		if err := m.failed(op.Open(t.operatorTask(d))); err != nil {
			return fmt.Errorf("opening %s: %w", d.Label, err)
		}
	}
	return nil
}

func (t *task) newOperator(m *member) (operators.Operator, error) {
	c := t.tm.cfg.Catalogs.Operators[m.desc.Component]
	if c == nil {
		return nil, fmt.Errorf("this TaskManager has no operator %s", m.desc.Component)
	}
	traits := c.Traits()
	m.takesSel, m.stateless = traits.TakesSel, traits.Stateless
	in := m.desc.In
	if in == nil {
		in = []expr.Schema{}
	}
	op, err := c.New(m.desc.Options, in)
	if err != nil {
		return nil, fmt.Errorf("making %s: %w", m.desc.Label, err)
	}
	return op, nil
}
