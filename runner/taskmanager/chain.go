package taskmanager

import (
	"fmt"
	"sync/atomic"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A member is one operator of a task's chain, with its books. It is also the collector it emits to.
type member struct {
	t         *task
	place     int   // in the chain
	next      []int // places of the members that read what this one gives
	desc      jobgraph.Operator
	op        operators.Operator // nil for the source and the sink
	takesSel  bool
	stateless bool
	in, out   atomic.Int64
	counts    [operators.NumCounters]atomic.Int64
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

// Emit hands a batch to those who read what this member gives.
func (m *member) Emit(b operators.Batch) error {
	m.out.Add(int64(b.Rows()))
	return m.t.give(m.place, b)
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
	if !m.stateless || b.From.File != 0 {
		return m.failed(m.op.Process(input, b, m))
	}
	b.Rec.Retain()
	defer b.Rec.Release()
	err := m.failed(m.op.Process(input, b, m))
	if err == nil {
		return nil
	}
	return m.salvage(input, b, err)
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
	m := t.members[place]
	if m.desc.Kind == jobgraph.SinkOp {
		return m.failed(t.sink.write(m, b))
	}
	return m.process(input, b)
}

// give takes one reference of b's record to all who read what the member at place gives: members of the
// chain, and edges that leave there.
func (t *task) give(place int, b operators.Batch) error {
	next := t.members[place].next
	for i, p := range next {
		if i < len(next)-1 || t.leaves(place, "") {
			b.Rec.Retain()
		}
		if err := t.deliver(p, 0, b); err != nil {
			if i < len(next)-1 || t.leaves(place, "") {
				b.Rec.Release()
			}
			return err
		}
	}
	if len(next) > 0 && !t.leaves(place, "") {
		return nil
	}
	return t.toOutputs(place, "", b)
}

// leaves reports whether an edge leaves the chain at a member and port.
func (t *task) leaves(place int, port string) bool {
	for _, o := range t.outputs {
		if o.edge.Operator == place && o.edge.Port == port {
			return true
		}
	}
	return false
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

// endInput tells the member at place that an input has ended and, if it was the last one, those behind
// it. Each may still emit.
func (t *task) endInput(place, input int, last bool) error {
	m := t.members[place]
	if m.op != nil {
		if err := m.failed(m.op.EndInput(input, m)); err != nil {
			return err
		}
	}
	if !last {
		return nil
	}
	for _, p := range m.next {
		if err := t.endInput(p, 0, true); err != nil {
			return err
		}
	}
	return nil
}

// sated reports whether nobody behind the member at place, itself included, needs more input.
func (t *task) sated(place int) bool {
	m := t.members[place]
	if s, ok := m.op.(operators.Sated); ok && s.Sated() {
		return true
	}
	read := len(m.next) > 0
	for _, o := range t.outputs {
		if o.edge.Operator != place {
			continue
		}
		if w, ok := o.w.(exchange.Wanted); !ok || w.Wanted() {
			return false
		}
		read = true
	}
	if !read {
		return false
	}
	for _, p := range m.next {
		if !t.sated(p) {
			return false
		}
	}
	return true
}

// open makes and opens the operators of the chain.
func (t *task) open() error {
	v := jobgraph.Vertex{Operators: t.d.Operators}
	for i, d := range t.d.Operators {
		m := &member{t: t, place: i, desc: d}
		t.members = append(t.members, m)
		if from := v.Input(i); from >= 0 {
			t.members[from].next = append(t.members[from].next, i)
		}
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
