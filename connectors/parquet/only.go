package parquet

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// A source may read single rows of its files: those that an earlier run left out, which are known by their
// number in the file. Whole row groups and stretches without such rows are passed over; the bytes that the books
// count are those of the rows' texts. The columns of a text are read again, as the file has them, and held
// against it, so that a row which is another one by now is an error.

// nearRows is how many rows between two of those to read are read along with them.
const nearRows = 1024

// Only is the state of the source reading these rows alone.
func (s *source) Only(records []connectors.Record) ([]byte, error) {
	b := s.bound
	b.Files = slices.Clone(s.Files)
	for i := range b.Files {
		b.Files[i].Only = nil
	}
	b.Names = nil
	for k, r := range records {
		i, err := text.FileOf(r.File, len(b.Files), func(i int) (shown, abs string) { return b.Files[i].Path, b.Files[i].Abs })
		if err != nil {
			return nil, err
		}
		f := &b.Files[i]
		if r.Line < 1 || r.Line > f.rows() {
			return nil, fmt.Errorf("%s has %d rows, and row %d of it was left out", f.Path, f.rows(), r.Line)
		}
		names, err := rawNames(r.Raw)
		if err != nil {
			return nil, fmt.Errorf("the text of row %d of %s, which was left out: %w", r.Line, f.Path, err)
		}
		if k == 0 {
			b.Names = names
		} else if !slices.Equal(names, b.Names) {
			return nil, fmt.Errorf("the text of row %d of %s has other columns than that of the first one: expected those that one run left out", r.Line, f.Path)
		}
		l := text.List(r)
		l.At = r.Line - 1
		f.Only = append(f.Only, l)
	}
	b.Files = slices.DeleteFunc(b.Files, func(f boundFile) bool { return len(f.Only) == 0 })
	for i := range b.Files {
		f := &b.Files[i]
		slices.SortFunc(f.Only, func(a, b text.Listed) int { return int(min(1, max(-1, a.At-b.At))) })
		for k, l := range f.Only[1:] {
			if l.At == f.Only[k].At {
				return nil, fmt.Errorf("row %d of %s is there twice", l.At+1, f.Path)
			}
		}
	}
	return json.Marshal(b)
}

// rows is how many rows the file has.
func (f *boundFile) rows() int64 {
	n := int64(0)
	for _, r := range f.Rows {
		n += r
	}
	return n
}

// among are the rows to read from a row of the file to another, that one not among them.
func (f *boundFile) among(from, to int64) []text.Listed {
	at := func(row int64) int { return sort.Search(len(f.Only), func(i int) bool { return f.Only[i].At >= row }) }
	return f.Only[at(from):max(at(from), at(to))]
}

// weight is what the books count of the bytes for rows that are read singly.
func weight(only []text.Listed) int64 {
	n := int64(0)
	for _, l := range only {
		n += l.Size()
	}
	return n
}

// listed are the rows to read among the next n, nil for all.
func (r *reader) listed(n int) []int32 {
	f := &r.src.Files[r.split.File-1]
	if f.Only == nil {
		return nil
	}
	from := r.split.rowsBefore(f) + r.row()
	sel := []int32{}
	for _, l := range f.among(from, from+int64(n)) {
		sel = append(sel, int32(l.At-from))
	}
	return sel
}

// enter finds out which rows of the group that begins are passed over.
func (r *reader) enter(rows int64) (err error) {
	if f := &r.src.Files[r.split.File-1]; f.Only != nil {
		r.gaps = r.onlyGaps(f, r.group)
		return nil
	}
	none, err := r.prunes(r.group)
	if none && err == nil {
		r.gaps = []rowRange{{0, rows}}
		return r.passedOver()
	}
	if err == nil {
		r.gaps, err = r.gapsOf(r.group)
	}
	return err
}

// onlyGaps are the rows of a group that are not read, where single rows are.
func (r *reader) onlyGaps(f *boundFile, group int) []rowRange {
	before := r.split.rowsBefore(f) + r.start
	var gaps []rowRange
	at := int64(0)
	for _, l := range f.among(before, before+f.Rows[group]) {
		row := l.At - before
		if row-at > nearRows || at == 0 && row > 0 {
			gaps = append(gaps, rowRange{at, row})
		}
		at = row + 1
	}
	if at < f.Rows[group] {
		gaps = append(gaps, rowRange{at, f.Rows[group]})
	}
	return gaps
}

// stand sees to it that the rows to read among the next ones are those that were left out.
func (r *reader) stand(sel []int32) error {
	if len(sel) == 0 || r.src.Names == nil {
		return nil
	}
	f := &r.src.Files[r.split.File-1]
	if r.stands == nil {
		r.stands = rawRowsOf(r.src.Names, r.alloc)
	}
	texts, err := r.stands.read(r, int(sel[len(sel)-1])+1, sel)
	if err != nil {
		return err
	}
	from := r.split.rowsBefore(f) + r.row()
	for i, l := range f.among(from, from+int64(sel[len(sel)-1])+1) {
		if int64(len(texts[i])) != l.Len || xxhash.Sum64String(texts[i]) != l.Sum {
			return &connectors.DataError{
				Kind: "DamagedFile", File: f.Path, Line: l.At + 1, Wanted: "the file as it was",
				Message: fmt.Sprintf("row %d, which was left out, is not what it was: the file was changed since", l.At+1),
			}
		}
	}
	return nil
}
