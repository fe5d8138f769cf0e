package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// intervalCall is the name of what INTERVAL '1' DAY is read as, with the unit and the number. It
// stands only beside + or -, where Check makes TIMESTAMPADD of both, so no kernel knows it.
const intervalCall = "INTERVAL"

func isInterval(e *Expr) bool {
	return e != nil && e.Op == OpCall && e.Name == intervalCall && len(e.Args) == 2 &&
		isText(e.Args[0]) && e.Args[1].Op == OpLiteral && e.Args[1].Value != nil && !e.Args[1].Value.Null
}

// string is a whole number as text.
func (v *Value) string() string { return strconv.FormatInt(v.Int, 10) }

// interval reads INTERVAL [sign] 'n' unit.
func (p *parser) interval() (*Expr, *Error) {
	start, sign := p.take(), int64(1)
	if p.acceptSymbol("-") {
		sign = -1
	} else {
		p.acceptSymbol("+")
	}
	t := p.take()
	n, s := ParseInt64([]byte(t.text))
	if s != OK || n == -n && n != 0 {
		e := &Error{Pos: t.pos, End: t.end, Message: quoteText(t.text) + " is not a whole number of units", Expected: "such as INTERVAL '1' DAY"}
		if strings.ContainsAny(t.text, ".:- ") {
			e.Message = "an interval of several units or of a fraction is not supported yet"
			e.Expected = "one for each unit: x + INTERVAL '1' DAY + INTERVAL '2' HOUR"
		}
		return nil, e
	}
	unit, err := p.unit("TIMESTAMPADD")
	if err != nil {
		return nil, err
	}
	if to := p.peek(); to.word("TO") && strings.Contains(ranges, " "+unit.Value.Text+" TO "+p.after(1).upper+" ") {
		return nil, &Error{Pos: to.pos, End: p.after(1).end, Message: "an interval of several units is not supported yet", Expected: "one for each unit: x + INTERVAL '1' DAY + INTERVAL '2' HOUR; in FLOOR and CEIL brackets before TO"}
	}
	number := p.literal(Of(wholeKind(sign*n)), Value{Int: sign * n}, t.pos)
	number.End = t.end
	return p.call(start.pos, intervalCall, unit, number), nil
}

// ranges are SQL's intervals of several units. TO after other units belongs to FLOOR or CEIL.
const ranges = " YEAR TO MONTH  DAY TO HOUR  DAY TO MINUTE  DAY TO SECOND  HOUR TO MINUTE  HOUR TO SECOND  MINUTE TO SECOND "

// wholeKind is the type of a whole number that is written out.
func wholeKind(n int64) Kind {
	if n == int64(int32(n)) {
		return Int
	}
	return BigInt
}

// interval checks a call that is an interval or has one: x + i, i + x and x - i alone.
func (c *checker) interval(e *Expr) *Expr {
	if e.Name != "+" && e.Name != "-" || len(e.Args) != 2 || isInterval(e.Args[0]) && (e.Name == "-" || isInterval(e.Args[1])) {
		if at := slices.IndexFunc(e.Args, isInterval); at >= 0 && e.Name != "+" && e.Name != "-" {
			e = e.Args[at]
		}
		return c.fail(e, "an interval stands only beside + or - and a DATE or TIMESTAMP", "x + INTERVAL '1' DAY, or TIMESTAMPADD(DAY, n, x) for n days")
	}
	x, i := e.Args[0], e.Args[1]
	if isInterval(x) {
		x, i = i, x
	}
	if x = c.expr(x); x == nil {
		return nil
	}
	if !isTime(x.Type) && x.Type.Kind != Null {
		expected := "a DATE or TIMESTAMP"
		if x.Type.Kind == String {
			expected = "CAST(" + x.String() + " AS TIMESTAMP(3))"
		}
		return c.fail(x, fmt.Sprintf("an interval is added to a DATE or TIMESTAMP, not to %s", plainType(x.Type)), expected)
	}
	n := *i.Args[1]
	if e.Name == "-" {
		v := Value{Int: -n.Value.Int}
		n.Value, n.Type = &v, Of(wholeKind(v.Int)).Nullable(false)
	}
	return c.call(&Expr{Op: OpCall, Name: "TIMESTAMPADD", Args: []*Expr{i.Args[0], &n, x}, Pos: e.Pos, End: e.End})
}
