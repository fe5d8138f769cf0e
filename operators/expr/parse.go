package expr

import (
	"fmt"
)

// A Param is the value that ${name} stands for.
type Param struct {
	Value Value
	Type  Type
}

// Params are the parameters an expression may name.
type Params map[string]Param

// Limits of one expression, so that no text can exhaust the stack or the memory of what walks its
// tree: levels of the tree, nodes of the tree after rewriting, and what is nested in the text, which
// has at most two levels (an operator and a bracket) for one of the tree it is printed from.
const (
	maxDepth   = 500
	maxNodes   = 50_000
	maxNesting = 2*maxDepth + 100
)

// How tightly operators prec, in the order of Calcite's operator table, which is Flink's. Larger
// binds tighter; binary operators group to the left.
const (
	precOr         = 22
	precAnd        = 24
	precNot        = 26
	precIs         = 28
	precComparison = 30 // these do not chain here: a < b < c is refused
	precIn         = 32 // IN, LIKE, BETWEEN
	precAdd        = 40
	precMul        = 60 // and ||
	precSign       = 80
	precPrimary    = 100
)

// Parse reads an SQL expression in Flink's dialect. The tree has no types yet, except for literals
// and casts: see [Check]. A parameter ${name} becomes a literal of its type. Aggregate calls are
// read as OpAgg nodes; Check says where they may stand. An error is an *Error with its place in the
// text.
func Parse(text string, params Params) (*Expr, error) {
	e, err := parse(text, params)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func parse(text string, params Params) (*Expr, *Error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text, tokens: tokens, params: params}
	if p.peek().kind == tokEnd {
		return nil, &Error{End: len(text), Message: "the expression is empty", Expected: "an SQL expression such as amount > 0"}
	}
	e, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != tokEnd {
		return nil, p.trailing(t)
	}
	if Depth(e) > maxDepth {
		return nil, p.tooLarge(e)
	}
	return e, nil
}

type parser struct {
	text    string
	tokens  []token
	at      int
	params  Params
	nesting int
	nodes   int
}

func (p *parser) peek() token { return p.tokens[p.at] }

// after is the token n places on; the end repeats for ever.
func (p *parser) after(n int) token { return p.tokens[min(p.at+n, len(p.tokens)-1)] }

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

// accept takes a word of the given capitals.
func (p *parser) accept(word string) bool {
	if p.peek().word(word) {
		p.at++
		return true
	}
	return false
}

func (p *parser) acceptSymbol(s string) bool {
	if p.peek().is(s) {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(word, after string) *Error {
	if p.accept(word) {
		return nil
	}
	return p.unexpected(p.peek(), word+after)
}

func (p *parser) wantSymbol(s, after string) *Error {
	if p.acceptSymbol(s) {
		return nil
	}
	return p.unexpected(p.peek(), s+after)
}

// end is where the last token taken ended.
func (p *parser) end() int {
	if p.at == 0 {
		return 0
	}
	return p.tokens[p.at-1].end
}

// node makes a node that begins at pos and ends at the last token taken.
func (p *parser) node(e Expr, pos int) *Expr {
	p.nodes++
	e.Pos, e.End = Pos(pos), p.end()
	return &e
}

func (p *parser) call(pos int, name string, args ...*Expr) *Expr {
	return p.node(Expr{Op: OpCall, Name: name, Args: args}, pos)
}

// again counts a subtree that stands in the tree a second time.
func (p *parser) again(e *Expr) *Error {
	p.nodes += sizeUpTo(e, maxNodes)
	if p.nodes > maxNodes {
		return p.tooLarge(e)
	}
	return nil
}

func (p *parser) tooLarge(e *Expr) *Error {
	return &Error{Pos: int(e.Pos), End: e.End, Message: "the expression is too large",
		Expected: fmt.Sprintf("at most %d nodes and %d levels; compute parts of it in a step before", maxNodes, maxDepth)}
}

// sizeUpTo counts nodes and stops soon after limit.
func sizeUpTo(e *Expr, limit int) int {
	n := 0
	Walk(e, func(*Expr) bool {
		n++
		return n <= limit
	})
	return n
}

// expr reads an expression whose operators all bind tighter than min.
func (p *parser) expr(min int) (*Expr, *Error) {
	p.nesting++
	defer func() { p.nesting-- }()
	if p.nesting > maxNesting {
		t := p.peek()
		return nil, &Error{Pos: t.pos, End: t.end, Message: "the expression is nested too deeply", Expected: fmt.Sprintf("at most %d levels", maxDepth)}
	}
	left, err := p.prefix()
	for err == nil {
		if p.nodes > maxNodes {
			return nil, p.tooLarge(left)
		}
		prec := p.infixPrecedence()
		if prec == 0 || prec <= min {
			return left, nil
		}
		left, err = p.infix(left, prec)
	}
	return nil, err
}

// infixPrecedence says how tightly the operator at hand binds; 0 where there is none.
func (p *parser) infixPrecedence() int {
	t := p.peek()
	if t.kind == tokSymbol {
		switch t.text {
		case "=", "<>", "!=", "<", "<=", ">", ">=":
			return precComparison
		case "+", "-":
			return precAdd
		case "*", "/", "%", "||":
			return precMul
		case ".", "[":
			return precPostfix
		}
		return 0
	}
	if t.kind != tokWord {
		return 0
	}
	switch t.upper {
	case "OR":
		return precOr
	case "AND":
		return precAnd
	case "IS":
		return precIs
	case "IN", "LIKE", "BETWEEN":
		return precIn
	case "NOT":
		if n := p.after(1); n.word("IN") || n.word("LIKE") || n.word("BETWEEN") {
			return precIn
		}
	}
	return 0
}

func (p *parser) infix(left *Expr, prec int) (*Expr, *Error) {
	switch prec {
	case precIs:
		return p.is(left)
	case precIn:
		return p.inLikeBetween(left)
	case precPostfix:
		return p.postfix(left)
	}
	op := p.take()
	right, err := p.expr(prec)
	if err != nil {
		return nil, err
	}
	name := op.text
	switch prec {
	case precOr, precAnd:
		name = op.upper
		return p.flat(name, left, right), nil
	case precComparison:
		if name == "!=" {
			name = "<>"
		}
		e := p.call(int(left.Pos), name, left, right)
		if t := p.peek(); p.infixPrecedence() == precComparison {
			return nil, &Error{Pos: t.pos, End: t.end, Message: "comparisons do not chain", Expected: "AND between two comparisons, or brackets round the first"}
		}
		return e, nil
	}
	if name == "||" {
		return p.flat(name, left, right), nil
	}
	return p.call(int(left.Pos), name, left, right), nil
}

// flat joins the arguments of nested calls of an associative operator in one call.
func (p *parser) flat(name string, left, right *Expr) *Expr {
	pos := int(left.Pos)
	var args []*Expr
	if left.Op == OpCall && left.Name == name {
		args = left.Args // left is given up, so its list may grow
	} else {
		args = []*Expr{left}
	}
	if right.Op == OpCall && right.Name == name {
		args = append(args, right.Args...)
	} else {
		args = append(args, right)
	}
	return p.call(pos, name, args...)
}

// is reads what follows x IS.
func (p *parser) is(x *Expr) (*Expr, *Error) {
	p.take()
	not := ""
	if p.accept("NOT") {
		not = "NOT "
	}
	t := p.take()
	pos := int(x.Pos)
	switch {
	case t.word("NULL"), t.word("TRUE"), t.word("FALSE"), t.word("UNKNOWN"):
		return p.call(pos, "IS "+not+t.upper, x), nil
	case t.word("DISTINCT"):
		if err := p.want("FROM", " after DISTINCT"); err != nil {
			return nil, err
		}
		y, err := p.expr(precComparison)
		if err != nil {
			return nil, err
		}
		return p.call(pos, "IS "+not+"DISTINCT FROM", x, y), nil
	}
	return nil, p.unexpected(t, "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM after IS")
}

func (p *parser) inLikeBetween(x *Expr) (*Expr, *Error) {
	not := p.accept("NOT")
	var e *Expr
	var err *Error
	switch op := p.take(); op.upper {
	case "IN":
		e, err = p.in(x)
	case "LIKE":
		e, err = p.like(x)
	default:
		e, err = p.between(x)
	}
	if err != nil || !not {
		return e, err
	}
	return p.call(int(x.Pos), "NOT", e), nil
}

func (p *parser) in(x *Expr) (*Expr, *Error) {
	if err := p.wantSymbol("(", " and a list after IN"); err != nil {
		return nil, err
	}
	if t := p.peek(); t.word("SELECT") {
		return nil, &Error{Pos: t.pos, End: t.end, Message: "a subquery is not supported yet", Expected: "a list of values after IN"}
	}
	items, err := p.list()
	if err != nil {
		return nil, err
	}
	return p.call(int(x.Pos), "IN", append([]*Expr{x}, items...)...), nil
}

func (p *parser) like(x *Expr) (*Expr, *Error) {
	pattern, err := p.expr(precIn)
	if err != nil {
		return nil, err
	}
	args := []*Expr{x, pattern}
	if p.accept("ESCAPE") {
		escape, err := p.expr(precIn)
		if err != nil {
			return nil, err
		}
		args = append(args, escape)
	}
	return p.call(int(x.Pos), "LIKE", args...), nil
}

func (p *parser) between(x *Expr) (*Expr, *Error) {
	symmetric := p.accept("SYMMETRIC")
	if !symmetric {
		p.accept("ASYMMETRIC")
	}
	low, err := p.expr(precIn)
	if err != nil {
		return nil, err
	}
	if err := p.want("AND", " and the upper bound of BETWEEN"); err != nil {
		return nil, err
	}
	high, err := p.expr(precIn)
	if err != nil {
		return nil, err
	}
	pos := int(x.Pos)
	within := func(a, b *Expr) *Expr {
		return p.call(pos, "AND", p.call(pos, ">=", x, a), p.call(pos, "<=", x, b))
	}
	if err := p.again(x); err != nil {
		return nil, err
	}
	if !symmetric {
		return within(low, high), nil
	}
	for _, e := range []*Expr{x, x, low, high} {
		if err := p.again(e); err != nil {
			return nil, err
		}
	}
	return p.call(pos, "OR", within(low, high), within(high, low)), nil
}

// list reads expressions up to the closing bracket, at least one.
func (p *parser) list() ([]*Expr, *Error) {
	if t := p.peek(); t.is(")") {
		return nil, &Error{Pos: t.pos, End: t.end, Message: "the list is empty", Expected: "at least one value"}
	}
	var items []*Expr
	for {
		e, err := p.expr(0)
		if err != nil {
			return nil, err
		}
		items = append(items, e)
		if p.acceptSymbol(")") {
			return items, nil
		}
		if err := p.wantSymbol(",", " or )"); err != nil {
			return nil, err
		}
	}
}
