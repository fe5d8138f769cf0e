package parquet

import (
	"encoding/binary"
	"math/bits"
)

// bitWidth is how many bits the numbers up to most take.
func bitWidth(most uint32) int { return bits.Len32(most) }

// appendHybrid appends codes of a width of up to 32 bits as the format's mix of repeated and
// bit-packed runs. A run is repeated where that takes fewer bytes.
func appendHybrid(b []byte, codes []uint32, width int) []byte {
	if width == 0 {
		if len(codes) == 0 {
			return b
		}
		return binary.AppendUvarint(b, uint64(len(codes))<<1)
	}
	// A repeated run costs a header and a value, and the packed run behind it another header.
	least := 8 * (1 + 8/width)
	from := 0 // where the packed run begins that is not written yet
	for at := 0; at+8 <= len(codes); {
		first := codes[at]
		if codes[at+1] != first || codes[at+7] != first {
			at += 8
			continue
		}
		n := 2
		for at+n < len(codes) && codes[at+n] == first {
			n++
		}
		if n < least {
			at += 8 // the run stays in groups of eight
			continue
		}
		b = appendPacked(b, codes[from:at], width)
		b = appendRepeated(b, first, n, width)
		at += n
		from = at
	}
	return appendPacked(b, codes[from:], width)
}

func appendRepeated(b []byte, v uint32, n, width int) []byte {
	b = binary.AppendUvarint(b, uint64(n)<<1)
	for range (width + 7) / 8 {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}

// appendPacked appends a bit-packed run. Only the last run of a page may have a number of values that
// is no multiple of eight; it is filled up.
func appendPacked(b []byte, codes []uint32, width int) []byte {
	if len(codes) == 0 {
		return b
	}
	groups := (len(codes) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	b = roomFor(b, groups*width+16)
	whole := len(codes) &^ 7
	b = packEights(b, codes[:whole], width)
	if whole < len(codes) {
		var last [8]uint32
		copy(last[:], codes[whole:])
		b = packEights(b, last[:], width)
	}
	return b
}

// roomFor makes sure that n bytes can be written behind b without growing it.
func roomFor(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	grown := make([]byte, len(b), max(2*cap(b), len(b)+n))
	copy(grown, b)
	return grown
}

// packEights packs groups of eight numbers, width bytes each. There are 16 bytes of room behind them,
// so that words can be stored whole.
func packEights(b []byte, v []uint32, width int) []byte {
	at, to := len(b), b[:cap(b)]
	w := uint(width) & 63
	switch {
	case width <= 8:
		for ; len(v) >= 8; v = v[8:] {
			g := v[:8:8]
			word := uint64(g[0]) | uint64(g[1])<<w | uint64(g[2])<<(2*w&63) | uint64(g[3])<<(3*w&63) |
				uint64(g[4])<<(4*w&63) | uint64(g[5])<<(5*w&63) | uint64(g[6])<<(6*w&63) | uint64(g[7])<<(7*w&63)
			binary.LittleEndian.PutUint64(to[at:], word)
			at += width
		}
	case width <= 16:
		for ; len(v) >= 8; v = v[8:] {
			g := v[:8:8]
			low := uint64(g[0]) | uint64(g[1])<<w | uint64(g[2])<<(2*w&63) | uint64(g[3])<<(3*w&63)
			high := uint64(g[4]) | uint64(g[5])<<w | uint64(g[6])<<(2*w&63) | uint64(g[7])<<(3*w&63)
			// The four numbers of a half take 4 * width bits, of which the low word has room for 64.
			binary.LittleEndian.PutUint64(to[at:], low|high<<(4*w))
			binary.LittleEndian.PutUint64(to[at+8:], high>>(64-4*w))
			at += width
		}
	default:
		for ; len(v) >= 8; v = v[8:] {
			var word uint64
			have := uint(0)
			for _, x := range v[:8] {
				word |= uint64(x) << have
				if have += w; have >= 32 {
					binary.LittleEndian.PutUint32(to[at:], uint32(word))
					at, word, have = at+4, word>>32, have-32
				}
			}
			for ; have > 0; have -= 8 {
				to[at] = byte(word)
				at, word = at+1, word>>8
			}
		}
	}
	return to[:at]
}

// appendLevels appends definition levels, which are given as bits, in the form of data pages: their
// length and the runs. Without bits all n levels are 1.
func appendLevels(b []byte, defined []uint64, n int) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	if defined == nil {
		b = appendRepeated(b, 1, n, 1)
	} else {
		b = appendBits(b, defined, n)
	}
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// appendLevelCodes appends levels up to a highest one, in the form of data pages.
func appendLevelCodes(b []byte, levels []uint32, most uint32) []byte {
	start := len(b)
	b = appendHybrid(append(b, 0, 0, 0, 0), levels, bitWidth(most))
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// appendBits appends n bits as runs of width 1: words that are all alike as repeated runs, the others
// as they are.
func appendBits(b []byte, words []uint64, n int) []byte {
	whole := n / 64
	for at := 0; at < whole; {
		to := at + 1
		if w := words[at]; w == 0 || w == ^uint64(0) {
			for to < whole && words[to] == w {
				to++
			}
			b = appendRepeated(b, uint32(w&1), 64*(to-at), 1)
			at = to
			continue
		}
		for to < whole && words[to] != 0 && words[to] != ^uint64(0) {
			to++
		}
		b = binary.AppendUvarint(b, uint64(8*(to-at))<<1|1)
		for _, w := range words[at:to] {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		at = to
	}
	if rest := n - 64*whole; rest > 0 {
		size := (rest + 7) / 8
		b = binary.AppendUvarint(b, uint64(size)<<1|1)
		w := words[whole]
		for range size {
			b = append(b, byte(w))
			w >>= 8
		}
	}
	return b
}
