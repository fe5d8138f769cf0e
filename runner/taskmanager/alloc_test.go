package taskmanager

import (
	"math/rand/v2"
	"testing"
)

// Sizes fall into the smallest class that holds them, and a class's buffers fall into it again.
func TestClasses(t *testing.T) {
	last := 0
	for n := 1; n <= 1<<poolMaxBits; n += 1 + n/50 {
		c, size := classOf(n)
		if size < n || c < last || c >= poolClasses {
			t.Fatalf("%d bytes: class %d of %d bytes, after class %d", n, c, size, last)
		}
		last = c
		if again, same := classOf(size); again != c || same != size {
			t.Fatalf("class %d of %d bytes is class %d of %d bytes", c, size, again, same)
		}
	}
}

// Buffers come zeroed however often they were used, keep their contents when they grow, and all are
// counted.
func TestPool(t *testing.T) {
	p := NewPool(1 << 20)
	rng := rand.New(rand.NewPCG(1, 1))
	var held [][]byte
	for range 20_000 {
		switch {
		case len(held) < 20 || rng.IntN(2) == 0:
			b := p.Allocate(rng.IntN(100_000))
			for i, x := range b {
				if x != 0 {
					t.Fatalf("byte %d of %d is %d", i, len(b), x)
				}
			}
			for i := range b {
				b[i] = byte(i) | 1
			}
			held = append(held, b)
		case rng.IntN(2) == 0:
			i := rng.IntN(len(held))
			old := len(held[i])
			b := p.Reallocate(rng.IntN(100_000), held[i])
			for k, x := range b {
				if k < old && x != byte(k)|1 || k >= old && x != 0 {
					t.Fatalf("byte %d of %d, %d before, is %d", k, len(b), old, x)
				}
			}
			for k := range b {
				b[k] = byte(k) | 1
			}
			held[i] = b
		default:
			i := rng.IntN(len(held))
			p.Free(held[i])
			held[i] = held[len(held)-1]
			held = held[:len(held)-1]
		}
	}
	sum := int64(0)
	for _, b := range held {
		sum += int64(len(b))
	}
	if p.InUse() != sum {
		t.Errorf("%d bytes are in use, counted %d", sum, p.InUse())
	}
	for _, b := range held {
		p.Free(b)
	}
	if p.InUse() != 0 || p.held.Load() > p.keep {
		t.Errorf("%d bytes in use, %d kept", p.InUse(), p.held.Load())
	}
}
