package expr

// precPostfix is how tightly the dot and the square bracket bind, tighter than any sign.
const precPostfix = 90

// postfix reads what follows x: .field or [index].
func (p *parser) postfix(x *Expr) (*Expr, *Error) {
	if p.take().is(".") {
		t := p.peek()
		if t.kind != tokWord && t.kind != tokQuoted {
			return nil, p.unexpected(t, "the name of a field after the dot, in backticks unless it is a word")
		}
		p.take()
		name := p.literal(Of(String), Value{Text: t.text}, t.pos)
		return p.call(int(x.Pos), "FIELD", x, name), nil
	}
	index, err := p.expr(0)
	if err != nil {
		return nil, err
	}
	if err := p.wantSymbol("]", " after the index"); err != nil {
		return nil, err
	}
	return p.call(int(x.Pos), "ITEM", x, index), nil
}
