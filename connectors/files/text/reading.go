package text

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// MostKept is after how many records left out a reader gives them out without a batch.
const MostKept = 4096

// A Reading is what the readers of text files have in common: the splits that are still to be read one after
// the other, the records that were left out and not yet asked for, and the books.
type Reading struct {
	Name    string // of the connector
	Version int    // of its states
	Paths   []string
	Wanted  bool // the records left out are
	Tallies connectors.Tallies

	states []State
	out    []connectors.Reject
}

// A State is Split.State of a text file.
type State struct {
	Version int   `json:"version"`
	File    int64 `json:"file"` // place in the list, from 1
	Start   int64 `json:"start"`
	End     int64 `json:"end"`
	Pos     int64 `json:"pos,omitempty"`  // where the next record begins; 0: not begun
	Ends    uint8 `json:"ends,omitempty"` // with Pos: what the connector knows of the place End
	Read    int64 `json:"read,omitempty"` // bytes a read may take; 0 = the reader's choice
}

// Split is the split of a state.
func (s State) Split(path string) (connectors.Split, error) {
	state, err := json.Marshal(s)
	if err != nil {
		return connectors.Split{}, fmt.Errorf("writing a split of %s: %w", path, err)
	}
	return connectors.Split{ID: fmt.Sprintf("%s:%d", path, s.Start), Order: [2]int64{s.File, s.Start}, Bytes: s.End - s.Start, State: state}, nil
}

// Add puts splits at the end of the queue.
func (r *Reading) Add(splits []connectors.Split) {
	for _, s := range splits {
		var st State
		if err := json.Unmarshal(s.State, &st); err != nil || st.Version != r.Version {
			st = State{File: -1}
		}
		r.states = append(r.states, st)
	}
}

// Batch is Next of a reader. begun reports whether a split is being read, start begins one, and step gives
// the next batch of it, or moves on without one.
func (r *Reading) Batch(ctx context.Context, begun func() bool, start func(State) error, step func() (operators.Batch, error)) (operators.Batch, connectors.Status, error) {
	for {
		if err := ctx.Err(); err != nil {
			return operators.Batch{}, connectors.Idle, err
		}
		if !begun() {
			if len(r.states) == 0 {
				return operators.Batch{}, connectors.NeedSplit, nil
			}
			st := r.states[0]
			r.states = r.states[1:]
			if st.File < 1 || st.File > int64(len(r.Paths)) {
				return operators.Batch{}, connectors.Idle, fmt.Errorf("a split of a %s source is of another version or of other files", r.Name)
			}
			if err := start(st); err != nil {
				return operators.Batch{}, connectors.Idle, err
			}
		}
		b, err := step()
		if err != nil {
			return operators.Batch{}, connectors.Idle, err
		}
		if b.Rec != nil || len(r.out) >= MostKept {
			return b, connectors.More, nil
		}
	}
}

// Unread is Snapshot of a reader: what was not read. begun is where the split that is being read goes on.
func (r *Reading) Unread(begun ...State) (out []connectors.Split, err error) {
	for _, st := range append(begun, r.states...) {
		st.Version = r.Version
		s, err := st.Split(r.Paths[st.File-1])
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Wake is never signalled: there is always something to read or nothing left.
func (r *Reading) Wake() <-chan struct{} { return nil }

// Tally is the books, by file.
func (r *Reading) Tally() []connectors.Tally { return r.Tallies.All() }

// Rejects are the records left out since the last call.
func (r *Reading) Rejects() []connectors.Reject {
	out := r.out
	r.out = nil
	return out
}

// A Bad is a bad record as its connector knows it.
type Bad interface {
	Order() [2]int64 // file and offset
	// Advice gives what cures it, and not again; nil: there is nothing to say.
	Advice() func() string
}

// Leave books bad records of a file that are left out. reject makes of one what it is handed out as, which
// is costly and done for those alone that somebody will see.
func Leave[B Bad](r *Reading, t *connectors.Tally, bad []B, reject func(B) (connectors.Reject, error)) error {
	t.Rejected += int64(len(bad))
	slices.SortStableFunc(bad, func(a, b B) int { return cmp.Compare(a.Order()[1], b.Order()[1]) })
	for _, f := range bad {
		if !r.Wanted && !t.Samples(f.Order()) {
			return nil
		}
		advice := f.Advice()
		x, err := reject(f)
		if err != nil {
			return err
		}
		if r.Wanted {
			r.out = append(r.out, x)
		}
		if t.Samples(x.Order) {
			if advice != nil {
				x.Message += advice()
			}
			t.Keep(x)
		}
	}
	return nil
}
