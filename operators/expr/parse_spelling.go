package expr

import (
	"maps"
	"math"
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
	for _, list := range [][]Function{numberFunctions, textFunctions, timeFunctions, nestedFunctions[2:]} {
		for _, f := range list {
			if _, has := m[f.Name]; !has && units[f.Name] == nil && f.Name != "POSITION" {
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
	"PI":               {0, 0, "", makeDouble(math.Pi)},
	"E":                {0, 0, "", makeDouble(math.E)},
}

func makeRound(p *parser, name token, args []*Expr) (*Expr, *Error) {
	if len(args) == 1 {
		args = append(args, p.literal(Of(Int), Value{}, p.end()))
	}
	return p.call(name.pos, "ROUND", args...), nil
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
