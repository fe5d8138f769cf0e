package expr

import "math"

// ParseInt64 reads a BIGINT.
func ParseInt64(b []byte) (int64, Status) {
	if n := len(b); n-1 < 18 { // the common shape: digits alone, no overflow possible
		var v uint64
		i := 0
		for ; i < n; i++ {
			d := uint64(b[i] - '0')
			if d > 9 {
				break
			}
			v = v*10 + d
		}
		if i == n && n > 0 {
			return int64(v), OK
		}
	}
	return parseInt(b)
}

// ParseInt32 reads an INT.
func ParseInt32(b []byte) (int32, Status) {
	v, s := ParseInt64(b)
	if s == OK && v != int64(int32(v)) {
		return 0, OutOfRange
	}
	return int32(v), s
}

// ParseSmall reads a TINYINT or SMALLINT, a whole number of 8 or 16 bits.
func ParseSmall(b []byte, bits int) (int32, Status) {
	v, s := ParseInt64(b)
	if s == OK && v != v<<(64-bits)>>(64-bits) {
		return 0, OutOfRange
	}
	return int32(v), s
}

// parseInt is the complete way.
func parseInt(b []byte) (int64, Status) {
	b = trim(b)
	if len(b) == 0 {
		return 0, Empty
	}
	b, neg := sign(b)
	if len(b) == 0 {
		return 0, Malformed
	}
	var v uint64
	over := false
	for i, c := range b {
		d := uint64(c - '0')
		if d > 9 {
			if c == '.' && digits(b[i+1:]) && len(b) > 1 {
				return 0, Fraction
			}
			return 0, Malformed
		}
		over = over || v > (math.MaxUint64-d)/10
		v = v*10 + d
	}
	switch {
	case over || v > 1<<63 || v == 1<<63 && !neg:
		return 0, OutOfRange
	case neg:
		return -int64(v), OK
	}
	return int64(v), OK
}

// digits reports whether there is nothing but decimal digits.
func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
