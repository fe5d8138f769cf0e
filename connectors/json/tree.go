package json

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A node is a place in records that some column reads, or that lies on the way to one.
type node struct {
	path  string
	kids  []kid   // wanted members
	elems []*node // wanted elements, by their place; nil between them
	slots []slot  // the columns that read the value as it is
	seen  uint64  // the last record that had it, to tell a key that stands there twice
	// lits is what the members of the last record looked like, up to where each value began: the next
	// record most likely looks the same.
	lits   []lit
	learnt int
}

type kid struct {
	name string
	*node
}

// A slot is a column that reads a value.
type slot struct {
	at    int  // place in the record's spans
	takes kind // the kinds of values it may have
}

// kind is a set of kinds of JSON values.
type kind uint8

const (
	aString kind = 1 << iota
	aNumber
	aBoolean
	anObject
	anArray
	anything = aString | aNumber | aBoolean | anObject | anArray
)

// String names a kind with its article.
func (k kind) String() string {
	switch k {
	case aString:
		return "a string"
	case aNumber:
		return "a number"
	case aBoolean:
		return "a boolean"
	case anObject:
		return "an object"
	case anArray:
		return "an array"
	}
	return "null"
}

// takes is which values a column of a type may be read from. A string is read like a field of a CSV file.
func takes(t expr.Type) kind {
	switch t.Kind {
	case expr.String:
		return anything
	case expr.Boolean:
		return aBoolean | aString
	case expr.TinyInt, expr.SmallInt, expr.Int, expr.BigInt, expr.Decimal, expr.Float, expr.Double:
		return aNumber | aString
	case expr.Array:
		return anArray
	case expr.Map, expr.Row:
		return anObject
	case expr.Date, expr.Timestamp, expr.Time, expr.TimestampLTZ, expr.Bytes:
		return aString
	}
	return 0
}

// newTree makes the tree of the used columns; the place in used is the place in the spans.
func newTree(columns Columns, paths [][]step, used []int) *node {
	root := &node{}
	for k, i := range used {
		n := root
		for d, s := range paths[i] {
			n = n.step(s, paths[i][:d+1])
		}
		t := columns[i].Type
		n.slots = append(n.slots, slot{at: k, takes: takes(t)})
	}
	return root
}

func (n *node) step(s step, path []step) *node {
	if s.index >= 0 {
		for len(n.elems) <= s.index {
			n.elems = append(n.elems, nil)
		}
		if n.elems[s.index] == nil {
			n.elems[s.index] = &node{path: writePath(path)}
		}
		return n.elems[s.index]
	}
	if k := n.kid(s.name); k != nil {
		return k
	}
	k := &node{path: writePath(path)}
	n.kids = append(n.kids, kid{s.name, k})
	return k
}

// kid is the wanted member of a name, nil where none is wanted.
func (n *node) kid(name string) *node {
	for _, k := range n.kids {
		if k.name == name {
			return k.node
		}
	}
	return nil
}

// A lit is the text from the end of one value to the beginning of the next one in an object: a brace or a
// comma, blanks, the key and its colon.
type lit struct {
	text []byte
	a, b uint64 // its first and last eight bytes
	mask uint64 // of a, where it is shorter
	node *node  // that the value is for; nil: none
}

// mostLits is how many members of an object are remembered, mostLit how long one may be, and patience how
// often one is put in: objects whose members come in ever other orders are not learnt.
const (
	mostLits = 1024
	mostLit  = 256
	patience = 4 * mostLits
)

// learn notes what a member looked like that comes before the k-th one known.
func (n *node) learn(k int, text []byte, to *node) {
	if n.learnt >= patience || len(n.lits) >= mostLits || len(text) > mostLit {
		return
	}
	n.learnt++
	l := lit{text: bytes.Clone(text), node: to, mask: ^uint64(0)}
	var first, last [8]byte
	copy(first[:], text)
	copy(last[:], text[max(0, len(text)-8):])
	l.a, l.b = binary.LittleEndian.Uint64(first[:]), binary.LittleEndian.Uint64(last[:])
	if len(text) < 8 {
		l.mask = 1<<(8*len(text)) - 1
	}
	n.lits = slices.Insert(n.lits, min(k, len(n.lits)), l)
}
