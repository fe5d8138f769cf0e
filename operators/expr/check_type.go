package expr

import "fmt"

// unify brings expressions to one type, which it returns, by implicit casts in place. exact says
// that values must stay distinguishable, as in a comparison: then a DECIMAL keeps all digits after
// the point, and a value with too many digits before it fails when it comes; otherwise the result is
// Calcite's least restrictive type, which gives up digits after the point. NULLs take the type; all
// NULL is a fault of e.
func (c *checker) unify(e *Expr, list []*Expr, what string, exact bool) (Type, bool) {
	var t Type
	var first *Expr
	ok := true
	for _, x := range list {
		if x.Type.Kind == Null {
			continue
		}
		if first == nil {
			t, first = x.Type, x
			continue
		}
		u, fits := commonType(t, x.Type, exact)
		switch {
		case fits:
			if isText(first) && !isText(x) {
				first = x
			}
			t = u
		case isTime(t) && isText(x):
		case isText(first) && isTime(x.Type):
			t, first = x.Type, x
		default:
			c.mismatch(x, first, t, what)
			ok = false
		}
	}
	if first == nil {
		c.fail(e, what+" are all NULL and have no type", "CAST(NULL AS type)")
		return t, false
	}
	if !ok || isTime(t) && !c.times(list, &t) {
		return t, false
	}
	t.NotNull = true
	for _, x := range list {
		t.NotNull = t.NotNull && x.Type.NotNull
	}
	for i, x := range list {
		list[i] = implicit(x, t)
	}
	return t, true
}

// times reads the texts among dates and timestamps, which may widen the type.
func (c *checker) times(list []*Expr, t *Type) bool {
	ok := true
	for i, x := range list {
		if isTime(x.Type) || x.Type.Kind == Null {
			continue
		}
		if !isText(x) {
			c.mismatch(x, x, *t, "the values")
			ok = false
			continue
		}
		u := c.textAsTime(x, *t)
		if u == nil {
			ok = false
			continue
		}
		*t, _ = commonType(*t, u.Type, true)
		list[i] = implicit(x, *t)
	}
	// An earlier text has the precision known by then; it is cast once, to the final one.
	for i, x := range list {
		if x != nil && x.Op == OpCast && x.Implicit && isText(x.Args[0]) {
			list[i] = implicit(x.Args[0], *t)
		}
	}
	return ok
}

// mismatch reports that x does not fit the type of what stands before it.
func (c *checker) mismatch(x, before *Expr, t Type, what string) {
	a, b := plainType(t), plainType(x.Type)
	expected := "one type"
	switch {
	case x.Type.Kind == String && t.Numeric():
		expected = fmt.Sprintf("CAST(%s AS %s), or both as text", x, a)
		if isText(x) {
			expected = unquoted(x, before)
		}
	case x.Type.Numeric() && t.Kind == String:
		expected = fmt.Sprintf("CAST(%s AS %s), or text in quotes", before, b)
		if isText(before) {
			expected = unquoted(before, x)
		}
	case x.Type.Kind == String && isTime(t):
		expected = fmt.Sprintf("CAST(%s AS %s)", x, a)
	case t.Kind == String && isTime(x.Type):
		expected = fmt.Sprintf("CAST(%s AS %s)", before, b)
	case t.Kind == Bytes && x.Type.Kind == String:
		expected = fmt.Sprintf("CAST(%s AS BYTES), which is its UTF-8", x)
	case t.Kind == String && x.Type.Kind == Bytes:
		expected = fmt.Sprintf("CAST(%s AS BYTES), which is its UTF-8", before)
	case t.Kind == Boolean || x.Type.Kind == Boolean:
		expected = "TRUE or FALSE only beside a BOOLEAN"
	}
	c.fail(x, fmt.Sprintf("%s have the types %s and %s", what, a, b), expected)
}

// unquoted says what to write instead of text beside a number.
func unquoted(text, number *Expr) string {
	if _, s := ParseDouble([]byte(text.Value.Text)); s == OK {
		return text.Value.Text + " without quotes"
	}
	return fmt.Sprintf("a number, or CAST(%s AS STRING)", number)
}

// commonType is the least type that two have in common, after Calcite's leastRestrictive and Flink's
// LogicalTypeMerging: INT and BIGINT give BIGINT, DECIMAL with an integer a DECIMAL, DOUBLE with a
// number DOUBLE, DATE with TIMESTAMP the TIMESTAMP, either with TIMESTAMP_LTZ that.
func commonType(a, b Type, exact bool) (Type, bool) {
	notNull := a.NotNull && b.NotNull
	done := func(t Type) (Type, bool) { return t.Nullable(!notNull), true }
	switch {
	case a.Nested() && a.Same(b):
		return done(commonNested(a, b))
	case a.Same(b):
		return done(a)
	case a.Kind == Null:
		return done(b)
	case b.Kind == Null:
		return done(a)
	case a.Numeric() && b.Numeric():
		if a.Kind.Storage() == Double || b.Kind.Storage() == Double {
			return done(commonApproximate(a, b, exact))
		}
		if a.Whole() && b.Whole() {
			if a.Bits() > b.Bits() {
				return done(a)
			}
			return done(b)
		}
		return done(commonDecimal(decimalOf(a), decimalOf(b), exact))
	case a.Kind == Time && b.Kind == Time:
		return done(TimeOf(max(a.Precision, b.Precision)))
	case hasDate(a) && hasDate(b):
		t := TimestampOf(max(a.Precision, b.Precision))
		if a.Kind == TimestampLTZ || b.Kind == TimestampLTZ {
			t.Kind = TimestampLTZ
		}
		return done(t)
	}
	return Type{}, false
}

// commonApproximate is FLOAT where a FLOAT meets whole numbers, unless they must stay
// distinguishable, else DOUBLE.
func commonApproximate(a, b Type, exact bool) Type {
	if a.Kind != Float {
		a, b = b, a
	}
	if a.Kind == Float && b.Whole() && !exact {
		return Of(Float)
	}
	return Of(Double)
}

func commonDecimal(a, b Type, exact bool) Type {
	whole, scale := max(a.Precision-a.Scale, b.Precision-b.Scale), max(a.Scale, b.Scale)
	if whole+scale > MaxDecimal && !exact {
		scale = MaxDecimal - whole
	}
	return DecimalOf(min(whole+scale, MaxDecimal), scale)
}

// arithmeticDecimal is the result type of an operation on DECIMAL(p, s) and DECIMAL(q, t). The
// formulas are those of Flink's LogicalTypeMerging:
//
//	sum, difference  scale max(s, t), and one digit before the point more than the wider operand
//	product          scale s + t, precision p + q + 1 (one more than a product can have)
//	quotient         scale s + q + 1, at least 6, and p - s + t digits before the point
//	remainder        scale max(s, t), and as many digits before the point as the narrower operand;
//	                 of two without a fraction the second's type
//
// Beyond 38 digits those before the point are kept and the scale gives way, down to 6 or to what it
// was if that is less.
func arithmeticDecimal(op string, a, b Type) Type {
	scale, precision := max(a.Scale, b.Scale), 0
	switch op {
	case "+", "-":
		precision = max(a.Precision-a.Scale, b.Precision-b.Scale) + scale + 1
	case "*":
		scale = a.Scale + b.Scale
		precision = a.Precision + b.Precision + 1
	case "/":
		scale = max(6, a.Scale+b.Precision+1)
		precision = a.Precision - a.Scale + b.Scale + scale
	case "%":
		if scale == 0 {
			return b
		}
		precision = min(a.Precision-a.Scale, b.Precision-b.Scale) + scale
	}
	if precision > MaxDecimal {
		scale = max(MaxDecimal-(precision-scale), min(scale, 6))
		precision = MaxDecimal
	}
	return DecimalOf(precision, scale)
}

// roundDecimal is the type of ROUND(DECIMAL, n), Flink's findRoundDecimalType.
func roundDecimal(t Type, n int64) Type {
	switch {
	case n >= int64(t.Scale):
		return t
	case n < 0:
		return DecimalOf(min(MaxDecimal, 1+t.Precision-t.Scale), 0)
	}
	return DecimalOf(min(MaxDecimal, 1+t.Precision-t.Scale+int(n)), int(n))
}

// AggType is the result type of an aggregate, as in Flink: COUNT is a BIGINT, SUM and AVG of a
// DECIMAL(p, s) are DECIMAL(38, s) and DECIMAL(38, max(s, 6)), else the argument's type, so that
// AVG of integers is an integer. COUNT(*) has no argument: its arg is ignored. All but COUNT give
// NULL where there is no value. DISTINCT does not change the type.
func AggType(fn string, arg Type, _ bool) (Type, error) {
	if !aggregates[fn] {
		return Type{}, fmt.Errorf("there is no aggregate %s: expected one of COUNT, SUM, AVG, MIN, MAX", fn)
	}
	if fn == "COUNT" {
		return Type{Kind: BigInt, NotNull: true}, nil
	}
	arg.NotNull = false
	if arg.Kind == Bytes || arg.Kind == Invalid || arg.Kind == Null {
		return Type{}, fmt.Errorf("%s cannot take %s", fn, arg)
	}
	if fn == "MIN" || fn == "MAX" {
		return arg, nil
	}
	if !arg.Numeric() {
		return Type{}, fmt.Errorf("%s cannot take %s: expected a number", fn, arg)
	}
	if arg.Kind == Decimal {
		scale := arg.Scale
		if fn == "AVG" {
			scale = max(scale, 6)
		}
		return DecimalOf(MaxDecimal, scale), nil
	}
	return arg, nil
}

// isConstant reports whether an expression is a literal, cast or not.
func isConstant(e *Expr) bool {
	for e.Op == OpCast || e.Op == OpTryCast {
		e = e.Args[0]
	}
	return e.Op == OpLiteral
}
