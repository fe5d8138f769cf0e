package parquet

import (
	"encoding/binary"
	"errors"
)

// A hybrid reads the format's mix of repeated and bit-packed numbers, which holds levels, codes of a
// dictionary and truth values.
type hybrid struct {
	rest   []byte
	width  int    // bits of a number, 0 to 32
	repeat int    // left of a repeated run
	value  uint32 // which is this one
	packed []byte // a bit-packed run
	bit    int    // its next bit
	left   int    // numbers left in it
}

var errHybrid = errors.New("a run of levels or codes ends early")

// fill reads as many numbers as out takes.
func fill[T int16 | int32](h *hybrid, out []T) error {
	for len(out) > 0 {
		switch {
		case h.repeat > 0:
			n := min(h.repeat, len(out))
			for i := range out[:n] {
				out[i] = T(h.value)
			}
			h.repeat -= n
			out = out[n:]
		case h.left > 0:
			n := min(h.left, len(out))
			unpack(h, out[:n])
			h.left -= n
			out = out[n:]
		default:
			if err := h.run(); err != nil {
				return err
			}
		}
	}
	return nil
}

// run reads the header of the next run.
func (h *hybrid) run() error {
	head, n := binary.Uvarint(h.rest)
	if n <= 0 || head>>1 == 0 || head>>1 > 1<<31 {
		return errHybrid
	}
	h.rest = h.rest[n:]
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if len(h.rest) < size {
			return errHybrid
		}
		h.repeat, h.value = int(head>>1), 0
		for i, b := range h.rest[:size] {
			h.value |= uint32(b) << (8 * i)
		}
		h.rest = h.rest[size:]
		return nil
	}
	// Groups of eight; the last run may be cut off at the end of the page.
	groups := int(head >> 1)
	size := groups * h.width
	h.left, h.bit = groups*8, 0
	if size > len(h.rest) {
		if h.width == 0 || len(h.rest) == 0 {
			return errHybrid
		}
		size = len(h.rest)
		h.left = size * 8 / h.width
		if h.left == 0 {
			return errHybrid
		}
	}
	h.packed, h.rest = h.rest[:size], h.rest[size:]
	return nil
}

// unpack reads numbers of a bit-packed run: eight at a time where whole bytes begin, one by one before
// and at the end.
func unpack[T int16 | int32](h *hybrid, out []T) {
	for len(out) > 0 && h.bit&7 != 0 {
		unpackEach(h, out[:1])
		out = out[1:]
	}
	if n := len(out) &^ 7; n > 0 {
		done := unpackEights(h.packed[h.bit>>3:], h.width, out[:n])
		h.bit += done * h.width
		out = out[done:]
	}
	unpackEach(h, out)
}

// unpackEights unpacks as many groups of eight numbers as can be loaded in words without reading past
// the end, and says how many numbers those are.
//
//tidy:long the loop of the hot path stays in one place
func unpackEights[T int16 | int32](b []byte, width int, out []T) int {
	w, mask := uint(width)&63, uint64(1)<<(width&63)-1
	done := 0
	switch {
	case width == 1: // levels of columns with NULLs
		for ; len(out) >= 8 && len(b) > 0; b, out, done = b[1:], out[8:], done+8 {
			o, v := out[:8:8], b[0]
			o[0], o[1], o[2], o[3] = T(v&1), T(v>>1&1), T(v>>2&1), T(v>>3&1)
			o[4], o[5], o[6], o[7] = T(v>>4&1), T(v>>5&1), T(v>>6&1), T(v>>7)
		}
	case width <= 8:
		for ; len(out) >= 8 && len(b) >= width+8; b, out, done = b[width:], out[8:], done+8 {
			o, v := out[:8:8], binary.LittleEndian.Uint64(b)
			o[0] = T(v & mask)
			v >>= w
			o[1] = T(v & mask)
			v >>= w
			o[2] = T(v & mask)
			v >>= w
			o[3] = T(v & mask)
			v >>= w
			o[4] = T(v & mask)
			v >>= w
			o[5] = T(v & mask)
			v >>= w
			o[6] = T(v & mask)
			v >>= w
			o[7] = T(v & mask)
		}
	case width <= 15: // four numbers and half a byte fit a word
		for ; len(out) >= 8 && len(b) >= width+8; b, out, done = b[width:], out[8:], done+8 {
			o, v := out[:8:8], binary.LittleEndian.Uint64(b)
			u := binary.LittleEndian.Uint64(b[width>>1:]) >> (width & 1 * 4)
			o[0], o[4] = T(v&mask), T(u&mask)
			v, u = v>>w, u>>w
			o[1], o[5] = T(v&mask), T(u&mask)
			v, u = v>>w, u>>w
			o[2], o[6] = T(v&mask), T(u&mask)
			v, u = v>>w, u>>w
			o[3], o[7] = T(v&mask), T(u&mask)
		}
	default:
		for ; len(out) >= 8 && len(b) >= width+8; b, out, done = b[width:], out[8:], done+8 {
			o, p, bit := out[:8:8], b[:width+8], 0
			for i := range o {
				o[i] = T(binary.LittleEndian.Uint64(p[bit>>3:]) >> (bit & 7) & mask)
				bit += width
			}
		}
	}
	return done
}

// unpackEach unpacks numbers one by one.
func unpackEach[T int16 | int32](h *hybrid, out []T) {
	mask := uint64(1)<<h.width - 1
	b, bit := h.packed, h.bit
	for i := range out {
		at := bit >> 3
		var word uint64
		if at+8 <= len(b) {
			word = binary.LittleEndian.Uint64(b[at:])
		} else {
			for k, c := range b[at:] {
				word |= uint64(c) << (8 * k)
			}
		}
		out[i] = T(word >> (bit & 7) & mask)
		bit += h.width
	}
	h.bit = bit
}

// oneRun reports that the numbers are one repeated run of at least n.
func (h *hybrid) oneRun(n int) (uint32, bool) {
	if h.repeat == 0 && h.left == 0 && h.run() != nil {
		return 0, false
	}
	return h.value, h.repeat >= n
}
