package columntext

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Pattern is how dates and times are written. A part is a letter with the number of times it stands
// there, or a text that stands for itself.
type Pattern struct {
	text  string
	iso   bool
	parts []patternPart
}

type patternPart struct {
	letter byte // 0: text
	n      int
	text   string
}

// NewPattern reads a pattern of the letters that Flink's and Java's patterns have.
func NewPattern(text string) (*Pattern, error) {
	if strings.EqualFold(text, "iso") {
		return &Pattern{text: "ISO 8601", iso: true}, nil
	}
	p := &Pattern{text: text}
	for i := 0; i < len(text); {
		c := text[i]
		n := 1
		for i+n < len(text) && text[i+n] == c {
			n++
		}
		switch {
		case c == '\'':
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("format %q: a single quote is not closed", text)
			}
			lit := text[i+1 : i+1+end]
			if lit == "" {
				lit = "'"
			}
			p.parts = append(p.parts, patternPart{text: lit})
			i += end + 2
			continue
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if !slices.Contains(strings.Fields("yyyy yy M MM MMM d dd H HH h hh m mm s ss S SS SSS SSSS SSSSS SSSSSS SSSSSSS SSSSSSSS SSSSSSSSS a X XX XXX Z"), text[i:i+n]) {
				return nil, fmt.Errorf("format %q: %s is not known: expected yyyy yy MM M MMM dd d HH H hh h mm ss S a XXX, and other letters in single quotes", text, text[i:i+n])
			}
			p.parts = append(p.parts, patternPart{letter: c, n: n})
		default:
			p.parts = append(p.parts, patternPart{text: text[i : i+n]})
		}
		i += n
	}
	for _, l := range []byte("yMd") {
		if !slices.ContainsFunc(p.parts, func(x patternPart) bool { return x.letter == l }) {
			return nil, fmt.Errorf("format %q has no %c: expected year, month and day, as in dd.MM.yyyy", text, l)
		}
	}
	return p, nil
}

// A moment is what a pattern's parts were.
type moment struct {
	year, month, day, hour, minute, second int
	micros                                 int
	half                                   int // 1 AM, 2 PM
	offset                                 int64
	zoned                                  bool // an offset was written
}

// Parse reads a text as microseconds since 1970-01-01 00:00:00. A time with an offset is turned to UTC.
func (p *Pattern) Parse(b []byte, precision int) (int64, expr.Status) {
	text, m, s := p.read(b)
	if s != expr.OK {
		return 0, s
	}
	return shifted(text, m.offset, precision)
}

// ParseLTZ reads a text as microseconds since 1970-01-01 00:00:00 UTC. Without an offset it is a local time
// of the zone.
func (p *Pattern) ParseLTZ(b []byte, precision int, z *expr.Zone) (int64, expr.Status) {
	text, m, s := p.read(b)
	switch {
	case s != expr.OK:
		return 0, s
	case !m.zoned:
		return expr.ParseTimestampLTZ(text, precision, z)
	}
	return shifted(text, m.offset, precision)
}

// read takes a text apart: the local time as package expr reads it, and what else was found.
func (p *Pattern) read(b []byte) ([]byte, moment, expr.Status) {
	b = bytes.TrimSpace(b)
	m := moment{}
	if len(b) == 0 {
		return nil, m, expr.Empty
	}
	if p.iso {
		return m.iso(b)
	}
	for _, x := range p.parts {
		var ok bool
		if b, ok = m.part(x, b); !ok {
			return nil, m, expr.Malformed
		}
	}
	switch {
	case len(b) > 0:
		return nil, m, expr.Malformed
	case m.half != 0 && (m.hour < 1 || m.hour > 12):
		return nil, m, expr.OutOfRange
	case m.half != 0:
		m.hour = m.hour%12 + 12*(m.half-1)
	}
	text := fmt.Appendf(make([]byte, 0, 32), "%04d-%02d-%02d %02d:%02d:%02d.%06d", m.year, m.month, m.day, m.hour, m.minute, m.second, m.micros)
	return text, m, expr.OK
}

// shifted is the instant of a text that was written with an offset.
func shifted(text []byte, offset int64, precision int) (int64, expr.Status) {
	if offset == 0 {
		return expr.ParseTimestamp(text, precision)
	}
	v, s := expr.ParseTimestamp(text, precision)
	return v - offset, s
}

// part reads one part of the pattern.
func (m *moment) part(x patternPart, b []byte) (rest []byte, ok bool) {
	if x.letter == 0 {
		return bytes.CutPrefix(b, []byte(x.text))
	}
	least, most := x.n, x.n
	if x.n == 1 && x.letter != 'S' {
		most = 2
	}
	switch x.letter {
	case 'a':
		if len(b) < 2 || b[1]|0x20 != 'm' {
			return b, false
		}
		m.half = map[byte]int{'a': 1, 'p': 2}[b[0]|0x20]
		return b[2:], m.half != 0
	case 'X', 'Z':
		return m.zone(b)
	case 'M':
		if x.n == 3 {
			return m.monthName(b)
		}
	}
	v, rest, ok := digitsOf(b, least, most)
	if !ok {
		return b, false
	}
	switch x.letter {
	case 'y':
		if x.n == 2 {
			v += 2000
		}
		m.year = v
	case 'M':
		m.month = v
	case 'd':
		m.day = v
	case 'H', 'h':
		m.hour = v
	case 'm':
		m.minute = v
	case 's':
		m.second = v
	case 'S':
		for range max(0, 6-x.n) {
			v *= 10
		}
		for range max(0, x.n-6) {
			v /= 10
		}
		m.micros = v
	}
	return rest, true
}

func digitsOf(b []byte, least, most int) (v int, rest []byte, ok bool) {
	n := 0
	for n < len(b) && n < most && b[n] >= '0' && b[n] <= '9' {
		v = v*10 + int(b[n]-'0')
		n++
	}
	return v, b[n:], n >= least
}

func (m *moment) monthName(b []byte) ([]byte, bool) {
	const names = "janfebmaraprmayjunjulaugsepoctnovdec"
	if len(b) < 3 {
		return b, false
	}
	i := strings.Index(names, strings.ToLower(string(b[:3])))
	m.month = i/3 + 1
	return b[3:], i >= 0 && i%3 == 0
}

// zone reads Z, +02, +0200 or +02:00.
func (m *moment) zone(b []byte) ([]byte, bool) {
	m.zoned = true
	if len(b) > 0 && (b[0] == 'Z' || b[0] == 'z') {
		return b[1:], true
	}
	if len(b) < 3 || b[0] != '+' && b[0] != '-' {
		return b, false
	}
	hours, rest, ok := digitsOf(b[1:], 2, 2)
	minutes := 0
	if ok && len(rest) > 0 {
		after, _ := bytes.CutPrefix(rest, []byte(":"))
		if v, left, has := digitsOf(after, 2, 2); has {
			minutes, rest = v, left
		}
	}
	if !ok || hours > 18 || minutes > 59 {
		return b, false
	}
	m.offset = int64(hours*3600+minutes*60) * microsPerSecond
	if b[0] == '-' {
		m.offset = -m.offset
	}
	return rest, true
}

// String is the pattern as a message shows it.
func (p *Pattern) String() string { return p.text }

// iso reads ISO 8601.
func (m moment) iso(b []byte) ([]byte, moment, expr.Status) {
	// A sign of an offset stands behind the time, so behind a colon.
	if colon := bytes.IndexByte(b, ':'); colon >= 0 {
		if i := bytes.LastIndexAny(b, "+-Zz"); i > colon {
			rest, ok := m.zone(b[i:])
			if !ok || len(rest) > 0 {
				return nil, m, expr.Malformed
			}
			b = bytes.TrimRight(b[:i], " ")
		}
	}
	return b, m, expr.OK
}
