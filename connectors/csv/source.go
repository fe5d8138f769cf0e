package csv

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A source is a bound set of files.
type source struct {
	bound
	fs      files.FS
	scan    scanner
	reach   reach
	columns []int      // wanted, in order
	rejects bool       // wanted
	where   *expr.Expr // nil: all rows
}

func open(state []byte) (connectors.Source, error) { return openIn(files.Local(), state) }

func openIn(fs files.FS, state []byte) (*source, error) {
	s := &source{fs: fs, scan: bestScanner(), reach: defaultReach()}
	if err := json.Unmarshal(state, &s.bound); err != nil {
		return nil, fmt.Errorf("reading the state of a csv source: %w", err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("the state of a csv source has version %d: expected %d", s.Version, stateVersion)
	}
	for i := range s.Columns {
		s.columns = append(s.columns, i)
	}
	return s, nil
}

// Bounded is true: files end.
func (s *source) Bounded() bool { return true }

// Schema is the declared columns.
func (s *source) Schema() expr.Schema { return expr.SchemaOf(s.Columns...) }

// Inventory lists the files. They can be cut anywhere, but those that are read in order.
func (s *source) Inventory() connectors.Inventory {
	v := connectors.Inventory{Inferred: s.Inferred}
	for _, f := range s.Files {
		v.Files = append(v.Files, connectors.File{Name: f.Name, Path: f.Path, Bytes: f.tiles(), Rows: -1, Splittable: f.InOrder == "", Why: f.InOrder, ModifiedNs: f.Time, Extra: f.Extra})
	}
	return v
}

// Push takes columns and filter. A limit is left: which rows a split has is not known before.
func (s *source) Push(p connectors.Pushdown) (left connectors.Pushdown) {
	s.columns, s.where, s.rejects = p.Columns, p.Where, p.Rejects
	return connectors.Pushdown{Limit: p.Limit}
}

// Enumerator cuts the files.
func (s *source) Enumerator(_ context.Context, o connectors.SplitOptions, restored []byte) (connectors.Enumerator, error) {
	var pieces []text.Piece
	for _, f := range s.Files {
		pieces = append(pieces, text.Piece{Path: f.Path, Bytes: f.tiles(), Whole: f.InOrder != ""})
	}
	return text.NewEnumerator("csv", stateVersion, pieces, o, restored)
}

// Reader makes a reader.
func (s *source) Reader(t *operators.Task) (connectors.Reader, error) { return newReader(s, t) }
