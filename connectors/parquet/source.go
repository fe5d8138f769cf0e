package parquet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A source is a bound set of files.
type source struct {
	bound
	fs      files.FS
	columns []int              // wanted, in order
	where   *expr.Expr         // nil: all rows
	paths   map[int][][]string // of nested columns: the fields that are looked at
	rejects bool               // wanted
}

func open(state []byte) (connectors.Source, error) { return openIn(files.Local(), state) }

func openIn(fs files.FS, state []byte) (*source, error) {
	s := &source{fs: fs}
	if err := json.Unmarshal(state, &s.bound); err != nil {
		return nil, fmt.Errorf("reading the state of a parquet source: %w", err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("the state of a parquet source has version %d: expected %d", s.Version, stateVersion)
	}
	for i := range s.Columns {
		s.columns = append(s.columns, i)
	}
	return s, nil
}

// Bounded is true: files end.
func (s *source) Bounded() bool { return true }

// Schema is the columns that can be read, or those declared.
func (s *source) Schema() expr.Schema {
	var f []expr.Field
	for _, c := range s.Columns {
		f = append(f, expr.Field{Name: c.Name, Type: c.Type})
	}
	return expr.SchemaOf(f...)
}

// Unreadable is the columns that the files have and Schema has not.
func (s *source) Unreadable() []connectors.Unreadable { return s.Left }

// Inventory lists the files with the rows of their footers.
func (s *source) Inventory() connectors.Inventory {
	var v connectors.Inventory
	for _, f := range s.Files {
		e := connectors.File{Name: f.Name, Path: f.Path, Bytes: f.Bytes, Units: max(len(f.Rows), 1), Splittable: len(f.Rows) > 1, ModifiedNs: f.Time, Extra: f.Extra}
		e.Rows = f.rows()
		if f.Only != nil {
			e.Rows, e.Bytes = int64(f.Only.N), f.Only.Listing.Size
		}
		if !e.Splittable {
			e.Why = fmt.Sprintf("it has %d row group", e.Units)
		}
		v.Files = append(v.Files, e)
	}
	return v
}

// Push takes columns and filter. A limit is left.
func (s *source) Push(p connectors.Pushdown) (left connectors.Pushdown) {
	s.columns, s.where, s.paths, s.rejects = p.Columns, p.Where, p.Paths, p.Rejects
	return connectors.Pushdown{Limit: p.Limit}
}

// Enumerator gives out row groups.
func (s *source) Enumerator(_ context.Context, o connectors.SplitOptions, restored []byte) (connectors.Enumerator, error) {
	e := &enumerator{files: s.Files, options: o}
	if len(restored) == 0 {
		return e, nil
	}
	if err := json.Unmarshal(restored, &e.next); err != nil {
		return nil, fmt.Errorf("reading the state of a parquet enumerator: %w", err)
	}
	if e.next.Version != stateVersion {
		return nil, fmt.Errorf("the state of a parquet enumerator has version %d: expected %d", e.next.Version, stateVersion)
	}
	return e, nil
}

// Reader makes a reader.
func (s *source) Reader(t *operators.Task) (connectors.Reader, error) { return newReader(s, t) }

// A splitState is Split.State: some row groups of a file.
type splitState struct {
	Version int   `json:"version"`
	File    int   `json:"file"` // place in the list, from 1
	From    int   `json:"from"` // row groups From to To-1
	To      int   `json:"to"`
	Skip    int64 `json:"skip,omitempty"`  // rows of the split that were given out before
	Given   int64 `json:"given,omitempty"` // of these, those to read, where not all are
	Batch   int64 `json:"batch,omitempty"` // most rows of a batch; 0 = the reader's choice
}

// An enumerator puts neighbouring row groups together up to the size of a split, in the order of
// the list. A file without row groups is one split without rows, so that it is accounted for.
type enumerator struct {
	files   []boundFile
	options connectors.SplitOptions
	next    enumeratorState
}

// enumeratorState is the row group to give next.
type enumeratorState struct {
	Version int `json:"version"`
	File    int `json:"file"` // from 0
	Group   int `json:"group"`
}

const (
	splitsPerCall = 4096
	defaultSplit  = 4 << 20
	// bytesPerRow stands for a row where a read is bounded in bytes.
	bytesPerRow = 64
)

// Discover gives the next splits. It does no I/O: the footers were read when the plan was bound.
func (e *enumerator) Discover(ctx context.Context) (found []connectors.Split, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, fmt.Errorf("finding splits: %w", err)
	}
	size := e.options.SplitBytes
	if size <= 0 {
		size = defaultSplit
	}
	n := &e.next
	for n.File < len(e.files) && len(found) < splitsPerCall {
		f := &e.files[n.File]
		to := min(n.Group+1, len(f.Rows))
		for to < len(f.Rows) && f.Starts[to+1]-f.Starts[n.Group] <= size {
			to++
		}
		if st := (splitState{Version: stateVersion, File: n.File + 1, From: n.Group, To: to}); f.Only == nil || st.rows(f) > 0 {
			s, err := e.split(f, st)
			if err != nil {
				return nil, false, err
			}
			found = append(found, s)
		}
		if n.Group = to; to >= len(f.Rows) {
			n.File, n.Group = n.File+1, 0
		}
	}
	return found, n.File >= len(e.files), nil
}

func (e *enumerator) split(f *boundFile, s splitState) (connectors.Split, error) {
	if b := e.options.ReadBytes; b > 0 {
		s.Batch = max(b/bytesPerRow, 1)
	}
	return s.split(f)
}

// span is the bytes of a split.
func (s splitState) span(f *boundFile) (start, end int64) {
	return f.Starts[s.From], f.Starts[max(s.To, s.From+1)]
}

// rows is the rows of the split's row groups that are to be read and were not given out before.
func (s splitState) rows(f *boundFile) int64 {
	n := -s.Skip
	for _, r := range f.Rows[s.From:s.To] {
		n += r
	}
	if f.Only != nil {
		first, behind, _ := f.Only.of(s.From, s.To)
		return behind - first - s.Given
	}
	return n
}

// bytes is what the books count for the split.
func (s splitState) bytes(f *boundFile) int64 {
	if f.Only != nil {
		_, _, bytes := f.Only.of(s.From, s.To)
		return bytes
	}
	start, end := s.span(f)
	return end - start
}

func (s splitState) split(f *boundFile) (connectors.Split, error) {
	start, _ := s.span(f)
	state, err := json.Marshal(s)
	if err != nil {
		return connectors.Split{}, fmt.Errorf("making a split of %s: %w", f.Path, err)
	}
	return connectors.Split{
		ID: fmt.Sprintf("%d:%d", s.File, start), Order: [2]int64{int64(s.File), start},
		Bytes: s.bytes(f), Rows: s.rows(f), State: state,
	}, nil
}

// Snapshot is what comes next.
func (e *enumerator) Snapshot() ([]byte, error) {
	e.next.Version = stateVersion
	return json.Marshal(e.next)
}

// Close has nothing to close.
func (e *enumerator) Close() error { return nil }

// uses are the columns to decode: those of the filter first.
func (s *source) uses() (first, rest []int) {
	first = expr.Columns(s.where)
	for _, c := range s.columns {
		if !slices.Contains(first, c) && !slices.Contains(rest, c) {
			rest = append(rest, c)
		}
	}
	return first, rest
}
