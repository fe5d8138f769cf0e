package expr

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var charsets = []string{"US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16BE", "UTF-16LE", "UTF-16"}

// charsetOf is the name of a charset, in whatever case it is written; "" where there is none.
func charsetOf(s string) string {
	for _, c := range charsets {
		if strings.EqualFold(c, s) {
			return c
		}
	}
	return ""
}

// charset is a call's second argument, "" for NULL.
func charset(e *Expr) string {
	if a := e.Args[1]; a.Op == OpLiteral && a.Value != nil && !a.Value.Null {
		return charsetOf(a.Value.Text)
	}
	return ""
}

func bindEncode(nd *node) error {
	name := charset(nd.e)
	return textKernel(func(nd *node, dst []byte, i int) []byte { return encodeText(dst, nd.in[0].str(i), name) })(nd)
}

func bindDecode(nd *node) error {
	name := charset(nd.e)
	return textKernel(func(nd *node, dst []byte, i int) []byte { return decodeText(dst, nd.in[0].str(i), name) })(nd)
}

func encodeText(dst, s []byte, name string) []byte {
	if name == "UTF-8" {
		return append(dst, s...)
	}
	if name == "UTF-16" && len(s) > 0 {
		dst = append(dst, 0xFE, 0xFF)
	}
	for _, r := range string(s) {
		switch {
		case name == "US-ASCII" && r < 0x80, name == "ISO-8859-1" && r < 0x100:
			dst = append(dst, byte(r))
		case name == "US-ASCII", name == "ISO-8859-1":
			dst = append(dst, '?')
		default:
			for _, u := range utf16.AppendRune(nil, r) {
				if name == "UTF-16LE" {
					dst = append(dst, byte(u), byte(u>>8))
				} else {
					dst = append(dst, byte(u>>8), byte(u))
				}
			}
		}
	}
	return dst
}

func decodeText(dst, b []byte, name string) []byte {
	switch name {
	case "UTF-8":
		for _, r := range string(b) {
			dst = utf8.AppendRune(dst, r)
		}
		return dst
	case "US-ASCII", "ISO-8859-1":
		for _, c := range b {
			r := rune(c)
			if name == "US-ASCII" && c >= 0x80 {
				r = utf8.RuneError
			}
			dst = utf8.AppendRune(dst, r)
		}
		return dst
	}
	little := name == "UTF-16LE"
	if name == "UTF-16" && len(b) >= 2 && (b[0] == 0xFE && b[1] == 0xFF || b[0] == 0xFF && b[1] == 0xFE) {
		little, b = b[0] == 0xFF, b[2:]
	}
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		u := uint16(b[0])<<8 | uint16(b[1])
		if little {
			u = u<<8 | u>>8
		}
		units = append(units, u)
	}
	for _, r := range utf16.Decode(units) {
		dst = utf8.AppendRune(dst, r)
	}
	if len(b) > 0 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst
}

func toBase64(nd *node, dst []byte, i int) []byte { return AppendBytes(dst, nd.in[0].str(i)) }

// bindFromBase64 fails for what is no base64 of a text.
func bindFromBase64(nd *node) error {
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		bad := -1
		v, err := nd.texts(c, sel, func(dst []byte, i int) []byte {
			at := len(dst)
			out, err := base64.StdEncoding.AppendDecode(dst, nd.in[0].str(i))
			if err != nil || !utf8.Valid(out[at:]) {
				if bad < 0 {
					bad = i
				}
				return dst
			}
			return out
		})
		if err == nil && bad >= 0 {
			return nil, nd.fail(evaluation, bad, 0, "'"+clip(nd.in[0].str(bad), mostShown)+"' is not the base64 of a text")
		}
		return v, err
	}
	return nil
}

func hexText(nd *node, dst []byte, i int) []byte {
	v := nd.in[0]
	if v.t.Kind == BigInt {
		return append(dst, strings.ToUpper(strconv.FormatUint(uint64(v.num(i)), 16))...)
	}
	for _, c := range v.str(i) {
		const digits = "0123456789ABCDEF"
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}

func unhex(nd *node, dst []byte, i int) ([]byte, textOutcome) {
	s := nd.in[0].str(i)
	if len(s)%2 != 0 {
		s = append([]byte{'0'}, s...)
	}
	out, err := hex.AppendDecode(dst, s)
	if err != nil {
		return dst, noText
	}
	return out, someText
}

func binaryText(nd *node, dst []byte, i int) []byte {
	return strconv.AppendUint(dst, uint64(nd.in[0].num(i)), 2)
}

func urlEncode(nd *node, dst []byte, i int) []byte {
	for _, c := range nd.in[0].str(i) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', isDigit(c), strings.IndexByte(".-*_", c) >= 0:
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			const digits = "0123456789ABCDEF"
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

func urlDecode(nd *node, dst []byte, i int) ([]byte, textOutcome) {
	from := len(dst)
	for s := nd.in[0].str(i); len(s) > 0; s = s[1:] {
		switch s[0] {
		case '+':
			dst = append(dst, ' ')
		case '%':
			if len(s) < 3 {
				return dst[:from], noText
			}
			out, err := hex.AppendDecode(dst, s[1:3])
			if err != nil {
				return dst[:from], noText
			}
			dst, s = out, s[2:]
		default:
			dst = append(dst, s[0])
		}
	}
	if !utf8.Valid(dst[from:]) {
		return dst[:from], noText
	}
	return dst, someText
}
