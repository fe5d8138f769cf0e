package datagen

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A source makes rows.
type source struct {
	bound
	clock   clock
	columns []int // wanted, in order
}

func open(state []byte, c clock) (*source, error) {
	s := &source{clock: c}
	if err := json.Unmarshal(state, &s.bound); err != nil {
		return nil, fmt.Errorf("reading the state of a datagen source: %w", err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("the state of a datagen source has version %d: expected %d", s.Version, stateVersion)
	}
	for i := range s.Options.Columns {
		s.columns = append(s.columns, i)
	}
	return s, nil
}

// Bounded tells whether the rows end.
func (s *source) Bounded() bool { return s.Rows < math.MaxInt64 }

// Partitioned is true: the splits go through the rows side by side.
func (s *source) Partitioned() bool { return true }

// GivesWatermarks is true: the readers are timed, split by split.
func (s *source) GivesWatermarks() bool { return true }

// Schema is the declared columns.
func (s *source) Schema() expr.Schema { return expr.SchemaOf(s.Options.Columns...) }

// Inventory has one file, which stands for all rows.
func (s *source) Inventory() connectors.Inventory {
	f := connectors.File{Path: s.Path, Rows: -1, Splittable: true, Units: int(s.most()), Generated: true}
	if s.Bounded() {
		f.Rows, f.Bytes = s.Rows, s.bytes(s.Rows)
	}
	return connectors.Inventory{Files: []connectors.File{f}}
}

// Push takes columns: those that nobody wants are not made.
func (s *source) Push(p connectors.Pushdown) (left connectors.Pushdown) {
	s.columns = p.Columns
	return connectors.Pushdown{Where: p.Where, Limit: p.Limit}
}

// splits is how many there are.
func (s *source) splits(size int64) int64 {
	switch {
	case s.Options.Splits > 0:
		return s.Options.Splits
	case !s.Bounded() || size <= 0:
		return min(unboundedSplits, s.most())
	}
	return min(max(ceil(s.bytes(s.Rows), size), 1), s.most())
}

// Enumerator lists the splits.
func (s *source) Enumerator(_ context.Context, o connectors.SplitOptions, restored []byte) (connectors.Enumerator, error) {
	e := &enumerator{bound: &s.bound, splits: s.splits(o.SplitBytes)}
	if len(restored) == 0 {
		return e, nil
	}
	if err := json.Unmarshal(restored, &e.state); err != nil {
		return nil, fmt.Errorf("reading the state of a datagen enumerator: %w", err)
	}
	if e.state.Version != stateVersion {
		return nil, fmt.Errorf("the state of a datagen enumerator has version %d: expected %d", e.state.Version, stateVersion)
	}
	return e, nil
}

// Reader makes a reader.
func (s *source) Reader(t *operators.Task) (connectors.Reader, error) {
	r := &reader{source: s, alloc: t.Alloc, timed: -1}
	fields := s.Options.Columns
	if w := s.Watermark; w != nil {
		if r.timed = s.Schema().Index(w.Column); r.timed < 0 || fields[r.timed].Type.Kind.Storage() != expr.Timestamp {
			return nil, fmt.Errorf("opening source %s: the watermark's column %s is no TIMESTAMP of it", s.Path, w.Column)
		}
	}
	r.reach = math.MaxInt64
	for i, f := range fields {
		m, err := s.maker(f)
		if err != nil {
			return nil, fmt.Errorf("opening source %s: %w", s.Path, err)
		}
		r.makers = append(r.makers, m)
		if m.reach < r.reach {
			r.reach, r.narrow = m.reach, i
		}
	}
	return r, nil
}

// splitsPerCall is how many splits Discover gives at most.
const splitsPerCall = 4096

// A splitState is Split.State.
type splitState struct {
	Version int   `json:"version"`
	Split   int64 `json:"split"`
	Splits  int64 `json:"splits"`
	Block   int64 `json:"block"` // the next one; -1: none, the split waits for its end
	Begun   bool  `json:"begun,omitempty"`
}

// An enumerator lists the splits in the order of their first rows.
type enumerator struct {
	bound  *bound
	splits int64
	state  struct {
		Version int   `json:"version"`
		Next    int64 `json:"next"`
	}
}

// Discover gives the next splits. It does no I/O.
func (e *enumerator) Discover(ctx context.Context) (found []connectors.Split, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	l := e.bound.layout(e.splits)
	for ; e.state.Next < e.splits && len(found) < splitsPerCall; e.state.Next++ {
		i := e.state.Next
		s, err := e.bound.split(l, splitState{Split: i, Splits: e.splits, Block: l.first(i)})
		if err != nil {
			return nil, false, err
		}
		found = append(found, s)
	}
	return found, e.state.Next >= e.splits, nil
}

// split is a split at some place. Its Order is the row it begins with, so that it compares to the
// origins of rows.
func (b *bound) split(l layout, s splitState) (connectors.Split, error) {
	s.Version = stateVersion
	state, err := json.Marshal(s)
	if err != nil {
		return connectors.Split{}, fmt.Errorf("writing a split of %s: %w", b.Path, err)
	}
	rows := l.rowsOf(s.Split)
	return connectors.Split{
		ID: b.splitID(s.Split), Order: [2]int64{1, s.Split * l.block}, Rows: rows, Bytes: rows * b.Width, State: state,
	}, nil
}

func (b *bound) splitID(split int64) string { return fmt.Sprintf("%s:%d", b.Path, split) }

// Snapshot is the split to go on with.
func (e *enumerator) Snapshot() ([]byte, error) {
	e.state.Version = stateVersion
	return json.Marshal(e.state)
}

// Close has nothing to close.
func (e *enumerator) Close() error { return nil }
