package columntext

import (
	"math"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// small reads a TINYINT or SMALLINT.
func (c *Column) small() func([]byte) (int32, expr.Status) {
	bits := c.Field.Type.Bits()
	if c.Exact {
		return func(b []byte) (int32, expr.Status) {
			v, s := ParseWhole(b, bits)
			return int32(v), s
		}
	}
	return func(b []byte) (int32, expr.Status) { return expr.ParseSmall(b, bits) }
}

func (c *Column) whole32() func([]byte) (int32, expr.Status) {
	if c.Exact {
		return func(b []byte) (int32, expr.Status) {
			v, s := ParseWhole(b, 32)
			return int32(v), s
		}
	}
	return expr.ParseInt32
}

func (c *Column) whole64() func([]byte) (int64, expr.Status) {
	if c.Exact {
		return func(b []byte) (int64, expr.Status) { return ParseWhole(b, 64) }
	}
	return expr.ParseInt64
}

// ParseWhole reads a whole number of so many bits that may be written with a point and an exponent: 100,
// 1e2, 1.00E+2 and 100.0 are the same number, 1.5 is a Fraction. No digit passes through a DOUBLE.
func ParseWhole(b []byte, bits int) (int64, expr.Status) {
	v, s := expr.ParseInt64(b)
	if s == expr.Malformed || s == expr.Fraction {
		v, s = wholeValue(b)
	}
	if s == expr.OK && v != v<<(64-bits)>>(64-bits) {
		return 0, expr.OutOfRange
	}
	return v, s
}

// wholeValue reads digits with a point or an exponent.
func wholeValue(b []byte) (int64, expr.Status) {
	digits, frac, exp, ok := significant(b)
	if !ok {
		return 0, expr.Malformed
	}
	switch {
	case len(digits) == 0:
		return 0, expr.OK
	case exp < frac:
		return 0, expr.Fraction
	case len(digits)+exp-frac > 19:
		return 0, expr.OutOfRange
	}
	var v uint64
	for _, c := range digits {
		v = v*10 + uint64(c-'0')
	}
	for range exp - frac {
		v *= 10
	}
	neg := b[0] == '-'
	switch {
	case v > 1<<63 || v == 1<<63 && !neg:
		return 0, expr.OutOfRange
	case neg:
		return -int64(v), expr.OK
	}
	return int64(v), expr.OK
}

// significant takes a number apart: its digits without leading and trailing zeros, how many of them stand
// behind the point, and the exponent. All but the exponent's size is checked.
func significant(b []byte) (digits []byte, frac, exp int, ok bool) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		i++
	}
	point := false
	seen := 0
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen++
		if point {
			frac++
		}
		if len(digits) > 0 || c != '0' {
			digits = append(digits, c)
		}
	}
	if seen == 0 {
		return nil, 0, 0, false
	}
	if i < len(b) {
		if exp, ok = exponent(b[i:]); !ok {
			return nil, 0, 0, false
		}
	}
	for len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		frac--
	}
	return digits, frac, exp, true
}

// exponent reads e, a sign and digits. One too large to matter is cut down to a billion.
func exponent(b []byte) (exp int, ok bool) {
	if b[0]|0x20 != 'e' {
		return 0, false
	}
	b = b[1:]
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		exp = min(exp*10+int(c-'0'), math.MaxInt32/2)
	}
	if neg {
		exp = -exp
	}
	return exp, true
}
