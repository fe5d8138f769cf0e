package json

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// A source may read single records of its files: those that an earlier run left out. Its splits are then
// runs of such records, and the bytes that the books count are those of their texts. Offsets of records are
// those of the unpacked file.

// Only is the state of the source reading these records alone.
func (s *source) Only(records []connectors.Record) ([]byte, error) {
	b := s.bound
	b.Files = slices.Clone(s.Files)
	for i := range b.Files {
		b.Files[i].Only = nil
	}
	for _, r := range records {
		i, err := text.FileOf(r.File, len(b.Files), func(i int) (shown, abs string) { return b.Files[i].Path, b.Files[i].Abs })
		if err != nil {
			return nil, err
		}
		b.Files[i].Only = append(b.Files[i].Only, text.List(r))
	}
	b.Files = slices.DeleteFunc(b.Files, func(in input) bool { return len(in.Only) == 0 })
	for i := range b.Files {
		only := b.Files[i].Only
		slices.SortFunc(only, func(a, b text.Listed) int { return int(min(1, max(-1, a.At-b.At))) })
		for k, l := range only[1:] {
			if l.At == only[k].At {
				return nil, fmt.Errorf("the record at byte %d of %s is there twice", l.At, b.Files[i].Path)
			}
		}
	}
	return json.Marshal(b)
}

// sums are the places of the records in the bytes that the books count, with their end.
func (in *input) sums() []int64 {
	s := make([]int64, len(in.Only)+1)
	for i, l := range in.Only {
		s[i+1] = s[i] + l.Size()
	}
	return s
}

// tiles is how many bytes the splits of a file tile.
func (in *input) tiles() int64 {
	if in.Only == nil {
		return in.Bytes
	}
	return in.sums()[len(in.Only)]
}

// startListed begins a split of single records.
func (r *reader) startListed(c *cursor, st text.State) (err error) {
	s := c.in.sums()
	from := func(place int64) int { return sort.Search(len(c.in.Only), func(i int) bool { return s[i] >= place }) }
	c.next, c.upto = from(max(st.Start, st.Pos)), from(st.End)
	if c.in.InOrder != "" {
		r.text, err = openInOrder(r.src, c.in, 0)
	} else {
		err = r.turn(c.file, c.in)
	}
	return err
}

// loadListed reads the next single records into the chunk; more is false at the end of the split.
func (r *reader) loadListed(c *cursor) (more bool, err error) {
	k := &r.chunk
	from := c.next
	if err := r.listed(c, k, text.StreamRead); err != nil {
		return false, err
	}
	for _, l := range c.in.Only[from:c.next] {
		r.tally(c).Bytes += l.Size()
	}
	return c.next > from, nil
}

// listed reads single records, of about so many bytes together, into a chunk.
func (r *reader) listed(c *cursor, k *chunk, most int) error {
	k.alt = append(k.alt[:0], make([]byte, columntext.Front)...)
	var pieces []piece
	for ; c.next < c.upto && len(k.alt) < most && len(pieces) < maxRows; c.next++ {
		p, err := r.piece(c.in, c.in.Only[c.next], k)
		if err != nil {
			return err
		}
		pieces = append(pieces, p)
	}
	n := len(k.alt) - columntext.Front
	k.alt = append(k.alt, make([]byte, 2*columntext.Front)...)
	k.begin(&k.alt, n, 0)
	k.pieces = append(pieces, piece{at: n})
	k.cut(n, n, c.file, r.src.Skip)
	return nil
}

// piece appends a record to the chunk's copies.
func (r *reader) piece(in *input, l text.Listed, k *chunk) (p piece, err error) {
	p = piece{at: len(k.alt) - columntext.Front, from: l.At}
	p.standing = standing{column: 1, offset: l.At}
	var b []byte
	if o := r.text; o != nil {
		if o.Base+o.Away > l.At {
			return p, l.Gone(in.Path)
		}
		if err := o.SkipToByte(l.At); err != nil {
			return p, err
		}
		if err := o.Fill(int(l.Len)); err != nil {
			return p, err
		}
		b = o.Rest()
		if o.Base+o.Away != l.At || !l.Stands(b) && !l.Like(b, r.src.Encoding) {
			return p, l.Gone(in.Path)
		}
		p.line = o.Line
	} else {
		b = make([]byte, min(l.Len, max(in.Bytes-l.At, 0)))
		if err := text.ReadFull(r.file.File, in.Path, in.Bytes, b, l.At); err != nil {
			return p, err
		}
		if !l.Stands(b) {
			return p, l.Gone(in.Path)
		}
	}
	k.copyListed(&p, b, r.src.Array)
	return p, nil
}

// copyListed copies a record's line, or the element that it is, with a line feed behind it.
func (k *chunk) copyListed(p *piece, b []byte, array bool) {
	if array {
		var n int
		k.alt, n, _ = appendElement(k.alt, b)
		p.raw = slices.Clone(b[:n])
	} else {
		// The length is that of the text in the report, where bytes that are no text are longer.
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[:i]
		}
		k.alt = append(k.alt, b...)
	}
	k.alt = append(k.alt, '\n')
}

// unread is where a split of single records goes on, in the bytes that the books count.
func (r *reader) unread(c *cursor) int64 {
	i := c.next
	if r.next < r.chunk.records {
		at := r.chunk.offset(r.next)
		i = sort.Search(len(c.in.Only), func(k int) bool { return c.in.Only[k].At >= at })
	}
	return c.in.sums()[i]
}

// seekListed reads single records from an origin on up to a row.
func (r *reader) seekListed(ctx context.Context, in *input, o operators.Origin, row int64) (s standing, err error) {
	at := &reader{src: r.src}
	c := &cursor{in: in, file: o.File}
	if err := at.startListed(c, text.State{End: in.tiles()}); err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, at.closeText(), at.file.Close()) }()
	c.next = sort.Search(len(in.Only), func(k int) bool { return in.Only[k].At >= o.Offset })
	var k chunk
	k.wants(r.src.Columns, r.src.paths, r.set.Used(), r.src.Last)
	for left := int(o.Row + row); ; left -= k.records {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		if c.next == c.upto {
			return s, fmt.Errorf("%s has no row %d behind byte %d", in.Path, row, o.Offset)
		}
		if err := at.listed(c, &k, text.StreamRead); err != nil {
			return s, err
		}
		if left < k.records {
			s = k.standing(int(k.starts[left]))
			if s.line == 0 {
				s.line, err = text.LineAt(at.file.File, in.Path, in.Bytes, s.offset)
			}
			return s, err
		}
	}
}
