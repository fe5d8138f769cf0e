package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
)

var errDelta = errors.New("a page packed by differences ends early")

// deltas decodes DELTA_BINARY_PACKED: blocks of miniblocks of differences above a least one. It gives
// what follows in the page, too. There are at most `most` values.
func deltas(b []byte, most int) (values []int64, rest []byte, err error) {
	var head [3]uint64 // block size, miniblocks of a block, values
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, nil, errDelta
		}
		head[i], b = v, b[n:]
	}
	first, n := binary.Varint(b)
	if n <= 0 {
		return nil, nil, errDelta
	}
	b = b[n:]
	if head[2] > uint64(most) {
		return nil, nil, fmt.Errorf("it packs %d values, and %d are expected", head[2], most)
	}
	if head[0] == 0 || head[0] > 1<<20 || head[1] == 0 || head[0]%head[1] != 0 || head[0]/head[1]%8 != 0 {
		return nil, nil, fmt.Errorf("it packs blocks of %d values in %d parts", head[0], head[1])
	}
	count, parts, each := int(head[2]), int(head[1]), int(head[0]/head[1])
	if count == 0 {
		return nil, b, nil
	}
	values = make([]int64, 1, count)
	values[0] = first
	for len(values) < count {
		least, n := binary.Varint(b)
		if n <= 0 || len(b) < n+parts {
			return nil, nil, errDelta
		}
		widths := b[n : n+parts]
		b = b[n+parts:]
		for _, w := range widths {
			if len(values) == count {
				break // widths of parts without values may be anything
			}
			n := min(each, count-len(values))
			if w > 64 || len(b) < (n*int(w)+7)/8 {
				return nil, nil, errDelta
			}
			values = appendDeltas(values, b, n, int(w), least)
			b = b[min(each/8*int(w), len(b)):]
		}
	}
	return values, b, nil
}

// appendDeltas adds up n differences of w bits. Sums wrap around, as the format says.
func appendDeltas(values []int64, b []byte, n, w int, least int64) []int64 {
	last := values[len(values)-1]
	done := 0
	if w <= 57 { // with up to seven bits before it a difference lies in one word
		mask := uint64(1)<<w - 1
		for bit := 0; done < n && bit>>3+8 <= len(b); done, bit = done+1, bit+w {
			last += least + int64(binary.LittleEndian.Uint64(b[bit>>3:])>>(bit&7)&mask)
			values = append(values, last)
		}
	}
	for i := done; i < n; i++ {
		last += least + int64(bitsAt(b, i*w, w))
		values = append(values, last)
	}
	return values
}

// bitsAt reads w bits, up to 64, from a bit on.
func bitsAt(b []byte, bit, w int) uint64 {
	var v uint64
	for got := 0; got < w; {
		c := uint64(b[bit>>3]) >> (bit & 7)
		take := min(8-bit&7, w-got)
		v |= c & (1<<take - 1) << got
		got += take
		bit += take
	}
	return v
}

// deltaLengths decodes DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
func deltaLengths(b []byte, n int) ([]parquet.ByteArray, error) {
	lengths, rest, err := deltas(b, n)
	if err != nil {
		return nil, err
	}
	list := make([]parquet.ByteArray, len(lengths))
	for i, l := range lengths {
		if l < 0 || l > int64(len(rest)) {
			return nil, errDelta
		}
		list[i], rest = rest[:l:l], rest[l:]
	}
	return list, nil
}

// deltaBytes decodes DELTA_BYTE_ARRAY: how much of the value before begins each value, and the rest.
func deltaBytes(b []byte, n int) ([]parquet.ByteArray, error) {
	prefixes, rest, err := deltas(b, n)
	if err != nil {
		return nil, err
	}
	suffixes, err := deltaLengths(rest, n)
	if err != nil {
		return nil, err
	}
	if len(prefixes) != len(suffixes) {
		return nil, errDelta
	}
	var last parquet.ByteArray
	total := 0
	for i, p := range prefixes {
		if p < 0 || p > int64(len(last)) {
			return nil, errDelta
		}
		if p > 0 {
			if total += int(p) + len(suffixes[i]); total > maxPage {
				return nil, fmt.Errorf("its texts take more than %d bytes", maxPage)
			}
			v := make(parquet.ByteArray, 0, int(p)+len(suffixes[i]))
			suffixes[i] = append(append(v, last[:p]...), suffixes[i]...)
		}
		last = suffixes[i]
	}
	return suffixes, nil
}
