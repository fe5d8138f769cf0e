package aggregate

import (
	"math/big"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// result computes a measure for the slots. An error names the slot's place whose value does not
// fit.
func (l *layout) result(alloc memory.Allocator, m *measure, slots []uint32, from store) (arr arrow.Array, bad int, err error) {
	values := l.valuesOf(m, slots, from)
	if m.call.Func == "COUNT" {
		return int64s(alloc, len(slots), func(out []int64) { copy(out, arrow.Int64Traits.CastFromBytes(arrow.Uint64Traits.CastToBytes(values))) }), 0, nil
	}
	b := array.NewBuilder(alloc, m.call.Type.Arrow())
	defer b.Release()
	b.Reserve(len(slots))
	var one func(slot uint32, values uint64) error
	switch {
	case m.extreme >= 0:
		one = l.extremeResult(m, b, from)
	case l.states[m.sum].kind == sumDouble:
		one = l.doubleResult(m, b, from)
	default:
		one = l.exactResult(m, b, from)
	}
	for i, s := range slots {
		if values[i] == 0 {
			b.AppendNull()
			continue
		}
		if err := one(s, values[i]); err != nil {
			return nil, i, err
		}
	}
	return b.NewArray(), 0, nil
}

// valuesOf is how many values of a measure there are in each slot.
func (l *layout) valuesOf(m *measure, slots []uint32, from store) []uint64 {
	values := make([]uint64, len(slots))
	all := from.Words(l.states[m.values].word)
	for i, s := range slots {
		values[i] = all[s]
	}
	if m.missing < 0 || untouched(from, l.states[m.missing].word) {
		return values
	}
	less := from.Words(l.states[m.missing].word)
	for i, s := range slots {
		values[i] -= less[s]
	}
	return values
}

func (l *layout) extremeResult(m *measure, b array.Builder, from store) func(uint32, uint64) error {
	s := &l.states[m.extreme]
	flip := s.flip()
	switch s.kind {
	case extremeText:
		text := from.Bytes(s.bytes)
		if b, ok := b.(*array.StringBuilder); ok {
			return func(slot uint32, _ uint64) error { b.BinaryBuilder.Append(text.Get(slot)[1:]); return nil }
		}
		bin, _ := b.(*array.BinaryBuilder)
		return func(slot uint32, _ uint64) error { bin.Append(text.Get(slot)[1:]); return nil }
	case extreme128:
		lo, hi := from.Words(s.word), from.Words(s.word+1)
		b, _ := b.(*array.Decimal128Builder)
		return func(slot uint32, _ uint64) error {
			b.Append(decimal128.New(int64(hi[slot]^flip^signBit), lo[slot]^flip))
			return nil
		}
	}
	w := from.Words(s.word)
	return func(slot uint32, _ uint64) error {
		appendCode(b, w[slot]^flip)
		return nil
	}
}

// appendCode appends an extreme from its code.
func appendCode(b array.Builder, code uint64) {
	v := int64(code ^ signBit)
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(v)
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Float64Builder:
		b.Append(decodeDouble(code))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v))
	case *array.BooleanBuilder:
		b.Append(v != 0)
	default:
		b.AppendNull()
	}
}

func (l *layout) doubleResult(m *measure, b array.Builder, from store) func(uint32, uint64) error {
	s := &l.states[m.sum]
	lo, hi, ext := from.Words(s.word), from.Words(s.word+1), from.Bytes(s.bytes)
	out, _ := b.(*array.Float64Builder)
	return func(slot uint32, values uint64) error {
		v := roundSum(lo[slot], hi[slot], ext.Get(slot))
		if m.call.Func == "AVG" {
			v /= float64(values)
		}
		if m.call.Type.Kind == expr.Float {
			v = float64(float32(v))
		}
		out.Append(v)
		return nil
	}
}

// exactResult is SUM or AVG of integers and decimals.
func (l *layout) exactResult(m *measure, b array.Builder, from store) func(uint32, uint64) error {
	s := &l.states[m.sum]
	w := make([][]uint64, kindWords[s.kind])
	for i := range w {
		w[i] = from.Words(s.word + i)
	}
	t := m.call.Type
	shift := 0
	if t.Kind == expr.Decimal {
		shift = t.Scale - m.argumentScale
	}
	r := rounding{shift: shift, halfUp: t.Kind == expr.Decimal}
	var buf [4]uint64
	return func(slot uint32, values uint64) error {
		for i := range w {
			buf[i] = w[i][slot]
		}
		sum := wide(buf[:len(w)])
		by := uint64(1)
		if m.call.Func == "AVG" {
			by = values
		}
		if t.Kind == expr.Double {
			b, _ := b.(*array.Float64Builder)
			b.Append(quotient(sum, by, m.argumentScale))
			return nil
		}
		lo, hi, ok := r.small(sum, by)
		if !ok {
			exact := r.exact(sum, by)
			lo, hi, ok = narrow(exact)
			if !ok {
				return overflow(m, exact)
			}
		}
		return appendExact(b, m, lo, hi)
	}
}

// wide widens a signed number of two or four words to four.
type wide []uint64

// small128 is the number where two words hold it.
func (w wide) small128() (lo uint64, hi int64, ok bool) {
	lo, hi = w[0], int64(w[1])
	for _, x := range w[2:] {
		if x != uint64(hi>>63) {
			return 0, 0, false
		}
	}
	return lo, hi, true
}

func (w wide) big() *big.Int {
	n := new(big.Int)
	word := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		n.Lsh(n, 64)
		if i == len(w)-1 {
			n.SetInt64(int64(w[i]))
			continue
		}
		n.Add(n, word.SetUint64(w[i]))
	}
	return n
}

// A rounding divides a sum: times 10^shift (a negative one divides), by the number of values, towards zero or half
// away from it.
type rounding struct {
	shift  int
	halfUp bool
}

// small is the division in 128 bits, where the sum has 64 and the shift is short.
func (r rounding) small(sum wide, by uint64) (lo uint64, hi int64, ok bool) {
	lo, hi, ok = sum.small128()
	if !ok || r.shift < 0 || r.shift > 18 {
		return 0, 0, false
	}
	if by == 1 && r.shift == 0 {
		return lo, hi, true
	}
	if hi != int64(lo)>>63 {
		return 0, 0, false
	}
	neg := hi < 0
	if neg {
		lo = -lo
	}
	h, l := bits.Mul64(lo, pow10(r.shift))
	qh := h / by
	ql, rest := bits.Div64(h%by, l, by)
	if r.halfUp && rest >= by-rest {
		var c uint64
		ql, c = bits.Add64(ql, 1, 0)
		qh += c
	}
	if qh >= signBit {
		return 0, 0, false
	}
	if neg {
		var c uint64
		ql, c = bits.Add64(^ql, 1, 0)
		qh = ^qh + c
	}
	return ql, int64(qh), true
}

func pow10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

func (r rounding) exact(sum wide, by uint64) *big.Int {
	n := sum.big()
	d := new(big.Int).SetUint64(by)
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(r.shift, -r.shift))), nil)
	if r.shift >= 0 {
		n.Mul(n, p)
	} else {
		d.Mul(d, p)
	}
	rest := new(big.Int)
	q, rest := n.QuoRem(n, d, rest)
	if r.halfUp && rest.Lsh(rest.Abs(rest), 1).Cmp(d) >= 0 {
		step := int64(1)
		if sum.negative() {
			step = -1
		}
		q.Add(q, big.NewInt(step))
	}
	return q
}

func (w wide) negative() bool { return int64(w[len(w)-1]) < 0 }

// quotient is sum / by / 10^scale as a DOUBLE, rounded once.
func quotient(sum wide, by uint64, scale int) float64 {
	d := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	d.Mul(d, new(big.Int).SetUint64(by))
	f, _ := new(big.Rat).SetFrac(sum.big(), d).Float64()
	return f
}

// narrow is n in 128 bits.
func narrow(n *big.Int) (lo uint64, hi int64, ok bool) {
	if n.BitLen() > 127 {
		return 0, 0, false
	}
	v := decimal128.FromBigInt(n)
	return v.LowBits(), v.HighBits(), true
}

// appendExact appends a number of 128 bits, or fails where the type does not hold it.
func appendExact(b array.Builder, m *measure, lo uint64, hi int64) error {
	t := m.call.Type
	fits64 := hi == int64(lo)>>63
	v := int64(lo)
	switch b := b.(type) {
	case *array.Int32Builder:
		if shift := 64 - t.Bits(); fits64 && v == v<<shift>>shift {
			b.Append(int32(v))
			return nil
		}
	case *array.Int64Builder:
		limit := int64(1<<63 - 1)
		if t.Kind == expr.Decimal {
			limit = int64(pow10(t.Precision)) - 1
		}
		if fits64 && v <= limit && v >= -limit-1 && (t.Kind != expr.Decimal || v >= -limit) {
			b.Append(v)
			return nil
		}
	case *array.Decimal128Builder:
		n := decimal128.New(hi, lo)
		if n.FitsInPrecision(int32(t.Precision)) {
			b.Append(n)
			return nil
		}
	}
	return overflow(m, decimal128.New(hi, lo).BigInt())
}

// overflow says that a result does not fit its type.
func overflow(m *measure, n *big.Int) error {
	text := n.String()
	if scale := m.call.Type.Scale; scale > 0 {
		digits := new(big.Int).Abs(n).String()
		for len(digits) <= scale {
			digits = "0" + digits
		}
		text = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
		if n.Sign() < 0 {
			text = "-" + text
		}
	}
	return &OverflowError{Measure: m.call.Text, Value: text, Type: m.call.Type}
}
