package aggregate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// sums is a store of one slot.
func sums() *flatStore {
	f := &flatStore{words: make([][]uint64, 2), bytes: []*flatBytes{{}}}
	f.reset(1)
	return f
}

func (f *flatStore) addAll(v []float64) {
	addDoubles(v, pick{slots: make([]uint32, len(v))}, f.words[0], f.words[1], f.bytes[0])
}

func (f *flatStore) rounded() float64 {
	return roundSum(f.words[0][0], f.words[1][0], f.bytes[0].Get(0))
}

// exactly is the sum by arithmetic on rationals.
func exactly(v []float64) float64 {
	sum := new(big.Float).SetPrec(4000)
	for _, x := range v {
		sum.Add(sum, new(big.Float).SetFloat64(x))
	}
	f, _ := sum.Float64()
	if f == 0 {
		return 0
	}
	return f
}

// TestSumOfDoublesIsExact compares sums over all exponents, around the borders of the fixed-point
// number, and with cancellation, with exact arithmetic; merged in any split they are the same bits.
func TestSumOfDoublesIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	makers := map[string]func() float64{
		"money":   func() float64 { return float64(r.Int64N(2_000_000)-1_000_000) / 100 },
		"any":     func() float64 { return randomDouble(r, 1, 2046) },
		"borders": func() float64 { return randomDouble(r, lowExponent-3, lowExponent+maxShift+3) },
		"large":   func() float64 { return randomDouble(r, lowExponent+maxShift-2, lowExponent+maxShift) },
		"tiny":    func() float64 { return math.Float64frombits(r.Uint64() & (1<<53 - 1)) },
		"same":    func() float64 { return 0.1 },
	}
	for name, value := range makers {
		for round := range 200 {
			v := make([]float64, 1+r.IntN(200))
			for i := range v {
				v[i] = value()
				if i > 0 && r.IntN(4) == 0 {
					v[i] = -v[r.IntN(i)]
				}
			}
			want := exactly(v)
			whole := sums()
			whole.addAll(v)
			if got := whole.rounded(); math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s, round %d: %v instead of %v for %v", name, round, got, want, v)
			}
			if got := merged(r, v); math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s, round %d, merged: %v instead of %v for %v", name, round, got, want, v)
			}
		}
	}
}

func randomDouble(r *rand.Rand, from, to int) float64 {
	e := uint64(from + r.IntN(to-from+1))
	return math.Float64frombits(r.Uint64()&(1<<63|1<<52-1) | e<<52)
}

// merged is the sum of partial sums over a random split in random order.
func merged(r *rand.Rand, v []float64) float64 {
	total := sums()
	r.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
	for len(v) > 0 {
		n := 1 + r.IntN(len(v))
		part := sums()
		part.addAll(v[:n])
		mergeFixed(part.words[0][0], part.words[1][0], 0, total.words[0], total.words[1], total.bytes[0])
		mergeOdd(part.bytes[0].Get(0), 0, total.bytes[0])
		v = v[n:]
	}
	return total.rounded()
}

// TestAccumulatorCarries adds and merges often enough for late carries to be taken.
func TestAccumulatorCarries(t *testing.T) {
	a, b := &accumulator{}, &accumulator{}
	for range 1000 {
		a.add(math.MaxFloat64)
		b.add(-math.MaxFloat64)
	}
	a.add(3)
	a.adds, b.adds = maxAdds-1, maxAdds-1
	a.merge(openAccumulator(b.bytes()))
	if got := a.round(0, 0); got != 3 {
		t.Errorf("the sum is %v instead of 3", got)
	}
	a.adds = maxAdds - 1
	a.add(-5)
	if got := a.round(0, 0); got != -2 {
		t.Errorf("the sum is %v instead of -2", got)
	}
}
