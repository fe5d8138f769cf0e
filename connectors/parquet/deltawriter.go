package parquet

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// The blocks that all readers know: 128 differences in four parts.
const (
	deltaBlock = 128
	deltaPart  = 32
	deltaParts = deltaBlock / deltaPart
)

// appendDeltaPacked appends values as DELTA_BINARY_PACKED: differences above the least one of their
// block. Differences wrap around in the values' own width, as the format says.
func appendDeltaPacked[T int32 | int64](b []byte, values []T) []byte {
	b = binary.AppendUvarint(b, deltaBlock)
	b = binary.AppendUvarint(b, deltaParts)
	b = binary.AppendUvarint(b, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(b, 0)
	}
	b = binary.AppendVarint(b, int64(values[0]))
	var d [deltaBlock]T
	for last := values[0]; len(values) > 1; {
		n := min(len(values)-1, deltaBlock)
		least := values[1] - last
		for i, v := range values[1 : n+1] {
			d[i] = v - last
			last = v
			least = min(least, d[i])
		}
		b = binary.AppendVarint(b, int64(least))
		b = appendDeltaBlock(b, &d, n, least)
		values = values[n:]
	}
	return b
}

func appendDeltaBlock[T int32 | int64](b []byte, d *[deltaBlock]T, n int, least T) []byte {
	var above [deltaBlock]uint64
	if unsafe.Sizeof(least) == 4 {
		for i, v := range d[:n] {
			above[i] = uint64(uint32(v - least))
		}
	} else {
		for i, v := range d[:n] {
			above[i] = uint64(v - least)
		}
	}
	b = roomFor(b, deltaParts+8*deltaBlock+8)
	at := len(b) + deltaParts
	widths := b[len(b):at]
	to := b[:cap(b)]
	for p := range deltaParts {
		if p*deltaPart >= n {
			widths[p] = 0 // of parts without values nothing is stored
			continue
		}
		part := above[p*deltaPart : (p+1)*deltaPart]
		all := uint64(0)
		for _, v := range part {
			all |= v
		}
		w := bits.Len64(all)
		widths[p] = byte(w)
		packPart(to[at:], part, uint(w))
		at += deltaPart / 8 * w
	}
	return to[:at]
}

// packPart packs 32 numbers of w bits, up to 64; there are 8 bytes of room behind them.
func packPart(to []byte, v []uint64, w uint) {
	if w == 0 {
		return
	}
	var word uint64
	have, at := uint(0), 0
	for _, x := range v {
		word |= x << have
		if have += w; have >= 64 {
			binary.LittleEndian.PutUint64(to[at:], word)
			at += 8
			have -= 64
			word = x >> (w - have) // nothing where all of x was stored
		}
	}
	if have > 0 {
		binary.LittleEndian.PutUint64(to[at:], word)
	}
}
