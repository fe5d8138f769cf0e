package json

import (
	"fmt"
	"strconv"
	"strings"
)

// A step is one step of a path: into a member of an object, or to an element of an array.
type step struct {
	name  string
	index int // of the element from 0; -1: a member
}

// maxSteps is how many steps a path may have, as deep as a record may be nested.
const maxSteps = maxDepth

// parsePath reads where a value stands in a record:
//
//	path  = name { "." name | "[" digits "]" }
//	name  = one or more characters that are none of . [ ] `   or   ` … `
//
// Inside backticks any character stands for itself and a backtick is written twice, so that
// `a.b`.c[0] is the first element of the member c of the member a.b.
func parsePath(text string) ([]step, error) {
	p := pathText{text: text}
	var steps []step
	for first := true; ; first = false {
		if !first && p.done() {
			return steps, nil
		}
		if len(steps) == maxSteps {
			return nil, fmt.Errorf("path %q has more than %d steps", shortened(text), maxSteps)
		}
		var s step
		var err error
		if !first && p.next('[') {
			s, err = p.index()
		} else {
			if !first && !p.next('.') {
				return nil, fmt.Errorf("path %q: expected \".\" or \"[\" at character %d, as in a.b[0].c", text, p.at+1)
			}
			s, err = p.name()
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
}

type pathText struct {
	text string
	at   int
}

func (p *pathText) done() bool { return p.at >= len(p.text) }

// next passes a character over if it is there.
func (p *pathText) next(c byte) bool {
	if p.done() || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

func (p *pathText) name() (step, error) {
	from := p.at
	if p.next('`') {
		var b strings.Builder
		for {
			i := strings.IndexByte(p.text[p.at:], '`')
			if i < 0 {
				return step{}, fmt.Errorf("path %q: the backtick at character %d is not closed", p.text, from+1)
			}
			b.WriteString(p.text[p.at : p.at+i])
			p.at += i + 1
			if !p.next('`') {
				return step{name: b.String(), index: -1}, nil
			}
			b.WriteByte('`')
		}
	}
	n := strings.IndexAny(p.text[from:], ".[]`")
	if n < 0 {
		n = len(p.text) - from
	}
	p.at += n
	if n == 0 {
		return step{}, fmt.Errorf("path %q: expected a name at character %d, as in a.b[0].c; a name with . [ ] or backticks stands in backticks", p.text, from+1)
	}
	if name := p.text[from:p.at]; from == 0 && name == "$" && !p.done() {
		return step{}, fmt.Errorf("path %q begins with \"$\": expected the path without it, as in %s (a member that is called $ stands in backticks)", p.text, strings.TrimPrefix(p.text[1:], "."))
	}
	return step{name: p.text[from:p.at], index: -1}, nil
}

func (p *pathText) index() (step, error) {
	from := p.at
	n := strings.IndexByte(p.text[from:], ']')
	if n >= 0 {
		p.at += n + 1
		// So many elements may be asked for: the tree has a place for each one up to the last.
		v, err := strconv.ParseUint(p.text[from:from+n], 10, 16)
		if err == nil {
			return step{index: int(v)}, nil
		}
	}
	return step{}, fmt.Errorf("path %q: expected the place of an element, from 0 to 65535, and \"]\" at character %d, as in a[0]", p.text, from+1)
}

// writePath writes steps as parsePath reads them.
func writePath(steps []step) string {
	var b strings.Builder
	for i, s := range steps {
		switch {
		case s.index >= 0:
			fmt.Fprintf(&b, "[%d]", s.index)
			continue
		case i > 0:
			b.WriteByte('.')
		}
		if s.name == "" || s.name == "$" || strings.ContainsAny(s.name, ".[]`") {
			b.WriteString("`" + strings.ReplaceAll(s.name, "`", "``") + "`")
		} else {
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// shortened cuts a text that is too long to show.
func shortened[T string | []byte](v T) string {
	const most = 80
	if len(v) <= most {
		return string(v)
	}
	return strings.ToValidUTF8(string(v[:most]), "") + "…"
}
