package expr

import (
	"math"
	"strconv"
)

// AppendJavaDouble writes a DOUBLE as CAST to STRING does, which is Java's Double.toString since its 19th
// version: the fewest digits that read back to the value, plainly from 0.001 to below 10 million and
// with an exponent outside of that, always with a digit after the point: 100.0, 1.0E20, 1.0E-5.
func AppendJavaDouble(dst []byte, v float64) []byte { return appendJava(dst, v, 64) }

// AppendJavaFloat writes a FLOAT by the same rules, Java's Float.toString.
func AppendJavaFloat(dst []byte, v float64) []byte { return appendJava(dst, v, 32) }

func appendJava(dst []byte, v float64, bits int) []byte {
	switch a := math.Abs(v); {
	case v != v, a > math.MaxFloat64:
		return appendApproximate(dst, v, bits)
	case a == 0 || a >= 1e-3 && a < 1e7:
		return appendApproximate(dst, v, bits)
	}
	var buf [32]byte
	s := strconv.AppendFloat(buf[:0], v, 'e', -1, bits)
	at := 1 // where the point is or would be
	if s[0] == '-' {
		at = 2
	}
	if s[at] == 'e' { // one digit: Java takes the nearest of two, 4.9E-324
		two := strconv.AppendFloat(nil, v, 'e', 1, bits)
		if back, err := strconv.ParseFloat(string(two), bits); err == nil && back == v {
			s = two
		} else {
			s = append(append(append([]byte(nil), s[:at]...), ".0"...), s[at:]...)
		}
	}
	e := len(s) - 1
	for s[e] != 'e' {
		e--
	}
	dst = append(append(dst, s[:e]...), 'E')
	exponent := s[e+1:]
	if exponent[0] == '-' {
		dst = append(dst, '-')
	}
	for exponent = exponent[1:]; len(exponent) > 1 && exponent[0] == '0'; {
		exponent = exponent[1:]
	}
	return append(dst, exponent...)
}
