package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// The library gives up a file when one of its columns has a logical type that came after the library.
// Such annotations are taken out of the footer before the library sees it, so that the other columns
// can be read; the column itself is left out, with the reason.

// lastKnownType is the last number among logical types that the library knows; 9 is none.
const lastKnownType = 15

// strangeName is a type that came later, by its number.
func strangeName(number int) string {
	switch number {
	case 16:
		return "VARIANT"
	case 17:
		return "GEOMETRY"
	case 18:
		return "GEOGRAPHY"
	}
	return fmt.Sprintf("logical type number %d", number)
}

// readStrange decodes a footer that has such types; false where it has none, or cannot be decoded
// without them either.
func (d *document) readStrange() (found bool) {
	defer func() {
		if recover() != nil {
			found = false
		}
	}()
	var tail [tailSize]byte
	if d.readAt(tail[:], d.Size()-tailSize) != nil {
		return false
	}
	size := int64(binary.LittleEndian.Uint32(tail[:]))
	if size > d.Size()-tailSize {
		return false
	}
	b := make([]byte, size)
	if d.readAt(b, d.Size()-tailSize-size) != nil {
		return false
	}
	cut, strange := withoutStrange(b)
	if cut == nil {
		return false
	}
	meta, err := metadata.NewFileMetaData(cut, nil)
	if err != nil {
		return false
	}
	d.meta, d.strange = meta, strange
	return true
}

// withoutStrange is a footer without annotations that are not known, nil where it has none, and the
// columns at top level that had one, with its name.
func withoutStrange(footer []byte) (cut []byte, strange map[string]string) {
	strange = map[string]string{}
	t := thrift{rest: footer}
	at := func() int { return len(footer) - len(t.rest) }
	kept := 0          // of footer, up to here
	var children []int // still to come, per group that is open
	t.structure(0, func(id int, kind byte) bool {
		if id != 2 || kind != thriftList {
			return false
		}
		t.list(0, func() {
			e := t.schemaElement(at)
			if e.number != 0 && !t.bad {
				cut, kept = append(cut, footer[kept:e.from]...), e.to
				if len(children) == 1 { // else it is within a nested column, which is left out as such
					strange[e.name] = strangeName(e.number)
				}
			}
			children = below(children, e.children)
		})
		return true
	})
	if t.bad || kept == 0 {
		return nil, nil
	}
	return append(cut, footer[kept:]...), strange
}

// below passes an element of a schema, which is given depth first.
func below(children []int, own int) []int {
	if n := len(children); n > 0 {
		children[n-1]--
	}
	if own > 0 {
		return append(children, own)
	}
	for len(children) > 0 && children[len(children)-1] <= 0 {
		children = children[:len(children)-1]
	}
	return children
}

// A schemaElement is what is needed of one: where its annotation stands if that is not known.
type schemaElement struct {
	name     string
	children int
	number   int // of its logical type; 0 where it has none or one that is known
	from, to int
}

func (t *thrift) schemaElement(at func() int) schemaElement {
	var e schemaElement
	from := at()
	t.structure(1, func(id int, kind byte) bool {
		switch {
		case id == 4 && kind == thriftBinary:
			e.name = string(t.binary())
		case id == 5 && kind == thriftInt32:
			e.children = int(t.int32())
		case id == 10 && kind == thriftStruct:
			number := 0
			t.structure(2, func(id int, _ byte) bool { number = id; return false })
			if number == 9 || number > lastKnownType {
				e.number, e.from, e.to = number, from, at()
			}
		default:
			t.skip(kind, 1)
			if id > 10 && e.number != 0 {
				t.bad = true // what follows the annotation counts its number from it
			}
		}
		from = at()
		return true
	})
	return e
}

// leaves are the columns of the file.
func (d *document) leaves() []leaf {
	list := leaves(d.meta.Schema)
	for i := range list {
		if name, ok := d.strange[list[i].name]; ok && list[i].index >= 0 {
			list[i].index, list[i].why = -1, "its type is "+name+", which cannot be read yet"
		}
		if list[i].nest != nil && len(d.strange) > 0 {
			d.strangeWithin(list[i].nest)
			list[i].typ, list[i].why = list[i].nest.typ, list[i].nest.why
			if list[i].why != "" {
				list[i].index = -1
			}
		}
	}
	return list
}

// strangeWithin refuses parts of a nested column whose logical types are not known.
func (d *document) strangeWithin(x *nest) {
	if name, ok := d.strange[x.name]; ok {
		x.refuse("its type is " + name + ", which cannot be read yet")
	}
	for _, p := range x.parts {
		d.strangeWithin(p)
	}
	x.of(x.parts...)
}
