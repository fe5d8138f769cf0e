package aggregate

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

const (
	blockBits  = 6      // of a key are its place in its block: keys that go by steps are in all parts, too
	closeTimes = 1 << 6 // as many numbers as there are keys are still close together
)

// byBlocks has parts be by blocks of the only key, whose places in its part have 32 bits.
func (p *partitions) byBlocks() {
	c := &p.columns[0]
	p.rowSize += 4 - int64(c.width)
	p.blocks, p.wide, c.width = true, c.width == 8, 4
}

// near reports whether all keys have places of 32 bits, as those that lie close together have.
func (p *partitions) near(keys arrow.Array, sel []int32) bool {
	if !p.wide {
		return true
	}
	const most = 1 << (31 + partBits)
	var seen uint64
	values := words[uint64](keys)
	if sel == nil {
		for _, k := range values {
			seen |= k + most
		}
	} else {
		for _, row := range sel {
			seen |= values[row] + most
		}
	}
	return seen < 2*most
}

// spreadBlocks is the first half of spread for integers that lie close together.
func (p *partitions) spreadBlocks(keys arrow.Array, sel []int32) {
	if p.wide {
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
func (p *partitions) takeKeys(from arrow.Array, rows []int32, at int) {
	to := view[int32](p.columns[0].words)[at:][:len(rows)]
	if p.wide {
		takePlaces(to, words[int64](from), rows)
	} else {
		takePlaces(to, words[int32](from), rows)
	}
}

func takePlaces[T int32 | int64](to []int32, from []T, rows []int32) {
	for i, row := range rows {
		to[i] = int32(withoutPart(from[row]))
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
	case p.wide:
		restoreKeys(words[int64](keys), part)
	default:
		restoreKeys(words[int32](keys), part)
	}
}

// keysOf are the keys of a part's gathered rows as they came; the caller releases them.
func (p *partitions) keysOf(q *part, cols []arrow.Array) []arrow.Array {
	keys := make([]arrow.Array, len(p.layout.keys))
	for i, k := range p.layout.keys {
		keys[i] = cols[k]
		keys[i].Retain()
	}
	if !p.blocks {
		return keys
	}
	places := words[int32](keys[0])
	size := 4
	if p.wide {
		size = 8
	}
	buf := memory.NewResizableBuffer(p.task.Alloc)
	buf.Resize(len(places) * size)
	for i, x := range places {
		if p.wide {
			view[int64](buf.Bytes())[i] = withPart(int64(x), q.number)
		} else {
			view[int32](buf.Bytes())[i] = withPart(x, q.number)
		}
	}
	d := array.NewData(p.columns[0].typ, len(places), []*memory.Buffer{nil, buf}, nil, 0, 0)
	defer d.Release()
	buf.Release()
	keys[0] = array.MakeFromData(d)
	return keys
}

func restoreKeys[T int32 | int64](keys []T, part int) {
	for i, k := range keys {
		keys[i] = withPart(k, part)
	}
}
