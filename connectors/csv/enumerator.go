package csv

import (
	"encoding/json"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

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

// newSplit makes a split of its state.
func newSplit(f input, s splitState) (connectors.Split, error) {
	state, err := s.marshal(f.Path)
	return text.Split(f.Path, s.File, s.Start, s.End, state), err
}

func (s splitState) marshal(path string) ([]byte, error) {
	s.Version = stateVersion
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("writing a split of %s: %w", path, err)
	}
	return b, nil
}
