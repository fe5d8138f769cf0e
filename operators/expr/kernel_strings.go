package expr

import (
	"bytes"
	"encoding/hex"
	"fmt"
	stdhash "hash"
	"unicode"
	"unicode/utf8"
)

// whole makes an INT result of a function of one row.
func whole(f func(nd *node, i int) int) func(*node) error {
	return func(nd *node) error {
		nd.run = perRow(func(nd *node, i int) error {
			nd.out.i32[i] = int32(f(nd, i))
			return nil
		})
		return nil
	}
}

// condition makes a BOOLEAN result of a function of one row.
func condition(f func(nd *node, i int) bool) func(*node) error {
	return func(nd *node) error {
		nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
			if done, err := nd.strict(c, sel); done != nil || err != nil {
				return done, err
			}
			clear(nd.out.bits)
			each(c.n, sel, nd.out.valid, func(i int) bool {
				nd.out.bits[i>>6] |= b2u(f(nd, i)) << (i & 63)
				return true
			})
			return &nd.out, nil
		}
		return nil
	}
}

// A textOutcome says what came of one row's text.
type textOutcome uint8

const (
	someText textOutcome = iota
	noText               // NULL
	longText             // beyond longestText
)

// optionalText makes a STRING result of a function that may give NULL, or a text that is too long.
func optionalText(f func(nd *node, dst []byte, i int) ([]byte, textOutcome)) func(*node) error {
	return func(nd *node) error {
		nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
			if done, err := nd.strict(c, sel); done != nil || err != nil {
				return done, err
			}
			return nd.optionalTexts(c, sel, f)
		}
		return nil
	}
}

func (nd *node) optionalTexts(c *ctx, sel []int32, f func(nd *node, dst []byte, i int) ([]byte, textOutcome)) (*vec, error) {
	own, long := false, -1
	v, err := nd.texts(c, sel, func(dst []byte, i int) []byte {
		if long >= 0 {
			return dst
		}
		to, outcome := f(nd, dst, i)
		switch outcome {
		case longText:
			long = i
			return dst
		case noText:
			if !own {
				own = true
				nd.ownValidity(c.n)
			}
			nd.out.valid[i>>6] &^= 1 << (i & 63)
			return dst
		}
		return to
	})
	if err == nil && long >= 0 {
		err = nd.fail(evaluation, long, 0, fmt.Sprintf("%s gives a text of more than %d MiB", nd.e.Name, longestText>>20))
	}
	return v, err
}

// bindConcatWS leaves NULLs out, separators aside.
func bindConcatWS(nd *node) error {
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		nd.out.reset(nd.e.Type)
		for i, a := range nd.args {
			v, err := a.eval(c, sel)
			if err != nil {
				return nil, err
			}
			nd.in[i] = v
		}
		if v := nd.in[0]; v.one() && v.isNull(0) {
			return allNull(nd, c.n), nil
		}
		nd.out.valid = spread(nd.in[0], c.n)
		return nd.texts(c, sel, func(dst []byte, i int) []byte {
			begun := false
			for _, v := range nd.in[1:] {
				if v.isNull(i) {
					continue
				}
				if begun {
					dst = append(dst, nd.in[0].str(i)...)
				}
				begun = true
				dst = append(dst, v.str(i)...)
			}
			return dst
		})
	}
	return nil
}

func replaceText(nd *node, dst []byte, i int) []byte {
	return append(dst, bytes.ReplaceAll(nd.in[0].str(i), nd.in[1].str(i), nd.in[2].str(i))...)
}

func left(nd *node, dst []byte, i int) []byte {
	s := nd.in[0].str(i)
	return append(dst, s[:skip(s, nd.in[1].num(i))]...)
}

func right(nd *node, dst []byte, i int) []byte {
	s, n := nd.in[0].str(i), nd.in[1].num(i)
	if n <= 0 {
		return dst
	}
	return append(dst, s[skip(s, int64(utf8.RuneCount(s))-n):]...)
}

func reverse(nd *node, dst []byte, i int) []byte {
	for s := nd.in[0].str(i); len(s) > 0; {
		_, w := utf8.DecodeLastRune(s)
		dst = append(dst, s[len(s)-w:]...)
		s = s[:len(s)-w]
	}
	return dst
}

func initcap(nd *node, dst []byte, i int) []byte {
	inside := false
	for s := nd.in[0].str(i); len(s) > 0; {
		r, w := utf8.DecodeRune(s)
		switch {
		case r == utf8.RuneError && w == 1:
			dst, inside = append(dst, s[0]), false
		case inside:
			dst, inside = utf8.AppendRune(dst, unicode.ToLower(r)), isWordPart(r)
		default:
			dst, inside = utf8.AppendRune(dst, unicode.ToUpper(r)), isWordPart(r)
		}
		s = s[w:]
	}
	return dst
}

func isWordPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func chr(nd *node, dst []byte, i int) []byte {
	n := nd.in[0].num(i)
	if n < 0 {
		return dst
	}
	return utf8.AppendRune(dst, rune(n&0xff))
}

func ascii(nd *node, i int) int {
	s := nd.in[0].str(i)
	if len(s) == 0 {
		return 0
	}
	r, _ := utf8.DecodeRune(s)
	return int(r)
}

// pad is LPAD and RPAD.
func pad(nd *node, dst []byte, i int) ([]byte, textOutcome) {
	s, n, with := nd.in[0].str(i), nd.in[1].num(i), nd.in[2].str(i)
	if n < 0 || len(with) == 0 {
		return dst, noText
	}
	missing := n - int64(utf8.RuneCount(s))
	if missing <= 0 {
		return append(dst, s[:skip(s, n)]...), someText
	}
	before := nd.e.Name == "LPAD"
	if !before {
		dst = append(dst, s...)
	}
	limit := len(dst) + longestText - len(s)
	for k := int64(utf8.RuneCount(with)); missing >= k; missing -= k {
		if dst = append(dst, with...); len(dst) > limit {
			return dst, longText
		}
	}
	dst = append(dst, with[:skip(with, missing)]...)
	if before {
		dst = append(dst, s...)
	}
	return dst, someText
}

func repeat(nd *node, dst []byte, i int) ([]byte, textOutcome) {
	s, n := nd.in[0].str(i), max(nd.in[1].num(i), 0)
	if int64(len(s))*n > longestText {
		return dst, longText
	}
	if len(s) == 0 {
		return dst, someText
	}
	for range n {
		dst = append(dst, s...)
	}
	return dst, someText
}

// position counts characters.
func position(nd *node, i int) int {
	part, s, before := nd.in[0].str(i), nd.in[1].str(i), int64(0)
	if len(nd.in) == 3 {
		if before = nd.in[2].num(i) - 1; before < 0 || before > int64(utf8.RuneCount(s)) {
			return 0
		}
	}
	at := skip(s, before)
	found := bytes.Index(s[at:], part)
	if found < 0 {
		return 0
	}
	return int(before) + utf8.RuneCount(s[at:at+found]) + 1
}

func startsWith(nd *node, i int) bool { return bytes.HasPrefix(nd.in[0].str(i), nd.in[1].str(i)) }
func endsWith(nd *node, i int) bool   { return bytes.HasSuffix(nd.in[0].str(i), nd.in[1].str(i)) }

// splitIndex cuts without keeping all parts.
func splitIndex(nd *node, dst []byte, i int) ([]byte, textOutcome) {
	s, by, n := nd.in[0].str(i), nd.in[1].str(i), nd.in[2].num(i)
	if n < 0 || len(s) == 0 {
		return dst, noText
	}
	for ; ; n-- {
		at, w := bytes.Index(s, by), len(by)
		if w == 0 {
			if at = bytes.IndexFunc(s, unicode.IsSpace); at >= 0 {
				_, w = utf8.DecodeRune(s[at:])
			}
		}
		switch {
		case n == 0 && at >= 0:
			return append(dst, s[:at]...), someText
		case n == 0:
			return append(dst, s...), someText
		case at < 0:
			return dst, noText
		}
		s = s[at+w:]
	}
}

func isAlpha(nd *node, i int) bool  { return only(nd.in[0].str(i), unicode.IsLetter) }
func isDigits(nd *node, i int) bool { return only(nd.in[0].str(i), unicode.IsDigit) }

// only reports whether all characters, one at least, are of a kind.
func only(s []byte, kind func(rune) bool) bool {
	return len(s) > 0 && bytes.IndexFunc(s, func(r rune) bool { return !kind(r) }) < 0
}

func isDecimal(nd *node, i int) bool {
	_, s := ParseDouble(nd.in[0].str(i))
	return s == OK || s == OutOfRange
}

// hash makes a kernel of a hash function.
func hash(h func() stdhash.Hash) func(*node) error {
	return func(nd *node) error {
		sum, f := []byte(nil), h()
		return textKernel(func(nd *node, dst []byte, i int) []byte {
			f.Reset()
			f.Write(nd.in[0].str(i))
			sum = f.Sum(sum[:0])
			return hex.AppendEncode(dst, sum)
		})(nd)
	}
}
