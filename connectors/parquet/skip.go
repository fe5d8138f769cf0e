package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Where the plan says that bad rows are skipped, a row is bad if a value that is checked is none of its
// column's type: it does not fit the type in the file or the declared one, is no text, or is NULL where
// that is declared NOT NULL. Columns of the filter are checked in all rows, the others in those that pass. What
// is damaged (headers, pages, levels, checksums) has no rows that could be told apart, and fails as ever.

// SkipsBadRows reports whether the source leaves bad rows out, as the plan asked.
func (s *source) SkipsBadRows() bool { return s.Skip }

// Rejects are the rows left out since the last call.
func (r *reader) Rejects() []connectors.Reject {
	out := r.out
	r.out = nil
	return out
}

// A skipper makes a batch without its bad rows.
type skipper struct {
	batchOf
	sel []int32 // rows that are good so far and pass; nil = all
	bad []badRow
}

// A badRow is a row that is left out, and the first value of it that is bad.
type badRow struct {
	row int
	err *connectors.DataError
}

// skippingBatch gives the next rows of the group but for those that are bad; no record where none is left.
func (r *reader) skippingBatch() (operators.Batch, error) {
	f := &r.src.Files[r.split.File-1]
	n := int(min(f.Rows[r.group]-r.at, r.toGap(), r.mostRows()))
	s := skipper{batchOf: batchOf{reader: r, n: n, arrs: map[int]arrow.Array{}, dicts: map[int]uint64{}}}
	defer s.release()
	origin := operators.Origin{File: int64(r.split.File), Row: r.row(), Offset: f.Starts[r.split.From]}
	var err error
	if s.sel, err = r.listed(n); err != nil {
		return operators.Batch{}, err
	}
	asked := s.rows()
	if err := r.stand(s.sel); err != nil {
		return operators.Batch{}, err
	}
	filtered, err := s.parse()
	if err != nil {
		return operators.Batch{}, err
	}
	if err := s.reject(); err != nil {
		return operators.Batch{}, err
	}
	r.at += int64(n)
	t := r.tally(r.split.File)
	t.Read += int64(asked)
	t.Filtered += int64(filtered)
	if s.rows() == 0 {
		return operators.Batch{}, nil
	}
	rec, ids := r.record(s.arrs, s.dicts, n)
	return operators.Batch{Rec: rec, Sel: s.sel, Dict: ids, From: origin}, nil
}

// rows is how many rows are selected.
func (s *skipper) rows() int {
	if s.sel == nil {
		return s.n
	}
	return len(s.sel)
}

// parse reads the columns and says how many rows did not pass the filter.
func (s *skipper) parse() (filtered int, err error) {
	for _, c := range s.cols[:s.first] {
		if err := s.column(c); err != nil {
			return 0, err
		}
	}
	before := s.rows()
	if s.reader.filter != nil {
		if err := s.where(); err != nil {
			return 0, err
		}
	}
	filtered = before - s.rows()
	rest := slices.Clone(s.cols[s.first:])
	slices.SortFunc(rest, func(a, b *fileColumn) int { return cmp.Compare(a.place, b.place) })
	for i, c := range rest {
		if s.rows() == 0 {
			s.pass(rest[i:], int64(s.n))
			break
		}
		if err := s.column(c); err != nil {
			return 0, err
		}
	}
	return filtered, nil
}

// where keeps the rows that pass. A row on which the filter fails is a failure in any case.
func (s *skipper) where() error {
	sel, err := s.filter(s.sel)
	if err != nil || sel == nil {
		s.sel = nil
		return err
	}
	// The batch that was given before may still have what is selected here.
	s.sel = append(make([]int32, 0, len(sel)), sel...)
	return nil
}

// column reads a column, brings it to its declared type, and leaves out the rows in which it is bad.
func (s *skipper) column(c *fileColumn) error {
	p, err := c.read(s.doc, s.group, s.n, s.sel)
	if err != nil {
		return err
	}
	arr, dict := p.arr, p.dict
	bad := map[int]*connectors.DataError{}
	for _, v := range p.bad {
		if bad[v.row] == nil {
			bad[v.row] = asDataError(s.badValue(c, v))
		}
	}
	s.weed(bad)
	if c.cast != nil {
		rec := column.NewRecord([]expr.Field{{Name: c.Name, Type: c.leaf.typ}}, []arrow.Array{arr}, int64(s.n))
		arr.Release()
		defer rec.Release()
		arr, dict, err = s.convertWeeding(c, rec, dict)
		if err != nil {
			return err
		}
	}
	s.arrs[c.place], s.dicts[c.place] = arr, dict
	if c.Type.NotNull && arr.NullN() > 0 {
		s.weed(s.nulls(c, arr))
	}
	return nil
}

// convertWeeding casts a column and leaves out the rows in which that fails.
func (s *skipper) convertWeeding(c *fileColumn, rec arrow.Record, dict uint64) (arrow.Array, uint64, error) {
	arr, id, err := c.cast.Eval(s.alloc, rec, []uint64{dict}, s.sel)
	if err == nil {
		return arr, id, nil
	}
	faults, err := castFaults(c.cast, s.alloc, rec, dict, s.sel)
	if err != nil {
		return nil, 0, fmt.Errorf("reading %s: %w", s.doc.path, err)
	}
	bad := map[int]*connectors.DataError{}
	for _, f := range faults {
		bad[f.Row] = asDataError(s.evalError(f, c.Name))
	}
	s.weed(bad)
	if arr, id, err = c.cast.Eval(s.alloc, rec, []uint64{dict}, s.sel); err != nil {
		return nil, 0, s.evalError(err, c.Name)
	}
	return arr, id, nil
}

// faultStep is how many rows are cast at once where it is looked for those that fail.
const faultStep = 256

// castFaults finds all selected rows (nil: all) of a record of one column in which a cast fails.
func castFaults(cast *expr.Program, alloc memory.Allocator, rec arrow.Record, dict uint64, sel []int32) ([]*expr.EvalError, error) {
	var out []*expr.EvalError
	fails := func(from, to int) (*expr.EvalError, error) {
		part := rec.NewSlice(int64(from), int64(to))
		defer part.Release()
		arr, _, err := cast.Eval(alloc, part, []uint64{dict}, within(sel, from, to))
		if err == nil {
			arr.Release()
			return nil, nil
		}
		var e *expr.EvalError
		if !errors.As(err, &e) {
			return nil, err
		}
		return e, nil
	}
	n := int(rec.NumRows())
	for from := 0; from < n; from += faultStep {
		to := min(from+faultStep, n)
		e, err := fails(from, to)
		if err != nil {
			return nil, err
		}
		for row := from; row < to && e != nil; row++ {
			one, err := fails(row, row+1)
			if err != nil {
				return nil, err
			}
			if one != nil {
				at := *one
				at.Row = row
				out = append(out, &at)
			}
		}
	}
	return out, nil
}

// within are the selected rows from from to to-1, counted from from; nil for all.
func within(sel []int32, from, to int) []int32 {
	if sel == nil {
		return nil
	}
	out := []int32{}
	for _, row := range sel[sort.Search(len(sel), func(i int) bool { return int(sel[i]) >= from }):] {
		if int(row) >= to {
			break
		}
		out = append(out, row-int32(from))
	}
	return out
}

// nulls are the selected rows that are NULL and may not be.
func (s *skipper) nulls(c *fileColumn, arr arrow.Array) map[int]*connectors.DataError {
	bad := map[int]*connectors.DataError{}
	for row := range s.selected() {
		if arr.IsNull(row) {
			bad[row] = asDataError(s.nullViolation(c, row))
		}
	}
	return bad
}

// selected goes over the selected rows.
func (s *skipper) selected() func(yield func(row int) bool) {
	return func(yield func(row int) bool) {
		for i := range s.rows() {
			row := i
			if s.sel != nil {
				row = int(s.sel[i])
			}
			if !yield(row) {
				return
			}
		}
	}
}

// weed takes the bad ones out of the selected rows.
func (s *skipper) weed(bad map[int]*connectors.DataError) {
	if len(bad) == 0 {
		return
	}
	kept := make([]int32, 0, s.rows())
	for row := range s.selected() {
		if e := bad[row]; e != nil {
			s.bad = append(s.bad, badRow{row, e})
		} else {
			kept = append(kept, int32(row))
		}
	}
	if len(kept) < s.rows() {
		s.sel = kept
	}
}

func asDataError(err error) *connectors.DataError {
	var e *connectors.DataError
	if errors.As(err, &e) {
		return e
	}
	return &connectors.DataError{Kind: "CastError", Message: err.Error()}
}

// reject books the rows that are left out, and keeps them where they are wanted.
func (s *skipper) reject() error {
	if len(s.bad) == 0 {
		return nil
	}
	slices.SortFunc(s.bad, func(a, b badRow) int { return cmp.Compare(a.row, b.row) })
	if !s.src.Skip {
		return s.bad[0].err
	}
	t := s.tally(s.split.File)
	t.Rejected += int64(len(s.bad))
	var raw []string
	if s.src.rejects {
		var err error
		if raw, err = s.rawOf(s.bad); err != nil {
			return err
		}
	}
	start, err := groupStart(s.doc.meta.RowGroup(s.group))
	if err != nil {
		return s.doc.damaged("the footer's row groups cannot be decoded", err)
	}
	for i, b := range s.bad {
		x := connectors.Reject{
			Class: b.err.Kind, Message: fmt.Sprintf("row group %d, %s", s.group, b.err.Message), File: b.err.File, Line: b.err.Line, Column: b.err.Column,
			Field: b.err.Field, Value: b.err.Value, Order: [2]int64{int64(s.split.File), b.err.Line}, Offset: start,
		}
		if raw != nil {
			x.Raw = raw[i]
			s.out = append(s.out, x)
		} else if !t.Samples(x.Order) {
			break // nor those that follow
		}
		t.Keep(x)
	}
	return nil
}

// rawOf are the texts of bad rows.
func (s *skipper) rawOf(bad []badRow) ([]string, error) {
	if s.raws == nil {
		s.raws = newRawRows(s.reader)
	}
	rows := make([]int32, len(bad))
	for i, b := range bad {
		rows[i] = int32(b.row)
	}
	return s.raws.read(s.reader, s.n, rows)
}
