package expr

import (
	"fmt"
	"slices"
	"strings"
)

// arithmetic checks + - * / %.
func (c *checker) arithmetic(n *Expr) *Expr {
	for i, a := range n.Args {
		if a.Type.Kind == Null {
			t := n.Args[1-i].Type
			if !t.Numeric() {
				t = Of(Int)
			}
			n.Args[i] = implicit(a, t)
		}
	}
	a, b := n.Args[0], n.Args[1]
	if !a.Type.Numeric() || !b.Type.Numeric() {
		return c.notNumbers(n, a, b)
	}
	t, _ := commonType(a.Type, b.Type, false)
	switch {
	case t.Kind != Decimal:
		n.Args = []*Expr{implicit(a, t), implicit(b, t)}
		n.Type = t.Nullable(true)
		// Flink's remainder has the divisor's type, which holds it.
		if n.Name == "%" && b.Type.Kind != t.Kind && t.Whole() {
			n.Type.NotNull = a.Type.NotNull && b.Type.NotNull
			return implicit(n, b.Type)
		}
		return n
	}
	da, db := decimalOf(a.Type), decimalOf(b.Type)
	n.Args = []*Expr{implicit(a, da), implicit(b, db)}
	n.Type = arithmeticDecimal(n.Name, da, db).Nullable(true)
	return n
}

// commonUnit is a unit that two times can be counted in: a TIME has no days.
func commonUnit(a, b *Expr) string {
	if a.Type.Kind == Time || b.Type.Kind == Time {
		return "SECOND"
	}
	return "DAY"
}

// instant writes what TIMESTAMPDIFF takes of a time: a TIME is one of a day.
func instant(x *Expr) string {
	if x.Type.Kind == Time {
		return fmt.Sprintf("CAST(%s AS TIMESTAMP(3))", x)
	}
	return x.String()
}

// notNumbers explains what to write instead of arithmetic with text, dates and conditions.
func (c *checker) notNumbers(n, a, b *Expr) *Expr {
	expected := "numbers"
	bad := a
	if a.Type.Numeric() {
		bad = b
	}
	switch {
	case isTime(a.Type) && isTime(b.Type) && n.Name == "-":
		expected = fmt.Sprintf("TIMESTAMPDIFF(%s, %s, %s)", commonUnit(a, b), instant(b), instant(a))
	case isTime(bad.Type) && (n.Name == "+" || n.Name == "-"):
		other, sign := b, ""
		if bad == b {
			other = a
		}
		if n.Name == "-" {
			sign = "-"
		}
		expected = fmt.Sprintf("TIMESTAMPADD(%s, %s%s, %s)", commonUnit(bad, bad), sign, other, bad)
	case a.Type.Kind == String && b.Type.Kind == String && n.Name == "+":
		expected = "|| to join text"
	case bad.Type.Kind == String:
		expected = fmt.Sprintf("CAST(%s AS type)", bad)
	}
	return c.fail(bad, n.Name+" takes numbers, not "+plainType(bad.Type), expected)
}

// number checks functions of one number.
func (c *checker) number(n *Expr) *Expr {
	x := implicitNull(n.Args[0], Of(Int))
	n.Args[0] = x
	if !x.Type.Numeric() {
		expected := "a number"
		if isTime(x.Type) && (n.Name == "FLOOR" || n.Name == "CEIL") {
			expected = fmt.Sprintf("%s(%s TO unit)", n.Name, x)
		}
		name := n.Name
		if name == "NEG" {
			name = "-"
		}
		return c.fail(x, name+" takes a number, not "+plainType(x.Type), expected)
	}
	n.Type = x.Type.Nullable(true)
	if n.Type.Kind == Decimal && (n.Name == "FLOOR" || n.Name == "CEIL") {
		n.Type.Scale = 0
	}
	return n
}

func (c *checker) round(n *Expr) *Expr {
	x, places := implicitNull(n.Args[0], Of(Int)), n.Args[1]
	n.Args[0] = x
	if !x.Type.Numeric() {
		return c.fail(x, n.Name+" takes a number, not "+plainType(x.Type), "a number")
	}
	if places.Op != OpLiteral || places.Type.Kind != Int || places.Value.Null {
		return c.fail(places, "the places of "+n.Name+" are "+places.String(), "a literal such as 2")
	}
	n.Type = x.Type.Nullable(true)
	if n.Type.Kind == Decimal {
		n.Type = roundDecimal(n.Type, places.Value.Int)
	}
	return n
}

// text checks the functions of text.
func (c *checker) text(n *Expr) *Expr {
	ok := true
	for i, a := range n.Args {
		want := String
		if n.Name == "SUBSTRING" && i > 0 {
			want = Int
		}
		n.Args[i] = accepted(a, want)
		if n.Args[i].Type.Kind == want {
			continue
		}
		ok = false
		name := map[Kind]string{String: "text", Int: "an INT"}[want]
		c.fail(a, fmt.Sprintf("%s takes %s, not %s", n.Name, name, plainType(a.Type)), castTo(a, want))
	}
	if !ok {
		return nil
	}
	if n.Name == "||" {
		n.Args = flatten("||", n.Args)
	}
	n.Type = Of(String)
	if n.Name == "CHAR_LENGTH" {
		n.Type = Of(Int)
	}
	return n
}

var dayUnits = []string{UnitHour, UnitMinute, UnitSecond, UnitMillisecond, UnitMicrosecond}

// commonUnit is the unit that a call begins with; "" after a fault.
func (c *checker) unitOf(n *Expr) string {
	u := n.Args[0]
	if isText(u) && slices.Contains(units[n.Name], u.Value.Text) {
		return u.Value.Text
	}
	c.fail(u, "a unit that is no unit", "one of "+strings.Join(units[n.Name], ", "))
	return ""
}

// time checks that x is a DATE, TIME or TIMESTAMP.
func (c *checker) time(n, x *Expr) bool {
	if isTime(x.Type) {
		return true
	}
	expected := "a DATE or TIMESTAMP"
	if x.Type.Kind == String {
		expected = "CAST(" + x.String() + " AS DATE), or AS TIMESTAMP(3)"
	}
	c.fail(x, display(n.Name)+" takes a DATE or TIMESTAMP, not "+plainType(x.Type), expected)
	return false
}

func display(name string) string { return strings.TrimSuffix(name, "_TO") }

// part checks EXTRACT and FLOOR … TO.
func (c *checker) part(n *Expr) *Expr {
	unit := c.unitOf(n)
	x := implicitNull(n.Args[1], TimestampOf(0))
	n.Args[1] = x
	if !c.time(n, x) || unit == "" {
		return nil
	}
	if x.Type.Kind == Date && slices.Contains(dayUnits, unit) {
		return c.fail(n, "a DATE has no "+unit, "YEAR to DAY, or a TIMESTAMP")
	}
	if x.Type.Kind == Time && !slices.Contains(dayUnits, unit) {
		return c.fail(n, "a TIME has no "+unit, "HOUR, MINUTE or SECOND, or a TIMESTAMP")
	}
	n.Type = x.Type.Nullable(true)
	if n.Name == "EXTRACT" {
		n.Type = Of(BigInt)
	}
	return n
}

// add checks TIMESTAMPADD. Adding days and longer to a DATE gives a DATE; shorter units make it a
// TIMESTAMP(0) first, as in Calcite.
func (c *checker) add(n *Expr) *Expr {
	unit := c.unitOf(n)
	count, x := implicitNull(n.Args[1], Of(BigInt)), implicitNull(n.Args[2], TimestampOf(0))
	ok := c.time(n, x)
	if !count.Type.Whole() {
		c.fail(count, "TIMESTAMPADD takes a whole number, not "+plainType(count.Type), castTo(count, BigInt))
		ok = false
	}
	if !ok || unit == "" {
		return nil
	}
	if x.Type.Kind == Time && !slices.Contains(dayUnits, unit) {
		return c.fail(n, "a TIME goes round after a day", "HOUR, MINUTE or SECOND, or a TIMESTAMP")
	}
	if x.Type.Kind == Date && slices.Contains(dayUnits, unit) {
		x = implicit(x, TimestampOf(0))
	}
	if digits := map[string]int{UnitMillisecond: 3, UnitMicrosecond: 6}[unit]; digits > x.Type.Precision {
		finer := x.Type
		finer.Precision = digits
		x = implicit(x, finer)
	}
	n.Args[1], n.Args[2] = implicit(count, Of(BigInt)), x
	n.Type = x.Type.Nullable(true)
	return n
}

// difference checks TIMESTAMPDIFF, whose result is an INT in Flink. Two DATEs stay so for days and
// longer units.
func (c *checker) difference(n *Expr) *Expr {
	unit := c.unitOf(n)
	a, b := n.Args[1], n.Args[2]
	a, b = implicitNull(a, TimestampOf(0)), implicitNull(b, TimestampOf(0))
	okA, okB := c.time(n, a), c.time(n, b)
	if !okA || !okB || unit == "" {
		return nil
	}
	for _, x := range []*Expr{a, b} {
		if x.Type.Kind == Time {
			return c.fail(x, "TIMESTAMPDIFF takes a DATE or TIMESTAMP, not "+plainType(x.Type), "CAST("+x.String()+" AS TIMESTAMP(3)), which is on 1970-01-01")
		}
	}
	t, _ := commonType(a.Type, b.Type, true)
	if t.Kind == Date && slices.Contains(dayUnits, unit) {
		t = TimestampOf(0)
	}
	n.Args[1], n.Args[2] = implicit(a, t), implicit(b, t)
	n.Type = Of(Int)
	return n
}
