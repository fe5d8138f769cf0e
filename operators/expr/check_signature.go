package expr

import (
	"fmt"
	"strings"
)

// A signature is the kinds of a call's arguments, the last one standing for all further ones, and of
// its result. A DOUBLE argument takes any number, a whole one narrower ones too.
type signature struct {
	result Kind
	args   []Kind
}

var signatures = func() map[string]signature {
	m := map[string]signature{
		"CONCAT_WS": {String, []Kind{String}}, "REPLACE": {String, []Kind{String}}, "LEFT": {String, []Kind{String, Int}}, "RIGHT": {String, []Kind{String, Int}},
		"LPAD": {String, []Kind{String, Int, String}}, "RPAD": {String, []Kind{String, Int, String}}, "REPEAT": {String, []Kind{String, Int}},
		"REVERSE": {String, []Kind{String}}, "INITCAP": {String, []Kind{String}}, "ASCII": {Int, []Kind{String}}, "CHR": {String, []Kind{BigInt}},
		"POSITION": {Int, []Kind{String, String, Int}}, "STARTSWITH": {Boolean, []Kind{String}}, "ENDSWITH": {Boolean, []Kind{String}},
		"SPLIT_INDEX": {String, []Kind{String, String, Int}}, "REGEXP": {Boolean, []Kind{String}}, "REGEXP_REPLACE": {String, []Kind{String}},
		"REGEXP_EXTRACT": {String, []Kind{String, String, Int}}, "IS_ALPHA": {Boolean, []Kind{String}}, "IS_DIGIT": {Boolean, []Kind{String}}, "IS_DECIMAL": {Boolean, []Kind{String}},
		"MD5": {String, []Kind{String}}, "SHA1": {String, []Kind{String}}, "SHA224": {String, []Kind{String}}, "SHA256": {String, []Kind{String}},
		"SHA384": {String, []Kind{String}}, "SHA512": {String, []Kind{String}},
		"DATE_FORMAT": {String, []Kind{Timestamp, String}}, "TO_TIMESTAMP": {Timestamp, []Kind{String}}, "TO_DATE": {Date, []Kind{String}},
	}
	for _, f := range numberFunctions {
		if f.Name != "SIGN" && f.MaxArgs > 0 {
			m[f.Name] = signature{Double, []Kind{Double}}
		}
	}
	addFurtherSignatures(m)
	return m
}()

// signed checks the calls that have a signature.
func (c *checker) signed(n *Expr, s signature) *Expr {
	ok := true
	for i, a := range n.Args {
		want := s.args[min(i, len(s.args)-1)]
		x := accepted(a, want)
		if n.Args[i] = x; takes(n.Name, i, want, x.Type.Kind) {
			continue
		}
		ok = false
		c.fail(a, fmt.Sprintf("%s takes %s, not %s", n.Name, kindName(want), plainType(a.Type)), neededCast(a, want))
	}
	if !ok {
		return nil
	}
	n.Type = Of(s.result)
	if s.result == Timestamp {
		n.Type.Precision = 3
	}
	if n.Name == "CONCAT_WS" {
		n.Type.NotNull = n.Args[0].Type.NotNull
	}
	return when(c.patterns(n) && c.furtherLiterals(n), n)
}

// accepted is an argument as a call that wants a kind takes it.
func accepted(a *Expr, want Kind) *Expr {
	if a.Type.Kind == Null && want == Timestamp {
		return implicit(a, TimestampOf(3))
	}
	a = implicitNull(a, Of(want))
	switch {
	case want == Double && a.Type.Numeric(), want == BigInt && a.Type.Whole(), want == Int && a.Type.narrow() && a.Type.Whole():
		return implicit(a, Of(want))
	case want == Timestamp && a.Type.Kind == Date:
		return implicit(a, TimestampOf(0))
	}
	return a
}

// neededCast says what to write in place of an argument of another kind.
func neededCast(a *Expr, want Kind) string {
	switch allowed, _ := CastRule(a.Type, Of(want)); {
	case !allowed:
		return kindName(want)
	case want == Timestamp:
		return "CAST(" + a.String() + " AS TIMESTAMP(3))"
	}
	return castTo(a, want)
}

func kindName(k Kind) string {
	switch k {
	case String:
		return "text"
	case Int:
		return "an INT"
	case BigInt:
		return "a whole number"
	case Double:
		return "a number"
	case Bytes:
		return "BYTES"
	}
	return "a DATE or TIMESTAMP"
}

// patterns checks what must be known of a call before anything runs: patterns, which are literals.
func (c *checker) patterns(n *Expr) bool {
	var at *Expr
	var read func(string) (int, *patternError)
	switch {
	case strings.HasPrefix(n.Name, "REGEXP"):
		at, read = n.Args[1], func(s string) (int, *patternError) {
			r, err := readPattern(s)
			if err != nil {
				return 0, err
			}
			return r.NumSubexp(), nil
		}
	case timePatterns[n.Name] && len(n.Args) > 1:
		at, read = n.Args[1], func(s string) (int, *patternError) {
			_, err := timePattern(s)
			return 0, err
		}
	default:
		return true
	}
	if at.Op == OpLiteral && at.Value.Null {
		return true
	}
	if !isText(at) {
		c.fail(at, "the pattern of "+n.Name+" is not a literal", "a literal, which is checked before anything runs")
		return false
	}
	groups, err := read(at.Value.Text)
	if err != nil {
		c.badPattern(at, err)
		return false
	}
	if n.Name == "REGEXP_EXTRACT" && len(n.Args) == 3 {
		if g := n.Args[2]; g.Op == OpLiteral && !g.Value.Null && (g.Value.Int < 0 || g.Value.Int > int64(groups)) {
			c.fail(g, fmt.Sprintf("the pattern has no group %d", g.Value.Int), fmt.Sprintf("0, which is the whole, to %d", groups))
			return false
		}
	}
	return true
}

// timePatterns have a time pattern as their second argument, if they have one.
var timePatterns = map[string]bool{"DATE_FORMAT": true, "TO_TIMESTAMP": true, "TO_DATE": true, "TO_TIMESTAMP_LTZ": true, "UNIX_TIMESTAMP": true, "FROM_UNIXTIME": true}

// A patternError is a fault in a pattern, at a byte range of it.
type patternError struct {
	at, end           int
	message, expected string
}

// badPattern points at the place inside the literal where its text holds the pattern as it stands.
func (c *checker) badPattern(at *Expr, err *patternError) {
	pos, end := int(at.Pos), at.End
	if end-pos == len(at.Value.Text)+2 {
		pos, end = pos+1+err.at, pos+1+err.end
	}
	c.errs = append(c.errs, &Error{Pos: pos, End: end, Message: fmt.Sprintf("%s at character %d of the pattern", err.message, len([]rune(at.Value.Text[:err.at]))+1), Expected: err.expected})
}
