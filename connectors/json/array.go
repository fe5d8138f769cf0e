package json

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sort"

	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// A piece is an element of an array that was copied: where its copy begins, and where it stood.
type piece struct {
	standing       // raw is nil where the copy is the same
	at       int   // in the copy
	from     int64 // in the text
}

// pieceAt is the piece that a place in the copy is of.
func (k *chunk) pieceAt(at int) piece {
	i := sort.Search(len(k.pieces), func(i int) bool { return k.pieces[i].at > at })
	return k.pieces[max(i-1, 0)]
}

// loadElements reads the next elements of an array into k; more is false at its end. Each is copied into
// a line of its own, line feeds between its tokens made blanks.
func (o *inOrder) loadElements(k *chunk, file int64, skip bool) (more bool, err error) {
	k.alt = append(k.alt[:0], make([]byte, columntext.Front)...)
	base := o.Base
	var pieces []piece
	var f *fault
	for f == nil && len(k.alt) < text.StreamRead && len(pieces) < maxRows {
		var ok bool
		if ok, f, err = o.next(len(pieces) > 0); err != nil {
			return false, err
		}
		if !ok || f != nil {
			break
		}
		p := piece{at: len(k.alt) - columntext.Front, from: o.Base}
		p.standing = standing{line: o.Line, column: o.Base - o.lineStart + 1, offset: o.Base + o.Away}
		var n int
		if k.alt, n, err = o.element(k.alt); err != nil {
			return false, err
		}
		if n < 0 {
			f = o.odd("an element is longer than 64 MiB", "a shorter one")
			break
		}
		if raw := o.Rest()[:n]; bytes.IndexByte(raw, '\n') >= 0 {
			p.raw = bytes.Clone(raw)
		}
		k.alt = append(k.alt, '\n')
		pieces = append(pieces, p)
		o.pass(n)
		o.comma = true
	}
	n := len(k.alt) - columntext.Front
	k.alt = append(k.alt, make([]byte, 2*columntext.Front)...)
	k.begin(&k.alt, n, 0)
	k.firm, k.pieces = true, append(pieces, piece{at: n, from: o.Base})
	k.cut(n, n, file, skip)
	if f != nil && k.fault == nil {
		f.file, k.fault = file, f
	}
	k.base, k.end = base, o.Base
	return len(pieces) > 0 || f != nil, nil
}

// pass moves on over n bytes and notes where the line begins.
func (o *inOrder) pass(n int) {
	if b := o.Rest()[:n]; bytes.IndexByte(b, '\n') >= 0 { // much quicker than to look from the end
		o.lineStart = o.Base + int64(lastLine(b))
	}
	o.Pass(n)
}

// next goes on to the next element; ok is false at the end of the file. Where some were read already it
// stops before the end of the array, so that a reader that goes on from there finds it.
func (o *inOrder) next(some bool) (ok bool, f *fault, err error) {
	for {
		c, there, err := o.peek()
		switch {
		case err != nil:
			return false, nil, err
		case !there && (o.closed || !o.opened):
			return false, nil, nil
		case !there:
			return false, o.odd("the file ends in the middle of the array", "a comma or ]"), nil
		case o.closed:
			return false, o.odd(fmt.Sprintf("%q stands behind the array", around(o.Rest())), "the end of the file"), nil
		case !o.opened && c != '[':
			return false, o.odd(fmt.Sprintf("the file begins with %q", around(o.Rest())), "an array of objects; a file with an object a line needs `format: lines`"), nil
		case !o.opened:
			o.opened = true
			o.may = true
		case c == ']' && o.comma && some:
			return false, nil, nil
		case c == ']' && (o.comma || o.may):
			o.closed = true
		case o.comma && c != ',':
			return false, o.odd(fmt.Sprintf("%q is no JSON here", around(o.Rest())), "a comma or ] after an element"), nil
		case o.comma:
			o.comma, o.may = false, false
		case c == ',' && o.resumed:
			o.resumed = false
		case bytes.IndexByte([]byte(",]}:"), c) >= 0:
			return false, o.odd(fmt.Sprintf("%q is no JSON here", around(o.Rest())), "an object"), nil
		default:
			o.resumed, o.may = false, false
			return true, nil, nil
		}
		o.pass(1)
	}
}

// odd is a fault of the array itself.
func (o *inOrder) odd(message, wanted string) *fault {
	at := &standing{line: o.Line, column: o.Base - o.lineStart + 1, offset: o.Base + o.Away}
	return &fault{kind: formatError, syntax: true, record: o.Base, alone: at, col: -1, message: message, wanted: wanted}
}

// peek passes over blanks and line feeds and gives the byte behind them.
func (o *inOrder) peek() (c byte, there bool, err error) {
	for {
		if err := o.Fill(1); err != nil {
			return 0, false, err
		}
		b := o.Rest()
		if len(b) == 0 {
			return 0, false, nil
		}
		n := 0
		for n < len(b) && (b[n] == ' ' || b[n] == '\n' || b[n] == '\r' || b[n] == '\t') {
			n++
		}
		if n < len(b) {
			o.pass(n)
			return b[n], true, nil
		}
		o.pass(n)
	}
}

// element appends the element that the text stands before, and gives its length; -1 where it is longer
// than a record may be. One that the file ends in, or whose quotes or braces are wrong, is given as far
// as it goes: the scanner tells what is wrong with it.
func (o *inOrder) element(dst []byte) (_ []byte, n int, err error) {
	from := len(dst)
	for want := 4 << 10; ; want *= 2 {
		if err := o.Fill(min(want, text.MaxRecord)); err != nil {
			return dst, 0, err
		}
		b := o.Rest()
		var whole bool
		if dst, n, whole = appendElement(dst[:from], b); whole || o.EOF {
			return dst, n, nil
		}
		if len(b) >= text.MaxRecord {
			return dst, -1, nil
		}
	}
}

// appendElement appends the value at the start of b, line feeds outside its strings as blanks.
func appendElement(dst, b []byte) (_ []byte, n int, whole bool) {
	n, whole, breaks := elementEnd(b)
	from := len(dst)
	dst = append(dst, b[:n]...)
	if !breaks {
		return dst, n, whole
	}
	own := dst[from:]
	if whole && n > 0 && own[n-1] == '\n' {
		own = own[:n-1] // that of a string, which ends the record
	}
	for {
		i := bytes.IndexByte(own, '\n')
		if i < 0 {
			return dst, n, whole
		}
		own[i] = ' '
		own = own[i+1:]
	}
}

// elementEnd is the place behind the value at the start of b, or behind a line feed in one of its strings; breaks
// says that it holds line feeds. Eight bytes at a time are looked at, and passed over where none of them counts.
func elementEnd(b []byte) (n int, whole, breaks bool) {
	depth := 0
	for i := 0; i < len(b); i++ {
		if depth > 0 && i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			q, l := w^'"'*ones, w^'\n'*ones
			w |= 0x20 * ones // a bracket becomes a brace
			open, shut := w^'{'*ones, w^'}'*ones
			m := ((q-ones)&^q | (l-ones)&^l | (open-ones)&^open | (shut-ones)&^shut) & highs
			if m == 0 {
				i += 7
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		switch c := b[i]; {
		case c == '"':
			if i = stringEnd(b, i+1); i >= len(b) {
				return len(b), false, breaks
			}
			if b[i] == '\n' {
				return i + 1, true, true // no string holds one
			}
			if depth == 0 {
				return i + 1, true, breaks
			}
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth > 0:
			if depth--; depth == 0 {
				return i + 1, true, breaks
			}
		case depth == 0 && bytes.IndexByte([]byte(",]} \t\r\n"), c) >= 0:
			return i, true, breaks
		case c == '\n':
			breaks = true
		}
	}
	return len(b), false, breaks
}

// stringEnd is the place of the quote that ends the string whose text begins at i, or of a line feed in it; where
// there is none it is not before the end of b.
func stringEnd(b []byte, i int) int {
	for i < len(b) {
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			q, e, l := w^'"'*ones, w^'\\'*ones, w^'\n'*ones
			m := ((q-ones)&^q | (e-ones)&^e | (l-ones)&^l) & highs
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
		}
		switch b[i] {
		case '"', '\n':
			return i
		case '\\':
			if i++; i < len(b) && b[i] == '\n' {
				return i
			}
		}
		i++
	}
	return i
}
