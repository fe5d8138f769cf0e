package text

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// splitsPerCall is how many splits Discover gives at most.
const splitsPerCall = 4096

// DefaultSplit is how large splits are where nobody says, in bytes.
const DefaultSplit = 4 << 20

// A Piece is a file to cut.
type Piece struct {
	Path  string
	Bytes int64
	Whole bool // it may not be cut
}

// An Enumerator cuts files into splits of equal size, in the order of the list. An empty file is one
// split without bytes, so that it is accounted for.
type Enumerator struct {
	name    string // of the connector
	version int
	pieces  []Piece
	split   func(file, start, end int64) ([]byte, error)
	size    int64
	next    enumeratorState
}

// enumeratorState is the split to give next.
type enumeratorState struct {
	Version int   `json:"version"`
	File    int   `json:"file"` // from 0
	Offset  int64 `json:"offset"`
}

// NewEnumerator makes an enumerator of a connector whose states have a version. split makes the state of
// the split of a file (its place in pieces from 1) from one byte to another.
func NewEnumerator(name string, version int, pieces []Piece, size int64, restored []byte, split func(file, start, end int64) ([]byte, error)) (*Enumerator, error) {
	e := &Enumerator{name: name, version: version, pieces: pieces, split: split, size: size}
	if e.size <= 0 {
		e.size = DefaultSplit
	}
	if len(restored) == 0 {
		return e, nil
	}
	if err := json.Unmarshal(restored, &e.next); err != nil {
		return nil, fmt.Errorf("reading the state of a %s enumerator: %w", name, err)
	}
	if e.next.Version != version {
		return nil, fmt.Errorf("the state of a %s enumerator has version %d: expected %d", name, e.next.Version, version)
	}
	return e, nil
}

// Discover gives the next splits. It does no I/O.
func (e *Enumerator) Discover(ctx context.Context) (found []connectors.Split, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	for e.next.File < len(e.pieces) && len(found) < splitsPerCall {
		p := e.pieces[e.next.File]
		n := min(e.size, p.Bytes-e.next.Offset)
		if p.Whole {
			n = p.Bytes
		}
		file, start := int64(e.next.File)+1, e.next.Offset
		state, err := e.split(file, start, start+n)
		if err != nil {
			return nil, false, err
		}
		found = append(found, Split(p.Path, file, start, start+n, state))
		e.next.Offset += n
		if e.next.Offset >= p.Bytes {
			e.next.File, e.next.Offset = e.next.File+1, 0
		}
	}
	return found, e.next.File >= len(e.pieces), nil
}

// Split is the split of a file from one byte to another.
func Split(path string, file, start, end int64, state []byte) connectors.Split {
	return connectors.Split{ID: fmt.Sprintf("%s:%d", path, start), Order: [2]int64{file, start}, Bytes: end - start, State: state}
}

// Snapshot is the place to go on from.
func (e *Enumerator) Snapshot() ([]byte, error) {
	e.next.Version = e.version
	return json.Marshal(e.next)
}

// Close has nothing to close.
func (e *Enumerator) Close() error { return nil }
