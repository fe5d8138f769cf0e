package inspect

import (
	"bytes"

	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
)

// singleByte are the encodings that are guessed in which a byte is a letter.
var singleByte = map[string]bool{"windows-1252": true, "latin-1": true, "windows-1250": true, "windows-1251": true, "koi8-r": true}

// wideEncoding is the encoding of a text whose letters have two or four bytes each, told by the byte-order mark or
// by where its NULs stand; "" where it is none.
func wideEncoding(head []byte) string {
	if m := text.Marked(head); m != "" {
		return m
	}
	head = head[:min(len(head), 64<<10)]
	var zeros [4]int
	for i, c := range head {
		if c == 0 {
			zeros[i&3]++
		}
	}
	even, odd, n := zeros[0]+zeros[2], zeros[1]+zeros[3], len(head)
	switch {
	case n < 4:
		return ""
	case n >= 8 && (even+odd)*10 > n*7 && zeros[0]*10 < n:
		return "utf-32le"
	case n >= 8 && (even+odd)*10 > n*7 && zeros[3]*10 < n:
		return "utf-32be"
	case odd*4 > n && odd > 4*even:
		return "utf-16le"
	case even*4 > n && even > 4*odd:
		return "utf-16be"
	}
	return ""
}

// A pairs is how a text looks as one of an encoding of East Asia, whose letters have two bytes.
type pairs struct {
	name   string
	whole  bool // no byte is wrong
	all    int  // letters
	common int  // those that texts are mostly made of
	kana   int
	low    int // with a second byte below 0x7f
}

// in reports whether a byte is within bounds.
func in(c, lo, hi byte) bool { return c >= lo && c <= hi }

// likely is a guess at the encoding of a text that is no UTF-8. The bytes alone cannot tell for certain.
func likely(p []byte) string {
	head := p[:min(len(p), 256<<10)]
	if len(head) < len(p) {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	euc, sjis, big5 := eucPairs(head), sjisPairs(head), big5Pairs(head)
	switch {
	case euc.whole && euc.all > 2 && euc.kana*7 > euc.all && euc.common*10 > euc.all*8:
		return "euc-jp"
	case sjis.whole && sjis.all > 2 && sjis.kana*7 > sjis.all && sjis.common*10 > sjis.all*7:
		return "shift_jis"
	case euc.whole && euc.all > 2 && hangul(head)*100 > euc.all*95:
		return "euc-kr"
	case euc.whole && euc.all > 2 && euc.common*10 > euc.all*8:
		return "gb18030"
	case big5.whole && big5.all > 2 && big5.low*5 > big5.all && big5.common*10 > big5.all*8:
		return "big5"
	}
	return letters(head)
}

// eucPairs looks at a text as one of EUC-JP, EUC-KR or GB 2312: both bytes of a letter are above 0xa0.
func eucPairs(p []byte) (e pairs) {
	for i := 0; i < len(p); i++ {
		if p[i] < 0x80 {
			continue
		}
		if !in(p[i], 0xA1, 0xFE) || i+1 >= len(p) || !in(p[i+1], 0xA1, 0xFE) {
			return e
		}
		e.all++
		switch c := p[i]; {
		case c == 0xA4 || c == 0xA5:
			e.kana++
			e.common++
		case in(c, 0xA1, 0xA3) || in(c, 0xB0, 0xD7):
			e.common++
		}
		i++
	}
	e.whole = true
	return e
}

// hangul counts the letters that are syllables or signs in EUC-KR.
func hangul(p []byte) (n int) {
	for i := 0; i+1 < len(p); i++ {
		if p[i] >= 0x80 {
			if in(p[i], 0xB0, 0xC8) || in(p[i], 0xA1, 0xA3) {
				n++
			}
			i++
		}
	}
	return n
}

// sjisPairs looks at a text as Shift JIS.
func sjisPairs(p []byte) (e pairs) {
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c < 0x80 {
			continue
		}
		e.all++
		if in(c, 0xA1, 0xDF) {
			continue // half as wide, and rare
		}
		if !in(c, 0x81, 0x9F) && !in(c, 0xE0, 0xFC) || i+1 >= len(p) || !in(p[i+1], 0x40, 0x7E) && !in(p[i+1], 0x80, 0xFC) {
			return e
		}
		switch d := p[i+1]; {
		case c == 0x82 && d >= 0x9F || c == 0x83 && d <= 0x96:
			e.kana++
			e.common++
		case in(c, 0x81, 0x83) || in(c, 0x88, 0x97):
			e.common++
		}
		i++
	}
	e.whole = true
	return e
}

// big5Pairs looks at a text as Big5.
func big5Pairs(p []byte) (e pairs) {
	for i := 0; i < len(p); i++ {
		if p[i] < 0x80 {
			continue
		}
		if !in(p[i], 0xA1, 0xF9) || i+1 >= len(p) || !in(p[i+1], 0x40, 0x7E) && !in(p[i+1], 0xA1, 0xFE) {
			return e
		}
		e.all++
		if p[i+1] < 0x7F {
			e.low++
		}
		if in(p[i], 0xA1, 0xC6) {
			e.common++
		}
		i++
	}
	e.whole = true
	return e
}

// letters guesses among the encodings in which a byte is a letter: whole words of bytes above 0xbf are Cyrillic, and
// letters between letters where the West has signs are of Central Europe.
func letters(p []byte) string {
	high, words, small, large, signs := 0, 0, 0, 0, 0
	letter := func(i int) bool {
		return i >= 0 && i < len(p) && (p[i]|0x20 >= 'a' && p[i]|0x20 <= 'z' || p[i] >= 0xC0)
	}
	for i, c := range p {
		if c < 0x80 {
			continue
		}
		high++
		switch {
		case c >= 0xE0:
			small++
		case c >= 0xC0:
			large++
		case (c == 0xB3 || c == 0xB9 || c == 0xBF) && letter(i-1) && (letter(i+1) || i+1 < len(p) && p[i+1] < 0x40):
			signs++
		}
		if c >= 0xC0 && i > 0 && i+1 < len(p) && p[i-1] >= 0xC0 && p[i+1] >= 0xC0 {
			words++
		}
	}
	switch {
	case words > 2 && words*10 > high*4 && small >= large:
		return "windows-1251"
	case words > 2 && words*10 > high*4:
		return "koi8-r"
	case signs > 0 && signs*10 > high:
		return "windows-1250"
	}
	return "windows-1252"
}
