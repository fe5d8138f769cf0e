package taskmanager

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A Pool is an Arrow allocator that keeps freed buffers for the next batch, so that a steady stream of
// batches allocates nothing and the garbage collector has nothing to do. Buffers come zeroed.
type Pool struct {
	keep  int64 // bytes of free buffers kept
	held  atomic.Int64
	inUse atomic.Int64
	class [poolClasses]poolClass
}

const (
	poolMinBits = 8  // 256 bytes
	poolMaxBits = 24 // 16 MiB; larger buffers are left to the garbage collector
	poolClasses = (poolMaxBits-poolMinBits)*2 + 1
)

type poolClass struct {
	mu   sync.Mutex
	free [][]byte
}

// NewPool makes a pool that keeps up to so many bytes of free buffers.
func NewPool(keep int64) *Pool { return &Pool{keep: keep} }

// classOf is the smallest class that holds n bytes: sizes go 256, 384, 512, 768, 1024 …
func classOf(n int) (class, size int) {
	if n <= 1<<poolMinBits {
		return 0, 1 << poolMinBits
	}
	b := bits.Len(uint(n - 1)) // n <= 1<<b
	if mid := 3 << (b - 2); n <= mid {
		return (b-1-poolMinBits)*2 + 1, mid
	}
	return (b - poolMinBits) * 2, 1 << b
}

// Allocate gives n zero bytes.
func (p *Pool) Allocate(n int) []byte {
	p.inUse.Add(int64(n))
	if n > 1<<poolMaxBits {
		return memory.DefaultAllocator.Allocate(n)
	}
	c, size := classOf(n)
	k := &p.class[c]
	k.mu.Lock()
	if last := len(k.free) - 1; last >= 0 {
		b := k.free[last]
		k.free[last] = nil
		k.free = k.free[:last]
		k.mu.Unlock()
		p.held.Add(-int64(size))
		b = b[:n]
		clear(b)
		return b
	}
	k.mu.Unlock()
	return memory.DefaultAllocator.Allocate(size)[:n]
}

// Reallocate resizes a buffer; what is new is zero.
func (p *Pool) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) && n <= 1<<poolMaxBits && cap(b) > 0 {
		p.inUse.Add(int64(n - len(b)))
		if old := len(b); n > old {
			b = b[:n]
			clear(b[old:])
			return b
		}
		return b[:n]
	}
	c := p.Allocate(n)
	copy(c, b)
	p.Free(b)
	return c
}

// Free takes a buffer back.
func (p *Pool) Free(b []byte) {
	p.inUse.Add(-int64(len(b)))
	if cap(b) == 0 || cap(b) > 1<<poolMaxBits {
		return
	}
	c, size := classOf(cap(b))
	if size != cap(b) { // not ours: an odd capacity belongs to no class
		return
	}
	if p.held.Add(int64(size)) > p.keep {
		p.held.Add(-int64(size))
		return
	}
	k := &p.class[c]
	k.mu.Lock()
	k.free = append(k.free, b[:0])
	k.mu.Unlock()
}

// InUse is the number of bytes handed out and not freed.
func (p *Pool) InUse() int64 { return p.inUse.Load() }
