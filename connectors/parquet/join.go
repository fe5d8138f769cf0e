package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// join writes the files of several subtasks as one: their row groups one after the other, then their
// page indexes, then one footer. What their footers say stays as it is but for places and numbers.
func join(parts []files.ReadFile, w io.Writer) error {
	if _, err := io.WriteString(w, magic); err != nil {
		return err
	}
	j := joiner{at: int64(len(magic))}
	for i, p := range parts {
		if err := j.part(p, w); err != nil {
			return fmt.Errorf("putting the files of %d subtasks together, file %d: %w", len(parts), i, err)
		}
	}
	footer, err := j.footer()
	if err != nil {
		return fmt.Errorf("putting the footers of %d subtasks together: %w", len(parts), err)
	}
	_, err = w.Write(footer)
	return err
}

// A joiner gathers the footers of files whose row groups are written one after the other.
type joiner struct {
	at     int64 // where the next file's row groups begin
	parts  []joinedPart
	groups int
	rows   int64
}

// A joinedPart is the file of a subtask.
type joinedPart struct {
	footer []byte
	chunks []pageIndex // of its column chunks, in order
	index  []byte      // its page indexes
	start  int64       // where they begin, and the row groups end
	shift  int64       // from its places to those of the joined file
}

// A pageIndex is where the page indexes of a column chunk are. Size 0: there is none.
type pageIndex struct{ columnAt, columnSize, offsetAt, offsetSize int64 }

var errJoin = errors.New("its footer cannot be decoded")

// part copies the row groups of a file, and keeps its footer.
func (j *joiner) part(f files.ReadFile, w io.Writer) error {
	var tail [tailSize]byte
	if _, err := f.ReadAt(tail[:], f.Size()-tailSize); err != nil {
		return err
	}
	size := int64(binary.LittleEndian.Uint32(tail[:]))
	end := f.Size() - tailSize - size
	if end < int64(len(magic)) || string(tail[4:]) != magic {
		return errJoin
	}
	p := joinedPart{footer: make([]byte, size), start: end, shift: j.at - int64(len(magic))}
	if _, err := f.ReadAt(p.footer, end); err != nil {
		return err
	}
	if !j.look(&p) || p.start < int64(len(magic)) {
		return errJoin
	}
	p.index = make([]byte, end-p.start)
	if _, err := f.ReadAt(p.index, p.start); err != nil {
		return err
	}
	j.parts = append(j.parts, p)
	n, err := io.Copy(w, io.NewSectionReader(f, int64(len(magic)), p.start-int64(len(magic))))
	j.at += n
	return err
}

// look counts rows and row groups of a part, and finds its page indexes.
func (j *joiner) look(p *joinedPart) bool {
	t := thrift{rest: p.footer}
	t.structure(0, func(id int, kind byte) bool {
		switch {
		case id == 3 && kind == thriftInt64:
			j.rows += t.int64()
		case id == 4 && kind == thriftList:
			t.list(0, func() {
				j.groups++
				t.structure(1, func(id int, kind byte) bool {
					if id != 1 || kind != thriftList {
						return false
					}
					t.list(1, func() { p.chunks = append(p.chunks, t.indexPlaces()) })
					return true
				})
			})
		default:
			return false
		}
		return true
	})
	for _, c := range p.chunks {
		if c.columnSize > 0 {
			p.start = min(p.start, c.columnAt)
		}
		p.start = min(p.start, c.offsetAt)
	}
	return !t.bad
}

// indexPlaces reads a column chunk of a footer.
func (t *thrift) indexPlaces() (i pageIndex) {
	t.structure(2, func(id int, kind byte) bool { return t.indexPlace(&i, id, kind) })
	return i
}

func (t *thrift) indexPlace(i *pageIndex, id int, kind byte) bool {
	switch {
	case id == 4 && kind == thriftInt64:
		i.offsetAt = t.int64()
	case id == 5 && kind == thriftInt32:
		i.offsetSize = int64(t.int32())
	case id == 6 && kind == thriftInt64:
		i.columnAt = t.int64()
	case id == 7 && kind == thriftInt32:
		i.columnSize = int64(t.int32())
	default:
		return false
	}
	return true
}

// slice is some bytes of the page indexes.
func (p *joinedPart) slice(at, size int64) ([]byte, bool) {
	from := at - p.start
	if from < 0 || size < 0 || from+size > int64(len(p.index)) {
		return nil, false
	}
	return p.index[from : from+size], true
}

// footer is the page indexes of all parts at their new places, and the footer.
func (j *joiner) footer() ([]byte, error) {
	var w thriftWriter
	var places []pageIndex
	for _, p := range j.parts {
		for _, c := range p.chunks {
			b, ok := p.slice(c.columnAt, c.columnSize)
			if !ok && c.columnSize > 0 {
				return nil, errJoin
			}
			places = append(places, pageIndex{columnAt: j.at + int64(len(w.b)), columnSize: c.columnSize})
			w.b = append(w.b, b...)
		}
	}
	n := 0
	for _, p := range j.parts {
		for _, c := range p.chunks {
			b, ok := p.slice(c.offsetAt, c.offsetSize)
			if !ok {
				return nil, errJoin
			}
			from := len(w.b)
			t := thrift{rest: b}
			w.last = []int{0}
			t.offsetIndex(&w, p.shift)
			if t.bad {
				return nil, errJoin
			}
			places[n].offsetAt, places[n].offsetSize = j.at+int64(from), int64(len(w.b)-from)
			n++
		}
	}
	start := len(w.b)
	w.last = []int{0}
	if !j.fileMetaData(&w, places) {
		return nil, errJoin
	}
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(w.b)-start))
	return append(w.b, magic...), nil
}

// copy copies a structure that was begun in w, but for the fields that field reads and writes itself.
func (t *thrift) copy(w *thriftWriter, depth int, field func(id int, kind byte) bool) {
	t.structure(depth, func(id int, kind byte) bool {
		if field(id, kind) {
			return true
		}
		before := t.rest
		t.skip(kind, depth)
		w.field(id, kind)
		w.b = append(w.b, before[:len(before)-len(t.rest)]...)
		return true
	})
	w.end()
}

// shifted copies a field that is a place in the file; 0 is none.
func (t *thrift) shifted(w *thriftWriter, id int, by int64) {
	if at := t.int64(); at != 0 {
		w.int64(id, at+by)
	} else {
		w.int64(id, 0)
	}
}

func (t *thrift) offsetIndex(w *thriftWriter, shift int64) {
	t.copy(w, 0, func(id int, kind byte) bool {
		if id != 1 || kind != thriftList {
			return false
		}
		n := t.count()
		w.list(1, thriftStruct, n)
		t.list(0, func() {
			w.element()
			t.copy(w, 1, func(id int, kind byte) bool {
				if id != 1 || kind != thriftInt64 {
					return false
				}
				t.shifted(w, id, shift)
				return true
			})
		})
		return true
	})
}

// fileMetaData writes the footer of the first part, with the row groups of all.
func (j *joiner) fileMetaData(w *thriftWriter, places []pageIndex) bool {
	t := thrift{rest: j.parts[0].footer}
	good := true
	t.copy(w, 0, func(id int, kind byte) bool {
		switch {
		case id == 3 && kind == thriftInt64:
			t.int64()
			w.int64(3, j.rows)
		case id == 4 && kind == thriftList:
			t.skip(kind, 0)
			w.list(4, thriftStruct, j.groups)
			ordinal := 0
			for _, p := range j.parts {
				good = good && p.rowGroups(w, &ordinal, &places)
			}
		default:
			return false
		}
		return true
	})
	return good && !t.bad
}

// rowGroups copies the row groups of a part.
func (p *joinedPart) rowGroups(w *thriftWriter, ordinal *int, places *[]pageIndex) bool {
	t := thrift{rest: p.footer}
	t.structure(0, func(id int, kind byte) bool {
		if id != 4 || kind != thriftList {
			return false
		}
		t.list(0, func() {
			w.element()
			t.copy(w, 1, func(id int, kind byte) bool { return p.rowGroup(&t, w, id, kind, *ordinal, places) })
			*ordinal++
		})
		return true
	})
	return !t.bad
}

func (p *joinedPart) rowGroup(t *thrift, w *thriftWriter, id int, kind byte, ordinal int, places *[]pageIndex) bool {
	switch {
	case id == 1 && kind == thriftList:
		w.list(1, thriftStruct, t.count())
		t.list(1, func() {
			w.element()
			t.copy(w, 2, func(id int, kind byte) bool { return p.chunk(t, w, id, kind, (*places)[0]) })
			*places = (*places)[1:]
		})
	case id == 5 && kind == thriftInt64:
		t.shifted(w, id, p.shift)
	case id == 7 && kind == thriftInt16:
		t.int64()
		w.ordinal(ordinal)
	default:
		return false
	}
	return true
}

func (p *joinedPart) chunk(t *thrift, w *thriftWriter, id int, kind byte, i pageIndex) bool {
	switch {
	case id == 3 && kind == thriftStruct:
		w.open(3)
		t.copy(w, 3, func(id int, kind byte) bool {
			if kind != thriftInt64 || id != 9 && id != 11 {
				return false
			}
			t.shifted(w, id, p.shift)
			return true
		})
	case id == 4 && kind == thriftInt64:
		t.int64()
		w.int64(4, i.offsetAt)
	case id == 5 && kind == thriftInt32:
		t.int32()
		w.int32(5, int32(i.offsetSize))
	case id == 6 && kind == thriftInt64:
		t.int64()
		w.int64(6, i.columnAt)
	default:
		return false
	}
	return true
}
