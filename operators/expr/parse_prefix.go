package expr

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// prefix reads what an expression begins with: a sign, NOT, or a value.
func (p *parser) prefix() (*Expr, *Error) {
	t := p.peek()
	switch t.kind {
	case tokInt, tokDecimal, tokDouble:
		p.take()
		return p.number(t, "", t.pos)
	case tokText:
		p.take()
		return p.literal(Of(String), Value{Text: t.text}, t.pos), nil
	case tokBytes:
		p.take()
		return p.literal(Of(Bytes), Value{Text: t.text}, t.pos), nil
	case tokParam:
		p.take()
		return p.param(t)
	case tokQuoted:
		p.take()
		return p.column(t)
	case tokSymbol:
		return p.symbol(t)
	case tokWord:
		return p.name(t)
	}
	return nil, p.unexpected(t, "an expression")
}

func (p *parser) literal(t Type, v Value, pos int) *Expr {
	t.NotNull = !v.Null
	return p.node(Expr{Op: OpLiteral, Type: t, Value: &v}, pos)
}

func (p *parser) symbol(t token) (*Expr, *Error) {
	switch t.text {
	case "(":
		return p.brackets()
	case "+":
		p.take()
		return p.expr(precSign)
	case "-":
		p.take()
		if n := p.peek(); n.kind == tokInt || n.kind == tokDecimal || n.kind == tokDouble {
			p.take()
			return p.number(n, "-", t.pos)
		}
		x, err := p.expr(precSign)
		if err != nil {
			return nil, err
		}
		return p.call(t.pos, "NEG", x), nil
	case "*":
		return nil, &Error{Pos: t.pos, End: t.end, Message: "unexpected *", Expected: "an expression; * stands only in COUNT(*)"}
	case "!":
		return nil, &Error{Pos: t.pos, End: t.end, Message: "! is not an operator", Expected: "NOT"}
	}
	return nil, p.unexpected(t, "an expression")
}

func (p *parser) brackets() (*Expr, *Error) {
	open := p.take()
	if t := p.peek(); t.word("SELECT") || t.word("WITH") && p.after(1).kind == tokWord {
		return nil, &Error{Pos: t.pos, End: t.end, Message: "a subquery is not supported yet", Expected: "an expression over the columns of one input"}
	}
	e, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.is(",") {
		return nil, &Error{Pos: open.pos, End: t.end, Message: "a row of several values is not supported yet", Expected: ") after one expression"}
	}
	if err := p.wantSymbol(")", " or an operator"); err != nil {
		return nil, err
	}
	return e, nil
}

// number reads a literal with Calcite's types: an integer is INT or BIGINT, whichever first holds
// it, or a DECIMAL; with a point it is a DECIMAL of as many digits as are written; with an exponent
// a DOUBLE.
func (p *parser) number(t token, sign string, pos int) (*Expr, *Error) {
	switch t.kind {
	case tokDouble:
		f, err := strconv.ParseFloat(sign+t.text, 64)
		if err != nil || math.IsInf(f, 0) {
			return nil, &Error{Pos: pos, End: t.end, Message: sign + t.text + " is out of range", Expected: "a DOUBLE, at most 1.7976931348623157E308"}
		}
		return p.literal(Of(Double), Value{Double: f}, pos), nil
	case tokInt:
		if n, err := strconv.ParseInt(sign+t.text, 10, 64); err == nil {
			k := BigInt
			if int64(int32(n)) == n {
				k = Int
			}
			return p.literal(Of(k), Value{Int: n}, pos), nil
		}
	}
	whole, fraction, _ := strings.Cut(t.text, ".")
	precision, scale := max(len(whole)+len(fraction), 1), len(fraction)
	if t.kind == tokInt {
		precision = len(strings.TrimLeft(whole, "0"))
	}
	if precision > MaxDecimal {
		return nil, &Error{Pos: pos, End: t.end, Message: fmt.Sprintf("the number has %d digits", precision), Expected: fmt.Sprintf("at most %d digits", MaxDecimal)}
	}
	n, _ := new(big.Int).SetString(sign+whole+fraction, 10)
	return p.literal(DecimalOf(precision, scale), Value{Text: n.String()}, pos), nil
}

func (p *parser) param(t token) (*Expr, *Error) {
	v, ok := p.params[t.text]
	if !ok {
		names := make([]string, 0, len(p.params))
		for n := range p.params {
			names = append(names, n)
		}
		e := &Error{Pos: t.pos, End: t.end, Message: "there is no parameter ${" + t.text + "}", Expected: oneOf(names, "a name from the plan's params")}
		if n := nearest(t.text, names); n != "" {
			e.Near = "${" + n + "}"
		}
		return nil, e
	}
	return p.literal(v.Type, v.Value, t.pos), nil
}

// column reads a name that is known to be a column's.
func (p *parser) column(t token) (*Expr, *Error) {
	return p.node(Expr{Op: OpColumn, Name: t.text}, t.pos), nil
}

// structural words cannot begin an operand, so a column of that name needs backticks. Every other
// word that is not followed by a bracket (or, for DATE, TIMESTAMP, INTERVAL, by text) is a column.
const structural = " ALL AND AS ASC BETWEEN BY DESC DISTINCT ELSE END ESCAPE EXISTS FROM GROUP HAVING IN IS LIKE NOT ON OR ORDER OVER SELECT THEN UNION USING WHEN WHERE WITH "

// name reads an expression that begins with a word.
func (p *parser) name(t token) (*Expr, *Error) {
	n := p.after(1)
	switch t.upper {
	case "NOT":
		p.take()
		x, err := p.expr(precNot)
		if err != nil {
			return nil, err
		}
		return p.call(t.pos, "NOT", x), nil
	case "NULL":
		p.take()
		return p.literal(Of(Null), Value{Null: true}, t.pos), nil
	case "TRUE":
		p.take()
		return p.literal(Of(Boolean), Value{Int: 1}, t.pos), nil
	case "FALSE":
		p.take()
		return p.literal(Of(Boolean), Value{}, t.pos), nil
	case "CASE":
		if !p.caseIsColumn() {
			return p.caseOf()
		}
	case "DATE", "TIMESTAMP", "INTERVAL", "TIME":
		if t.upper == "INTERVAL" && (n.kind == tokText || (n.is("-") || n.is("+")) && p.after(2).kind == tokText) {
			return p.interval()
		}
		if n.kind == tokText {
			return p.timeLiteral()
		}
	}
	if n.is("(") {
		return p.function()
	}
	if strings.Contains(structural, " "+t.upper+" ") {
		return nil, p.unexpected(t, "an expression, or "+backtick(t.text)+" if it is a column's name")
	}
	p.take()
	return p.column(t)
}

// caseIsColumn tells a column called case from the keyword, which something must follow.
func (p *parser) caseIsColumn() bool {
	n := p.after(1)
	return n.kind == tokEnd || n.kind == tokSymbol && !strings.Contains("( + - !", n.text)
}

// timeLiteral reads DATE '1998-09-02', TIME '10:00:00' and TIMESTAMP '1998-09-02 10:00:00.123'. The times
// have as many digits of precision as are written, as in Calcite.
func (p *parser) timeLiteral() (*Expr, *Error) {
	kind, text := p.take(), p.take()
	fault := func(message, expected string) *Error {
		return &Error{Pos: kind.pos, End: text.end, Message: message, Expected: expected}
	}
	switch kind.upper {
	case "DATE":
		days, ok := dateText(text.text)
		if !ok {
			return nil, fault(quoteText(text.text)+" is not a date", "DATE 'yyyy-mm-dd'")
		}
		return p.literal(Of(Date), Value{Int: days}, kind.pos), nil
	case "TIMESTAMP":
		us, precision, ok := timestampText(text.text)
		if !ok {
			return nil, fault(quoteText(text.text)+" is not a timestamp", "TIMESTAMP 'yyyy-mm-dd hh:mm:ss', with at most 6 digits of a fraction")
		}
		return p.literal(TimestampOf(precision), Value{Int: us}, kind.pos), nil
	}
	precision := fractionDigits(text.text)
	us, status := ParseTime([]byte(text.text), min(precision, 6))
	if status != OK || precision > 6 {
		return nil, fault(quoteText(text.text)+" is not a time", "TIME 'hh:mm:ss', with at most 6 digits of a fraction")
	}
	return p.literal(TimeOf(precision), Value{Int: us}, kind.pos), nil
}

// dateText reads a date that is written out in the expression: no time of day, which a DATE would
// drop without a word.
func dateText(s string) (days int64, ok bool) {
	d, status := ParseDate([]byte(s))
	return int64(d), status == OK && !strings.Contains(s, ":")
}

// timestampText reads a timestamp that is written out in the expression, and how many digits its
// second's fraction has: at most 6.
func timestampText(s string) (micros int64, precision int, ok bool) {
	if precision = fractionDigits(s); precision > 6 {
		return 0, 0, false
	}
	us, status := ParseTimestamp([]byte(s), precision)
	return us, precision, status == OK
}

// fractionDigits is how many digits the second's fraction of a time's text has.
func fractionDigits(s string) int {
	_, fraction, _ := strings.Cut(s, ".")
	n := 0
	for n < len(fraction) && isDigit(fraction[n]) {
		n++
	}
	return n
}

// caseOf reads both forms of CASE. CASE x WHEN a … has the conditions x = a …, as in Calcite.
func (p *parser) caseOf() (*Expr, *Error) {
	start := p.take()
	var x *Expr
	if !p.peek().word("WHEN") {
		var err *Error
		if x, err = p.expr(0); err != nil {
			return nil, err
		}
	}
	var args []*Expr
	for p.accept("WHEN") {
		condition, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		if x != nil {
			if err := p.again(x); err != nil {
				return nil, err
			}
			condition = p.call(int(condition.Pos), "=", x, condition)
		}
		if err := p.want("THEN", " after the condition"); err != nil {
			return nil, err
		}
		result, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		args = append(args, condition, result)
	}
	if len(args) == 0 {
		return nil, p.unexpected(p.peek(), "WHEN")
	}
	if p.accept("ELSE") {
		result, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		args = append(args, result)
	}
	if err := p.want("END", ", WHEN or ELSE in this CASE"); err != nil {
		return nil, err
	}
	return p.node(Expr{Op: OpCase, Args: args}, start.pos), nil
}
