package taskmanager

import (
	"errors"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// replay runs single rows through fresh instances of the stateless operators that stand directly
// behind the source; it gives the first row that fails.
func (t *task) replay(b operators.Batch) (int, error) {
	chain := &replayChain{t: t, ms: map[int]*member{}}
	defer chain.close()
	if err := chain.add(0); err != nil {
		return 0, nil
	}
	one := make([]int32, 1)
	for _, r := range liveRows(b) {
		one[0] = r
		b.Rec.Retain()
		if err := chain.give(0, operators.Batch{Rec: b.Rec, Sel: one, Dict: b.Dict, From: b.From}); err != nil {
			return int(r), err
		}
	}
	return 0, nil
}

func liveRows(b operators.Batch) []int32 {
	if b.Sel != nil {
		return b.Sel
	}
	live := make([]int32, b.Rec.NumRows())
	for i := range live {
		live[i] = int32(i)
	}
	return live
}

// A replayChain is the stateless beginning of a chain, run for its errors alone.
type replayChain struct {
	t  *task
	ms map[int]*member // by place; the source's is not there
}

// add makes the stateless members behind the one at place.
func (c *replayChain) add(place int) error {
	for _, p := range c.t.members[place].next {
		m := c.t.members[p]
		if m.op == nil || !m.stateless {
			continue
		}
		n := &member{t: c.t, place: p, desc: m.desc}
		op, err := c.t.newOperator(n)
		if err != nil {
			return err
		}
		n.op = op
		c.ms[p] = n
		if err := op.Open(c.t.operatorTask(m.desc)); err != nil {
			return err
		}
		if err := c.add(p); err != nil {
			return err
		}
	}
	return nil
}

// give takes one reference to the members behind place.
func (c *replayChain) give(place int, b operators.Batch) error {
	defer b.Rec.Release()
	for _, p := range c.t.members[place].next {
		m := c.ms[p]
		if m == nil {
			continue
		}
		b.Rec.Retain()
		if err := m.failed(m.op.Process(0, b, replayCollector{c, p})); err != nil {
			return err
		}
	}
	return nil
}

func (c *replayChain) close() {
	for _, m := range c.ms {
		// It ran to find an error that is reported already: what closing says adds nothing.
		_ = m.op.Close()
	}
}

type replayCollector struct {
	c     *replayChain
	place int
}

func (r replayCollector) Emit(b operators.Batch) error { return r.c.give(r.place, b) }
func (r replayCollector) Side(_ string, b operators.Batch) error {
	b.Rec.Release()
	return nil
}
func (r replayCollector) Count(operators.Counter, int64) {}

// mostSalvages bounds how many rows of a doomed task are looked at one by one.
const mostSalvages = 1 << 20

// A salvaged is a row that failed and has no origin, since it came over an exchange.
type salvaged struct {
	err        error
	key        string // the row's canonical text
	expression string
}

func (s *salvaged) Error() string { return s.err.Error() }

// Unwrap is the failure itself.
func (s *salvaged) Unwrap() error { return s.err }

// Key is the row's canonical text, by which failures of several tasks are compared.
func (s *salvaged) Key() string { return s.key + "\x00" + s.expression }

func (s *salvaged) less(o *salvaged) bool {
	return o == nil || s.key < o.key || s.key == o.key && s.expression < o.expression
}

// salvage is what happens when a row without an origin fails. Which one comes first depends on how rows
// were spread, so the task goes on to its end and reports the least of them: rows are run one by one,
// those that pass go on, those that fail are compared. Nothing of what the task makes is used. Where the end
// may never come, the first failure counts.
func (m *member) salvage(input int, b operators.Batch, err error) error {
	var eval *expr.EvalError
	if !errors.As(err, &eval) || m.t.ctx.Err() != nil || m.t.d.Unbounded || m.t.salvages > mostSalvages {
		return err
	}
	one := make([]int32, 1)
	var key []byte
	for _, r := range liveRows(b) {
		m.t.salvages++
		one[0] = r
		b.Rec.Retain()
		rowErr := m.failed(m.op.Process(input, operators.Batch{Rec: b.Rec, Sel: one, Dict: b.Dict}, m))
		if rowErr == nil {
			continue
		}
		if !errors.As(rowErr, &eval) {
			return rowErr
		}
		key = key[:0]
		for i, f := range m.desc.In[0].Fields {
			key = column.AppendText(append(key, 0x1f), b.Rec.Column(i), f.Type, int(r))
		}
		s := &salvaged{err: rowErr, key: strings.TrimPrefix(string(key), "\x1f"), expression: eval.Expression}
		if s.less(m.t.least) {
			m.t.least = s
		}
	}
	if m.t.least == nil {
		return err // it fails as a whole and not row by row: nothing to compare
	}
	return nil
}
