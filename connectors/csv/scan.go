package csv

import (
	"encoding/binary"
	"math/bits"
)

// block is how many bytes one word of a mask stands for.
const block = 64

// A scanner writes, for every block of 64 bytes at b, a bit per byte: seps where it is the delimiter
// or LF, nls where it is LF, quotes where it is a quote. b holds at least blocks*64 bytes.
type scanner func(b []byte, blocks int, delimiter byte, m *masks)

// masks are the bits of a window's bytes.
type masks struct {
	seps, nls, quotes []uint64
}

// size makes room for so many blocks.
func (m *masks) size(blocks int) {
	if cap(m.seps) < blocks {
		m.seps, m.nls, m.quotes = make([]uint64, blocks), make([]uint64, blocks), make([]uint64, blocks)
	}
	m.seps, m.nls, m.quotes = m.seps[:blocks], m.nls[:blocks], m.quotes[:blocks]
}

// scanPortable is the scanner in plain Go, eight bytes at a time.
func scanPortable(b []byte, blocks int, delimiter byte, m *masks) {
	const ones = 0x0101010101010101
	d, q, l := uint64(delimiter)*ones, uint64(quote)*ones, uint64('\n')*ones
	for i := range blocks {
		var seps, nls, quotes uint64
		for j := 0; j < block; j += 8 {
			w := binary.LittleEndian.Uint64(b[i*block+j:])
			n := zeroBytes(w ^ l)
			seps |= (zeroBytes(w^d) | n) << j
			nls |= n << j
			quotes |= zeroBytes(w^q) << j
		}
		m.seps[i], m.nls[i], m.quotes[i] = seps, nls, quotes
	}
}

// zeroBytes has a bit for each of the eight bytes of x that is zero, exactly: no carry runs from one
// byte to the next.
func zeroBytes(x uint64) uint64 {
	const low7 = 0x7f7f7f7f7f7f7f7f
	t := ^((x&low7 + low7) | x | low7) >> 7
	return t * 0x0102040810204080 >> 56
}

// inQuotes turns the quotes of a block into the bytes from each opening quote up to its closing one,
// that one left out; carry is all ones where the block begins inside quotes.
func inQuotes(q, carry uint64) uint64 {
	q ^= q << 1
	q ^= q << 2
	q ^= q << 4
	q ^= q << 8
	q ^= q << 16
	q ^= q << 32
	return q ^ carry
}

// any reports whether there is a quote at all.
func (m *masks) anyQuote() bool {
	var any uint64
	for _, q := range m.quotes {
		any |= q
	}
	return any != 0
}

// judge follows the quotes of buf from the stand on. It gives the first place at which the dialect is
// broken (-1: none), whether the end is inside quotes and how many quotes are data of unquoted fields;
// what stands after the first fault means nothing. With hide the quotes that are data are taken out of
// the masks, and so are delimiters and line ends inside quotes.
func (m *masks) judge(buf []byte, c stand, delimiter byte, hide bool) (fault int, inside bool, stray int) {
	var carry, mayOpen, closed uint64
	switch {
	case c.sit == quoted:
		carry = ^uint64(0)
	case c.sit == closing:
		mayOpen, closed = 1, 1
	case c.before == delimiter || c.before == '\n':
		mayOpen = 1
	}
	fault = -1
	for i, q := range m.quotes {
		sep := m.seps[i]
		in := inQuotes(q, carry)
		opens, closes := q&in, q&^in
		ends := sep | closes
		for bad := opens &^ (ends<<1 | mayOpen); bad != 0; bad = opens &^ (ends<<1 | mayOpen) {
			// The first one stands in an unquoted field: it is data, and the ones after it turn round.
			q &^= bad & -bad
			in = inQuotes(q, carry)
			opens, closes = q&in, q&^in
			ends = sep | closes
			stray++
		}
		if odd := (closes<<1 | closed) &^ (sep | q); odd != 0 && fault < 0 {
			fault = firstFault(buf, i*block, odd)
		}
		mayOpen, closed = ends>>63, closes>>63
		carry = uint64(int64(in) >> 63)
		if hide {
			m.quotes[i] = q
			m.seps[i] = sep &^ in
			m.nls[i] &^= in
		}
	}
	return fault, carry != 0, stray
}

// firstFault is the first of the odd bits, which stand after closing quotes, that is no CR of a line end.
func firstFault(buf []byte, at int, odd uint64) int {
	for ; odd != 0; odd &= odd - 1 {
		p := at + bits.TrailingZeros64(odd)
		if p >= len(buf) {
			return -1
		}
		if buf[p] != '\r' || p+1 < len(buf) && buf[p+1] != '\n' {
			return p
		}
	}
	return -1
}

// lastIn is the place of the last bit below limit, -1 where there is none.
func lastIn(mask []uint64, limit int) int {
	i := limit / block
	var m uint64
	if i < len(mask) {
		m = mask[i] & (1<<(limit%block) - 1)
	} else {
		i = len(mask)
	}
	for m == 0 {
		i--
		if i < 0 {
			return -1
		}
		m = mask[i]
	}
	return i*block + 63 - bits.LeadingZeros64(m)
}

// firstIn is the place of the first bit from a place on, -1 where there is none.
func firstIn(mask []uint64, from int) int {
	i := from / block
	if i >= len(mask) {
		return -1
	}
	m := mask[i] &^ (1<<(from%block) - 1)
	for m == 0 {
		i++
		if i >= len(mask) {
			return -1
		}
		m = mask[i]
	}
	return i*block + bits.TrailingZeros64(m)
}

// countIn counts the bits in [from, to).
func countIn(mask []uint64, from, to int) int {
	n := 0
	for i := from / block; i < len(mask) && i*block < to; i++ {
		m := mask[i]
		if i == from/block {
			m &^= 1<<(from%block) - 1
		}
		if to-i*block < block {
			m &= 1<<(to-i*block) - 1
		}
		n += bits.OnesCount64(m)
	}
	return n
}
