package connectortest

import (
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// CPUSeconds is how long the process has computed.
func CPUSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// ReadOnce reads a source in its default splits with one reader, and lets go of what it gives.
func ReadOnce(b testing.TB, src connectors.Source) {
	b.Helper()
	InTurns(b, src, connectors.SplitOptions{}, 1, &pool{free: map[int][][]byte{}}, func(x operators.Batch) { x.Rec.Release() })
}

// A pool hands freed memory out again, as the allocator of a task does.
type pool struct{ free map[int][][]byte }

func (p *pool) Allocate(n int) []byte {
	if l := p.free[n]; len(l) > 0 {
		b := l[len(l)-1]
		p.free[n] = l[:len(l)-1]
		return b
	}
	return memory.DefaultAllocator.Allocate(n)
}

func (p *pool) Reallocate(n int, b []byte) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	c := p.Allocate(n)
	copy(c, b)
	p.Free(b)
	return c
}

func (p *pool) Free(b []byte) {
	if cap(b) > 0 {
		p.free[cap(b)] = append(p.free[cap(b)], b[:cap(b)])
	}
}

// Dirty is an allocator that hands out memory that was used before, so that what is not written is seen.
type Dirty struct{ memory.Allocator }

// Allocate gives memory of so many bytes, none of which is zero.
func (d Dirty) Allocate(n int) []byte { return soil(d.Allocator.Allocate(n)) }

// Reallocate makes memory larger or smaller.
func (d Dirty) Reallocate(n int, b []byte) []byte {
	old := len(b)
	b = d.Allocator.Reallocate(n, b)
	soil(b[min(old, n):])
	return b
}

func soil(b []byte) []byte {
	for i := range b {
		b[i] = 0xA5
	}
	return b
}
