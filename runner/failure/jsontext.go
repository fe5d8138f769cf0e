package failure

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is read by a parser that takes what a person pastes: cut off at any place, with raw line ends
// inside of strings. What came before the cut is returned.

type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonText          // string
	jsonBare          // number, true, false
	jsonObject
	jsonArray
)

type jsonValue struct {
	kind    jsonKind
	text    string
	members []jsonMember
	items   []jsonValue
}

type jsonMember struct {
	name  string
	value jsonValue
}

// maxJSONDepth bounds nesting; deeper values are read as null.
const maxJSONDepth = 200

// get returns a member of an object; a null where there is none.
func (v jsonValue) get(names ...string) jsonValue {
	for _, name := range names {
		found := false
		for _, m := range v.members {
			if m.name == name {
				v, found = m.value, true
				break
			}
		}
		if !found {
			return jsonValue{}
		}
	}
	return v
}

func (v jsonValue) has(name string) bool {
	for _, m := range v.members {
		if m.name == name {
			return true
		}
	}
	return false
}

// integer returns a number, or a number written as a string; 0 where it is neither.
func (v jsonValue) integer() int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(v.text), 10, 64)
	if err != nil {
		f, _ := strconv.ParseFloat(v.text, 64)
		return int64(f)
	}
	return n
}

type jsonParser struct {
	in    string
	at    int
	whole bool // false once something was cut off or malformed
}

// parseJSON reads one value; whole is false where it was cut off or malformed.
func parseJSON(text string) (v jsonValue, whole bool) {
	p := jsonParser{in: text, whole: true}
	v = p.value(0)
	return v, p.whole
}

func (p *jsonParser) blanks() {
	for p.at < len(p.in) && strings.IndexByte(" \t\r\n", p.in[p.at]) >= 0 {
		p.at++
	}
}

func (p *jsonParser) peek() byte {
	p.blanks()
	if p.at >= len(p.in) {
		p.whole = false
		return 0
	}
	return p.in[p.at]
}

func (p *jsonParser) value(depth int) jsonValue {
	switch c := p.peek(); {
	case c == '{' && depth < maxJSONDepth:
		return p.object(depth)
	case c == '[' && depth < maxJSONDepth:
		return p.array(depth)
	case c == '"':
		return jsonValue{kind: jsonText, text: p.str()}
	default:
		return p.bare()
	}
}

func (p *jsonParser) bare() jsonValue {
	from := p.at
	for p.at < len(p.in) && strings.IndexByte(",]}: \t\r\n\"", p.in[p.at]) < 0 {
		p.at++
	}
	text := p.in[from:p.at]
	if text == "null" {
		return jsonValue{}
	}
	if text == "" {
		p.whole = false
	}
	return jsonValue{kind: jsonBare, text: text}
}

func (p *jsonParser) object(depth int) jsonValue {
	v := jsonValue{kind: jsonObject}
	p.at++
	for p.whole {
		switch p.peek() {
		case '}':
			p.at++
			return v
		case ',':
			p.at++
		case '"':
			name := p.str()
			if p.peek() != ':' {
				p.whole = false
				return v
			}
			p.at++
			v.members = append(v.members, jsonMember{name, p.value(depth + 1)})
		default:
			p.whole = false
		}
	}
	return v
}

func (p *jsonParser) array(depth int) jsonValue {
	v := jsonValue{kind: jsonArray}
	p.at++
	for p.whole {
		switch p.peek() {
		case ']':
			p.at++
			return v
		case ',':
			p.at++
		case 0:
			return v
		default:
			v.items = append(v.items, p.value(depth+1))
		}
	}
	return v
}

// str reads a string; without its closing quote it goes to the end.
func (p *jsonParser) str() string {
	p.at++
	from := p.at
	for p.at < len(p.in) && p.in[p.at] != '"' && p.in[p.at] != '\\' {
		p.at++
	}
	if p.at < len(p.in) && p.in[p.at] == '"' {
		p.at++
		return p.in[from : p.at-1]
	}
	var b strings.Builder
	b.WriteString(p.in[from:p.at])
	for p.at < len(p.in) {
		c := p.in[p.at]
		p.at++
		switch c {
		case '"':
			return b.String()
		case '\\':
			p.escape(&b)
		default:
			b.WriteByte(c)
		}
	}
	p.whole = false
	return b.String()
}

func (p *jsonParser) escape(b *strings.Builder) {
	if p.at >= len(p.in) {
		return
	}
	c := p.in[p.at]
	p.at++
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b', 'f':
		b.WriteByte(' ')
	case 'u':
		r := p.unit()
		if utf16.IsSurrogate(r) && strings.HasPrefix(p.in[p.at:], `\u`) {
			p.at += 2
			r = utf16.DecodeRune(r, p.unit())
		}
		b.WriteRune(r)
	default:
		b.WriteByte(c)
	}
}

func (p *jsonParser) unit() rune {
	end := min(p.at+4, len(p.in))
	n, err := strconv.ParseUint(p.in[p.at:end], 16, 32)
	p.at = end
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// maxDocBytes bounds a JSON document that goes over many lines; what comes after is not read.
const maxDocBytes = 8 << 20

// A docReader collects the lines of a JSON document until its brackets are closed.
type docReader struct {
	open     bool
	text     []byte
	depth    int
	inString bool
	escaped  bool
	lines    int
	broken   bool // what came is no JSON
}

// start begins a document with its first line and says whether the line closes it.
func (d *docReader) start(line []byte) (closed bool) {
	*d = docReader{open: true, text: d.text[:0]}
	return d.feed(line)
}

// feed takes a line and says whether the document ends with it.
func (d *docReader) feed(line []byte) (closed bool) {
	d.lines++
	if len(d.text)+len(line) < maxDocBytes {
		d.text = append(append(d.text, line...), '\n')
	}
	for _, c := range line {
		switch {
		case d.escaped:
			d.escaped = false
		case d.inString:
			if c == '\\' {
				d.escaped = true
			} else if c == '"' {
				d.inString = false
			}
		case c == '"':
			d.inString = true
		case c == '{', c == '[':
			d.depth++
		case c == '}', c == ']':
			if d.depth--; d.depth <= 0 {
				return true
			}
		case d.depth > 0 && !plausible(c):
			d.broken = true
		}
	}
	d.escaped = false
	return d.broken
}

// plausible reports whether a byte may stand in JSON outside of strings and brackets.
func plausible(c byte) bool {
	return c == ',' || c == ':' || c == ' ' || c == '\t' || c == '-' || c == '+' || c == '.' ||
		c >= '0' && c <= '9' || strings.IndexByte("truefalsnE", c) >= 0
}

// take returns the text of the document and closes the reader.
func (d *docReader) take() string {
	d.open = false
	return string(d.text)
}
