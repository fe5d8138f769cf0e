package expr

import (
	"fmt"
	"strings"
)

var aggregates = map[string]bool{"COUNT": true, "SUM": true, "AVG": true, "MIN": true, "MAX": true}

// special are the functions with a syntax of their own.
var special = []string{
	"CAST", "TRY_CAST", "EXTRACT", "FLOOR", "CEIL", "CEILING", "SUBSTRING", "SUBSTR", "TRIM", "TIMESTAMPADD", "TIMESTAMPDIFF", "POSITION", "OVERLAY",
}

// reader is what reads the arguments of a special function; nil for others.
func (p *parser) reader(name string) func(token) (*Expr, *Error) {
	switch name {
	case "CAST", "TRY_CAST":
		return p.cast
	case "EXTRACT":
		return p.extract
	case "FLOOR", "CEIL", "CEILING":
		return p.floor
	case "SUBSTRING", "SUBSTR":
		return p.substring
	case "TRIM":
		return p.trim
	case "TIMESTAMPADD", "TIMESTAMPDIFF":
		return p.timestamps
	case "POSITION":
		return p.position
	case "OVERLAY":
		return p.overlay
	}
	return nil
}

// function reads a call; the name is at hand and a bracket follows.
func (p *parser) function() (*Expr, *Error) {
	name := p.take()
	p.take()
	if aggregates[name.upper] {
		return p.aggregate(name)
	}
	if read := p.reader(name.upper); read != nil {
		return read(name)
	}
	s, ok := spellings[name.upper]
	if !ok {
		return nil, unknownFunction(name)
	}
	args, err := p.arguments()
	if err != nil {
		return nil, err
	}
	if len(args) < s.least || s.most >= 0 && len(args) > s.most {
		return nil, p.arity(name, len(args), s.least, s.most)
	}
	if s.make != nil {
		return s.make(p, name, args)
	}
	return p.call(name.pos, s.call, args...), nil
}

// symbolic is a STRING literal that stands for a word of the text.
func (p *parser) symbolic(text string, at token) *Expr {
	e := p.literal(Of(String), Value{Text: text}, at.pos)
	e.End = at.end
	return e
}

func (p *parser) arity(name token, got, least, most int) *Error {
	return &Error{Pos: name.pos, End: p.end(), Message: name.upper + " has " + countOf(got), Expected: arityText(least, most)}
}

// arityText is how many arguments a function takes; most < 0 is any number.
func arityText(least, most int) string {
	switch {
	case most < 0:
		return fmt.Sprintf("%d or more", least)
	case most > least:
		return fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprint(least)
}

func countOf(n int) string {
	switch n {
	case 0:
		return "no argument"
	case 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// arguments reads a list, which may be empty, and its closing bracket.
func (p *parser) arguments() ([]*Expr, *Error) {
	if p.acceptSymbol(")") {
		return nil, nil
	}
	if t := p.peek(); t.word("DISTINCT") || t.word("ALL") {
		return nil, &Error{Pos: t.pos, End: t.end, Message: t.upper + " belongs to an aggregate", Expected: "an expression"}
	}
	return p.list()
}

// one reads an expression that fills the rest of the brackets.
func (p *parser) one() (*Expr, *Error) {
	e, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	return e, p.wantSymbol(")", " after the argument")
}

// cast reads CAST(x AS type).
func (p *parser) cast(name token) (*Expr, *Error) {
	x, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	if err := p.want("AS", " and a type"); err != nil {
		return nil, err
	}
	first := p.peek()
	for depth := 0; ; p.take() {
		t := p.peek()
		if t.kind == tokEnd || depth <= 0 && (t.is(")") || t.is(",")) {
			break
		}
		if t.kind == tokSymbol { // >> ends two types
			depth += strings.Count(t.text, "(") + strings.Count(t.text, "<") - strings.Count(t.text, ")") - strings.Count(t.text, ">")
		}
	}
	if p.peek().pos == first.pos {
		return nil, p.unexpected(first, "a type such as BIGINT or DECIMAL(12, 2)")
	}
	text, end := p.text[first.pos:p.end()], p.end()
	if err := p.wantSymbol(")", " after the type"); err != nil {
		return nil, err
	}
	t, bad := ParseType(text)
	if bad != nil {
		return nil, &Error{Pos: first.pos, End: end, Message: bad.Error()}
	}
	if t.NotNull {
		return nil, &Error{Pos: first.pos, End: end, Message: "a cast does not change whether NULL is allowed", Expected: t.Nullable(true).String()}
	}
	op := OpCast
	if name.upper == "TRY_CAST" {
		op = OpTryCast
	}
	return p.node(Expr{Op: op, Args: []*Expr{x}, Type: t}, name.pos), nil
}

// extract reads EXTRACT(unit FROM x).
func (p *parser) extract(name token) (*Expr, *Error) {
	unit, err := p.unit("EXTRACT")
	if err != nil {
		return nil, err
	}
	if err := p.want("FROM", " after the unit"); err != nil {
		return nil, err
	}
	x, err := p.one()
	if err != nil {
		return nil, err
	}
	return p.call(name.pos, "EXTRACT", unit, x), nil
}

// floor reads FLOOR(x), CEIL(x) and FLOOR(x TO unit).
func (p *parser) floor(name token) (*Expr, *Error) {
	x, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	call := "CEIL"
	if name.upper == "FLOOR" {
		call = "FLOOR"
	}
	if p.accept("TO") {
		unit, err := p.unit(call + "_TO")
		if err != nil {
			return nil, err
		}
		if err := p.wantSymbol(")", " after the unit"); err != nil {
			return nil, err
		}
		return p.call(name.pos, call+"_TO", unit, x), nil
	}
	if p.peek().is(",") {
		return nil, &Error{Pos: name.pos, End: p.peek().end, Message: name.upper + " takes one argument", Expected: "ROUND(x, n) for n places, FLOOR(x TO unit) for a unit of time"}
	}
	if err := p.wantSymbol(")", " after the argument"); err != nil {
		return nil, err
	}
	return p.call(name.pos, call, x), nil
}

// substring reads SUBSTRING(s FROM a [FOR b]) and SUBSTRING(s, a [, b]).
func (p *parser) substring(name token) (*Expr, *Error) {
	s, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	args, between := []*Expr{s}, "FOR"
	switch {
	case p.acceptSymbol(","):
		between = ","
	case !p.accept("FROM"):
		return nil, p.unexpected(p.peek(), "FROM and where it begins, counted from 1")
	}
	from, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	args = append(args, from)
	if p.accept(between) || p.peek().text == between && p.acceptSymbol(between) {
		length, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		args = append(args, length)
	}
	if err := p.wantSymbol(")", " or "+between+" and the length"); err != nil {
		return nil, err
	}
	return p.call(name.pos, "SUBSTRING", args...), nil
}

// trim reads TRIM(s), TRIM(side FROM s), TRIM([side] chars FROM s).
func (p *parser) trim(name token) (*Expr, *Error) {
	side, at := "BOTH", name
	if t := p.peek(); (t.word("BOTH") || t.word("LEADING") || t.word("TRAILING")) && p.sideFollows(p.after(1)) {
		side, at = t.upper, p.take()
	}
	chars := p.symbolic(" ", at)
	var s *Expr
	var err *Error
	if p.accept("FROM") {
		s, err = p.one()
	} else {
		if s, err = p.expr(0); err != nil {
			return nil, err
		}
		switch {
		case p.accept("FROM"):
			chars = s
			s, err = p.one()
		case at != name:
			return nil, p.unexpected(p.peek(), "FROM and the text")
		default:
			err = p.wantSymbol(")", " or FROM and the text")
		}
	}
	if err != nil {
		return nil, err
	}
	return p.call(name.pos, "TRIM", p.symbolic(side, at), chars, s), nil
}

// sideFollows tells the word BOTH, which something to trim or FROM follows, from a column of that
// name.
func (p *parser) sideFollows(t token) bool {
	return t.kind != tokSymbol && t.kind != tokEnd || t.is("(") || t.is("+") || t.is("-")
}

// timestamps reads TIMESTAMPADD(unit, n, x) and TIMESTAMPDIFF(unit, a, b).
func (p *parser) timestamps(name token) (*Expr, *Error) {
	unit, err := p.unit(name.upper)
	if err != nil {
		return nil, err
	}
	if err := p.wantSymbol(",", " after the unit"); err != nil {
		return nil, err
	}
	args, err := p.list()
	if err != nil {
		return nil, err
	}
	if len(args) != 2 {
		return nil, p.arity(name, len(args)+1, 3, 3)
	}
	return p.call(name.pos, name.upper, unit, args[0], args[1]), nil
}

// units a call knows, longest first.
var units = map[string][]string{
	"EXTRACT": {
		UnitMillennium, UnitCentury, UnitDecade, UnitISOYEAR, UnitYear, UnitQuarter, UnitMonth, UnitWeek, UnitDay, UnitDOY, UnitDOW, UnitISODOW,
		UnitHour, UnitMinute, UnitSecond, UnitMillisecond, UnitMicrosecond, UnitEpoch,
	},
	"FLOOR_TO":      {UnitYear, UnitQuarter, UnitMonth, UnitWeek, UnitDay, UnitHour, UnitMinute, UnitSecond},
	"CEIL_TO":       {UnitYear, UnitQuarter, UnitMonth, UnitWeek, UnitDay, UnitHour, UnitMinute, UnitSecond},
	"TIMESTAMPADD":  {UnitYear, UnitQuarter, UnitMonth, UnitWeek, UnitDay, UnitHour, UnitMinute, UnitSecond, UnitMillisecond, UnitMicrosecond},
	"TIMESTAMPDIFF": {UnitYear, UnitQuarter, UnitMonth, UnitWeek, UnitDay, UnitHour, UnitMinute, UnitSecond},
}

// unit reads a unit of time, a bare word.
func (p *parser) unit(call string) (*Expr, *Error) {
	t := p.take()
	if t.kind == tokWord {
		for _, u := range units[call] {
			if u == t.upper {
				return p.symbolic(u, t), nil
			}
		}
	}
	e := &Error{Pos: t.pos, End: t.end, Message: "unexpected " + t.String(), Expected: "a unit: " + strings.Join(units[call], ", ")}
	if t.kind == tokWord || t.kind == tokText {
		e.Message = t.String() + " is not a unit here"
		e.Near = nearest(strings.ToUpper(t.text), units[call])
	}
	return nil, e
}

// aggregate reads COUNT(*), COUNT(x), SUM(DISTINCT x) … and FILTER (WHERE condition).
func (p *parser) aggregate(name token) (*Expr, *Error) {
	e := Expr{Op: OpAgg, Name: name.upper}
	if star := p.peek(); p.acceptSymbol("*") {
		if name.upper != "COUNT" {
			return nil, &Error{Pos: star.pos, End: star.end, Message: name.upper + "(*) has no meaning", Expected: name.upper + "(expression)"}
		}
		if err := p.wantSymbol(")", " after *"); err != nil {
			return nil, err
		}
	} else {
		e.Distinct = p.accept("DISTINCT")
		if !e.Distinct {
			p.accept("ALL")
		}
		args, err := p.arguments()
		if err != nil {
			return nil, err
		}
		if len(args) != 1 {
			return nil, p.arity(name, len(args), 1, 1)
		}
		e.Args = args
	}
	if p.peek().word("FILTER") && p.after(1).is("(") {
		p.take()
		p.take()
		if err := p.want("WHERE", " and a condition"); err != nil {
			return nil, err
		}
		f, err := p.one()
		if err != nil {
			return nil, err
		}
		e.Filter = f
	}
	if t := p.peek(); t.word("OVER") {
		return nil, &Error{Pos: t.pos, End: t.end, Message: "window functions (OVER) are not supported yet", Expected: "an aggregation with group_by"}
	}
	return p.node(e, name.pos), nil
}
