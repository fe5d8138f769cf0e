package expr

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// AppendInt writes an INT or BIGINT.
func AppendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// AppendBoolean writes true or false.
func AppendBoolean(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }

// AppendDecimal writes the DECIMAL of an unscaled value, with all digits of its scale.
func AppendDecimal(dst []byte, unscaled int64, scale int) []byte {
	u := uint64(unscaled)
	if unscaled < 0 {
		dst = append(dst, '-')
		u = -u
	}
	return appendScaled(dst, u128{0, u}, scale)
}

// AppendDecimal128 is AppendDecimal for wide decimals.
func AppendDecimal128(dst []byte, unscaled decimal128.Num, scale int) []byte {
	if unscaled.Sign() < 0 {
		dst = append(dst, '-')
		unscaled = unscaled.Negate()
	}
	return appendScaled(dst, u128{uint64(unscaled.HighBits()), unscaled.LowBits()}, scale)
}

func appendScaled(dst []byte, u u128, scale int) []byte {
	var b [42]byte
	i := len(b)
	for n := 0; n <= scale || u != (u128{}); n++ {
		if n == scale && scale > 0 {
			i--
			b[i] = '.'
		}
		var r uint64
		u.hi, r = u.hi/10, u.hi%10
		u.lo, r = bits.Div64(r, u.lo, 10)
		i--
		b[i] = '0' + byte(r)
	}
	return append(dst, b[i:]...)
}

// AppendDouble writes the shortest text that reads back to the same DOUBLE.
func AppendDouble(dst []byte, v float64) []byte { return appendApproximate(dst, v, 64) }

// AppendFloat writes the shortest text that reads back to the same FLOAT.
func AppendFloat(dst []byte, v float64) []byte { return appendApproximate(dst, v, 32) }

func appendApproximate(dst []byte, v float64, bits int) []byte {
	switch {
	case v != v:
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		format = 'e'
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, v, format, -1, bits)
	if !bytes.ContainsAny(dst[from:], ".e") {
		dst = append(dst, ".0"...)
	}
	return dst
}

// AppendDate writes the date of a count of days since 1970-01-01.
func AppendDate(dst []byte, days int32) []byte { return appendDate(dst, int64(days)) }

func appendDate(dst []byte, days int64) []byte {
	y, m, d := civil(days)
	if y < 0 {
		dst = append(dst, '-')
		y = -y
	}
	if y > 9999 {
		dst = strconv.AppendInt(dst, y, 10)
	} else {
		dst = appendTwo(appendTwo(dst, int(y/100)), int(y%100))
	}
	return appendTwo(append(appendTwo(append(dst, '-'), m), '-'), d)
}

func appendTwo(dst []byte, v int) []byte { return append(dst, '0'+byte(v/10), '0'+byte(v%10)) }

// AppendTimestamp writes the TIMESTAMP(precision) of microseconds since 1970-01-01 00:00:00, with
// all digits of the precision.
func AppendTimestamp(dst []byte, micros int64, precision int) []byte {
	days := floorDiv(micros, microsPerDay)
	t := micros - days*microsPerDay
	dst = append(appendDate(dst, days), ' ')
	return AppendTime(dst, t, precision)
}

// floorDiv divides towards minus infinity.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
