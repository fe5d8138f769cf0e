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

// interval reads INTERVAL [sign] 'text' unit [TO unit]. What has several units becomes so many of the last
// one, and a fraction of a second so many milliseconds or microseconds.
func (p *parser) interval() (*Expr, *Error) {
	start, sign := p.take(), int64(1)
	if p.acceptSymbol("-") {
		sign = -1
	} else {
		p.acceptSymbol("+")
	}
	t := p.take()
	unit, err := p.unit("TIMESTAMPADD")
	if err == nil {
		err = p.digitsOfUnit()
	}
	if err != nil {
		return nil, err
	}
	from, to, end := unit.Value.Text, unit.Value.Text, unit.End
	if w := p.peek(); w.word("TO") && strings.Contains(ranges, " "+from+" TO "+p.after(1).upper+" ") {
		p.take()
		last, err := p.unit("TIMESTAMPADD")
		if err == nil {
			err = p.digitsOfUnit()
		}
		if err != nil {
			return nil, err
		}
		to, end = last.Value.Text, last.End
	}
	n, in, ok := intervalOf(t.text, from, to)
	if !ok || n == -n && n != 0 {
		e := &Error{Pos: t.pos, End: t.end, Message: quoteText(t.text) + " is not an interval " + from, Expected: "such as " + intervalForms[from]}
		if from != to {
			e.Message, e.Expected = e.Message+" TO "+to, "such as "+intervalForms[from+" TO "+to]+"; TO of FLOOR and CEIL stands behind brackets"
		}
		return nil, e
	}
	unit.Value, unit.End = &Value{Text: in}, end
	number := p.literal(Of(wholeKind(sign*n)), Value{Int: sign * n}, t.pos)
	number.End = t.end
	return p.call(start.pos, intervalCall, unit, number), nil
}

// digitsOfUnit reads how many digits a unit has, DAY(3) or SECOND(2, 6), which bounds nothing here.
func (p *parser) digitsOfUnit() *Error {
	if !p.acceptSymbol("(") {
		return nil
	}
	for {
		if t := p.take(); t.kind != tokInt {
			return &Error{Pos: t.pos, End: t.end, Message: "unexpected " + t.String(), Expected: "how many digits the unit has"}
		}
		if !p.acceptSymbol(",") {
			return p.wantSymbol(")", " after the digits of a unit")
		}
	}
}

// ranges are SQL's intervals of several units. TO after other units belongs to FLOOR or CEIL.
const ranges = " YEAR TO MONTH  DAY TO HOUR  DAY TO MINUTE  DAY TO SECOND  HOUR TO MINUTE  HOUR TO SECOND  MINUTE TO SECOND "

// intervalForms are examples of every form.
var intervalForms = map[string]string{
	UnitYear: "INTERVAL '1' YEAR", UnitQuarter: "INTERVAL '1' QUARTER", UnitMonth: "INTERVAL '1' MONTH", UnitWeek: "INTERVAL '1' WEEK", UnitDay: "INTERVAL '1' DAY",
	UnitHour: "INTERVAL '1' HOUR", UnitMinute: "INTERVAL '1' MINUTE", UnitSecond: "INTERVAL '1.5' SECOND", UnitMillisecond: "INTERVAL '1' MILLISECOND", UnitMicrosecond: "INTERVAL '1' MICROSECOND",
	"YEAR TO MONTH": "INTERVAL '1-6' YEAR TO MONTH", "DAY TO HOUR": "INTERVAL '1 02' DAY TO HOUR", "DAY TO MINUTE": "INTERVAL '1 02:03' DAY TO MINUTE",
	"DAY TO SECOND": "INTERVAL '1 02:03:04.5' DAY TO SECOND", "HOUR TO MINUTE": "INTERVAL '2:03' HOUR TO MINUTE", "HOUR TO SECOND": "INTERVAL '2:03:04.5' HOUR TO SECOND",
	"MINUTE TO SECOND": "INTERVAL '3:04.5' MINUTE TO SECOND",
}

// intervalOf reads an interval's text as so many of a unit: the fields from one unit to another with what
// SQL puts between them, each but the first below the next larger unit.
func intervalOf(text, from, to string) (n int64, unit string, ok bool) {
	fields := []string{from}
	if from == UnitYear && to == UnitMonth {
		fields = []string{UnitYear, UnitMonth}
	} else if from != to {
		order := []string{UnitDay, UnitHour, UnitMinute, UnitSecond}
		fields = order[slices.Index(order, from) : slices.Index(order, to)+1]
	}
	body, neg := sign([]byte(text))
	rest, total := string(body), int64(0)
	for i, f := range fields {
		if i > 0 {
			between := map[string]string{UnitMonth: "-", UnitHour: " "}[f]
			if between == "" {
				between = ":"
			}
			if rest, ok = strings.CutPrefix(rest, between); !ok {
				return 0, "", false
			}
		}
		digits := run([]byte(rest))
		v, s := ParseInt64([]byte(rest[:digits]))
		per := map[string]int64{UnitMonth: 12, UnitHour: 24, UnitMinute: 60, UnitSecond: 60}[f]
		if s != OK || i > 0 && v >= per || total > (1<<62)/100 {
			return 0, "", false
		}
		if i > 0 {
			v += total * per
		}
		total, rest = v, rest[digits:]
	}
	unit = to
	if fraction, is := strings.CutPrefix(rest, "."); is && to == UnitSecond {
		if total, unit, ok = secondsOf(total, fraction); !ok {
			return 0, "", false
		}
		rest = ""
	}
	if neg {
		total = -total
	}
	return total, unit, rest == ""
}

// secondsOf adds a fraction to seconds: milliseconds of up to 3 digits, microseconds of up to 6.
func secondsOf(seconds int64, fraction string) (n int64, unit string, ok bool) {
	digits := len(fraction)
	if digits == 0 || digits > 6 || run([]byte(fraction)) != digits || seconds > (1<<62)/microsPerSecond {
		return 0, "", false
	}
	unit, places := UnitMillisecond, 3
	if digits > 3 {
		unit, places = UnitMicrosecond, 6
	}
	v, _ := ParseInt64([]byte(fraction + strings.Repeat("0", places-digits))) // digits alone, as was seen
	return seconds*int64(pow10[places]) + v, unit, true
}

// intervalText writes an interval of one unit.
func intervalText(n int64, unit string) string {
	places := map[string]int{UnitMillisecond: 3, UnitMicrosecond: 6}[unit]
	if places == 0 {
		return "INTERVAL '" + strconv.FormatInt(n, 10) + "' " + unit
	}
	return "INTERVAL '" + string(AppendDecimal(nil, n, places)) + "' SECOND"
}

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
		expected := "a DATE, TIME or TIMESTAMP"
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
