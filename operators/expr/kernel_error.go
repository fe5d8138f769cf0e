package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The classes of EvalError.
const (
	castError      = "CastError"
	overflow       = "Overflow"
	divisionByZero = "DivisionByZero"
	evaluation     = "EvaluationError"
)

// atRow is an EvalError found in a constant, at the first row that needs it.
func atRow(err error, row int) error {
	var e *EvalError
	if !errors.As(err, &e) {
		return err
	}
	at := *e
	at.Row = row
	return &at
}

// fail makes the node's EvalError. arg is the argument at fault; -1 where all are, whose values are
// then named in the message.
func (nd *node) fail(class string, row, arg int, message string) error {
	e := &EvalError{Kind: class, Message: message, Row: row, Expression: nd.e.String()}
	if arg >= 0 {
		e.Value = clip(nd.in[arg].appendText(nil, row), mostValue)
		e.Field = sourceOf(nd.e.Args[arg])
		e.withhold(nd.e)
		return e
	}
	for i, v := range nd.in {
		if nd.e.Args[i].Op == OpLiteral {
			continue
		}
		if f := sourceOf(nd.e.Args[i]); e.Field == "" && f != "" {
			e.Field, e.Value = f, clip(v.appendText(nil, row), mostValue)
		}
	}
	if e.Value == "" && len(nd.in) > 0 {
		e.Value = clip(nd.in[0].appendText(nil, row), mostValue)
	}
	e.withhold(nd.e)
	return e
}

// mostValue and mostShown bound, in bytes, what a failure repeats of a value and its message shows.
const (
	mostValue = 1000
	mostShown = 100
)

// clip cuts a text to whole characters.
func clip(b []byte, most int) string {
	if len(b) <= most {
		return string(b)
	}
	for most > 0 && !utf8.RuneStart(b[most]) {
		most--
	}
	return string(b[:most]) + "…"
}

// sourceOf is the column that an expression is, casts aside; "" where it is another thing.
func sourceOf(e *Expr) string {
	for e.Op == OpCast || e.Op == OpTryCast {
		e = e.Args[0]
	}
	if e.Op == OpColumn {
		return e.Name
	}
	return ""
}

// overflows is the failure of an operation whose exact result does not fit its type.
func (nd *node) overflows(row int) error {
	var args []string
	for _, v := range nd.in {
		args = append(args, string(v.appendText(nil, row)))
	}
	return nd.fail(overflow, row, -1, operation(nd.e.Name, args)+" overflows "+nd.e.Type.Nullable(true).String())
}

// operation words what was done with values.
func operation(name string, args []string) string {
	switch name {
	case "+":
		name = "the sum of "
	case "-":
		name = "the difference of "
	case "*":
		name = "the product of "
	case "/":
		name = "the quotient of "
	case "NEG":
		name = "the opposite of "
	default:
		return name + "(" + strings.Join(args, ", ") + ")"
	}
	return name + strings.Join(args, " and ")
}

func (nd *node) dividesByZero(row int) error {
	arg := 1 // the divisor is at fault, unless the plan wrote the zero itself
	if sourceOf(nd.e.Args[1]) == "" {
		arg = -1
	}
	return nd.fail(divisionByZero, row, arg, fmt.Sprintf("%s is divided by zero", nd.in[0].appendText(nil, row)))
}

// appendText writes a row's value as CAST to STRING does, a TIMESTAMP_LTZ in UTC, BYTES as a literal, and NULL as the word.
func (v *vec) appendText(dst []byte, i int) []byte {
	if v.isNull(i) {
		return append(dst, "NULL"...)
	}
	i &= v.m
	switch t := v.t; t.Kind {
	case Boolean:
		if v.bool(i) {
			return append(dst, "TRUE"...)
		}
		return append(dst, "FALSE"...)
	case TinyInt, SmallInt, Int, BigInt:
		return AppendInt(dst, v.num(i))
	case Float:
		return appendJava(dst, v.f64[i], 32)
	case Double:
		return appendJava(dst, v.f64[i], 64)
	case Date:
		return AppendDate(dst, v.i32[i])
	case Time:
		return AppendTime(dst, v.i64[i], t.Precision)
	case Timestamp:
		return AppendTimestamp(dst, v.i64[i], t.Precision)
	case TimestampLTZ:
		return AppendTimestampLTZ(dst, v.i64[i], t.Precision)
	case Bytes:
		return append(dst, bytesText(string(v.str(i)))...)
	case Decimal:
		if t.wide() {
			return AppendDecimal128(dst, v.dec[i], t.Scale)
		}
		return AppendDecimal(dst, v.i64[i], t.Scale)
	}
	if v.t.Nested() {
		if v.text == nil {
			v.text = NestedText(v.src, v.t, leafText)
		}
		return v.text(dst, i)
	}
	return append(dst, v.str(i)...)
}
