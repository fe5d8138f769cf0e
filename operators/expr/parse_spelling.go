package expr

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A spelling is a function as it is written: name(argument, …).
type spelling struct {
	least, most int // arguments; most < 0: any number
	call        string
	make        func(p *parser, name token, args []*Expr) (*Expr, *Error) // nil: the call with the arguments
}

// spellings are the functions without a syntax of their own, by name.
var spellings = func() map[string]spelling {
	m := maps.Clone(otherSpellings)
	for _, name := range plainNames {
		m[name] = spelling{functions[name].MinArgs, functions[name].MaxArgs, name, nil}
	}
	for _, list := range [][]Function{numberFunctions, textFunctions, timeFunctions, nestedFunctions[2:], bytesFunctions, furtherTextFunctions, instantFunctions} {
		for _, f := range list {
			if _, has := m[f.Name]; !has && units[f.Name] == nil && f.Name != "POSITION" && f.Name != "OVERLAY" && f.Name != "TRUNCATE" {
				m[f.Name] = spelling{f.MinArgs, f.MaxArgs, f.Name, nil}
			}
		}
	}
	for name, unit := range parts {
		m[name] = spelling{least: 1, most: 1, make: func(p *parser, name token, args []*Expr) (*Expr, *Error) {
			return p.call(name.pos, "EXTRACT", p.symbolic(unit, name), args[0]), nil
		}}
	}
	return m
}()

// plainNames are the calls of the core list that are written as they are called.
var plainNames = []string{"UPPER", "LOWER", "CHAR_LENGTH", "ABS", "COALESCE", "NULLIF"}

// parts are Flink's shorthands for EXTRACT.
var parts = map[string]string{
	"YEAR": "YEAR", "QUARTER": "QUARTER", "MONTH": "MONTH", "WEEK": "WEEK", "DAYOFYEAR": "DOY", "DAYOFMONTH": "DAY",
	"DAYOFWEEK": "DOW", "HOUR": "HOUR", "MINUTE": "MINUTE", "SECOND": "SECOND",
}

var otherSpellings = map[string]spelling{
	"CHARACTER_LENGTH": {1, 1, "CHAR_LENGTH", nil},
	"MOD":              {2, 2, "%", nil},
	"IFNULL":           {2, 2, "COALESCE", nil},
	"LOG":              {1, 2, "", makeLog},
	"ROUND":            {1, 2, "", makeRound},
	"IF":               {3, 3, "", makeIf},
	"CONCAT":           {1, -1, "", makeConcat},
	"LTRIM":            {1, 2, "", makeTrim("LEADING")},
	"RTRIM":            {1, 2, "", makeTrim("TRAILING")},
	"BTRIM":            {1, 2, "", makeTrim("BOTH")},
	"INSTR":            {2, 2, "", makeInstr},
	"LOCATE":           {2, 3, "POSITION", nil},
	"TRUNCATE":         {1, 2, "", makeTruncate},
	"SHA2":             {2, 2, "", makeSHA2},
	"TYPEOF":           {1, 1, "TYPEOF", nil},
	"PI":               {0, 0, "", makeDouble(math.Pi)},
	"E":                {0, 0, "", makeDouble(math.E)},
}

func makeRound(p *parser, name token, args []*Expr) (*Expr, *Error) {
	if len(args) == 1 {
		args = append(args, p.literal(Of(Int), Value{}, p.end()))
	}
	return p.call(name.pos, "ROUND", args...), nil
}

func makeTruncate(p *parser, name token, args []*Expr) (*Expr, *Error) {
	if len(args) == 1 {
		args = append(args, p.literal(Of(Int), Value{}, p.end()))
	}
	return p.call(name.pos, "TRUNCATE", args...), nil
}

func makeSHA2(p *parser, name token, args []*Expr) (*Expr, *Error) {
	if n := args[1]; n.Op == OpLiteral && !n.Value.Null {
		if call := "SHA" + strconv.FormatInt(n.Value.Int, 10); slices.Contains([]string{"SHA224", "SHA256", "SHA384", "SHA512"}, call) {
			return p.call(name.pos, call, args[0]), nil
		}
	}
	return nil, &Error{Pos: int(args[1].Pos), End: args[1].End, Message: "the length of SHA2 is " + args[1].String(), Expected: "a literal, 224, 256, 384 or 512"}
}

func makeLog(p *parser, name token, args []*Expr) (*Expr, *Error) {
	if len(args) == 1 {
		return p.call(name.pos, "LN", args...), nil
	}
	return p.call(name.pos, "LOG", args...), nil
}

func makeIf(p *parser, name token, args []*Expr) (*Expr, *Error) {
	return p.node(Expr{Op: OpCase, Args: args}, name.pos), nil
}

func makeConcat(p *parser, name token, args []*Expr) (*Expr, *Error) {
	if len(args) == 1 {
		args = append(args, p.symbolic("", name))
	}
	e := args[0]
	for _, a := range args[1:] {
		e = p.flat("||", e, a)
	}
	e.Pos = Pos(name.pos)
	return e, nil
}

func makeTrim(side string) func(p *parser, name token, args []*Expr) (*Expr, *Error) {
	return func(p *parser, name token, args []*Expr) (*Expr, *Error) {
		chars := p.symbolic(" ", name)
		if len(args) == 2 {
			chars = args[1]
		}
		return p.call(name.pos, "TRIM", p.symbolic(side, name), chars, args[0]), nil
	}
}

func makeInstr(p *parser, name token, args []*Expr) (*Expr, *Error) {
	return p.call(name.pos, "POSITION", args[1], args[0]), nil
}

func makeDouble(v float64) func(p *parser, name token, args []*Expr) (*Expr, *Error) {
	return func(p *parser, name token, _ []*Expr) (*Expr, *Error) {
		return p.literal(Of(Double), Value{Double: v}, name.pos), nil
	}
}

// position reads POSITION(part IN s).
func (p *parser) position(name token) (*Expr, *Error) {
	part, err := p.expr(precIn)
	if err != nil {
		return nil, err
	}
	if err := p.want("IN", " and the text"); err != nil {
		return nil, err
	}
	s, err := p.one()
	if err != nil {
		return nil, err
	}
	return p.call(name.pos, "POSITION", part, s), nil
}

// overlay reads OVERLAY(s PLACING new FROM n [FOR length]) and OVERLAY(s, new, n [, length]).
func (p *parser) overlay(name token) (*Expr, *Error) {
	s, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	args := []*Expr{s}
	between := []string{"PLACING", "FROM", "FOR"}
	if p.peek().is(",") {
		between = []string{",", ",", ","}
	}
	for i, b := range between {
		if b == "," && !p.acceptSymbol(b) || b != "," && !p.accept(b) {
			if i == 2 {
				break
			}
			return nil, p.unexpected(p.peek(), strings.Replace(b, ",", "a comma", 1)+", as in OVERLAY(s PLACING new FROM 2 FOR 3)")
		}
		x, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	if err := p.wantSymbol(")", " or FOR and the length"); err != nil {
		return nil, err
	}
	return p.call(name.pos, "OVERLAY", args...), nil
}
