package csv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// A source may read single records of its files: those that an earlier run left out. Its splits are then
// runs of such records, and the bytes that the books count are those of their texts.

// A listed record is one to read.
type listed struct {
	text.Listed
	// With: it goes on what the one before begins, as the plan reads it now, so both are of one split.
	With bool
	raw  string // while the list is made
}

// A listing is records in the order of the file, packed where it travels.
type listing []listed

// MarshalJSON packs a listing.
func (l listing) MarshalJSON() ([]byte, error) {
	var b []byte
	at := int64(0)
	for _, x := range l {
		b = x.Pack(b, at, x.With)
		at = x.At
	}
	return json.Marshal(b)
}

// UnmarshalJSON unpacks a listing.
func (l *listing) UnmarshalJSON(packed []byte) error {
	*l = nil
	return text.Unpack(packed, func(x text.Listed, with bool) { *l = append(*l, listed{Listed: x, With: with}) })
}

// Only is the state of the source reading these records alone.
func (s *source) Only(records []connectors.Record) ([]byte, error) {
	b := s.bound
	b.Files = slices.Clone(s.Files)
	for i := range b.Files {
		b.Files[i].Only = nil
	}
	for _, r := range records {
		in, err := b.fileOf(r.File)
		if err != nil {
			return nil, err
		}
		if in.InOrder == "" && r.Offset < in.Data {
			return nil, fmt.Errorf("the record at byte %d of %s stands before the first one of the file, which begins at byte %d now", r.Offset, in.Path, in.Data)
		}
		in.Only = append(in.Only, listed{Listed: text.List(r), raw: r.Raw})
	}
	b.Files = slices.DeleteFunc(b.Files, func(in input) bool { return len(in.Only) == 0 })
	for i := range b.Files {
		in := &b.Files[i]
		slices.SortFunc(in.Only, func(a, b listed) int { return int(min(1, max(-1, a.At-b.At))) })
		for k, l := range in.Only[1:] {
			if l.At == in.Only[k].At {
				return nil, fmt.Errorf("the record at byte %d of %s is there twice", l.At, in.Path)
			}
		}
		in.join(b.Delimiter)
	}
	return json.Marshal(b)
}

// join marks the records that stand inside quotes which one before them opens.
func (in *input) join(delimiter byte) {
	at := stand{before: '\n'}
	for i := range in.Only {
		l := &in.Only[i]
		l.With = false
		if i > 0 && at.sit == quoted {
			before := in.Only[i-1]
			if gap := l.At - before.At - before.Len; gap == 1 || gap == 2 {
				l.With = true
				at, _ = at.next('\n', delimiter)
			}
		}
		if !l.With {
			at = stand{before: '\n'}
		}
		at = at.over([]byte(l.raw), delimiter)
	}
}

// fileOf finds a file by the path it is shown with, or by the end of its absolute path.
func (b *bound) fileOf(path string) (*input, error) {
	i, err := text.FileOf(path, len(b.Files), func(i int) (shown, abs string) { return b.Files[i].Path, b.Files[i].Abs })
	if err != nil {
		return nil, err
	}
	return &b.Files[i], nil
}

// sums are the places of the records in the bytes that the books count, with their end.
func sums(only []listed) []int64 {
	s := make([]int64, len(only)+1)
	for i, l := range only {
		s[i+1] = s[i] + l.Size()
	}
	return s
}

// tiles is how many bytes the splits of a file tile.
func (in *input) tiles() int64 {
	if in.Only == nil {
		return in.Bytes
	}
	return sums(in.Only)[len(in.Only)]
}

// startListed begins a split of single records.
func (r *reader) startListed(c *cursor, st text.State) error {
	s := sums(c.in.Only)
	from := func(place int64) int {
		i := sort.Search(len(c.in.Only), func(i int) bool { return s[i] >= place })
		for i < len(c.in.Only) && c.in.Only[i].With {
			i++
		}
		return i
	}
	c.next, c.upto = from(max(st.Start, st.Pos)), from(st.End)
	c.resumed = true // its beginning is no guess
	r.chunk.records, r.next, r.chunk.fault = 0, 0, nil
	if c.in.InOrder == "" {
		if err := r.turn(c.file, c.in); err != nil {
			return err
		}
		r.single = &recordReader{file: r.file.File, path: c.in.Path, size: c.in.Bytes, delimiter: r.src.Delimiter}
		r.cur = c
		return nil
	}
	if err := r.closeStream(); err != nil {
		return err
	}
	t, err := openStream(r.src.fs, c.in, r.src.Dialect)
	r.text, r.cur = t, c
	return err
}

// stepListed reads the next single records; at the end of the split it is done.
func (r *reader) stepListed(c *cursor) error {
	k := &r.chunk
	k.begin(c.in.Fields)
	k.keep, r.next = true, 0
	if c.next == c.upto {
		return r.done(c)
	}
	for c.next < c.upto && k.records < maxRows && len(k.alt) < streamRead && k.fault == nil {
		if err := r.readListed(c); err != nil {
			return err
		}
	}
	k.finish()
	return r.spoil(c)
}

// A single is a record as it is read now, where one was left out.
type single struct {
	record
	raw   []byte // nil where it is a comment now, or the file is at its end
	at    int64
	line  int64 // 0 where it was not counted
	exact bool  // its text is the one that was left out
}

// end is where the record ends, without its line end.
func (x *single) end() int64 { return x.at + int64(len(text.WithoutEnd(x.raw))) }

// readListed reads what stands where the next record was left out. As the plan reads it now that may be
// several records, or a part of one that goes on where more records were left out.
func (r *reader) readListed(c *cursor) error {
	l := c.in.Only[c.next]
	x, err := r.one(c.in, l)
	if err != nil {
		return err
	}
	t := r.tally(c)
	c.next++
	t.Bytes += l.Size()
	r.put(c, &x, l.At)
	to := x.at + l.Len
	for x.exact && x.raw != nil && x.verdict == whole && x.at+int64(x.length) < to && r.chunk.fault == nil {
		if x.record, x.raw, x.at, x.line, err = r.following(); err != nil {
			return err
		}
		r.put(c, &x, l.At+x.at-(to-l.Len))
	}
	if !x.exact || x.raw == nil || x.verdict != whole {
		return nil
	}
	for away := x.at - l.At; x.end() > to; {
		if c.next == c.upto || c.in.Only[c.next].At+away >= x.end() {
			return l.swallowing(c.in)
		}
		l = c.in.Only[c.next]
		to = l.At + away + l.Len
		c.next++
		t.Bytes += l.Size()
	}
	return nil
}

// put books a record and puts it into the chunk. fileAt is where it stands in the unpacked file.
func (r *reader) put(c *cursor, x *single, fileAt int64) {
	k, t := &r.chunk, r.tally(c)
	d := dialect{Delimiter: string(r.src.Delimiter), Quote: quote}
	if r.text != nil {
		d = r.text.dialect
	}
	kept := k.text(x.raw, x.line, fileAt)
	fate := pass
	if x.raw != nil {
		fate = r.src.judge(x.record, c.in.Fields)
	}
	switch {
	case x.raw != nil && x.verdict != whole:
		k.fault = structural(x.record, x.raw, x.at, c.file, 0)
	case fate == take:
		k.kept = append(k.kept, kept)
		k.put(&d, x.record, x.raw, x.at, r.src.Nulls)
	case fate == pass:
		t.Rows, t.Read, t.Filtered = t.Rows+1, t.Read+1, t.Filtered+1
	case fate == reject:
		f := ragged(x.record, x.raw, x.at, c.file, c.in.Fields)
		f.text = &kept
		k.rejected = append(k.rejected, f)
	default:
		k.fault = ragged(x.record, x.raw, x.at, c.file, c.in.Fields)
	}
}

// one reads the record that stands where one was left out.
func (r *reader) one(in *input, l listed) (x single, err error) {
	if r.text != nil {
		return r.text.listed(in, l)
	}
	x.exact, r.single.pos = true, l.At
	b, err := r.single.peek(int(l.Len))
	if err != nil {
		return x, err
	}
	if !l.Stands(b) {
		return x, l.Gone(in.Path)
	}
	x.record, x.raw, x.at, err = r.single.next()
	return x, err
}

// following reads the record behind the one that was read.
func (r *reader) following() (rec record, raw []byte, at, line int64, err error) {
	if r.text != nil {
		return r.text.next()
	}
	rec, raw, at, err = r.single.next()
	return rec, raw, at, 0, err
}

// listed reads a record of a file that is read in order.
func (s *stream) listed(in *input, l listed) (x single, err error) {
	if s.Base+s.Away > l.At {
		return x, l.Gone(in.Path)
	}
	if err := s.SkipToByte(l.At); err != nil {
		return x, err
	}
	if err := s.Fill(int(l.Len)); err != nil {
		return x, err
	}
	b := s.Rest()
	x.exact = l.Stands(b)
	switch {
	case s.Base+s.Away != l.At || !x.exact && !l.Like(b, s.Encoding):
		return x, l.Gone(in.Path)
	case s.Comment != "" && bytes.HasPrefix(b, []byte(s.Comment)):
		return x, nil
	}
	x.record, x.raw, x.at, x.line, err = s.next()
	return x, err
}

func (l listed) swallowing(in *input) error {
	return &connectors.DataError{
		Kind: "CsvFormatError", File: in.Path, Wanted: "a run of the whole plan",
		Message: fmt.Sprintf("the record that was left out at byte %d goes on, as the plan reads it now, over rows that were not left out: expected a run of the whole plan", l.At),
	}
}

// findListed finds a row of single records: the offset of its record, of the text where it is read in order.
func (r *reader) findListed(ctx context.Context, in *input, o operators.Origin, row int64) (place int64, err error) {
	at := &reader{src: r.src}
	c := &cursor{in: in, file: o.File}
	if err := at.startListed(c, text.State{End: in.tiles()}); err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, at.closeStream(), at.file.Close())
	}()
	i, to := 0, int64(0)
	return r.seek(ctx, in, o, row, func() (record, []byte, int64, error) {
		for {
			var x single
			var err error
			switch {
			case i > 0 && to > at.reached():
				x.record, x.raw, x.at, x.line, err = at.following()
			case i == len(in.Only):
				return record{}, nil, o.Offset, nil
			default:
				l := in.Only[i]
				x, err = at.one(in, l)
				for i++; x.exact && i < len(in.Only) && in.Only[i].At-l.At < int64(x.length); i++ {
					l.Len = in.Only[i].At - l.At + in.Only[i].Len
				}
				if to = 0; x.exact {
					to = x.at + l.Len
				}
			}
			if err != nil || x.raw != nil && x.at >= o.Offset {
				return x.record, x.raw, x.at, err
			}
		}
	})
}

// reached is where reading single records is, in the text.
func (r *reader) reached() int64 {
	if r.text != nil {
		return r.text.Base
	}
	return r.single.pos
}

// unread is where a split of single records goes on, in the bytes that the books count.
func (r *reader) unread(c *cursor) int64 {
	i := c.next
	if r.next < r.chunk.records && r.next < len(r.chunk.kept) {
		at := r.chunk.kept[r.next].at
		i = sort.Search(len(c.in.Only), func(k int) bool { return c.in.Only[k].At >= at })
	}
	return sums(c.in.Only)[i]
}
