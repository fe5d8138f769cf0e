package parquet

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"

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

// onlyRows are the rows of a file to read. Upto has of each row group how many of them there are up to its end,
// and Size what the books count for these.
type onlyRows struct {
	text.Listing
	Upto []int64 `json:"upto"`
	Size []int64 `json:"sizes"`
}

// Only is the state of the source reading these rows alone.
func (s *source) Only(records iter.Seq2[connectors.Record, error], dir string) ([]byte, error) {
	b := s.bound
	b.Files, b.Names = nil, nil
	groups := make([]*onlyRows, len(s.Files))
	name := func(i int) (shown, abs string) { return s.Files[i].Path, s.Files[i].Abs }
	lists, err := text.List(dir, records, len(s.Files), name, func(i int, r connectors.Record) (text.Listed, error) {
		f := &s.Files[i]
		if r.Line < 1 || r.Line > f.rows() {
			return text.Listed{}, fmt.Errorf("%s has %d rows, and row %d of it was left out", f.Path, f.rows(), r.Line)
		}
		names, err := rawNames(r.Raw)
		if err != nil {
			return text.Listed{}, fmt.Errorf("the text of row %d of %s, which was left out: %w", r.Line, f.Path, err)
		}
		if b.Names == nil {
			b.Names = names
		} else if !slices.Equal(names, b.Names) {
			return text.Listed{}, fmt.Errorf("the text of row %d of %s has other columns than that of the first one: expected those that one run left out", r.Line, f.Path)
		}
		l := text.ListedOf(r)
		l.At = r.Line - 1
		if groups[i] == nil {
			groups[i] = &onlyRows{}
		}
		groups[i].count(f, l)
		return l, nil
	})
	if err != nil {
		return nil, err
	}
	for i, l := range lists {
		if l != nil {
			f := s.Files[i]
			groups[i].close(&f)
			f.Only, groups[i].Listing = groups[i], *l
			b.Files = append(b.Files, f)
		}
	}
	return json.Marshal(b)
}

// count books a row; they come in the order of the file.
func (o *onlyRows) count(f *boundFile, l text.Listed) {
	for o.end(f) <= l.At {
		o.add()
	}
	if len(o.Upto) == 0 {
		o.add()
	}
	o.Upto[len(o.Upto)-1]++
	o.Size[len(o.Size)-1] += l.Size()
}

// end is the row behind the groups that were booked so far.
func (o *onlyRows) end(f *boundFile) int64 {
	n := int64(0)
	for _, r := range f.Rows[:len(o.Upto)] {
		n += r
	}
	return n
}

// add begins the next group.
func (o *onlyRows) add() {
	n, size := int64(0), int64(0)
	if k := len(o.Upto); k > 0 {
		n, size = o.Upto[k-1], o.Size[k-1]
	}
	o.Upto, o.Size = append(o.Upto, n), append(o.Size, size)
}

// close books the groups behind the last row.
func (o *onlyRows) close(f *boundFile) {
	for len(o.Upto) < len(f.Rows) {
		o.add()
	}
}

// of are the places in the list of the rows of some groups, and what the books count for them.
func (o *onlyRows) of(from, to int) (first, behind, bytes int64) {
	if from > 0 {
		first, bytes = o.Upto[from-1], -o.Size[from-1]
	}
	if to == 0 {
		return first, first, 0
	}
	return first, o.Upto[to-1], bytes + o.Size[to-1]
}

// rows is how many rows the file has.
func (f *boundFile) rows() int64 {
	n := int64(0)
	for _, r := range f.Rows {
		n += r
	}
	return n
}

// among gives the rows to read from a row of the file to another, that one not among them.
func (r *reader) among(f *boundFile, from, to int64, do func(i int, l text.Listed)) error {
	if err := r.list.Turn(&f.Only.Listing); err != nil {
		return err
	}
	at, err := r.list.Find(0, r.list.Len(), func(l text.Listed) bool { return l.At >= from })
	for i := at; err == nil && i < r.list.Len(); i++ {
		var l text.Listed
		if l, err = r.list.At(i); err != nil || l.At >= to {
			break
		}
		do(i-at, l)
	}
	return err
}

// replays holds where single rows are read.
func (r *reader) replays() bool { return r.src.Names != nil }

// listed are the rows to read among the next n, nil for all.
func (r *reader) listed(n int) ([]int32, error) {
	f := &r.src.Files[r.split.File-1]
	if f.Only == nil {
		return nil, nil
	}
	from := r.split.rowsBefore(f) + r.row()
	sel := []int32{}
	err := r.among(f, from, from+int64(n), func(_ int, l text.Listed) { sel = append(sel, int32(l.At-from)) })
	return sel, err
}

// enter finds out which rows of the group that begins are passed over.
func (r *reader) enter(rows int64) (err error) {
	if f := &r.src.Files[r.split.File-1]; f.Only != nil {
		r.gaps, err = r.onlyGaps(f, r.group)
		return err
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
func (r *reader) onlyGaps(f *boundFile, group int) (gaps []rowRange, err error) {
	before := r.split.rowsBefore(f) + r.start
	at := int64(0)
	err = r.among(f, before, before+f.Rows[group], func(_ int, l text.Listed) {
		row := l.At - before
		if row-at > nearRows || at == 0 && row > 0 {
			gaps = append(gaps, rowRange{at, row})
		}
		at = row + 1
	})
	if at < f.Rows[group] {
		gaps = append(gaps, rowRange{at, f.Rows[group]})
	}
	return gaps, err
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
	var other error
	err = r.among(f, from, from+int64(sel[len(sel)-1])+1, func(i int, l text.Listed) {
		if other == nil && (int64(len(texts[i])) != l.Len || xxhash.Sum64String(texts[i]) != l.Sum) {
			other = &connectors.DataError{
				Kind: "DamagedFile", File: f.Path, Line: l.At + 1, Wanted: "the file as it was",
				Message: fmt.Sprintf("row %d, which was left out, is not what it was: the file was changed since", l.At+1),
			}
		}
	})
	if err != nil {
		return err
	}
	return other
}
