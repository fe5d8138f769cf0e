package json

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// A source may read single records of its files: those that an earlier run left out. Its splits are then
// runs of such records, and the bytes that the books count are those of their texts. Offsets of records are
// those of the unpacked file.

// Only is the state of the source reading these records alone.
func (s *source) Only(records iter.Seq2[connectors.Record, error], dir string) ([]byte, error) {
	b := s.bound
	b.Files = nil
	name := func(i int) (shown, abs string) { return s.Files[i].Path, s.Files[i].Abs }
	lists, err := text.List(dir, records, len(s.Files), name, func(_ int, r connectors.Record) (text.Listed, error) { return text.ListedOf(r), nil })
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

// tiles is how many bytes the splits of a file tile.
func (in *input) tiles() int64 {
	if in.Only == nil {
		return in.Bytes
	}
	return in.Only.Size
}

// startListed begins a split of single records.
func (r *reader) startListed(c *cursor, st text.State) (err error) {
	if err := r.list.Turn(c.in.Only); err != nil {
		return err
	}
	from := func(place int64) (int, error) {
		return r.list.Find(0, r.list.Len(), func(l text.Listed) bool { return l.Before >= place })
	}
	if c.next, err = from(max(st.Start, st.Pos)); err != nil {
		return err
	}
	if c.upto, err = from(st.End); err != nil {
		return err
	}
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
	before, err := r.list.Before(from)
	if err != nil {
		return false, err
	}
	behind, err := r.list.Before(c.next)
	r.tally(c).Bytes += behind - before
	return c.next > from, err
}

// listed reads single records, of about so many bytes together, into a chunk.
func (r *reader) listed(c *cursor, k *chunk, most int) error {
	k.alt = append(k.alt[:0], make([]byte, columntext.Front)...)
	var pieces []piece
	for ; c.next < c.upto && len(k.alt) < most && len(pieces) < maxRows; c.next++ {
		l, err := r.list.At(c.next)
		if err != nil {
			return err
		}
		p, err := r.piece(c.in, l, k)
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
func (r *reader) unread(c *cursor) (int64, error) {
	i := c.next
	if r.next < r.chunk.records {
		var err error
		if i, err = r.list.Find(0, r.list.Len(), behind(r.chunk.offset(r.next))); err != nil {
			return 0, err
		}
	}
	return r.list.Before(i)
}

// behind finds the first listed record at an offset or behind it.
func behind(at int64) func(text.Listed) bool {
	return func(l text.Listed) bool { return l.At >= at }
}

// seekListed reads single records from an origin on up to a row.
func (r *reader) seekListed(ctx context.Context, in *input, o operators.Origin, row int64) (s standing, err error) {
	at := &reader{src: r.src}
	c := &cursor{in: in, file: o.File}
	if err := at.startListed(c, text.State{End: in.tiles()}); err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, at.closeText(), at.file.Close(), at.list.Close()) }()
	if c.next, err = at.list.Find(0, at.list.Len(), behind(o.Offset)); err != nil {
		return s, err
	}
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
