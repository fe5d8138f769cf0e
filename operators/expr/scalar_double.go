package expr

import (
	"math"
	"strconv"
	"unsafe"
)

// exact10 are the powers of ten that a double holds exactly.
var exact10 = [23]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// ParseDouble reads a DOUBLE: the double nearest to the text.
func ParseDouble(b []byte) (float64, Status) {
	if len(b) > 0 && len(b) <= 18 {
		if v, ok := shortDouble(b); ok {
			return v, OK
		}
	}
	return parseDouble(b)
}

// shortDouble reads [-]digits[.digits][e[±]digits] whose digits and power of ten a double holds
// exactly, so that one multiplication or division rounds once.
func shortDouble(b []byte) (float64, bool) {
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
			break
		}
		point = i
	}
	exp := 0
	if point >= 0 {
		exp = point + 1 - i
		first++
	}
	if i == first || v >= 1<<53 {
		return 0, false
	}
	if i < len(b) {
		e, ok := exponent(b[i:])
		if !ok {
			return 0, false
		}
		exp += e
	}
	f := float64(v)
	switch {
	case exp < -22 || exp > 22:
		return 0, false
	case exp < 0:
		f /= exact10[-exp]
	default:
		f *= exact10[exp]
	}
	if neg {
		f = -f
	}
	return f, true
}

// exponent reads e and one or two digits with a sign or without.
func exponent(b []byte) (int, bool) {
	if b[0]|0x20 != 'e' {
		return 0, false
	}
	b, neg := sign(b[1:])
	e, rest, ok := short(b)
	if neg {
		e = -e
	}
	return e, ok && len(rest) == 0
}

// ParseFloat reads a FLOAT: the value of 32 bits nearest to the text.
func ParseFloat(b []byte) (float64, Status) {
	v, s := ParseDouble(b)
	if s != OK || float64(float32(v)) == v || !finite(v) {
		return v, s
	}
	// The nearest double may lie just between two values of 32 bits, so the text is read again.
	b = trim(b)
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 32)
	if err != nil {
		return 0, OutOfRange
	}
	return f, OK
}

func parseDouble(b []byte) (float64, Status) {
	b = trim(b)
	if len(b) == 0 {
		return 0, Empty
	}
	if _, s := splitNumber(b); s != OK {
		return specialDouble(b)
	}
	// The text is only read while it is alive: ParseFloat copies what it puts into an error.
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64)
	if err != nil {
		return 0, OutOfRange
	}
	return v, OK
}

func specialDouble(b []byte) (float64, Status) {
	b, neg := sign(b)
	switch {
	case equalFold(b, "nan"):
		return math.NaN(), OK
	case equalFold(b, "infinity"), equalFold(b, "inf"):
		if neg {
			return math.Inf(-1), OK
		}
		return math.Inf(1), OK
	}
	return 0, Malformed
}

// equalFold compares with a lower-case ASCII word in any case.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c|0x20 != word[i] {
			return false
		}
	}
	return true
}

// ParseBoolean reads a BOOLEAN.
func ParseBoolean(b []byte) (bool, Status) {
	b = trim(b)
	switch {
	case len(b) == 0:
		return false, Empty
	case len(b) == 1:
		switch b[0] {
		case '1', 't', 'T', 'y', 'Y':
			return true, OK
		case '0', 'f', 'F', 'n', 'N':
			return false, OK
		}
	case equalFold(b, "true"), equalFold(b, "yes"):
		return true, OK
	case equalFold(b, "false"), equalFold(b, "no"):
		return false, OK
	}
	return false, Malformed
}
