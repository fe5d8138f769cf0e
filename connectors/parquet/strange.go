package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// The library gives up a file when one of its columns has a logical type that came after the library, or one that
// does not belong there. Such a footer is made anew without those annotations before the library sees it: a type
// that came later is read as it is stored, which the format asks for; a column whose annotation contradicts its
// values is left out, with the reason, and the other columns can be read.

// lastKnownType is the last number among logical types that the library knows; 9 is none.
const lastKnownType = 15

// strange is what was taken out of a footer.
type strange struct {
	refused map[int]string    // by place among the leaves: why the column cannot be read
	notes   map[string]string // by column at top level: how it is read
	gone    []leaf            // columns at top level that have no leaf
	none    bool              // no column has a leaf, which the library cannot read
}

// storedAs says how the values of a type are stored that came later, by its number.
func storedAs(number int) string {
	switch number {
	case 16:
		return "VARIANT, read as it is stored: a ROW of metadata, value and the parts that are stored apart"
	case 17:
		return "GEOMETRY, read as it is stored: well-known binary"
	case 18:
		return "GEOGRAPHY, read as it is stored: well-known binary"
	}
	return fmt.Sprintf("of logical type number %d, which came later: read as it is stored", number)
}

// readStrange decodes a footer that has such annotations; false where it has none, or cannot be decoded
// without them either.
func (d *document) readStrange() (found bool) {
	defer func() {
		if recover() != nil {
			found = false
		}
	}()
	b, err := d.footer()
	if err != nil {
		return false
	}
	mended, s := withoutStrange(b)
	if mended == nil {
		return false
	}
	if d.strange = s; s.none {
		return true
	}
	meta, err := metadata.NewFileMetaData(mended, nil)
	if err != nil {
		return false
	}
	d.meta = meta
	return true
}

// withoutStrange is a footer without annotations that do not belong there or are not known, and without groups
// that have no columns; nil where it has none of them.
func withoutStrange(footer []byte) ([]byte, *strange) {
	t := thrift{rest: footer}
	var w thriftWriter
	w.reset()
	m := mender{strange: strange{refused: map[int]string{}, notes: map[string]string{}}, leaves: -1}
	t.copy(&w, 0, func(id int, kind byte) bool {
		if id == 7 && kind == thriftList && t.count() != m.leaves { // orders of other columns than there are
			m.changed = true
			t.skip(kind, 0)
			return true
		}
		if id != 2 || kind != thriftList {
			return false
		}
		t.list(0, func() { m.elements = append(m.elements, t.schemaElement()) })
		if !t.bad {
			m.mend()
			m.write(&w)
		}
		return true
	})
	if t.bad || m.bad || !m.changed && !m.none {
		return nil, nil
	}
	return w.b, &m.strange
}

// A mender goes through the elements of a schema, which are given depth first.
type mender struct {
	strange
	elements []schemaElement
	at       int // the next element
	leaves   int // leaves passed
	changed  bool
	bad      bool
}

func (m *mender) mend() {
	if len(m.elements) == 0 {
		m.bad = true
		return
	}
	root := &m.elements[0]
	m.at, m.leaves = 1, 0
	m.fields(root, "", "")
	if root.kept = true; m.at != len(m.elements) {
		m.bad = true
	}
	m.none = m.leaves == 0 && !m.bad
}

// fields mends what is in a group; top is the column that it belongs to.
func (m *mender) fields(group *schemaElement, top, path string) {
	kept := 0
	for range group.children {
		if m.at >= len(m.elements) || m.bad {
			m.bad = true
			return
		}
		e := &m.elements[m.at]
		m.at++
		column, own := top, path+"."+e.name
		if top == "" {
			column, own = e.name, e.name
		}
		if m.element(e, column, own); e.kept {
			kept++
		} else if m.changed = true; top == "" {
			m.gone = append(m.gone, leaf{name: e.name, index: -1, why: "it is a group without columns"})
		} else {
			m.notes[column] = "read without " + own + ", a group without columns"
		}
	}
	group.children = kept
}

func (m *mender) element(e *schemaElement, column, path string) {
	if e.children > 0 || !e.typed {
		m.fields(e, column, path)
		e.kept = e.children > 0
	} else {
		e.kept = true
		m.leaves++
	}
	known := e.logical != 9 && e.logical <= lastKnownType
	if !e.typed { // what groups can be
		e.dropLogical = e.logical != 0 && e.logical != logicalMap && e.logical != logicalList
		e.dropConverted = e.converted >= 0 && (e.converted < convertedMap || e.converted > convertedList)
	}
	switch {
	case e.logical != 0 && !known:
		e.dropLogical, e.dropConverted = true, true
		if m.notes[column] = storedAs(e.logical); column != path {
			m.notes[column] = path + " is " + m.notes[column]
		}
	case e.typed && (e.logical != 0 && !e.fits() || e.logical == 0 && !e.fitsConverted()):
		e.dropLogical, e.dropConverted = true, true
		m.refused[m.leaves-1] = e.contradiction()
	}
	m.changed = m.changed || e.dropLogical || e.dropConverted
}

// write writes the elements that are kept.
func (m *mender) write(w *thriftWriter) {
	n := 0
	for _, e := range m.elements {
		if e.kept {
			n++
		}
	}
	w.list(2, thriftStruct, n)
	for _, e := range m.elements {
		if !e.kept {
			continue
		}
		t := thrift{rest: e.raw}
		w.element()
		t.copy(w, 1, func(id int, kind byte) bool {
			switch {
			case id == 5 && kind == thriftInt32:
				t.int32()
				w.int32(5, int32(e.children))
			case e.dropLogical && id == 10, e.dropConverted && id == 6:
				t.skip(kind, 1)
			default:
				return false
			}
			return true
		})
	}
}

// leaves are the columns of the file.
func (d *document) leaves() []leaf {
	list := leaves(d.meta.Schema)
	if d.strange == nil {
		return list
	}
	for i := range list {
		l := &list[i]
		if note := d.strange.notes[l.name]; note != "" {
			l.note = note
		}
		if l.nest != nil {
			d.strangeWithin(l.nest)
			if l.typ, l.why = l.nest.typ, l.nest.why; l.why != "" {
				l.index = -1
			}
		} else if why, ok := d.strange.refused[l.index]; ok {
			l.index, l.why = -1, why
		}
	}
	return append(list, d.strange.gone...)
}

// strangeWithin refuses parts of a nested column whose annotations contradict their values.
func (d *document) strangeWithin(x *nest) {
	if why, ok := d.strange.refused[x.index]; ok && x.kind == 0 {
		x.refuse(why)
	}
	for _, p := range x.parts {
		d.strangeWithin(p)
	}
	x.of(x.parts...)
}
