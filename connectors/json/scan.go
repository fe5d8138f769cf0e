package json

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
)

// maxDepth is how deep objects and arrays of a record may be nested.
const maxDepth = 1000

// A scanner goes over records once: it checks their syntax, all of it, and notes where the wanted values
// are. It stops at the first fault.
//
// The bytes are read eight at a time and without looking for their end: every loop stops at a line feed,
// which no record holds and which stands behind the last one.
type scanner struct {
	base   unsafe.Pointer // of the bytes
	root   *node
	width  int // values noted for a record
	spans  []uint32
	row    int    // of the record
	serial uint64 // of the record, over all
	last   bool   // of two equal keys the last one counts
	slips  [][]slip
	spare  []byte // memory for keys
	// whole says that spans are those of whole values as they stand there, null too.
	whole bool

	store store

	at     int // of the fault
	wanted string
	// double is the first key that stands there twice and must not, and doubleAt where its second value is.
	double   *node
	doubleAt int
}

// A slip is a value of a kind that its column does not take.
type slip struct {
	row  int32
	got  kind
	path string // of the value, which may be one on the way to the column's
	// half says that a text holds half of a surrogate pair.
	half bool
}

func (s *scanner) byte(i int) byte { return *(*byte)(unsafe.Add(s.base, i)) }
func (s *scanner) word(i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(s.base, i))[:])
}

func (s *scanner) bytes(from, to int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(s.base, from)), to-from)
}

// fail notes a fault and is -1, which every caller hands on.
func (s *scanner) fail(at int, wanted string) int {
	s.at, s.wanted = at, wanted
	return -1
}

// begins makes room for one more record, in which nothing was found yet.
func (s *scanner) begins() {
	from := s.row * s.width * 2
	to := from + s.width*2
	if to+2 > len(s.spans) {
		s.spans = append(s.spans, make([]uint32, to+64+len(s.spans)/2)...)
	}
	for i := from; i < to; i += 2 {
		s.spans[i], s.spans[i+1] = 0, 1
	}
	s.serial++
	s.double = nil
}

// record scans the object at i and gives the place of the line feed behind it.
func (s *scanner) record(i int) int {
	i = s.object(s.root, i, 1)
	if i < 0 {
		return i
	}
	if i = s.blanks(i); s.byte(i) != '\n' {
		return s.fail(i, "the end of the line after the object")
	}
	return i
}

// blanks passes over what JSON has between tokens; a line feed ends the record.
func (s *scanner) blanks(i int) int {
	for {
		c := s.byte(i)
		if c != ' ' && c != '\t' && c != '\r' {
			return i
		}
		i++
	}
}

// object scans an object that is wanted, and gives the place behind it.
func (s *scanner) object(n *node, i, depth int) int {
	if depth > maxDepth {
		return s.fail(i, tooDeep)
	}
	// e is the member that is expected, in the order of the objects before.
	for first, e := true, 0; ; first = false {
		c := s.byte(i)
		if !first && c == '}' {
			return i + 1
		}
		var to *node
		k, next := -1, 0
		if first || c == ',' { // a brace does not begin a further member
			k, next = s.expect(n, e, i)
		}
		if k >= 0 {
			i, to, e = next, n.lits[k].node, k+1
			if s.byte(i) <= ' ' {
				i = s.blanks(i)
			}
		} else {
			from := i
			var key []byte
			if i, key = s.key(i, first); i < 0 {
				return i
			}
			if key == nil {
				return i
			}
			to = n.kid(string(key))
			n.learn(e, s.bytes(from, i), to)
			e++
		}
		if to == nil {
			i = s.skip(i, depth)
		} else {
			i = s.value(to, i, depth)
		}
		if i < 0 {
			return i
		}
	}
}

// expect looks whether the next member is one of the next few that are known, and gives which one and
// where its value begins; k is -1 where it is none.
func (s *scanner) expect(n *node, e, i int) (k, next int) {
	w := s.word(i)
	for k := e; k < len(n.lits) && k < e+6; k++ {
		l := &n.lits[k]
		if w&l.mask != l.a {
			continue
		}
		size := len(l.text)
		if size <= 8 || s.word(i+size-8) == l.b && (size <= 16 || string(s.bytes(i+8, i+size-8)) == string(l.text[8:size-8])) {
			return k, i + size
		}
	}
	return -1, i
}

// key scans what is before a value: a brace or a comma, the key and its colon. key is nil, and not only
// empty, where the object ends instead; the place is then behind it.
func (s *scanner) key(i int, first bool) (next int, key []byte) {
	if first {
		i++
	}
	i = s.blanks(i)
	switch c := s.byte(i); {
	case c == '}':
		return i + 1, nil
	case first:
	case c != ',':
		return s.fail(i, "a comma or } after a member"), nil
	default:
		i = s.blanks(i + 1)
	}
	if s.byte(i) != '"' {
		return s.fail(i, "a key in double quotes"), nil
	}
	end, escaped := s.text(i + 1)
	if end < 0 {
		return end, nil
	}
	key = s.bytes(i+1, end)
	if escaped {
		var half bool
		if s.spare, half = appendUnescaped(s.spare[:0], key); half {
			s.spare = append(s.spare, 0xff) // no column has such a name
		}
		key = s.spare
	}
	if i = s.blanks(end + 1); s.byte(i) != ':' {
		return s.fail(i, "a colon after the key"), nil
	}
	if key == nil {
		key = []byte{}
	}
	return s.blanks(i + 1), key
}

// array scans an array of which some elements are wanted.
func (s *scanner) array(n *node, i, depth int) int {
	if depth > maxDepth {
		return s.fail(i, tooDeep)
	}
	if i = s.blanks(i + 1); s.byte(i) == ']' {
		return i + 1
	}
	for k := 0; ; k++ {
		var to *node
		if n != nil && k < len(n.elems) {
			to = n.elems[k]
		}
		if to == nil {
			i = s.skip(i, depth)
		} else {
			i = s.value(to, i, depth)
		}
		if i < 0 {
			return i
		}
		switch i = s.blanks(i); s.byte(i) {
		case ']':
			return i + 1
		case ',':
			i = s.blanks(i + 1)
		default:
			return s.fail(i, "a comma or ] after an element")
		}
	}
}

// skip scans a value that is not wanted.
func (s *scanner) skip(i, depth int) int {
	switch c := s.byte(i); c {
	case '"':
		end, _ := s.text(i + 1)
		if end < 0 {
			return end
		}
		return end + 1
	case '{':
		return s.skipObject(i, depth+1)
	case '[':
		return s.array(nil, i, depth+1)
	default:
		return s.scalar(i, c)
	}
}

// skipObject scans an object of which nothing is wanted.
func (s *scanner) skipObject(i, depth int) int {
	if depth > maxDepth {
		return s.fail(i, tooDeep)
	}
	for first := true; ; first = false {
		var key []byte
		if i, key = s.key(i, first); key == nil {
			return i
		}
		if i = s.skip(i, depth); i < 0 {
			return i
		}
	}
}

// scalar scans a value that is neither a string nor an object nor an array.
func (s *scanner) scalar(i int, c byte) int {
	switch c {
	case 't':
		if uint32(s.word(i)) == 'e'<<24|'u'<<16|'r'<<8|'t' {
			return i + 4
		}
	case 'f':
		if uint32(s.word(i+1)) == 'e'<<24|'s'<<16|'l'<<8|'a' {
			return i + 5
		}
	case 'n':
		if uint32(s.word(i)) == 'l'<<24|'l'<<16|'u'<<8|'n' {
			return i + 4
		}
	default:
		if c == '-' || c-'0' <= 9 {
			return s.number(i)
		}
	}
	return s.fail(i, "a value: an object, an array, a string, a number, true, false or null")
}

// value scans a value that is wanted, or that holds wanted ones.
func (s *scanner) value(n *node, i, depth int) int {
	if n.seen == s.serial {
		if !s.last && s.double == nil {
			s.double, s.doubleAt = n, i
		}
		s.forget(n)
	}
	n.seen = s.serial
	start := i
	got := aNumber
	switch c := s.byte(i); c {
	case '"':
		end, escaped := s.text(i + 1)
		if end < 0 {
			return end
		}
		s.noteText(n, i, end+1, escaped)
		return end + 1
	case '{':
		got = anObject
		if len(n.kids) > 0 {
			i = s.object(n, i, depth+1)
		} else {
			i = s.skipObject(i, depth+1)
		}
	case '[':
		got = anArray
		i = s.array(n, i, depth+1)
	case 'n':
		if i = s.scalar(i, c); i >= 0 && s.whole {
			for _, sl := range n.slots {
				s.note(sl.at, start, i)
			}
		}
		return i
	case 't', 'f':
		got = aBoolean
		i = s.scalar(i, c)
	default:
		i = s.scalar(i, c)
	}
	if i < 0 {
		return i
	}
	for k := range n.slots {
		sl := &n.slots[k]
		s.note(sl.at, start, i)
		if sl.takes&got == 0 {
			s.slip(sl.at, slip{got: got, path: n.path})
		}
	}
	if len(n.kids) > 0 && got != anObject || len(n.elems) > 0 && got != anArray {
		s.astray(n, got, start, i, n.path)
	}
	return i
}

// note notes the span of a value.
func (s *scanner) note(slot, start, end int) {
	at := (s.row*s.width + slot) * 2
	s.spans[at], s.spans[at+1] = uint32(start-1), uint32(end)
}

// slip notes that a value is not of the kind its column takes.
func (s *scanner) slip(slot int, x slip) {
	x.row = int32(s.row)
	s.slips[slot] = append(s.slips[slot], x)
}

// noteText notes a string, with its quotes from start to end.
func (s *scanner) noteText(n *node, start, end int, escaped bool) {
	for k := range n.slots {
		sl := &n.slots[k]
		from, to := start, end
		switch {
		case s.whole:
		case escaped:
			var half bool
			if from, to, half = s.unescape(start+1, end-1); half {
				s.slip(sl.at, slip{got: aString, path: n.path, half: true})
			}
		case end-start > 2: // the quotes of an empty text tell it from NULL
			from, to = start+1, end-1
		}
		s.note(sl.at, from, to)
		if sl.takes&aString == 0 {
			s.slip(sl.at, slip{got: aString, path: n.path})
		}
	}
	if len(n.kids)+len(n.elems) > 0 {
		s.astray(n, aString, start, end, n.path)
	}
}

// astray notes for all columns below a value that it is not what their paths go on in. One that the value
// has both members and elements asked of goes astray in one of them.
func (s *scanner) astray(n *node, got kind, start, end int, path string) {
	for _, k := range n.kids {
		if got != anObject {
			s.lost(k.node, got, start, end, path)
		}
	}
	for _, e := range n.elems {
		if e != nil && got != anArray {
			s.lost(e, got, start, end, path)
		}
	}
}

func (s *scanner) lost(n *node, got kind, start, end int, path string) {
	for _, sl := range n.slots {
		s.note(sl.at, start, end)
		s.slip(sl.at, slip{got: got, path: path})
	}
	for _, k := range n.kids {
		s.lost(k.node, got, start, end, path)
	}
	for _, e := range n.elems {
		if e != nil {
			s.lost(e, got, start, end, path)
		}
	}
}

// forget takes back what was noted of a value, for another one with its key comes.
func (s *scanner) forget(n *node) {
	n.seen = 0
	for _, sl := range n.slots {
		s.note(sl.at, 1, 1)
		l := s.slips[sl.at]
		for len(l) > 0 && l[len(l)-1].row == int32(s.row) {
			l = l[:len(l)-1]
		}
		s.slips[sl.at] = l
	}
	for _, k := range n.kids {
		s.forget(k.node)
	}
	for _, e := range n.elems {
		if e != nil {
			s.forget(e)
		}
	}
}

// unescape writes a string without its escapes behind the bytes, in the form that columns read: as it is, or
// where it begins with a quote in quotes, with those inside it twice.
func (s *scanner) unescape(start, end int) (from, to int, half bool) {
	s.room(2*(end-start) + 2)
	from = s.store.used
	dst, half := appendUnescaped((*s.store.mem)[columntext.Front+from:][:0], s.bytes(start, end))
	if dst[0] == '"' {
		dst = appendQuoted(dst[:0], bytes.Clone(dst))
	}
	s.store.used += len(dst)
	return from, s.store.used, half
}

// A store is the memory that the bytes are in, columntext.Front bytes behind its beginning, with room
// behind them for the texts that had escapes.
type store struct {
	mem  *[]byte
	used int
}

// over turns the scanner to the bytes in mem; n of them are taken.
func (s *scanner) over(mem *[]byte, n int) {
	s.store = store{mem, n + columntext.Front}
	s.base = unsafe.Pointer(unsafe.SliceData((*mem)[columntext.Front:]))
	s.row = 0
	for i := range s.slips {
		s.slips[i] = s.slips[i][:0]
	}
}

// room makes room for n more bytes in the store, and for as many as may be read behind them.
func (s *scanner) room(n int) {
	m := *s.store.mem
	if need := columntext.Front + s.store.used + n + columntext.Front; need > len(m) {
		m = append(m, make([]byte, need-len(m)+len(m)/2)...)
		*s.store.mem = m
		s.base = unsafe.Pointer(unsafe.SliceData(m[columntext.Front:]))
	}
}
