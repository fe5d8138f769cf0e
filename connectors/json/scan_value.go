package json

import (
	"bytes"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones    = 0x0101010101010101
	highs   = 0x8080808080808080
	zeros   = '0' * ones
	sixes   = 0x0606060606060606
	nibbles = 0xF0F0F0F0F0F0F0F0
)

const (
	tooDeep    = "objects and arrays that are nested at most 1000 deep"
	notEscape  = `one of \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits`
	notControl = "a closing quote; line breaks, tabs and other control characters in a string are written as \\n, \\t or \\u0000"
)

// text scans a string from behind its opening quote, and gives the place of its closing one.
func (s *scanner) text(i int) (end int, escaped bool) {
	for {
		w := s.word(i)
		q, b := w^'"'*ones, w^'\\'*ones
		// The lowest bit of those is exact: of a quote, a backslash or a control character.
		m := ((q-ones)&^q | (b-ones)&^b | (w-' '*ones)&^w) & highs
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		switch s.byte(i) {
		case '"':
			return i, escaped
		case '\\':
			escaped = true
			n := s.escape(i)
			if n == 0 {
				return s.fail(i, notEscape), false
			}
			i += n
		default:
			return s.fail(i, notControl), false
		}
	}
}

// escape is the length of the escape at i, 0 where it is none.
func (s *scanner) escape(i int) int {
	switch s.byte(i + 1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		for k := 2; k < 6; k++ {
			if hexDigit(s.byte(i+k)) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hexDigit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// number scans a number and gives the place behind it.
func (s *scanner) number(i int) int {
	if s.byte(i) == '-' {
		i++
	}
	from := i
	i = s.digits(i)
	switch {
	case i == from:
		return s.fail(i, "a digit after the minus")
	case i > from+1 && s.byte(from) == '0':
		return s.fail(from, "a number without leading zeros")
	}
	c := s.byte(i)
	if c == '.' {
		from = i + 1
		if i = s.digits(from); i == from {
			return s.fail(i, "a digit after the point")
		}
		c = s.byte(i)
	}
	if c|0x20 == 'e' {
		i++
		if c = s.byte(i); c == '+' || c == '-' {
			i++
		}
		from = i
		if i = s.digits(from); i == from {
			return s.fail(i, "a digit in the exponent")
		}
	}
	return i
}

// digits passes over decimal digits.
func (s *scanner) digits(i int) int {
	for {
		w := s.word(i) ^ zeros
		m := ((w + sixes) | w) & nibbles // exact up to the first byte that is no digit
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
}

// appendQuoted appends a text in quotes, those inside it written twice.
func appendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// appendUnescaped appends a string's text, and says whether it holds half of a surrogate pair, which becomes
// U+FFFD.
func appendUnescaped(dst, v []byte) (_ []byte, half bool) {
	for {
		i := bytes.IndexByte(v, '\\')
		if i < 0 {
			return append(dst, v...), half
		}
		var bad bool
		dst, v, bad = appendNext(append(dst, v[:i]...), v[i:])
		half = half || bad
	}
}

// appendNext appends what the escape means that v begins with, which was found right.
func appendNext(dst, v []byte) (_, rest []byte, half bool) {
	switch c := v[1]; c {
	case 'b':
		return append(dst, '\b'), v[2:], false
	case 'f':
		return append(dst, '\f'), v[2:], false
	case 'n':
		return append(dst, '\n'), v[2:], false
	case 'r':
		return append(dst, '\r'), v[2:], false
	case 't':
		return append(dst, '\t'), v[2:], false
	case 'u':
		r := unit(v)
		v = v[6:]
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(dst, r), v, false
		}
		if len(v) >= 6 && v[0] == '\\' && v[1] == 'u' {
			if r = utf16.DecodeRune(r, unit(v)); r != utf8.RuneError {
				return utf8.AppendRune(dst, r), v[6:], false
			}
		}
		return utf8.AppendRune(dst, utf8.RuneError), v, true
	default:
		return append(dst, c), v[2:], false
	}
}

// unit is the UTF-16 unit of the escape \uXXXX at the start of v.
func unit(v []byte) rune {
	r := rune(0)
	for _, c := range v[2:6] {
		r = r<<4 | hexDigit(c)
	}
	return r
}
