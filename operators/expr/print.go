package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// String is the expression as Flink SQL, with no more brackets than it needs. Parsing it gives an
// expression that prints the same; literals keep their types. Implicit casts are left out.
func (e *Expr) String() string {
	if e == nil {
		return ""
	}
	var b strings.Builder
	printer{&b}.expr(e, 0)
	return b.String()
}

type printer struct{ *strings.Builder }

// write puts text and expressions in a row: strings as they are, expressions as operands that must
// bind tighter than min.
func (p printer) write(min int, parts ...any) {
	for _, x := range parts {
		switch x := x.(type) {
		case string:
			p.WriteString(x)
		case *Expr:
			p.expr(x, min)
		}
	}
}

// expr writes e, in brackets unless it binds tighter than min.
func (p printer) expr(e *Expr, min int) {
	e = explicit(e)
	if precedence(e) > min {
		p.bare(e)
		return
	}
	p.WriteByte('(')
	p.bare(e)
	p.WriteByte(')')
}

// explicit is e without the casts that Check put round it.
func explicit(e *Expr) *Expr {
	for e.Op == OpCast && e.Implicit && len(e.Args) == 1 {
		e = e.Args[0]
	}
	return e
}

// isSugared reports whether NOT of x is written as x NOT LIKE, x NOT IN.
func isSugared(x *Expr) bool {
	x = explicit(x)
	return x.Op == OpCall && (x.Name == "LIKE" || x.Name == "IN")
}

// precedence is how tightly the outermost operator of e binds as it is printed.
func precedence(e *Expr) int {
	switch e.Op {
	case OpLiteral:
		return literalPrecedence(e)
	case OpCall:
	default:
		return precPrimary
	}
	switch e.Name {
	case "OR":
		return precOr
	case "AND":
		return precAnd
	case "NOT":
		if len(e.Args) == 1 && isSugared(e.Args[0]) {
			return precIn
		}
		return precNot
	case "=", "<>", "<", "<=", ">", ">=":
		return precComparison
	case "IN", "LIKE":
		return precIn
	case "+", "-":
		return precAdd
	case "*", "/", "%", "||":
		return precMul
	case "NEG":
		return precSign
	case "FIELD", "ITEM":
		return precPostfix
	}
	if strings.HasPrefix(e.Name, "IS ") {
		return precIs
	}
	return precPrimary
}

func (p printer) bare(e *Expr) {
	switch e.Op {
	case OpColumn:
		p.WriteString(Quote(e.Name))
	case OpLiteral:
		p.literal(e)
	case OpCall:
		p.call(e)
	case OpCase:
		p.caseOf(e)
	case OpCast:
		p.write(0, "CAST(", e.Args[0], " AS ", plainType(e.Type), ")")
	case OpTryCast:
		p.write(0, "TRY_CAST(", e.Args[0], " AS ", plainType(e.Type), ")")
	case OpAgg:
		p.aggregate(e)
	}
}

func (p printer) caseOf(e *Expr) {
	p.WriteString("CASE")
	n := len(e.Args)
	for i := 0; i+1 < n; i += 2 {
		p.write(0, " WHEN ", e.Args[i], " THEN ", e.Args[i+1])
	}
	if n%2 == 1 {
		last := e.Args[n-1]
		if !(last.Op == OpLiteral && last.Implicit && last.Value.Null) {
			p.write(0, " ELSE ", last)
		}
	}
	p.WriteString(" END")
}

func (p printer) aggregate(e *Expr) {
	p.write(0, e.Name, "(")
	if e.Distinct {
		p.WriteString("DISTINCT ")
	}
	if len(e.Args) == 0 {
		p.WriteByte('*')
	}
	p.list(e.Args)
	p.WriteByte(')')
	if e.Filter != nil {
		p.write(0, " FILTER (WHERE ", e.Filter, ")")
	}
}

func (p printer) list(args []*Expr) {
	for i, a := range args {
		if i > 0 {
			p.WriteString(", ")
		}
		p.expr(a, 0)
	}
}

func (p printer) call(e *Expr) {
	a := e.Args
	b := precedence(e)
	switch {
	case e.Name == "NOT" && b == precIn:
		p.inLike(explicit(a[0]), "NOT ")
	case e.Name == "NOT" && len(a) == 1:
		p.write(precNot-1, "NOT ", a[0])
	case e.Name == "FIELD" && len(a) == 2 && isText(a[1]):
		p.write(postfixed(a[0]), a[0], ".", Quote(a[1].Value.Text))
	case e.Name == "ITEM" && len(a) == 2:
		p.write(postfixed(a[0]), a[0], "[")
		p.write(0, a[1], "]")
	case e.Name == "NEG" && len(a) == 1:
		p.write(precSign, "-", negated(a[0]))
	case e.Name == "IN" || e.Name == "LIKE":
		p.inLike(e, "")
	case b == precIs && len(a) == 2:
		// Calcite reads IS DISTINCT FROM as tightly as +, so sums beside it get brackets.
		p.write(precAdd, a[0], " "+e.Name+" ", a[1])
	case b == precIs && len(a) == 1:
		p.write(precIn, a[0], " "+e.Name)
	case b == precComparison && len(a) == 2:
		p.write(precComparison, a[0], " "+e.Name+" ", a[1])
	case b < precPrimary:
		for i, x := range a {
			min := b
			if bare := explicit(x); i == 0 || joins(e.Name, bare) || e.Name == "||" && bare.Op == OpLiteral && literalPrecedence(bare) == precMul {
				min = b - 1
			}
			if i > 0 {
				p.WriteString(" " + e.Name + " ")
			}
			p.expr(x, min)
		}
	default:
		p.function(e)
	}
}

// postfixed is how tightly x must bind before a dot or a bracket; a number gets brackets, for 1.a is another one.
func postfixed(x *Expr) int {
	if x = explicit(x); x.Op == OpLiteral && isDigit((literalText(x) + " ")[0]) {
		return precPrimary
	}
	return precPostfix - 1
}

// joins reports whether x is a call of the same associative operator, which needs no brackets.
func joins(name string, x *Expr) bool {
	return x.Op == OpCall && x.Name == name && (name == "AND" || name == "OR" || name == "||")
}

// negated puts brackets round a number, for -5 would be read as one literal.
func negated(x *Expr) any {
	if x = explicit(x); x.Op != OpLiteral {
		return x
	}
	s := literalText(x)
	if isDigit(s[0]) || s[0] == '.' {
		return "(" + s + ")"
	}
	return x
}

func (p printer) inLike(e *Expr, not string) {
	p.write(precIn, e.Args[0], " "+not+e.Name+" ")
	if e.Name == "IN" {
		p.WriteByte('(')
		p.list(e.Args[1:])
		p.WriteByte(')')
		return
	}
	p.expr(e.Args[1], precIn)
	if len(e.Args) == 3 {
		p.write(precIn, " ESCAPE ", e.Args[2])
	}
}

// beforeTo puts brackets round what ends with an interval, which would take the TO as its own.
func beforeTo(x *Expr) any {
	s := x.String()
	if word := s[strings.LastIndexByte(s, ' ')+1:]; word != s && strings.HasSuffix(strings.TrimSuffix(s, " "+word), "'") && strings.Contains(ranges, " "+word+" TO ") {
		return "(" + s + ")"
	}
	return x
}

// function writes the calls with brackets, those with a syntax of their own in it.
func (p printer) function(e *Expr) {
	a := e.Args
	unit := func() string { return a[0].Value.Text }
	switch {
	case e.Name == "EXTRACT" && len(a) == 2 && isText(a[0]):
		p.write(0, "EXTRACT(", unit(), " FROM ", a[1], ")")
	case (e.Name == "FLOOR_TO" || e.Name == "CEIL_TO") && len(a) == 2 && isText(a[0]):
		p.write(0, display(e.Name), "(", beforeTo(a[1]), " TO ", unit(), ")")
	case e.Name == "POSITION" && len(a) == 2:
		p.write(precIn, "POSITION(", a[0], " IN ")
		p.write(0, a[1], ")")
	case e.Name == "POSITION" && len(a) == 3:
		p.write(0, "LOCATE(", a[0], ", ", a[1], ", ", a[2], ")")
	case e.Name == "OVERLAY" && len(a) >= 3:
		p.write(0, "OVERLAY(", a[0], " PLACING ", a[1], " FROM ", a[2])
		if len(a) == 4 {
			p.write(0, " FOR ", a[3])
		}
		p.WriteByte(')')
	case isInterval(e):
		p.WriteString(intervalText(a[1].Value.Int, unit()))
	case strings.HasPrefix(e.Name, "TIMESTAMP") && len(a) == 3 && isText(a[0]):
		p.write(0, e.Name, "(", unit(), ", ", a[1], ", ", a[2], ")")
	case e.Name == "TRIM" && len(a) == 3 && isText(a[0]):
		if unit() == "BOTH" && isText(a[1]) && a[1].Value.Text == " " {
			p.write(0, "TRIM(", a[2], ")")
			return
		}
		p.write(0, "TRIM(", unit(), " ", a[1], " FROM ", a[2], ")")
	case e.Name == "SUBSTRING" && len(a) == 2:
		p.write(0, "SUBSTRING(", a[0], " FROM ", a[1], ")")
	case e.Name == "SUBSTRING" && len(a) == 3:
		p.write(0, "SUBSTRING(", a[0], " FROM ", a[1], " FOR ", a[2], ")")
	default:
		p.WriteString(e.Name)
		p.WriteByte('(')
		p.list(a)
		p.WriteByte(')')
	}
}

// literalPrecedence: a negative number binds as a sign does, and text that must be put together as ||.
func literalPrecedence(e *Expr) int {
	if e.Value == nil || e.Value.Null {
		return precPrimary
	}
	s := literalText(e)
	switch {
	case s != "" && s[0] == '-':
		return precSign
	case e.Type.Kind == String && strings.Contains(e.Value.Text, "${"):
		return precMul
	}
	return precPrimary
}

func (p printer) literal(e *Expr) { p.WriteString(literalText(e)) }

// literalText writes a literal so that it is read with its type: what has a natural form in it, the
// rest under a CAST. An implicit one, a cast by Check that has been folded, is written as its value.
func literalText(e *Expr) string {
	v, t := e.Value, e.Type
	if v == nil {
		return "NULL"
	}
	if v.Null {
		if t.Kind == Null || t.Kind == Invalid || e.Implicit {
			return "NULL"
		}
		return "CAST(NULL AS " + plainType(t) + ")"
	}
	cast := func(s string) string {
		if e.Implicit {
			return s
		}
		return "CAST(" + s + " AS " + plainType(t) + ")"
	}
	switch t.Kind {
	case Boolean:
		return strings.ToUpper(strconv.FormatBool(v.Int != 0))
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case TinyInt, SmallInt:
		return cast(strconv.FormatInt(v.Int, 10))
	case BigInt:
		s := strconv.FormatInt(v.Int, 10)
		if v.Int == int64(int32(v.Int)) {
			return cast(s)
		}
		return s
	case Decimal:
		s, natural := decimalText(v.Text, t)
		if !natural {
			return cast(s)
		}
		return s
	case Float, Double:
		if math.IsNaN(v.Double) || math.IsInf(v.Double, 0) {
			return "CAST(" + quoteText(nonFinite(v.Double)) + " AS " + plainType(t) + ")"
		}
		if a := math.Abs(v.Double); e.Implicit && a >= 1e-6 && a < 1e15 {
			return strconv.FormatFloat(v.Double, 'f', -1, floatBits(t))
		}
		if t.Kind == Float {
			return cast(doubleText(v.Double, 32))
		}
		return doubleText(v.Double, 64)
	case Date:
		return "DATE '" + string(AppendDate(nil, int32(v.Int))) + "'"
	case Timestamp:
		return "TIMESTAMP '" + string(AppendTimestamp(nil, v.Int, t.Precision)) + "'"
	case Time:
		return "TIME '" + string(AppendTime(nil, v.Int, t.Precision)) + "'"
	case TimestampLTZ:
		return "CAST('" + string(AppendTimestampLTZ(nil, v.Int, t.Precision)) + "' AS " + plainType(t) + ")"
	case Bytes:
		return bytesText(v.Text)
	}
	return stringText(v.Text)
}

// nonFinite is the text that CAST reads NaN and the infinities from.
func nonFinite(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case f < 0:
		return "-Infinity"
	}
	return "Infinity"
}

// stringText quotes text. ${ inside quotes would be taken for a parameter, so it is cut in two.
func stringText(s string) string {
	return strings.ReplaceAll(quoteText(s), "${", "$' || '{")
}

// decimalText writes the digits of a DECIMAL; natural says whether they alone give its type.
func decimalText(unscaled string, t Type) (s string, natural bool) {
	n, ok := new(big.Int).SetString(unscaled, 10)
	if !ok {
		return quoteText(unscaled), false
	}
	digits := new(big.Int).Abs(n).String()
	minus := ""
	if n.Sign() < 0 {
		minus = "-"
	}
	if t.Scale == 0 {
		natural = len(digits) == t.Precision && len(digits) > 18 && !n.IsInt64()
		return minus + digits, natural
	}
	if len(digits) < t.Scale {
		digits = strings.Repeat("0", t.Scale-len(digits)) + digits
	}
	whole, fraction := digits[:len(digits)-t.Scale], digits[len(digits)-t.Scale:]
	if whole == "" && t.Precision > t.Scale {
		whole = "0"
	}
	return minus + whole + "." + fraction, len(whole)+len(fraction) == t.Precision
}

func floatBits(t Type) int {
	if t.Kind == Float {
		return 32
	}
	return 64
}

// doubleText writes a DOUBLE with an exponent, which is what makes it one: 1.5E0.
func doubleText(f float64, bits int) string {
	s := strconv.FormatFloat(f, 'E', -1, bits)
	mantissa, exponent, _ := strings.Cut(s, "E")
	n, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(n)
}
