package expr

import (
	"bytes"
	"unicode/utf8"
)

// textKernel makes a STRING result of a function that appends one row's text.
func textKernel(f func(nd *node, dst []byte, i int) []byte) func(*node) error {
	return func(nd *node) error {
		nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
			if done, err := nd.strict(c, sel); done != nil || err != nil {
				return done, err
			}
			return nd.texts(c, sel, func(dst []byte, i int) []byte { return f(nd, dst, i) })
		}
		return nil
	}
}

func concatTexts(nd *node, dst []byte, i int) []byte {
	for _, v := range nd.in {
		dst = append(dst, v.str(i)...)
	}
	return dst
}

// changeCase maps the letters of ASCII itself and leaves a text with others to full.
func changeCase(dst, s []byte, from, to byte, full func(dst, s []byte) []byte) []byte {
	at := len(dst)
	dst = append(dst, s...)
	for k, c := range dst[at:] {
		if c >= utf8.RuneSelf {
			return full(dst[:at], s)
		}
		if c >= from && c <= to {
			dst[at+k] = c ^ 0x20
		}
	}
	return dst
}

func upper(nd *node, dst []byte, i int) []byte {
	return changeCase(dst, nd.in[0].str(i), 'a', 'z', appendUpper)
}

func lower(nd *node, dst []byte, i int) []byte {
	return changeCase(dst, nd.in[0].str(i), 'A', 'Z', appendLower)
}

func charLength(nd *node, i int) int { return utf8.RuneCount(nd.in[0].str(i)) }

// substring counts characters from 1; 0 is taken as 1, and a negative start counts from the end.
func substring(nd *node, dst []byte, i int) []byte {
	s, from := nd.in[0].str(i), nd.in[1].num(i)
	length := int64(len(s))
	if len(nd.in) == 3 {
		length = nd.in[2].num(i)
	}
	if length <= 0 {
		return dst
	}
	if from < 0 {
		from += int64(utf8.RuneCount(s))
		if from < 0 {
			return dst
		}
	} else if from > 0 {
		from--
	}
	s = s[skip(s, from):]
	return append(dst, s[:skip(s, length)]...)
}

// skip is where the character after n characters begins.
func skip(s []byte, n int64) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, w := utf8.DecodeRune(s[at:])
		at += w
	}
	return at
}

// trimText cuts characters of a set off one side or both.
func trimText(nd *node, dst []byte, i int) []byte {
	side, set, s := nd.in[0].str(i), nd.in[1].str(i), nd.in[2].str(i)
	if side[0] != 'T' {
		for len(s) > 0 {
			_, w := utf8.DecodeRune(s)
			if !within(set, s[:w]) {
				break
			}
			s = s[w:]
		}
	}
	if side[0] != 'L' {
		for len(s) > 0 {
			_, w := utf8.DecodeLastRune(s)
			if !within(set, s[len(s)-w:]) {
				break
			}
			s = s[:len(s)-w]
		}
	}
	return append(dst, s...)
}

// within reports whether a character is one of a set. UTF-8 needs no alignment: no character's bytes
// occur inside others.
func within(set, char []byte) bool { return bytes.Contains(set, char) }
