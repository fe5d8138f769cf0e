package aggregate

import "github.com/apache/arrow/go/v17/arrow"

const (
	blockBits  = 6      // of a key are its place in its block: keys that go by steps are in all parts, too
	closeTimes = 1 << 6 // as many numbers as there are keys are still close together
)

// spreadBlocks is the first half of spread for integers that lie close together.
func (p *partitions) spreadBlocks(keys arrow.Array, sel []int32) {
	if p.columns[0].width == 8 {
		blockTargets(words[uint64](keys), sel, p.target)
	} else {
		blockTargets(words[uint32](keys), sel, p.target)
	}
}

func blockTargets[T uint32 | uint64](keys []T, sel []int32, target []uint8) {
	if sel == nil {
		for i, k := range keys[:len(target)] {
			target[i] = uint8(k>>blockBits) & (partCount - 1)
		}
		return
	}
	for i, row := range sel {
		target[i] = uint8(keys[row]>>blockBits) & (partCount - 1)
	}
}

// takeKeys is take for keys that are parted by blocks: without the number of their part.
func (c *gathered) takeKeys(from arrow.Array, rows []int32, at int) {
	if c.width == 8 {
		to, from := view[int64](c.words)[at:][:len(rows)], words[int64](from)
		for i, row := range rows {
			to[i] = withoutPart(from[row])
		}
		return
	}
	to, values := view[int32](c.words)[at:][:len(rows)], words[int32](from)
	for i, row := range rows {
		to[i] = withoutPart(values[row])
	}
}

func withoutPart[T int32 | int64](key T) T {
	return key>>(blockBits+partBits)<<blockBits | key&(1<<blockBits-1)
}

// withPart is the key that withoutPart had.
func withPart[T int32 | int64](key T, part int) T {
	return key>>blockBits<<(blockBits+partBits) | T(part)<<blockBits | key&(1<<blockBits-1)
}

// restore gives the keys of a part what they were without, in place.
func (p *partitions) restore(keys arrow.Array, part int) {
	switch {
	case !p.blocks:
	case p.columns[0].width == 8:
		restoreKeys(words[int64](keys), part)
	default:
		restoreKeys(words[int32](keys), part)
	}
}

func restoreKeys[T int32 | int64](keys []T, part int) {
	for i, k := range keys {
		keys[i] = withPart(k, part)
	}
}
