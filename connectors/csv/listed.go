package csv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// A source may read single records of its files: those that an earlier run left out. Its splits are then
// runs of such records, and the bytes that the books count are those of their texts.

// Only is the state of the source reading these records alone.
func (s *source) Only(records iter.Seq2[connectors.Record, error], dir string) ([]byte, error) {
	b := s.bound
	b.Files = nil
	name := func(i int) (shown, abs string) { return s.Files[i].Path, s.Files[i].Abs }
	j := joiner{delimiter: b.Delimiter}
	lists, err := text.List(dir, records, len(s.Files), name, func(file int, r connectors.Record) (text.Listed, error) {
		in := &s.Files[file]
		if in.InOrder == "" && r.Offset < in.Data {
			return text.Listed{}, fmt.Errorf("the record at byte %d of %s stands before the first one of the file, which begins at byte %d now", r.Offset, in.Path, in.Data)
		}
		return j.next(file, text.ListedOf(r), r.Raw), nil
	})
	if err != nil {
		return nil, err
	}
	for i, l := range lists {
		if l != nil {
			in := s.Files[i]
			in.Only = l
			b.Files = append(b.Files, in)
		}
	}
	return json.Marshal(b)
}

// A joiner marks the records that stand inside quotes which one before them opens.
type joiner struct {
	delimiter byte
	file      int
	before    text.Listed // nothing of it at first
	at        stand       // behind it
}

func (j *joiner) next(file int, l text.Listed, raw string) text.Listed {
	l.With = false
	if file == j.file && j.at.sit == quoted {
		if gap := l.At - j.before.At - j.before.Len; gap == 1 || gap == 2 {
			l.With = true
			j.at, _ = j.at.next('\n', j.delimiter)
		}
	}
	if !l.With {
		j.at = stand{before: '\n'}
	}
	j.at = j.at.over([]byte(raw), j.delimiter)
	j.file, j.before = file, l
	return l
}

// tiles is how many bytes the splits of a file tile.
func (in *input) tiles() int64 {
	if in.Only == nil {
		return in.Bytes
	}
	return in.Only.Size
}

// startListed begins a split of single records.
func (r *reader) startListed(c *cursor, st text.State) error {
	if err := r.list.Turn(c.in.Only); err != nil {
		return err
	}
	from := func(place int64) (int, error) {
		i, err := r.list.Find(0, r.list.Len(), func(l text.Listed) bool { return l.Before >= place })
		for err == nil && i < r.list.Len() {
			var l text.Listed
			if l, err = r.list.At(i); err == nil && !l.With {
				break
			}
			i++
		}
		return i, err
	}
	var err error
	if c.next, err = from(max(st.Start, st.Pos)); err != nil {
		return err
	}
	if c.upto, err = from(st.End); err != nil {
		return err
	}
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
	l, err := r.list.At(c.next)
	if err != nil {
		return err
	}
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
		if c.next == c.upto {
			return swallowing(l, c.in)
		}
		before := l
		if l, err = r.list.At(c.next); err != nil {
			return err
		}
		if l.At+away >= x.end() {
			return swallowing(before, c.in)
		}
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
func (r *reader) one(in *input, l text.Listed) (x single, err error) {
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
func (s *stream) listed(in *input, l text.Listed) (x single, err error) {
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

func swallowing(l text.Listed, in *input) error {
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
		err = errors.Join(err, at.closeStream(), at.file.Close(), at.list.Close())
	}()
	return r.seek(ctx, in, o, row, at.singles(in, o.Offset))
}

// singles gives the records that are read singly, one after the other, from an offset on.
func (r *reader) singles(in *input, from int64) func() (record, []byte, int64, error) {
	i, to := 0, int64(0)
	return func() (record, []byte, int64, error) {
		for {
			var x single
			var err error
			switch {
			case i > 0 && to > r.reached():
				x.record, x.raw, x.at, x.line, err = r.following()
			case i == r.list.Len():
				return record{}, nil, from, nil
			default:
				x, i, to, err = r.run(in, i)
			}
			if err != nil || x.raw != nil && x.at >= from {
				return x.record, x.raw, x.at, err
			}
		}
	}
}

// run reads the record at a place of the list, and gives the place behind those that it goes on over, and where
// the text of these ends.
func (r *reader) run(in *input, i int) (x single, next int, to int64, err error) {
	l, err := r.list.At(i)
	if err != nil {
		return x, i, 0, err
	}
	if x, err = r.one(in, l); err != nil {
		return x, i, 0, err
	}
	for i++; x.exact && i < r.list.Len(); i++ {
		n, err := r.list.At(i)
		if err != nil {
			return x, i, 0, err
		}
		if n.At-l.At >= int64(x.length) {
			break
		}
		l.Len = n.At - l.At + n.Len
	}
	if x.exact {
		to = x.at + l.Len
	}
	return x, i, to, nil
}

// reached is where reading single records is, in the text.
func (r *reader) reached() int64 {
	if r.text != nil {
		return r.text.Base
	}
	return r.single.pos
}

// unread is where a split of single records goes on, in the bytes that the books count.
func (r *reader) unread(c *cursor) (int64, error) {
	i := c.next
	if r.next < r.chunk.records && r.next < len(r.chunk.kept) {
		at := r.chunk.kept[r.next].at
		var err error
		if i, err = r.list.Find(0, r.list.Len(), func(l text.Listed) bool { return l.At >= at }); err != nil {
			return 0, err
		}
	}
	return r.list.Before(i)
}
