package expr

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// readPattern reads a regular expression. Where RE2 and Java, which Flink has, read a text in
// different ways or RE2 not at all, it is refused with a name for what it is.
func readPattern(s string) (*regexp.Regexp, *patternError) {
	p := patternScan{s: s}
	for p.at < len(s) {
		if err := p.step(); err != nil {
			return nil, err
		}
	}
	r, err := regexp.Compile(s)
	var bad *syntax.Error
	switch {
	case err == nil:
		return r, nil
	case errors.As(err, &bad):
		at := max(strings.Index(s, bad.Expr), 0)
		return nil, &patternError{at, at + len(bad.Expr), patternFault(bad.Code), ""}
	}
	return nil, &patternError{0, len(s), err.Error(), ""}
}

// patternFault words what RE2 says of a pattern.
func patternFault(code syntax.ErrorCode) string {
	switch code {
	case syntax.ErrMissingParen, syntax.ErrMissingBracket, syntax.ErrUnexpectedParen:
		return "a bracket that has no other"
	case syntax.ErrInvalidRepeatSize:
		return "a count above 1000, RE2's largest,"
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		return "a count that nothing stands before"
	case syntax.ErrInvalidCharRange:
		return "a range or class of characters that RE2 does not have"
	}
	return "not a pattern (" + string(code) + ")"
}

type patternScan struct {
	s        string
	at       int
	class    bool
	repeated bool // what stands before is a count
}

func (p *patternScan) rest() string { return p.s[p.at:] }

func (p *patternScan) bad(n int, message, expected string) *patternError {
	return &patternError{p.at, min(p.at+n, len(p.s)), message, expected}
}

// step takes one piece of the pattern.
func (p *patternScan) step() *patternError {
	repeated := p.repeated
	p.repeated = false
	c := p.s[p.at]
	switch {
	case c == '\\':
		return p.escape()
	case p.class:
		return p.inClass(c)
	case c == '[':
		p.class = true
		p.at++
		if strings.HasPrefix(p.rest(), "^") {
			p.at++
		}
		if strings.HasPrefix(p.rest(), "]") {
			return p.bad(1, "a ] at the begin of a class", `\]`)
		}
		return nil
	case strings.HasPrefix(p.rest(), "(?"):
		return p.group()
	case c == '+' && repeated:
		return p.bad(1, "a possessive count, which RE2 does not have,", "the count without the +")
	case c == '{':
		m := counts.FindString(p.rest())
		if m == "" {
			return p.bad(1, "a { that begins no count", `\{, or a count such as {2,5}`)
		}
		p.at += len(m) - 1
	}
	p.repeated = !repeated && strings.IndexByte("*+?}", c) >= 0 || c == '{'
	p.at++
	return nil
}

var (
	counts = regexp.MustCompile(`^\{\d+(,\d*)?\}`)
	flags  = regexp.MustCompile(`^\(\?[ims-]+[:)]`)
	named  = regexp.MustCompile(`^\(\?<[A-Za-z]\w*>`)
)

func (p *patternScan) inClass(c byte) *patternError {
	switch {
	case strings.HasPrefix(p.rest(), "[:"):
		return p.bad(2, "a named class, which Java does not have,", `\p{L}, \d, a-z or the like`)
	case c == '[':
		return p.bad(1, "a class inside a class, which RE2 does not have,", `\[ for the character`)
	case strings.HasPrefix(p.rest(), "&&"):
		return p.bad(2, "an intersection of classes, which RE2 does not have,", `\& for the character`)
	case c == ']':
		p.class = false
	}
	p.at++
	return nil
}

// group takes what follows "(?".
func (p *patternScan) group() *patternError {
	rest := p.rest()
	switch {
	case strings.HasPrefix(rest, "(?:"), flags.MatchString(rest), named.MatchString(rest):
		p.at += 3
		return nil
	case strings.HasPrefix(rest, "(?="), strings.HasPrefix(rest, "(?!"):
		return p.bad(3, "a look ahead, which RE2 does not have,", "a pattern that matches the text itself")
	case strings.HasPrefix(rest, "(?<="), strings.HasPrefix(rest, "(?<!"):
		return p.bad(4, "a look behind, which RE2 does not have,", "a pattern that matches the text itself")
	case strings.HasPrefix(rest, "(?>"):
		return p.bad(3, "an atomic group, which RE2 does not have,", "(?: and )")
	case strings.HasPrefix(rest, "(?P"):
		return p.bad(3, "a group that Java does not have", "(?<name> and )")
	}
	return p.bad(3, "a group of an unknown form", "(?: (?<name> (?i) (?m) or (?s)")
}

// escapes are what letters after a backslash mean in Java alone, or there in another way.
var escapes = map[byte][2]string{
	'k': {"a reference back, which RE2 does not have,", ""}, 'G': {`\G, which RE2 does not have,`, ""}, 'Z': {`\Z, which RE2 does not have,`, `\z`},
	'R': {`\R, which RE2 does not have,`, `(?:\r\n|[\r\n])`}, 'X': {`\X, which RE2 does not have,`, `\P{M}\p{M}*`}, 'h': {`\h, which RE2 does not have,`, `[\t\p{Zs}]`}, 'H': {`\H, which RE2 does not have,`, `[^\t\p{Zs}]`},
	'v': {`\v, which is the vertical tab in RE2 and any line end in Java,`, `\x0b or [\n\r]`}, 'V': {`\V, which RE2 does not have,`, `[^\n\r]`}, 'N': {`\N, which RE2 does not have,`, `\x{…}`},
	'u': {`\u, which RE2 does not have,`, `\x{…}`}, 'c': {`\c, which RE2 does not have,`, `\x01 to \x1f`}, 'e': {`\e, which RE2 does not have,`, `\x1b`}, 'C': {`\C, which Java does not have,`, "."},
}

// escape takes a backslash and what belongs to it.
func (p *patternScan) escape() *patternError {
	if p.at+1 == len(p.s) {
		return p.bad(1, "a backslash at the end", `\\`)
	}
	c := p.s[p.at+1]
	switch e, refused := escapes[c]; {
	case refused:
		return p.bad(2, e[0], e[1])
	case c == '0':
		return p.bad(2, `\0, which RE2 reads in another way,`, `\x00 to \xff`)
	case c >= '1' && c <= '9':
		return p.bad(2, "a reference back, which RE2 does not have,", "")
	case (c == 'p' || c == 'P' || c == 'x') && strings.HasPrefix(p.s[p.at+2:], "{"):
		p.at += max(strings.IndexByte(p.rest(), '}')-1, 1)
	case c == 'Q':
		if n := strings.Index(p.rest(), `\E`); n >= 0 {
			p.at += n
		} else {
			p.at = len(p.s) - 2
		}
	}
	p.at += 2
	return nil
}

// bindRegexp is REGEXP and the calls whose names begin so.
func bindRegexp(nd *node) error {
	a := nd.e.Args[1]
	if a.Op != OpLiteral || a.Value == nil {
		return fmt.Errorf("the pattern of %s is a literal", nd.e.Name)
	}
	if a.Value.Null {
		nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) { return nd.strict(c, sel) } // all NULL
		return nil
	}
	r, bad := readPattern(a.Value.Text)
	if bad != nil {
		return fmt.Errorf("%s: %s", nd.e, bad.message)
	}
	switch nd.e.Name {
	case "REGEXP":
		some := a.Value.Text != ""
		return condition(func(nd *node, i int) bool { return some && r.Match(nd.in[0].str(i)) })(nd)
	case "REGEXP_COUNT":
		return whole(func(nd *node, i int) int { return len(r.FindAllIndex(nd.in[0].str(i), -1)) })(nd)
	case "REGEXP_INSTR":
		return whole(func(nd *node, i int) int {
			s := nd.in[0].str(i)
			if m := r.FindIndex(s); m != nil {
				return utf8.RuneCount(s[:m[0]]) + 1
			}
			return 0
		})(nd)
	case "REGEXP_SUBSTR":
		return optionalText(func(nd *node, dst []byte, i int) ([]byte, textOutcome) {
			s := nd.in[0].str(i)
			m := r.FindIndex(s)
			if m == nil {
				return dst, noText
			}
			return append(dst, s[m[0]:m[1]]...), someText
		})(nd)
	case "REGEXP_REPLACE":
		return textKernel(func(nd *node, dst []byte, i int) []byte {
			return append(dst, r.ReplaceAllLiteral(nd.in[0].str(i), nd.in[2].str(i))...)
		})(nd)
	}
	return optionalText(func(nd *node, dst []byte, i int) ([]byte, textOutcome) {
		s, group := nd.in[0].str(i), int64(0)
		if len(nd.in) == 3 {
			group = nd.in[2].num(i)
		}
		m := r.FindSubmatchIndex(s)
		if m == nil || group < 0 || group > int64(r.NumSubexp()) || m[2*group] < 0 {
			return dst, noText
		}
		return append(dst, s[m[2*group]:m[2*group+1]]...), someText
	})(nd)
}
