package expr

import (
	"fmt"
	"slices"
	"strings"
)

func addFurtherSignatures(m map[string]signature) {
	for name, s := range map[string]signature{
		"ENCODE": {Bytes, []Kind{String}}, "DECODE": {String, []Kind{Bytes, String}}, "TO_BASE64": {String, []Kind{String}}, "FROM_BASE64": {String, []Kind{String}},
		"HEX": {String, []Kind{BigInt}}, "UNHEX": {Bytes, []Kind{String}}, "BIN": {String, []Kind{BigInt}}, "URL_ENCODE": {String, []Kind{String}}, "URL_DECODE": {String, []Kind{String}},
		"OVERLAY": {String, []Kind{String, String, Int}}, "TRANSLATE": {String, []Kind{String}}, "ELT": {String, []Kind{Int, String}},
		"REGEXP_COUNT": {Int, []Kind{String}}, "REGEXP_INSTR": {Int, []Kind{String}}, "REGEXP_SUBSTR": {String, []Kind{String}},
		"UNIX_TIMESTAMP": {BigInt, []Kind{String}}, "FROM_UNIXTIME": {String, []Kind{BigInt, String}}, "CONVERT_TZ": {String, []Kind{String}},
	} {
		m[name] = s
	}
}

// alsoTakes are the kinds that a call's first argument may have beside the one of its signature.
var alsoTakes = map[string][]Kind{
	"HEX": {String, Bytes}, "TO_BASE64": {Bytes}, "MD5": {Bytes}, "SHA1": {Bytes}, "SHA224": {Bytes}, "SHA256": {Bytes}, "SHA384": {Bytes}, "SHA512": {Bytes},
	"DATE_FORMAT": {TimestampLTZ},
}

// takes reports whether an argument has a kind that a call has there.
func takes(name string, i int, want, has Kind) bool {
	return has == want || i == 0 && slices.Contains(alsoTakes[name], has)
}

// furtherLiterals checks the arguments that have to be known before anything runs: charsets and zones.
func (c *checker) furtherLiterals(n *Expr) bool {
	var list []*Expr
	read := func(s string) error {
		_, err := LoadZone(s)
		return err
	}
	switch {
	case n.Name == "ENCODE" || n.Name == "DECODE":
		list, read = n.Args[1:], func(s string) error {
			if charsetOf(s) == "" {
				return fmt.Errorf("there is no charset %q: expected one of %s", s, strings.Join(charsets, ", "))
			}
			return nil
		}
	case n.Name == "CONVERT_TZ":
		list = n.Args[1:]
	case n.Name == "TO_TIMESTAMP_LTZ" && len(n.Args) == 3:
		list = n.Args[2:]
	}
	for _, a := range list {
		if a.Op == OpLiteral && a.Value.Null {
			continue
		}
		if !isText(a) {
			c.fail(a, "the charset or zone of "+n.Name+" is not a literal", "a literal, which is checked before anything runs")
			return false
		}
		if err := read(a.Value.Text); err != nil {
			c.fail(a, err.Error(), "")
			return false
		}
	}
	return true
}

// toInstant checks TO_TIMESTAMP_LTZ.
func (c *checker) toInstant(n *Expr) *Expr {
	n.Type = TimestampLTZOf(3)
	first := n.Args[0]
	if first.Type.Numeric() || first.Type.Kind == Null && len(n.Args) == 2 && n.Args[1].Type.Kind != String {
		if !first.Type.Whole() && first.Type.Kind != Null {
			return c.fail(first, "TO_TIMESTAMP_LTZ takes a whole number or text, not "+plainType(first.Type), castTo(first, BigInt))
		}
		n.Args[0] = implicit(implicitNull(first, Of(BigInt)), Of(BigInt))
		if len(n.Args) == 1 {
			n.Args = append(n.Args, &Expr{Op: OpLiteral, Type: Of(Int).Nullable(false), Value: &Value{Int: 3}, Pos: n.Pos, End: n.End})
		}
		if p := n.Args[1]; len(n.Args) != 2 || p.Op != OpLiteral || p.Type.Kind != Int || p.Value.Null || p.Value.Int != 0 && p.Value.Int != 3 {
			return c.fail(p, "the unit of TO_TIMESTAMP_LTZ is "+p.String(), "0 for seconds or 3 for milliseconds")
		}
		return n
	}
	for i, a := range n.Args {
		if n.Args[i] = implicitNull(a, Of(String)); n.Args[i].Type.Kind != String {
			return c.fail(a, "TO_TIMESTAMP_LTZ takes a whole number or text, not "+plainType(a.Type), neededCast(a, String))
		}
	}
	return when(c.patterns(n) && c.furtherLiterals(n), n)
}
