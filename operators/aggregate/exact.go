package aggregate

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/seed-4b0e9f7c/runner/operators"
)

// A sum of DOUBLE is exact. Values whose bits all lie between 2^-76 and 2^50 are added to a 128-bit
// fixed-point number in units of 2^-76 (two words); all others, and what overflows it, go to a
// superaccumulator in the state's byte string, empty for most groups. The result is rounded once,
// so it does not depend on order, batches or parallelism.
const (
	fixedUnit   = -76
	lowExponent = 1075 + fixedUnit // biased exponent of the least value whose last bit is 2^-76
	fastShift   = 63               // of a mantissa that needs no care: values below 2^40
	maxShift    = 73               // of a mantissa inside the fixed-point number: 53 + 73 bits and the sign

	mantissaMask = 1<<52 - 1
	implicitBit  = 1 << 52
)

// addDoubles adds the picked values.
func addDoubles(v []float64, p pick, lo, hi []uint64, ext operators.BytesColumn) {
	if p.rows == nil {
		addInOrder(v, p.slots, lo, hi, ext)
		return
	}
	var some [1024]float64
	for from := 0; from < len(p.slots); from += len(some) {
		rows := p.rows[from:min(from+len(some), len(p.slots))]
		for i, row := range rows {
			some[i] = v[row]
		}
		addInOrder(some[:], p.slots[from:from+len(rows)], lo, hi, ext)
	}
}

// addInOrder adds a value for each slot.
func addInOrder(v []float64, slots []uint32, lo, hi []uint64, ext operators.BytesColumn) {
	v = v[:len(slots)]
	hi = hi[:len(lo)]
	for i, s := range slots {
		x := math.Float64bits(v[i])
		shift := uint(x>>52&0x7FF) - lowExponent
		if shift > fastShift {
			addDouble(v[i], s, lo, hi, ext)
			continue
		}
		m := x&mantissaMask | implicitBit
		sign := uint64(int64(x) >> 63)
		vlo := m<<(shift&63) ^ sign
		vhi := m>>1>>((63-shift)&63) ^ sign
		old := hi[s]
		l, c := bits.Add64(lo[s], vlo, sign&1)
		h, _ := bits.Add64(old, vhi, c)
		if int64((h^old)&(h^vhi)) < 0 {
			addDouble(v[i], s, lo, hi, ext)
			continue
		}
		lo[s], hi[s] = l, h
	}
}

// addDouble adds any one value.
func addDouble(f float64, s uint32, lo, hi []uint64, ext operators.BytesColumn) {
	if f == 0 {
		return
	}
	x := math.Float64bits(f)
	shift := uint(x>>52&0x7FF) - lowExponent
	if shift <= maxShift {
		m := x&mantissaMask | implicitBit
		sign := uint64(int64(x) >> 63)
		vlo := m<<shift ^ sign
		vhi := (m>>(64-shift) | m<<(shift-64)) ^ sign
		l, c := bits.Add64(lo[s], vlo, sign&1)
		h, _ := bits.Add64(hi[s], vhi, c)
		if int64((h^hi[s])&(h^vhi)) >= 0 {
			lo[s], hi[s] = l, h
			return
		}
	}
	a := openAccumulator(ext.Get(s))
	a.add(f)
	ext.Set(s, a.bytes())
}

// mergeFixed adds a partial sum's fixed-point part; on overflow what was there moves to the
// superaccumulator first.
func mergeFixed(plo, phi uint64, s uint32, lo, hi []uint64, ext operators.BytesColumn) {
	l, c := bits.Add64(lo[s], plo, 0)
	h, _ := bits.Add64(hi[s], phi, c)
	if int64((h^hi[s])&(h^phi)) < 0 {
		a := openAccumulator(ext.Get(s))
		a.addFixed(lo[s], hi[s])
		ext.Set(s, a.bytes())
		l, h = plo, phi
	}
	lo[s], hi[s] = l, h
}

// mergeOdd adds a partial sum's superaccumulator.
func mergeOdd(partial []byte, s uint32, ext operators.BytesColumn) {
	if len(partial) == 0 {
		return
	}
	own := ext.Get(s)
	if len(own) == 0 {
		ext.Set(s, partial)
		return
	}
	a := openAccumulator(own)
	a.merge(openAccumulator(partial))
	ext.Set(s, a.bytes())
}

// roundSum is the exact sum rounded to the nearest DOUBLE, ties to even.
func roundSum(lo, hi uint64, ext []byte) float64 {
	if len(ext) > 0 {
		a := openAccumulator(ext)
		return a.round(lo, hi)
	}
	neg := int64(hi) < 0
	if neg {
		var c uint64
		lo, c = bits.Add64(^lo, 1, 0)
		hi = ^hi + c
	}
	exp := fixedUnit
	top := lo
	if hi != 0 {
		n := bits.LeadingZeros64(hi)
		top = hi<<n | lo>>(64-n)
		if lo<<n != 0 {
			top |= 1 // what is cut off decides only ties
		}
		exp += 64 - n
	}
	f := math.Ldexp(float64(top), exp)
	if neg {
		return -f
	}
	return f
}

// An accumulator adds doubles of any exponent exactly: digits of 32 bits in 64-bit limbs, from
// 2^-1074 upwards, of which only the window in use is kept. Limbs are signed and carry late.
//
// Its bytes are: flags, the first limb's number, 2 unused, additions since carries were taken (4), limbs (8 each).
type accumulator struct {
	flags byte
	first int
	adds  uint32
	limbs []int64
}

const (
	sawNaN byte = 1 << iota
	sawInf
	sawNegInf
)

const (
	accumulatorHeader = 8
	maxAdds           = 1 << 29
)

func openAccumulator(b []byte) *accumulator {
	a := &accumulator{}
	if len(b) < accumulatorHeader {
		return a
	}
	a.flags, a.first, a.adds = b[0], int(b[1]), binary.LittleEndian.Uint32(b[4:])
	for b = b[accumulatorHeader:]; len(b) >= 8; b = b[8:] {
		a.limbs = append(a.limbs, int64(binary.LittleEndian.Uint64(b)))
	}
	return a
}

func (a *accumulator) bytes() []byte {
	b := make([]byte, accumulatorHeader, accumulatorHeader+8*len(a.limbs))
	b[0], b[1] = a.flags, byte(a.first)
	binary.LittleEndian.PutUint32(b[4:], a.adds)
	for _, l := range a.limbs {
		b = binary.LittleEndian.AppendUint64(b, uint64(l))
	}
	return b
}

func (a *accumulator) add(f float64) {
	switch {
	case f != f:
		a.flags |= sawNaN
		return
	case math.IsInf(f, 1):
		a.flags |= sawInf
		return
	case math.IsInf(f, -1):
		a.flags |= sawNegInf
		return
	}
	x := math.Float64bits(f)
	m, e := x&mantissaMask, int(x>>52&0x7FF)
	if e == 0 {
		e = 1
	} else {
		m |= implicitBit
	}
	a.addAt(m, 0, e-1, f < 0)
}

// addFixed adds a 128-bit fixed-point number.
func (a *accumulator) addFixed(lo, hi uint64) {
	neg := int64(hi) < 0
	if neg {
		var c uint64
		lo, c = bits.Add64(^lo, 1, 0)
		hi = ^hi + c
	}
	a.addAt(lo, hi, 1074+fixedUnit, neg)
}

// addAt adds (or with neg subtracts) a magnitude shifted left from 2^-1074.
func (a *accumulator) addAt(lo, hi uint64, shift int, neg bool) {
	digit, off := shift/32, uint(shift%32)
	a.cover(digit, digit+5)
	at := digit - a.first
	sign := int64(1)
	if neg {
		sign = -1
	}
	// 128 bits shifted by less than 32 are five digits.
	w := [3]uint64{lo << off, hi<<off | lo>>(64-off), hi >> (64 - off)}
	for i := range 5 {
		d := w[i/2] >> (32 * uint(i&1)) & 0xFFFFFFFF
		a.limbs[at+i] += sign * int64(d)
	}
	a.adds++
	if a.adds >= maxAdds {
		a.carry()
	}
}

// cover widens the window to the digits from..to-1.
func (a *accumulator) cover(from, to int) {
	if len(a.limbs) == 0 {
		a.first, a.limbs = from, make([]int64, to-from)
		return
	}
	if from < a.first {
		a.limbs = append(make([]int64, a.first-from), a.limbs...)
		a.first = from
	}
	if end := a.first + len(a.limbs); to > end {
		a.limbs = append(a.limbs, make([]int64, to-end)...)
	}
}

// carry brings all limbs but the last to 0..2^32-1, with one more limb on top for its carry.
func (a *accumulator) carry() {
	a.limbs = append(a.limbs, 0)
	for i := range len(a.limbs) - 1 {
		a.limbs[i+1] += a.limbs[i] >> 32
		a.limbs[i] &= 0xFFFFFFFF
	}
	if n := len(a.limbs); a.limbs[n-1] == 0 {
		a.limbs = a.limbs[:n-1]
	}
	a.adds = 1
}

func (a *accumulator) merge(b *accumulator) {
	a.flags |= b.flags
	if len(b.limbs) == 0 {
		return
	}
	if a.adds+b.adds >= maxAdds {
		a.carry()
		b.carry()
	}
	a.cover(b.first, b.first+len(b.limbs))
	for i, l := range b.limbs {
		a.limbs[b.first-a.first+i] += l
	}
	a.adds += b.adds
}

// round is the sum with a fixed-point number beside it, rounded once.
func (a *accumulator) round(lo, hi uint64) float64 {
	switch {
	case a.flags&sawNaN != 0 || a.flags&(sawInf|sawNegInf) == sawInf|sawNegInf:
		return math.NaN()
	case a.flags&sawInf != 0:
		return math.Inf(1)
	case a.flags&sawNegInf != 0:
		return math.Inf(-1)
	}
	a.addFixed(lo, hi)
	sum := new(big.Int)
	limb := new(big.Int)
	for i := len(a.limbs) - 1; i >= 0; i-- {
		sum.Lsh(sum, 32)
		sum.Add(sum, limb.SetInt64(a.limbs[i]))
	}
	if sum.Sign() == 0 {
		return 0
	}
	exact := new(big.Float).SetPrec(uint(sum.BitLen())).SetInt(sum)
	f, _ := exact.SetMantExp(exact, 32*a.first-1074).Float64()
	return f
}
