package expr

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// pow10 are the powers of ten that fit 64 bits.
var pow10 = [20]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// ParseDecimal64 reads a DECIMAL(precision, scale) of at most 18 digits as its unscaled value.
func ParseDecimal64(b []byte, precision, scale int) (int64, Status) {
	if len(b) > 0 && len(b) <= 18 { // the common shape: [-]digits[.digits], no overflow possible
		if v, ok := shortDecimal(b, precision, scale); ok {
			return v, OK
		}
	}
	m, neg, s := parseDecimal(b, precision, scale)
	v := int64(m.lo)
	if neg {
		v = -v
	}
	return v, s
}

// shortDecimal leaves everything odd to parseDecimal.
func shortDecimal(b []byte, precision, scale int) (int64, bool) {
	i, point := 0, -1
	neg := b[0] == '-'
	if neg {
		i++
	}
	first := i
	var v uint64
	for ; i < len(b); i++ {
		d := uint64(b[i] - '0')
		if d <= 9 {
			v = v*10 + d
			continue
		}
		if b[i] != '.' || point >= 0 {
			return 0, false
		}
		point = i
	}
	frac := 0
	if point >= 0 {
		frac = len(b) - 1 - point
		first++
	}
	if len(b) == first {
		return 0, false
	}
	if frac > scale {
		p := pow10[frac-scale]
		v = (v + p/2) / p
	} else {
		hi, lo := bits.Mul64(v, pow10[scale-frac])
		if hi != 0 {
			return 0, false
		}
		v = lo
	}
	if v >= pow10[precision] {
		return 0, false
	}
	if neg {
		return -int64(v), true
	}
	return int64(v), true
}

// ParseDecimal128 reads a DECIMAL(precision, scale) of at most 38 digits as its unscaled value.
func ParseDecimal128(b []byte, precision, scale int) (decimal128.Num, Status) {
	m, neg, s := parseDecimal(b, precision, scale)
	n := decimal128.New(int64(m.hi), m.lo)
	if neg {
		n = n.Negate()
	}
	return n, s
}

// A u128 is an unsigned 128-bit integer.
type u128 struct{ hi, lo uint64 }

// mulAdd is x*m + a and whether that fits 128 bits.
func (x u128) mulAdd(m, a uint64) (u128, bool) {
	h1, lo := bits.Mul64(x.lo, m)
	h2, mid := bits.Mul64(x.hi, m)
	lo, c := bits.Add64(lo, a, 0)
	hi, c2 := bits.Add64(mid, h1, c)
	return u128{hi, lo}, h2 == 0 && c2 == 0
}

func (x u128) less(y u128) bool { return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo }

// tenTo is 10^n for n up to 38.
func tenTo(n int) u128 {
	x := u128{0, 1}
	for n > 19 {
		x, _ = x.mulAdd(pow10[19], 0)
		n -= 19
	}
	x, _ = x.mulAdd(pow10[n], 0)
	return x
}

// A number is the parts of a decimal number's text.
type number struct {
	whole, frac []byte
	exp         int
	neg         bool
}

// splitNumber takes a number's text apart.
func splitNumber(b []byte) (number, Status) {
	var n number
	b = trim(b)
	if len(b) == 0 {
		return n, Empty
	}
	b, n.neg = sign(b)
	i := run(b)
	n.whole, b = b[:i], b[i:]
	if len(b) > 0 && b[0] == '.' {
		i = run(b[1:])
		n.frac, b = b[1:1+i], b[1+i:]
	}
	if len(n.whole)+len(n.frac) == 0 {
		return n, Malformed
	}
	if len(b) > 0 && b[0]|0x20 == 'e' {
		e, neg := sign(b[1:])
		i = run(e)
		if i == 0 {
			return n, Malformed
		}
		for _, c := range e[:i] {
			n.exp = min(n.exp*10+int(c-'0'), 1<<30)
		}
		if neg {
			n.exp = -n.exp
		}
		b = e[i:]
	}
	if len(b) > 0 {
		return n, Malformed
	}
	return n, OK
}

// run is how many digits there are at the start.
func run(b []byte) int {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

// parseDecimal is the complete way: the magnitude of the unscaled value.
func parseDecimal(b []byte, precision, scale int) (u128, bool, Status) {
	n, s := splitNumber(b)
	if s != OK {
		return u128{}, false, s
	}
	have := len(n.whole) + len(n.frac)
	want := len(n.whole) + n.exp + scale // digits of the unscaled value, leading zeros counted
	var m u128
	ok := true
	for i := 0; i < min(want, have) && ok; i++ {
		m, ok = m.mulAdd(10, uint64(n.digit(i)-'0'))
	}
	for i := have; i < want && ok && m != (u128{}); i++ {
		m, ok = m.mulAdd(10, 0)
	}
	if ok && want >= 0 && want < have && n.digit(want) >= '5' {
		m, ok = m.mulAdd(1, 1)
	}
	if !ok || !m.less(tenTo(precision)) {
		return u128{}, false, OutOfRange
	}
	return m, n.neg, OK
}

func (n *number) digit(i int) byte {
	if i < len(n.whole) {
		return n.whole[i]
	}
	return n.frac[i-len(n.whole)]
}
