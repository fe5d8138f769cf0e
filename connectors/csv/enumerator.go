package csv

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// splitsPerCall is how many splits Discover gives at most.
const splitsPerCall = 4096

// A splitState is Split.State.
type splitState struct {
	Version int   `json:"version"`
	File    int64 `json:"file"` // place in the list, from 1
	Start   int64 `json:"start"`
	End     int64 `json:"end"`
	Pos     int64 `json:"pos,omitempty"`  // where the next record begins; 0: not begun
	Ends    sit   `json:"ends,omitempty"` // with Pos: what place End is, where Pos is not before it
	Read    int64 `json:"read,omitempty"` // bytes a read may take; 0 = the reader's choice
}

// An enumerator cuts files into splits of equal size, in the order of the list. An empty file is one
// split without bytes, so that it is accounted for.
type enumerator struct {
	files []input
	size  int64
	read  int64
	next  enumeratorState
}

// enumeratorState is the split to give next.
type enumeratorState struct {
	Version int   `json:"version"`
	File    int   `json:"file"` // from 0
	Offset  int64 `json:"offset"`
}

// Discover gives the next splits. It does no I/O.
func (e *enumerator) Discover(ctx context.Context) (found []connectors.Split, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	for e.next.File < len(e.files) && len(found) < splitsPerCall {
		f := e.files[e.next.File]
		n := min(e.size, f.Bytes-e.next.Offset)
		if f.InOrder != "" {
			n = f.Bytes
		}
		s, err := newSplit(f, splitState{
			File: int64(e.next.File) + 1, Start: e.next.Offset, End: e.next.Offset + n, Read: e.read,
		})
		if err != nil {
			return nil, false, err
		}
		found = append(found, s)
		e.next.Offset += n
		if e.next.Offset >= f.Bytes {
			e.next.File, e.next.Offset = e.next.File+1, 0
		}
	}
	return found, e.next.File >= len(e.files), nil
}

func newSplit(f input, s splitState) (connectors.Split, error) {
	s.Version = stateVersion
	b, err := json.Marshal(s)
	if err != nil {
		return connectors.Split{}, fmt.Errorf("writing a split of %s: %w", f.Path, err)
	}
	return connectors.Split{
		ID: fmt.Sprintf("%s:%d", f.Path, s.Start), Order: [2]int64{s.File, s.Start}, Bytes: s.End - s.Start, State: b,
	}, nil
}

// Snapshot is the place to go on from.
func (e *enumerator) Snapshot() ([]byte, error) {
	e.next.Version = stateVersion
	return json.Marshal(e.next)
}

// Close has nothing to close.
func (e *enumerator) Close() error { return nil }
