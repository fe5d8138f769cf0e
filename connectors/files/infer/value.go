package infer

import (
	"bytes"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A kind is what one value looks like.
type kind uint8

const (
	text   kind = iota
	empty       // a quoted field without anything in it: a text, and no number
	code        // a number but for leading zeros or a plus sign, which a number has not
	truth       // true, false
	whole       // digits
	point       // digits with a decimal point among them
	float       // with an exponent
	word        // NaN, Infinity: a number only among numbers
	date        // yyyy-mm-dd
	moment      // a date with a time
	zoned       // a date with a time and an offset
	format      // as a format says that the plan gives the column
	kinds
)

// A number is how long the parts of one are.
type number struct{ whole, frac int }

// numeric tells of a text whether it is a number, and how one is written that keeps all its digits.
func numeric(b []byte) (kind, number) {
	sign := len(b) > 0 && b[0] == '+'
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	n := number{whole: digits(b)}
	rest := b[n.whole:]
	zeros := n.whole > 1 && b[0] == '0'
	k := whole
	if len(rest) > 0 && rest[0] == '.' {
		k = point
		n.frac = digits(rest[1:])
		rest = rest[1+n.frac:]
	}
	if n.whole+n.frac == 0 {
		return text, n
	}
	if k == point && n.frac == 0 {
		k = float // "5." is how only floating point numbers are written
	}
	if len(rest) > 0 && rest[0]|0x20 == 'e' {
		rest = rest[1:]
		if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
			rest = rest[1:]
		}
		e := digits(rest)
		if e == 0 {
			return text, n
		}
		k, rest = float, rest[e:]
	}
	switch {
	case len(rest) > 0:
		return text, n
	case zeros || sign:
		return code, n
	}
	return k, n
}

func digits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

// floating reports whether a DOUBLE can be read from a text.
func floating(b []byte) bool {
	_, s := expr.ParseDouble(b)
	return s == expr.OK
}

// words that a DOUBLE is read from and that may be names as well.
func wordNumber(b []byte) bool {
	for _, w := range []string{"nan", "inf", "-inf", "infinity", "-infinity"} {
		if len(w) == len(b) && bytes.EqualFold(b, []byte(w)) {
			return true
		}
	}
	return false
}

// temporal tells of a text whether it is a date or a time of ISO 8601, with the digits behind its seconds
// and the offset it ends with.
func temporal(b []byte) (k kind, fraction int, zone string) {
	if len(b) < 10 || b[4] != '-' || b[7] != '-' {
		return text, 0, ""
	}
	if len(b) == 10 {
		if _, s := expr.ParseDate(b); s == expr.OK {
			return date, 0, ""
		}
		return text, 0, ""
	}
	if b[10] != ' ' && b[10] != 'T' {
		return text, 0, ""
	}
	at := len(b)
	if i := bytes.LastIndexAny(b[11:], "+-Zz"); i >= 0 {
		at = 11 + i
		if !offset(b[at:]) {
			return text, 0, ""
		}
		zone = string(b[at:])
	}
	plain := bytes.TrimRight(b[:at], " ")
	if _, s := expr.ParseTimestamp(plain, 6); s != expr.OK || bytes.IndexByte(plain, ':') < 0 || len(plain) < at && zone == "" {
		return text, 0, ""
	}
	if i := bytes.IndexByte(plain, '.'); i >= 0 {
		fraction = len(plain) - i - 1
	}
	if zone != "" {
		return zoned, fraction, zone
	}
	return moment, fraction, ""
}

// offset reports whether a text is Z, +02, +0200 or +02:00.
func offset(b []byte) bool {
	if len(b) == 1 {
		return b[0]|0x20 == 'z'
	}
	d := bytes.Replace(b[1:], []byte(":"), nil, 1)
	return (b[0] == '+' || b[0] == '-') && (len(d) == 2 || len(d) == 4) && digits(d) == len(d)
}
