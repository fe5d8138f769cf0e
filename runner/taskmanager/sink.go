package taskmanager

import (
	"encoding/hex"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
)

// A sinkEnd writes what reaches the end of a chain to a sink, and counts and digests it.
type sinkEnd struct {
	w        connectors.Writer
	digest   *column.Digest
	rows     int64
	bytes    int64
	prepared bool
}

// openSink makes the writer of a task that ends in a sink.
func (t *task) openSink(m *member) error {
	c := t.tm.cfg.Catalogs.Connectors[m.desc.Component]
	if c == nil {
		return fmt.Errorf("this TaskManager has no sink %s", m.desc.Component)
	}
	s, err := c.OpenSink(m.desc.Sink.Bound.State, m.desc.In[0])
	if err != nil {
		return m.failed(fmt.Errorf("opening sink %s: %w", m.desc.Node, err))
	}
	w, err := s.Writer(t.operatorTask(m.desc), t.d.Run, nil)
	if err != nil {
		return m.failed(fmt.Errorf("opening sink %s: %w", m.desc.Node, err))
	}
	t.sink = &sinkEnd{w: w, digest: column.NewDigest(m.desc.In[0])}
	return nil
}

func (s *sinkEnd) write(m *member, b operators.Batch) error {
	n := int64(b.Rows())
	m.in.Add(n)
	s.digest.Add(b)
	s.rows += n
	if err := s.w.Write(b); err != nil {
		return fmt.Errorf("writing to sink %s: %w", m.desc.Node, err)
	}
	m.out.Add(n)
	return nil
}

// prepare makes what was written durable, still invisible.
func (s *sinkEnd) prepare(m *member) ([]connectors.Committable, error) {
	all, err := s.w.Prepare(0, true)
	if err != nil {
		return nil, m.failed(fmt.Errorf("writing to sink %s: %w", m.desc.Node, err))
	}
	s.prepared = true
	s.bytes = 0
	for i := range all {
		all[i].Subtask = m.t.d.Task.Subtask
		s.bytes += all[i].Bytes
	}
	return all, nil
}

func (s *sinkEnd) hexDigest() string {
	sum := s.digest.Sum()
	return hex.EncodeToString(sum[:])
}
