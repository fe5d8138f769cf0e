package datagen

import (
	"math"
	"math/bits"
	"time"
)

const (
	mostBlock       = 1024 // rows
	blockBytes      = 1 << 20
	blockTime       = 50 * time.Millisecond
	unboundedSplits = 8
)

// A layout deals rows out to splits: block after block of rows, each to the next split in turn. Idle
// splits, the last ones, are passed over once they have had their share.
type layout struct {
	rows   int64 // math.MaxInt64: without end
	rate   int64 // rows a second; 0: no limit
	splits int64
	idle   int64
	block  int64 // rows
	dealt  int64 // blocks that are dealt to all splits
}

func (b *bound) layout(splits int64) layout {
	l := layout{rows: b.Rows, rate: b.Rate, splits: splits, idle: b.Options.IdleSplits, block: b.block()}
	if l.rate > 0 { // so small that no split waits long for its next one
		l.block = min(max(quotient(l.rate, blockTime.Milliseconds(), 1000*splits), 1), l.block)
	}
	if l.idle > 0 {
		l.dealt = ceil(b.Options.IdleAfter, l.block) * splits
	}
	return l
}

// block is how many rows a block has where none are held back: less where they are wide.
func (b *bound) block() int64 { return min(max(blockBytes/b.Width, 1), mostBlock) }

func ceil(n, by int64) int64 {
	q := n / by
	if n%by > 0 {
		q++
	}
	return q
}

func (l layout) bounded() bool { return l.rows < math.MaxInt64 }
func (l layout) blocks() int64 { return ceil(l.rows, l.block) }

// active are the splits that get blocks to the end.
func (l layout) active() int64 { return l.splits - l.idle }

// first is the first block of a split, -1 where it has none.
func (l layout) first(split int64) int64 {
	if l.idle == 0 || split < l.dealt {
		return l.within(split)
	}
	return l.later(split, -1)
}

// next is the block of a split that follows one of its blocks, -1 where none does.
func (l layout) next(split, block int64) int64 {
	if l.idle == 0 || block+l.splits < l.dealt {
		return l.within(block + l.splits)
	}
	return l.later(split, block)
}

// later is the next block of a split from those that the idle splits have no part in.
func (l layout) later(split, block int64) int64 {
	if split >= l.active() {
		return -1
	}
	if block < l.dealt {
		return l.within(l.dealt + split)
	}
	return l.within(block + l.active())
}

func (l layout) within(block int64) int64 {
	if block < 0 || block >= l.blocks() {
		return -1
	}
	return block
}

// bounds are the rows of a block.
func (l layout) bounds(block int64) (from, to int64) {
	from = block * l.block
	return from, from + min(l.block, l.rows-from)
}

// rowsOf is how many rows a split has in all; 0 where they do not end.
func (l layout) rowsOf(split int64) int64 {
	if !l.bounded() {
		return 0
	}
	blocks, last := l.blocks(), int64(-1)
	count := func(from, to, place, step int64) int64 { // blocks of from to to-1 that a split has
		n := ceil(max(to-from-place, 0), step)
		if n > 0 {
			last = from + place + (n-1)*step
		}
		return n
	}
	var n int64
	if l.idle == 0 {
		n = count(0, blocks, split, l.splits)
	} else {
		n = count(0, min(l.dealt, blocks), split, l.splits)
		if split < l.active() {
			n += count(min(l.dealt, blocks), blocks, split, l.active())
		}
	}
	rows := n * l.block
	if n > 0 && last == blocks-1 {
		from, to := l.bounds(last)
		rows -= l.block - (to - from)
	}
	return rows
}

// due is how long after the beginning a row comes.
func (l layout) due(row int64) time.Duration {
	if l.rate == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(row), uint64(time.Second))
	if hi >= uint64(l.rate) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(l.rate))
	return time.Duration(min(q, math.MaxInt64))
}
