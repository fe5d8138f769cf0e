package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A timePart is a field of a time pattern, or text between fields.
type timePart struct {
	letter byte // y M d H m s S; 0 for text
	digits int  // of the field; of a single letter one or two
	text   string
}

// timePattern reads a pattern of DATE_FORMAT and TO_TIMESTAMP: Java's letters, as far as their
// meaning depends on neither language nor zone.
func timePattern(s string) ([]timePart, *patternError) {
	var parts []timePart
	text := func(t string) { parts = append(parts, timePart{text: t}) }
	for at := 0; at < len(s); {
		c := s[at]
		if l := c | 0x20; l >= 'a' && l <= 'z' {
			n := at + 1
			for n < len(s) && s[n] == c {
				n++
			}
			f := timePart{letter: c, digits: n - at}
			if !f.known() {
				return nil, &patternError{at, n, s[at:n] + " is not supported", "yyyy, MM, dd, HH, mm, ss, SSS, or text in '…'"}
			}
			parts = append(parts, f)
			at = n
			continue
		}
		switch {
		case strings.IndexByte("[]{}#", c) >= 0:
			return nil, &patternError{at, at + 1, string(c) + " is not supported", "'" + string(c) + "' for the character"}
		case strings.HasPrefix(s[at:], "''"):
			text("'")
			at += 2
		case c == '\'':
			t, n, ok := quotedPart(s[at:])
			if !ok {
				return nil, &patternError{at, len(s), "text without an end", "' after it"}
			}
			text(t)
			at += n
		default:
			_, w := utf8.DecodeRuneInString(s[at:])
			text(s[at : at+w])
			at += w
		}
	}
	return parts, nil
}

// quotedPart reads '…' and how long it is; two quotes in it stand for one.
func quotedPart(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for n = 1; n < len(s); n++ {
		if s[n] != '\'' {
			b.WriteByte(s[n])
			continue
		}
		if n+1 == len(s) || s[n+1] != '\'' {
			return b.String(), n + 1, true
		}
		b.WriteByte('\'')
		n++
	}
	return "", 0, false
}

func (f timePart) known() bool {
	switch f.letter {
	case 'y':
		return f.digits == 4
	case 'M', 'd', 'H', 'm', 's':
		return f.digits <= 2
	case 'S':
		return f.digits <= 9
	}
	return false
}

// patternOf is a call's time pattern; nil where it is NULL.
func patternOf(e *Expr) ([]timePart, error) {
	a := e.Args[1]
	if a.Op != OpLiteral || a.Value == nil {
		return nil, fmt.Errorf("the pattern of %s is a literal", e.Name)
	}
	if a.Value.Null {
		return nil, nil
	}
	parts, bad := timePattern(a.Value.Text)
	if bad != nil {
		return nil, fmt.Errorf("%s: %s", e, bad.message)
	}
	return parts, nil
}

func bindDateFormat(nd *node) error {
	parts, err := patternOf(nd.e)
	if err != nil {
		return err
	}
	k, err := newCalendar(nd.e, 0)
	if err != nil {
		return err
	}
	return textKernel(func(nd *node, dst []byte, i int) []byte {
		days, micros := k.instant(nd.in[0], i)
		k.at(days)
		for _, f := range parts {
			dst = k.appendPart(dst, f, micros)
		}
		return dst
	})(nd)
}

// appendPart writes a field of the day the calendar is at.
func (k *calendar) appendPart(dst []byte, f timePart, micros int64) []byte {
	v := int64(0)
	switch f.letter {
	case 0:
		return append(dst, f.text...)
	case 'y':
		y := k.year
		if y < 1 {
			y = 1 - y
		}
		if y > 9999 {
			dst = append(dst, '+')
		}
		return fmt.Appendf(dst, "%04d", y)
	case 'S':
		return append(dst, fmt.Sprintf("%06d000", micros%microsPerSecond)[:f.digits]...)
	case 'M':
		v = int64(k.month)
	case 'd':
		v = int64(k.day)
	case 'H':
		v = micros / microsPerHour
	case 'm':
		v = micros / microsPerMinute % 60
	case 's':
		v = micros / microsPerSecond % 60
	}
	if f.digits == 2 {
		return appendTwo(dst, int(v))
	}
	return strconv.AppendInt(dst, v, 10)
}

// bindToTime is TO_TIMESTAMP and TO_DATE. What is no time is NULL.
func bindToTime(nd *node) error {
	read := func(s []byte) (int64, bool) {
		v, status := ParseTimestamp(s, 3)
		return v, status == OK
	}
	day := nd.e.Type.Kind == Date
	if day {
		read = func(s []byte) (int64, bool) {
			v, status := ParseDate(s)
			return int64(v), status == OK
		}
	}
	if len(nd.e.Args) == 2 {
		parts, err := patternOf(nd.e)
		if err != nil {
			return err
		}
		read = func(s []byte) (int64, bool) {
			days, micros, ok := readTime(parts, s)
			if !ok || day {
				return days, ok
			}
			return days*microsPerDay + micros - micros%1000, true
		}
	}
	nd.run = optional(func(nd *node, i int) (int64, bool) { return read(nd.in[0].str(i)) })
	return nil
}

// readTime reads a text by a pattern. A field may stand twice if it says the same.
func readTime(parts []timePart, s []byte) (days, micros int64, ok bool) {
	v := map[byte]int64{'y': 1970, 'M': 1, 'd': 1}
	var seen [128]bool
	for _, f := range parts {
		if f.letter == 0 {
			if len(s) < len(f.text) || string(s[:len(f.text)]) != f.text {
				return 0, 0, false
			}
			s = s[len(f.text):]
			continue
		}
		n := f.digits
		if n == 1 && f.letter != 'S' && len(s) > 1 && digits(s[1:2]) {
			n = 2
		}
		if len(s) < n || !digits(s[:n]) {
			return 0, 0, false
		}
		x := int64(0)
		for _, c := range s[:n] {
			x = x*10 + int64(c-'0')
		}
		if f.letter == 'S' {
			x *= int64(pow10[9-n])
		}
		if seen[f.letter] && v[f.letter] != x {
			return 0, 0, false
		}
		seen[f.letter], v[f.letter], s = true, x, s[n:]
	}
	if len(s) > 0 || v['y'] < 1 || v['M'] < 1 || v['M'] > 12 || v['d'] < 1 || v['H'] > 23 || v['m'] > 59 || v['s'] > 59 || v['d'] > int64(daysIn(v['y'], int(v['M']))) {
		return 0, 0, false
	}
	return daysOf(v['y'], int(v['M']), int(v['d'])), (v['H']*3600+v['m']*60+v['s'])*microsPerSecond + v['S']/1000, true
}
