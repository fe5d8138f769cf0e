package badrows

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// fan is how many runs are merged at once. Each has a block in memory.
const fan = 64

// A run is a sorted run of records in an open file.
type run struct {
	f        io.ReaderAt
	from, to int64
}

// Merge gives the records of parts in order. Where there are many runs, they are merged to fewer in temporary
// files of dir first. An error ends it.
func Merge(dir string, parts []Part) iter.Seq2[connectors.Record, error] {
	return func(yield func(connectors.Record, error) bool) {
		m := merger{dir: dir}
		err := m.open(parts)
		for err == nil && len(m.runs) > fan {
			err = m.fewer()
		}
		stopped := false
		if err == nil {
			err = mergeRuns(m.runs, func(r *connectors.Record) error {
				if !yield(*r, nil) {
					stopped = true
					return errStop
				}
				return nil
			})
		}
		if stopped {
			err = nil
		}
		if err = errors.Join(err, m.close()); err != nil && !stopped {
			yield(connectors.Record{}, err)
		}
	}
}

// errStop ends a merge whose records nobody wants any more.
var errStop = errors.New("stop")

type merger struct {
	dir   string
	runs  []run
	files []io.Closer
}

func (m *merger) open(parts []Part) error {
	for _, p := range parts {
		if len(p.Ends) == 0 {
			continue
		}
		f, err := os.Open(p.Path)
		if err != nil {
			return fmt.Errorf("reading bad rows from disk: %w", err)
		}
		m.files = append(m.files, f)
		from := int64(0)
		for _, to := range p.Ends {
			m.runs = append(m.runs, run{f, from, to})
			from = to
		}
	}
	return nil
}

// fewer merges runs into longer ones.
func (m *merger) fewer() error {
	f, err := files.Temp(m.dir, "runner-rejects-*")
	if err != nil {
		return fmt.Errorf("writing bad rows to disk: %w", err)
	}
	m.files = append(m.files, f)
	var longer []run
	out := blockWriter{w: f}
	for len(m.runs) > 0 {
		n := min(fan, len(m.runs))
		from := out.written
		if err := mergeRuns(m.runs[:n], out.add); err != nil {
			return err
		}
		if err := out.end(); err != nil {
			return err
		}
		m.runs = m.runs[n:]
		longer = append(longer, run{f, from, out.written})
	}
	m.runs = longer
	return nil
}

func (m *merger) close() error {
	var errs []error
	for _, f := range m.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// mergeRuns gives the records of runs in order.
func mergeRuns(runs []run, do func(*connectors.Record) error) error {
	var h heads
	for i, r := range runs {
		x := &head{from: i, runReader: runReader{r: r.f, at: r.from, to: r.to}}
		more, err := x.advance()
		if err != nil {
			return err
		}
		if more {
			h = append(h, x)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		if err := do(&h[0].now); err != nil {
			return err
		}
		more, err := h[0].advance()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	return nil
}

// A head is a run and its first record.
type head struct {
	runReader
	from int // among the runs
	now  connectors.Record
}

func (x *head) advance() (more bool, err error) {
	x.now, more, err = x.next()
	return more, err
}

type heads []*head

func (h heads) Len() int { return len(h) }

// Less orders equal records as their runs stand.
func (h heads) Less(i, j int) bool {
	if c := h[i].now.Before(&h[j].now); c != 0 {
		return c < 0
	}
	return h[i].from < h[j].from
}
func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any) {
	if v, ok := x.(*head); ok {
		*h = append(*h, v)
	}
}

func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
