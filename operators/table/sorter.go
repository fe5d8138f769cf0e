package table

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Sizes of the sorter.
const (
	sortedRows = 16 << 10 // of a record given out
	spillBytes = 64 << 10 // of a record in a spill file, about
	fanIn      = 16       // runs merged at a time
	topSlack   = 32 << 10 // rows held beyond those needed before they are cut
)

// A Sorter orders records by keys, stably. It holds them in managed memory and spills sorted runs
// when it is refused more. STRING columns come out plain.
type Sorter struct {
	task    *operators.Task
	schema  expr.Schema
	by      []expr.SortKey
	keep    int64 // only so many of the first rows are needed, -1: all
	acc     account
	batches []*sortBatch
	rows    int64
	runs    []*Run
	made    int
	bound   *uint64 // with keep: rows whose prefix is above it are not needed
}

// NewSorter makes a sorter of rows of a schema; keep >= 0 says that only so many of the first rows
// are wanted.
func NewSorter(t *operators.Task, schema expr.Schema, by []expr.SortKey, keep int64) (*Sorter, error) {
	for _, k := range by {
		if k.Col < 0 || k.Col >= len(schema.Fields) {
			return nil, fmt.Errorf("sort column %d is not one of the input's %d", k.Col, len(schema.Fields))
		}
	}
	return &Sorter{task: t, schema: schema, by: by, keep: keep, acc: account{mem: t.Memory}}, nil
}

// Add takes a record, and over its reference.
func (s *Sorter) Add(rec arrow.Record) error {
	if rec.NumRows() == 0 || s.keep == 0 {
		rec.Release()
		return nil
	}
	rec, err := s.promising(rec)
	if err != nil || rec.NumRows() == 0 {
		rec.Release()
		return err
	}
	size, err := recordBytes(rec)
	if err == nil {
		size += rec.NumRows() * rowRefSize
		err = s.acc.grow(size)
	}
	if errors.Is(err, operators.ErrMemory) && s.rows > 0 {
		if err = s.spill(); err == nil {
			err = s.acc.grow(size)
		}
	}
	if errors.Is(err, operators.ErrMemory) {
		return s.halve(rec)
	}
	var b *sortBatch
	if err == nil {
		b, err = newSortBatch(rec)
	}
	if err != nil {
		rec.Release()
		return err
	}
	s.batches = append(s.batches, b)
	s.rows += rec.NumRows()
	if s.keep > 0 && s.rows > s.keep+max(s.keep, topSlack) {
		return s.cut()
	}
	return nil
}

// promising is the rows of a record that may be among those needed: once as many are known, most of
// the others are told by their prefix.
func (s *Sorter) promising(rec arrow.Record) (arrow.Record, error) {
	if s.bound == nil || len(s.by) == 0 {
		return rec, nil
	}
	b, err := newSortBatch(rec)
	if err != nil {
		return rec, err
	}
	var idx []int32
	for row := range int(rec.NumRows()) {
		if b.prefix(s.by[0], row) <= *s.bound {
			idx = append(idx, int32(row))
		}
	}
	if len(idx) == int(rec.NumRows()) {
		return rec, nil
	}
	defer rec.Release()
	return takeRecord(s.task, rec, idx), nil
}

// halve adds a record that does not fit as a whole in two pieces.
func (s *Sorter) halve(rec arrow.Record) error {
	defer rec.Release()
	n := rec.NumRows()
	if n == 1 {
		return Full("a single row to sort")
	}
	if err := s.Add(rec.NewSlice(0, n/2)); err != nil {
		return err
	}
	return s.Add(rec.NewSlice(n/2, n))
}

// sorted are the rows held, in order.
func (s *Sorter) sorted() []rowRef {
	refs := make([]rowRef, 0, s.rows)
	for i, b := range s.batches {
		for row := range int(b.rec.NumRows()) {
			r := rowRef{batch: uint32(i), row: uint32(row)}
			if len(s.by) > 0 {
				r.prefix = b.prefix(s.by[0], row)
			}
			refs = append(refs, r)
		}
	}
	slices.SortFunc(refs, func(a, b rowRef) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if c := compareRows(s.by, s.batches[a.batch], int(a.row), s.batches[b.batch], int(b.row)); c != 0 {
			return c
		}
		if a.batch != b.batch { // as they came
			return cmp.Compare(a.batch, b.batch)
		}
		return cmp.Compare(a.row, b.row)
	})
	if s.keep >= 0 && int64(len(refs)) > s.keep {
		refs = refs[:s.keep]
	}
	return refs
}

// cut keeps the rows that are needed of those held.
func (s *Sorter) cut() error {
	refs := s.sorted()
	bound := refs[len(refs)-1].prefix
	s.bound = &bound
	rec := gather(s.schema, s.task.Alloc, s.batches, refs)
	s.drop()
	return s.Add(rec)
}

// drop forgets the rows held and gives their memory back.
func (s *Sorter) drop() {
	for _, b := range s.batches {
		b.rec.Release()
	}
	s.batches, s.rows = nil, 0
	s.acc.shrink(s.acc.held)
}

// spill writes the rows held as a sorted run.
func (s *Sorter) spill() error {
	run := s.newRun()
	s.runs = append(s.runs, run)
	per := s.perRecord(s.acc.held / max(s.rows, 1))
	refs := s.sorted()
	for len(refs) > 0 {
		n := min(len(refs), per)
		rec := gather(s.schema, s.task.Alloc, s.batches, refs[:n])
		err := run.Write(rec)
		rec.Release()
		if err != nil {
			return err
		}
		refs = refs[n:]
	}
	s.drop()
	return nil
}

func (s *Sorter) newRun() *Run {
	s.made++
	return NewRun(s.task, fmt.Sprintf("sort-%d", s.made))
}

func (s *Sorter) perRecord(rowBytes int64) int {
	return int(min(max(spillBytes/max(rowBytes, 1), 1), sortedRows))
}

// Each gives the sorted rows out in records of at most 16,384 rows; each owns them. It ends the
// sorter.
func (s *Sorter) Each(each func(rec arrow.Record) error) error {
	if len(s.runs) == 0 {
		refs := s.sorted()
		for len(refs) > 0 {
			n := min(len(refs), sortedRows)
			if err := each(gather(s.schema, s.task.Alloc, s.batches, refs[:n])); err != nil {
				return err
			}
			refs = refs[n:]
		}
		s.drop()
		return nil
	}
	if s.rows > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	for len(s.runs) > fanIn {
		if err := s.mergePass(); err != nil {
			return err
		}
	}
	return s.merge(s.runs, sortedRows, each)
}

// mergePass merges neighbouring runs by groups, each row once, which keeps the order of equal rows.
func (s *Sorter) mergePass() error {
	runs := s.runs
	s.runs = nil
	for len(runs) > 0 {
		group := runs[:min(fanIn, len(runs))]
		runs = runs[len(group):]
		if len(group) == 1 {
			s.runs = append(s.runs, group[0])
			continue
		}
		merged := s.newRun()
		err := s.merge(group, 1024, func(rec arrow.Record) error {
			defer rec.Release()
			return merged.Write(rec)
		})
		s.runs = append(s.runs, merged)
		for _, r := range group {
			err = errors.Join(err, r.Close())
		}
		if err != nil {
			s.runs = append(s.runs, runs...) // for Close to remove
			return err
		}
	}
	return nil
}

// Close gives memory back and removes spill files.
func (s *Sorter) Close() error {
	s.drop()
	var errs []error
	for _, r := range s.runs {
		errs = append(errs, r.Close())
	}
	s.runs = nil
	return errors.Join(errs...)
}
