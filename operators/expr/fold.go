package expr

// Fold replaces the parts of a checked expression that read no column by literals. What fails stays
// as it is, so that it fails on the rows that need it and on no others.
func Fold(e *Expr) *Expr {
	return Rewrite(e, func(n *Expr) *Expr {
		if n.Op == OpLiteral || n.Op == OpColumn || n.Op == OpAgg || n.Type.Kind == Null || n.Type.Nested() || !literals(n) || saturates(n) || derived(n) {
			return n
		}
		p, err := Compile(n, Schema{})
		if err != nil {
			return n
		}
		v, err := p.root.eval(&ctx{n: 1, p: p, plain: true}, nil)
		if err != nil {
			return n
		}
		value := v.value()
		value.Secret = hasSecret(n) && n.Type.Kind != Boolean
		return &Expr{Op: OpLiteral, Value: value, Type: n.Type, Implicit: n.Implicit, Pos: n.Pos, End: n.End}
	})
}

func finite(f float64) bool { return f-f == 0 }

// literals reports whether all arguments are literals: Rewrite comes from below, so a constant has
// nothing else under it unless that fails.
func literals(e *Expr) bool {
	for _, a := range e.Args {
		if a.Op != OpLiteral {
			return false
		}
	}
	return true
}

// value is a vec's first value as a literal.
func (v *vec) value() *Value {
	if v.isNull(0) {
		return &Value{Null: true}
	}
	switch t := v.t; t.Kind.Storage() {
	case Boolean:
		return &Value{Int: int64(b2u(v.bool(0)))}
	case Int, Date, BigInt, Timestamp:
		return &Value{Int: v.num(0)}
	case Double:
		return &Value{Double: v.f64[0]}
	case Decimal:
		return &Value{Text: string(AppendDecimal128(nil, v.dec128(0), 0))}
	}
	return &Value{Text: string(v.str(0))}
}
