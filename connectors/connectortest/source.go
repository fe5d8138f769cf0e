// Package connectortest holds the tests that every connector passes: for sources that every row comes
// exactly once however the input is cut, for sinks that what was written is read back and that nothing
// is left of what was not committed.
package connectortest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Source is a source to test: input that is at least a few rows.
type Source struct {
	// Open gives a new bound source over a file system.
	Open func(fs files.FS) (connectors.Source, error)
	// Rows are all rows in file order, values joined by "|" as [column.AppendText] writes them.
	Rows []string
	// Lines are the lines (or row numbers) of the rows, from 1, as Locate gives them; nil: not checked.
	Lines []int64
	// Sizes are split sizes to try beside one split a file.
	Sizes []int64
	// Where is a filter that the source takes, with what passes of Rows; nil: none is tried.
	Where  *expr.Expr
	Passes func(row string) bool
}

// Run runs all tests of a source.
func (s Source) Run(t *testing.T) {
	t.Run("splits", s.splits)
	t.Run("columns", s.columns)
	t.Run("where", s.filtered)
	t.Run("locate", s.locate)
	t.Run("snapshot", s.snapshot)
	t.Run("cancel", s.cancel)
	t.Run("faults", s.faults)
}

// A found row is a row with its origin.
type found struct {
	at  operators.Origin
	row int64
	txt string
}

// A run reads a source with some readers that take splits in turn.
type run struct {
	src     connectors.Source
	schema  expr.Schema // of the batches
	alloc   *memory.CheckedAllocator
	readers int
	size    connectors.SplitOptions
	rows    []found
	splits  []connectors.Split
	tallies []connectors.Tally
}

// discover asks the enumerator for all splits, taking a snapshot after every call.
func discover(ctx context.Context, src connectors.Source, o connectors.SplitOptions) (all []connectors.Split, err error) {
	var state []byte
	for {
		e, err := src.Enumerator(ctx, o, state)
		if err != nil {
			return nil, err
		}
		got, done, err := e.Discover(ctx)
		if err == nil {
			state, err = e.Snapshot()
		}
		if err = errors.Join(err, e.Close()); err != nil {
			return nil, err
		}
		all = append(all, got...)
		if done {
			return all, nil
		}
	}
}

// read reads everything.
func (r *run) read(ctx context.Context) (err error) {
	r.splits, err = discover(ctx, r.src, r.size)
	if err != nil {
		return err
	}
	next := 0
	readers := make([]connectors.Reader, r.readers)
	for i := range readers {
		if readers[i], err = r.src.Reader(&operators.Task{Ctx: ctx, Subtask: i, Parallelism: r.readers, Alloc: Dirty{r.alloc}}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, readers[i].Close()) }()
	}
	for open := r.readers; open > 0; {
		open = 0
		for _, rd := range readers {
			b, st, err := rd.Next(ctx)
			switch {
			case err != nil:
				return err
			case st == connectors.More:
				r.take(b)
				open++
			case st == connectors.NeedSplit && next < len(r.splits):
				rd.Add(r.splits[next : next+1])
				next++
				open++
			case st == connectors.Idle:
				return errors.New("a bounded source is idle")
			}
		}
	}
	for _, rd := range readers {
		r.tallies = append(r.tallies, rd.Tally()...)
	}
	return nil
}

// take notes the rows of a batch and releases it.
func (r *run) take(b operators.Batch) {
	defer b.Rec.Release()
	for i := range b.Rows() {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		r.rows = append(r.rows, found{b.From, int64(row), Text(b, r.schema, row)})
	}
}

// Text is a row of a batch as text.
func Text(b operators.Batch, schema expr.Schema, row int) string {
	var f []string
	for k, c := range b.Rec.Columns() {
		f = append(f, string(column.AppendText(nil, c, schema.Fields[k].Type, row)))
	}
	return strings.Join(f, "|")
}

// sorted are the rows in file order.
func (r *run) sorted() []string {
	sort.SliceStable(r.rows, func(i, j int) bool {
		a, b := r.rows[i], r.rows[j]
		if a.at.File != b.at.File {
			return a.at.File < b.at.File
		}
		if a.at.Offset != b.at.Offset {
			return a.at.Offset < b.at.Offset
		}
		return a.at.Row+a.row < b.at.Row+b.row
	})
	out := make([]string, len(r.rows))
	for i, x := range r.rows {
		out[i] = x.txt
	}
	return out
}

// start opens the source for a run.
func (s Source) start(t *testing.T, fs files.FS, readers int, size connectors.SplitOptions) *run {
	t.Helper()
	src, err := s.Open(fs)
	if err != nil {
		t.Fatal(err)
	}
	a := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { a.AssertSize(t, 0) })
	return &run{src: src, schema: src.Schema(), alloc: a, readers: readers, size: size}
}

func (s Source) sizes() []connectors.SplitOptions {
	out := []connectors.SplitOptions{{SplitBytes: 1 << 40}, {SplitBytes: 1 << 40, ReadBytes: 64}}
	for _, n := range s.Sizes {
		out = append(out, connectors.SplitOptions{SplitBytes: n}, connectors.SplitOptions{SplitBytes: n, ReadBytes: n/2 + 1})
	}
	return out
}

// splits: every row once, for all sizes and numbers of readers, and books that balance.
func (s Source) splits(t *testing.T) {
	for _, size := range s.sizes() {
		for readers := 1; readers <= 4; readers++ {
			r := s.start(t, files.Local(), readers, size)
			if err := r.read(context.Background()); err != nil {
				t.Fatalf("%+v, %d readers: %v", size, readers, err)
			}
			if got := r.sorted(); !slices.Equal(got, s.Rows) {
				t.Fatalf("%+v, %d readers: %s", size, readers, difference(got, s.Rows))
			}
			if err := r.balanced(int64(len(s.Rows)), true); err != nil {
				t.Fatalf("%+v, %d readers: %v", size, readers, err)
			}
		}
	}
}

// difference says where two lists of rows part.
func difference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%d rows, expected %d: missing %q", len(got), len(want), want[i])
		case i >= len(want):
			return fmt.Sprintf("%d rows, expected %d: %q is too many", len(got), len(want), got[i])
		case got[i] != want[i]:
			return fmt.Sprintf("row %d is %q, expected %q", i, got[i], want[i])
		}
	}
	return "equal"
}

// balanced checks that the splits tile the files, and the sums of the readers' books.
func (r *run) balanced(rows int64, all bool) error {
	type sum struct{ splits, bytes int64 }
	sums := map[string]*sum{}
	inventory := r.src.Inventory().Files
	for _, f := range inventory {
		sums[f.Path] = &sum{}
	}
	last := [2]int64{}
	for _, s := range r.splits {
		if s.Order[0] < last[0] || s.Order[0] == last[0] && s.Order[1] < last[1] {
			return fmt.Errorf("split %s comes after its place in file order", s.ID)
		}
		last = s.Order
		if s.Order[0] < 1 || s.Order[0] > int64(len(inventory)) {
			return fmt.Errorf("split %s is of file %d of %d", s.ID, s.Order[0], len(inventory))
		}
		sums[inventory[s.Order[0]-1].Path].splits += s.Bytes
	}
	total := int64(0)
	for _, y := range r.tallies {
		x := sums[y.File]
		if x == nil {
			return fmt.Errorf("the books have a file %s", y.File)
		}
		x.bytes += y.Bytes
		total += y.Read - y.Filtered - y.Rejected
		if y.Rows != y.Read+y.Pruned+y.Unread {
			return fmt.Errorf("%s: rows %d, but read %d + pruned %d + unread %d", y.File, y.Rows, y.Read, y.Pruned, y.Unread)
		}
	}
	for _, f := range inventory {
		if x := sums[f.Path]; x.splits != f.Bytes || x.bytes != f.Bytes && all {
			return fmt.Errorf("%s: splits of %d and books of %d bytes for %d bytes", f.Path, x.splits, x.bytes, f.Bytes)
		}
	}
	if total != rows {
		return fmt.Errorf("the books have %d rows for %d", total, rows)
	}
	return nil
}

// columns: any columns in any order, none too.
func (s Source) columns(t *testing.T) {
	probe := s.start(t, files.Local(), 1, connectors.SplitOptions{})
	n := len(probe.schema.Fields)
	sets := [][]int{{}, {n - 1}, {0}}
	var back []int
	for i := range n {
		back = append(back, n-1-i)
	}
	for _, set := range append(sets, back) {
		r := s.start(t, files.Local(), 2, connectors.SplitOptions{SplitBytes: s.smallest()})
		if left := r.src.Push(connectors.Pushdown{Columns: set, Limit: -1}); left.Columns != nil {
			t.Fatalf("columns %v are left", set)
		}
		r.schema = r.schema.Pick(set)
		if err := r.read(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := make([]string, len(s.Rows))
		for i, row := range s.Rows {
			all := strings.Split(row, "|")
			f := make([]string, len(set))
			for k, c := range set {
				f[k] = all[c]
			}
			want[i] = strings.Join(f, "|")
		}
		if got := r.sorted(); !slices.Equal(got, want) {
			t.Fatalf("columns %v: %s", set, difference(got, want))
		}
	}
}

func (s Source) smallest() int64 {
	if len(s.Sizes) == 0 {
		return 1 << 40
	}
	return slices.Min(s.Sizes)
}

// filtered: the rows that pass, and books of those that do not.
func (s Source) filtered(t *testing.T) {
	if s.Where == nil {
		t.Skip("the case has no filter")
	}
	var want []string
	for _, row := range s.Rows {
		if s.Passes(row) {
			want = append(want, row)
		}
	}
	for _, size := range s.sizes() {
		r := s.start(t, files.Local(), 2, size)
		p := connectors.Pushdown{Where: s.Where, Limit: -1}
		for i := range r.schema.Fields {
			p.Columns = append(p.Columns, i)
		}
		if left := r.src.Push(p); left.Where != nil {
			t.Fatal("the filter is left")
		}
		if err := r.read(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := r.sorted(); !slices.Equal(got, want) {
			t.Fatalf("%+v: %s", size, difference(got, want))
		}
		if err := r.balanced(int64(len(want)), true); err != nil {
			t.Fatalf("%+v: %v", size, err)
		}
	}
}
