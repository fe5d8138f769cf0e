package json

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// An inOrder reads the records of a file from its beginning on: unpacked, decoded, and out of an array
// where the file is one.
type inOrder struct {
	*text.Stream
	array  bool
	opened bool // the array's bracket was read
	closed bool // its closing bracket was read
	comma  bool // an element was read, so that a comma or the bracket has to come
	may    bool // no element was read yet, so that the bracket may come
	// resumed says that the text was begun in its middle: behind an element or before one.
	resumed   bool
	lineStart int64 // offset of the line that the next byte is in
}

// openInOrder opens a file at an offset of its text, 0 for the beginning.
func openInOrder(s *source, in *input, pos int64) (*inOrder, error) {
	t, err := s.stream(s.fs, in)
	if err != nil {
		return nil, err
	}
	o := &inOrder{Stream: t, array: s.Array, lineStart: t.Base}
	if pos > in.Data {
		o.opened, o.resumed, o.may = true, true, true
		for err == nil && o.Base < pos {
			if err = o.Fill(1); err == nil && len(o.Rest()) == 0 {
				err = o.Damaged(fmt.Errorf("the text ends at byte %d and had more before", o.Base))
			}
			if err == nil {
				o.pass(int(min(int64(len(o.Rest())), pos-o.Base)))
			}
		}
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return o, nil
}

// lastLine is the place behind the last line feed, 0 where there is none.
func lastLine(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }

// load reads the next records into k; more is false at the end of the file.
func (o *inOrder) load(k *chunk, file int64, skip bool) (more bool, err error) {
	if o.array {
		return o.loadElements(k, file, skip)
	}
	raw, err := o.lines(text.StreamRead)
	if err != nil {
		return false, err
	}
	if raw == nil {
		k.begin(&k.alt, k.copies(nil), o.Base)
		if len(o.Rest()) > 0 {
			k.fault = o.odd("a record is longer than 64 MiB", "a shorter record")
			k.fault.file = file
			return true, nil
		}
		return false, nil
	}
	n := k.copies(raw)
	k.begin(&k.alt, n, o.Base)
	k.stream, k.line, k.away = o.Stream, o.Line, o.Away
	o.Pass(min(k.cut(n, n, file, skip), len(raw)))
	return true, nil
}

// lines gives whole lines of at least so many bytes together, the last of which may have no end at the end
// of the file. It gives none there, and where a line is longer than a record may be.
func (o *inOrder) lines(want int) ([]byte, error) {
	for {
		if err := o.Fill(want); err != nil {
			return nil, err
		}
		b := o.Rest()
		if o.EOF && len(b) > 0 && len(b) <= text.MaxRecord {
			return b, nil
		}
		if n := lastLine(b); n > 0 {
			return b[:n], nil
		}
		if o.EOF || len(b) >= text.MaxRecord {
			return nil, nil
		}
		want = min(2*len(b)+1, text.MaxRecord)
	}
}

// copies copies lines into the chunk's own memory, with room around them, and gives their length with the
// end that the last one may lack.
func (k *chunk) copies(raw []byte) int {
	k.alt = append(append(k.alt[:0], make([]byte, columntext.Front)...), raw...)
	if len(raw) > 0 && raw[len(raw)-1] != '\n' {
		k.alt = append(k.alt, '\n')
	}
	n := len(k.alt) - columntext.Front
	k.alt = append(k.alt, make([]byte, 2*columntext.Front)...)
	return n
}
