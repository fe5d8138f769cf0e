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
	size    int64
	read    int64
	next    enumeratorState
}

// enumeratorState is the split to give next.
type enumeratorState struct {
	Version int   `json:"version"`
	File    int   `json:"file"` // from 0
	Offset  int64 `json:"offset"`
}

// NewEnumerator makes an enumerator of a connector whose states have a version.
func NewEnumerator(name string, version int, pieces []Piece, o connectors.SplitOptions, restored []byte) (*Enumerator, error) {
	e := &Enumerator{name: name, version: version, pieces: pieces, size: o.SplitBytes, read: o.ReadBytes}
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
		s, err := State{Version: e.version, File: file, Start: start, End: start + n, Read: e.read}.Split(p.Path)
		if err != nil {
			return nil, false, err
		}
		found = append(found, s)
		e.next.Offset += n
		if e.next.Offset >= p.Bytes {
			e.next.File, e.next.Offset = e.next.File+1, 0
		}
	}
	return found, e.next.File >= len(e.pieces), nil
}

// Snapshot is the place to go on from.
func (e *Enumerator) Snapshot() ([]byte, error) {
	e.next.Version = e.version
	return json.Marshal(e.next)
}

// Close has nothing to close.
func (e *Enumerator) Close() error { return nil }
