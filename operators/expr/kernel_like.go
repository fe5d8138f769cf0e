package expr

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// A pattern is a LIKE pattern cut at its %: the first part stands at the begin of the text unless
// the pattern begins with %, the last one at the end unless it ends so, the others wherever they
// are found first.
type pattern struct {
	parts      []part
	head, tail bool // % at the begin, at the end
}

// A part is text in which _ stands for one character.
type part struct {
	text   []byte
	single []bool // per byte of text: it stands for _; nil where there is none
}

// compilePattern reads a pattern; escape is 0 for none.
func compilePattern(p []byte, escape rune) (*pattern, error) {
	out := &pattern{}
	var cur part
	end := func() {
		if len(cur.text) > 0 {
			out.parts = append(out.parts, cur)
			cur = part{}
		}
	}
	for i := 0; i < len(p); {
		r, w := utf8.DecodeRune(p[i:])
		switch {
		case escape != 0 && r == escape:
			i += w
			next, w := utf8.DecodeRune(p[i:])
			if i == len(p) || next != '%' && next != '_' && next != escape {
				return nil, fmt.Errorf("the escape character '%c' stands only before %%, _ and itself in '%s'", escape, p)
			}
			cur.add(p[i:i+w], false)
			i += w
		case r == '%':
			end()
			out.head = out.head || i == 0
			out.tail = i == len(p)-1
			i++
		default:
			cur.add(p[i:i+w], r == '_')
			i += w
		}
	}
	end()
	return out, nil
}

func (p *part) add(b []byte, single bool) {
	if single && p.single == nil {
		p.single = make([]bool, len(p.text))
	}
	p.text = append(p.text, b...)
	if p.single != nil {
		for range b {
			p.single = append(p.single, single)
		}
	}
}

// match reports whether the text is like the pattern.
func (p *pattern) match(s []byte) bool {
	parts := p.parts
	if len(parts) == 0 {
		return p.head || len(s) == 0
	}
	if !p.head {
		n := parts[0].at(s)
		if n < 0 || len(parts) == 1 && !p.tail && n != len(s) {
			return false
		}
		s, parts = s[n:], parts[1:]
	}
	if len(parts) == 0 {
		return true
	}
	for _, part := range parts[:len(parts)-1] {
		n := part.find(s)
		if n < 0 {
			return false
		}
		s = s[n:]
	}
	if last := parts[len(parts)-1]; !p.tail {
		return last.ends(s)
	}
	return parts[len(parts)-1].find(s) >= 0
}

// at matches the part at the begin of s and gives the length it took, -1 where it does not match.
func (p *part) at(s []byte) int {
	if p.single == nil {
		if bytes.HasPrefix(s, p.text) {
			return len(p.text)
		}
		return -1
	}
	n := 0
	for i, c := range p.text {
		switch {
		case n >= len(s):
			return -1
		case p.single[i]:
			_, w := utf8.DecodeRune(s[n:])
			n += w
		case s[n] != c:
			return -1
		default:
			n++
		}
	}
	return n
}

// find gives the end of the first match in s, -1 where there is none.
func (p *part) find(s []byte) int {
	if p.single == nil {
		if i := bytes.Index(s, p.text); i >= 0 {
			return i + len(p.text)
		}
		return -1
	}
	for i := 0; i < len(s); {
		if n := p.at(s[i:]); n >= 0 {
			return i + n
		}
		_, w := utf8.DecodeRune(s[i:])
		i += w
	}
	return -1
}

// ends reports whether s ends with a match.
func (p *part) ends(s []byte) bool {
	if p.single == nil {
		return bytes.HasSuffix(s, p.text)
	}
	for i := 0; i < len(s); {
		if p.at(s[i:]) == len(s)-i {
			return true
		}
		_, w := utf8.DecodeRune(s[i:])
		i += w
	}
	return false
}

// A like keeps the pattern it compiled last: mostly it is constant.
type like struct {
	text   []byte
	escape rune
	p      *pattern
}

func bindLike(nd *node) error {
	k := &like{}
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		out, s := nd.out.bits, nd.in[0]
		clear(out)
		var err error
		fixed := nd.in[1].one() && (len(nd.in) < 3 || nd.in[2].one())
		each(c.n, sel, nd.out.valid, func(i int) bool {
			if k.p == nil || !fixed {
				if err = k.use(nd, i); err != nil {
					return false
				}
			}
			out[i>>6] |= b2u(k.p.match(s.str(i))) << (i & 63)
			return true
		})
		return &nd.out, err
	}
	return nil
}

// use compiles row i's pattern.
func (k *like) use(nd *node, i int) error {
	text, escape := nd.in[1].str(i), rune(0)
	if len(nd.in) == 3 {
		var w int
		escape, w = utf8.DecodeRune(nd.in[2].str(i))
		if w == 0 || w != len(nd.in[2].str(i)) {
			return nd.fail(evaluation, i, 2, fmt.Sprintf("the escape of LIKE is one character, not '%s'", nd.in[2].str(i)))
		}
	}
	if k.p != nil && k.escape == escape && bytes.Equal(k.text, text) {
		return nil
	}
	p, err := compilePattern(text, escape)
	if err != nil {
		return nd.fail(evaluation, i, 1, err.Error())
	}
	k.p, k.text, k.escape = p, append(k.text[:0], text...), escape
	return nil
}
