package expr_test

import (
	"cmp"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// The oracle is a second, slow evaluator, one row at a time, over values of Go's own big numbers and
// calendar: nil, bool, *big.Int (INT, BIGINT), *big.Rat (DECIMAL), float64, string, date and stamp.
type (
	date  int64 // days
	stamp int64 // microseconds
)

// A raised is the class of an expected EvalError.
type raised string

func oracle(e *expr.Expr, row []any) any {
	switch e.Op {
	case expr.OpColumn:
		return row[e.Col]
	case expr.OpLiteral:
		return literalOf(e)
	case expr.OpCase:
		for i := 0; i+1 < len(e.Args); i += 2 {
			if oracle(e.Args[i], row) == true {
				return oracle(e.Args[i+1], row)
			}
		}
		return oracle(e.Args[len(e.Args)-1], row)
	case expr.OpCast:
		return castIn(e.Zone, oracle(e.Args[0], row), e.Args[0].Type, e.Type)
	case expr.OpTryCast:
		return tryCast(e.Zone, oracle(e.Args[0], row), e.Args[0].Type, e.Type)
	}
	return call(e, row)
}

func tryCast(zone string, v any, from, to expr.Type) (out any) {
	defer func() {
		if _, ok := recover().(raised); ok {
			out = nil
		}
	}()
	return castIn(zone, v, from, to)
}

// attempt gives the value, or the class of the failure.
func attempt(f func() any) (v any, class string) {
	defer func() {
		if r := recover(); r != nil {
			c, ok := r.(raised)
			if !ok {
				panic(r)
			}
			v, class = nil, string(c)
		}
	}()
	return f(), ""
}

func literalOf(e *expr.Expr) any {
	v := e.Value
	if v.Null {
		return nil
	}
	switch e.Type.Kind {
	case expr.Boolean:
		return v.Int != 0
	case expr.TinyInt, expr.SmallInt, expr.Int, expr.BigInt:
		return big.NewInt(v.Int)
	case expr.Float, expr.Double:
		return v.Double
	case expr.Date:
		return date(v.Int)
	case expr.Timestamp:
		return stamp(v.Int)
	case expr.Time:
		return clock(v.Int)
	case expr.TimestampLTZ:
		return instant(v.Int)
	case expr.Bytes:
		return blob(v.Text)
	case expr.Decimal:
		n, _ := new(big.Int).SetString(v.Text, 10)
		return new(big.Rat).SetFrac(n, ten(e.Type.Scale))
	}
	return v.Text
}

func ten(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// call covers the closed list of functions.
func call(e *expr.Expr, row []any) any {
	switch e.Name {
	case "AND", "OR":
		return logic(e, row)
	case "COALESCE":
		for _, a := range e.Args {
			if v := oracle(a, row); v != nil {
				return v
			}
		}
		return nil
	}
	args := make([]any, len(e.Args))
	null := false
	for i, a := range e.Args {
		args[i] = oracle(a, row)
		null = null || args[i] == nil
	}
	switch e.Name {
	case "IS NULL":
		return args[0] == nil
	case "IS NOT NULL":
		return args[0] != nil
	case "IS TRUE":
		return args[0] == true
	case "IS NOT TRUE":
		return args[0] != true
	case "IS FALSE":
		return args[0] == false
	case "IS NOT FALSE":
		return args[0] != false
	case "IS DISTINCT FROM":
		return !same(args[0], args[1])
	case "IS NOT DISTINCT FROM":
		return same(args[0], args[1])
	case "NULLIF":
		if !null && order(args[0], args[1]) == 0 {
			return nil
		}
		return args[0]
	case "IN":
		return within(args)
	case "CONCAT_WS":
		return concatWS(args)
	case "ELT":
		return elt(args)
	}
	if null {
		return nil
	}
	return strictCall(e, args)
}

func logic(e *expr.Expr, row []any) any {
	decided := e.Name == "OR"
	null := false
	for _, a := range e.Args {
		switch v := oracle(a, row); v {
		case decided:
			return decided
		case nil:
			null = true
		}
	}
	if null {
		return nil
	}
	return !decided
}

func same(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return order(a, b) == 0
}

func within(args []any) any {
	if args[0] == nil {
		return nil
	}
	null := false
	for _, a := range args[1:] {
		if a == nil {
			null = true
		} else if order(args[0], a) == 0 {
			return true
		}
	}
	if null {
		return nil
	}
	return false
}

func order(a, b any) int {
	switch x := a.(type) {
	case bool:
		y := b.(bool)
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case *big.Int:
		return x.Cmp(b.(*big.Int))
	case *big.Rat:
		return x.Cmp(b.(*big.Rat))
	case float64:
		y := b.(float64)
		switch {
		case x == y || x != x && y != y:
			return 0
		case x < y || y != y:
			return -1
		}
		return 1
	case string:
		return strings.Compare(x, b.(string))
	case date:
		return int(x - b.(date))
	case clock:
		return cmp.Compare(x, b.(clock))
	case instant:
		return cmp.Compare(x, b.(instant))
	case blob:
		return cmp.Compare(x, b.(blob))
	}
	switch x, y := a.(stamp), b.(stamp); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func strictCall(e *expr.Expr, a []any) any {
	switch e.Name {
	case "NOT":
		return !a[0].(bool)
	case "=":
		return order(a[0], a[1]) == 0
	case "<>":
		return order(a[0], a[1]) != 0
	case "<":
		return order(a[0], a[1]) < 0
	case "<=":
		return order(a[0], a[1]) <= 0
	case ">":
		return order(a[0], a[1]) > 0
	case ">=":
		return order(a[0], a[1]) >= 0
	case "LIKE":
		return likePattern(a).MatchString(a[0].(string))
	case "+", "-", "*", "/", "%":
		return arithmetic(e, a[0], a[1])
	case "NEG", "ABS", "ROUND", "FLOOR", "CEIL":
		return rounding(e, a)
	case "GREATEST", "LEAST":
		return extreme(e.Name, a)
	case "EXTRACT", "FLOOR_TO", "CEIL_TO", "TIMESTAMPADD", "TIMESTAMPDIFF":
		return temporalIn(e, a)
	}
	if f, ok := furtherFunctions[e.Name]; ok {
		return f(e, a)
	}
	if f, ok := doubleFunctions[e.Name]; ok {
		return f(a)
	}
	if x, ok := a[0].(instant); ok && e.Name == "DATE_FORMAT" {
		return formattedTime(wall(x, e.Zone), a[1].(string))
	}
	if f, ok := textualFunctions[e.Name]; ok {
		return f(a)
	}
	if e.Name == "SIGN" {
		return signOf(e, a[0])
	}
	return textual(e.Name, a)
}

func textual(name string, a []any) any {
	switch name {
	case "||":
		s := ""
		for _, x := range a {
			s += x.(string)
		}
		return s
	case "UPPER":
		return cases.Upper(language.Und).String(a[0].(string))
	case "LOWER":
		return cases.Lower(language.Und).String(a[0].(string))
	case "CHAR_LENGTH":
		return big.NewInt(int64(utf8.RuneCountInString(a[0].(string))))
	case "SUBSTRING":
		r := []rune(a[0].(string))
		from, n := a[1].(*big.Int).Int64(), int64(len(r))
		if len(a) == 3 {
			n = a[2].(*big.Int).Int64()
		}
		if from < 0 {
			from += int64(len(r)) + 1
			if from < 1 {
				return ""
			}
		}
		from = max(from, 1) - 1
		if n <= 0 || from >= int64(len(r)) {
			return ""
		}
		return string(r[from:min(int64(len(r)), from+n)])
	case "TRIM":
		switch set := a[1].(string); a[0].(string) {
		case "LEADING":
			return strings.TrimLeft(a[2].(string), set)
		case "TRAILING":
			return strings.TrimRight(a[2].(string), set)
		default:
			return strings.Trim(a[2].(string), set)
		}
	}
	panic("the oracle does not know " + name)
}

func likePattern(a []any) *regexp.Regexp {
	esc := rune(-1)
	if len(a) == 3 {
		esc, _ = utf8.DecodeRuneInString(a[2].(string))
	}
	var b strings.Builder
	b.WriteString(`(?s)^`)
	escaped := false
	for _, r := range a[1].(string) {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case r == esc:
			escaped = true
		case r == '%':
			b.WriteString(`.*`)
		case r == '_':
			b.WriteString(`.`)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile(b.String() + `$`)
}

// fit brings an exact number to a type, rounding half away from zero, or raises.
func fit(r *big.Rat, t expr.Type, class string) any {
	if t.Kind == expr.Decimal {
		n := roundRat(r, t.Scale)
		if n.CmpAbs(ten(t.Precision)) >= 0 {
			panic(raised(class))
		}
		return new(big.Rat).SetFrac(n, ten(t.Scale))
	}
	n := new(big.Int).Quo(r.Num(), r.Denom())
	bits := map[expr.Kind]int{expr.TinyInt: 7, expr.SmallInt: 15, expr.Int: 31, expr.BigInt: 63}[t.Kind]
	limit := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	if n.Cmp(limit) >= 0 || n.Cmp(new(big.Int).Neg(limit)) < 0 {
		panic(raised(class))
	}
	return n
}

// roundRat is r * 10^scale rounded half away from zero.
func roundRat(r *big.Rat, scale int) *big.Int {
	x := new(big.Rat).Abs(r)
	if scale >= 0 {
		x.Mul(x, new(big.Rat).SetInt(ten(scale)))
	} else {
		x.Quo(x, new(big.Rat).SetInt(ten(-scale)))
	}
	x.Add(x, big.NewRat(1, 2))
	n := new(big.Int).Quo(x.Num(), x.Denom())
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

func rat(v any) *big.Rat {
	if n, ok := v.(*big.Int); ok {
		return new(big.Rat).SetInt(n)
	}
	return v.(*big.Rat)
}

// rounded is a DOUBLE as a value of a type that may be FLOAT.
func rounded(v any, t expr.Type) any {
	if x, ok := v.(float64); ok && t.Kind == expr.Float {
		return float64(float32(x))
	}
	return v
}

func arithmetic(e *expr.Expr, a, b any) any {
	if _, ok := a.(float64); ok && e.Type.Kind == expr.Float {
		double := *e
		double.Type.Kind = expr.Double
		return rounded(arithmetic(&double, a, b), e.Type)
	}
	if x, ok := a.(float64); ok {
		y := b.(float64)
		switch e.Name {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		case "/":
			return x / y
		}
		return math.Mod(x, y)
	}
	x, y, z := rat(a), rat(b), new(big.Rat)
	if (e.Name == "/" || e.Name == "%") && y.Sign() == 0 {
		panic(raised("DivisionByZero"))
	}
	switch e.Name {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		z.Mul(x, y)
	case "/":
		z.Quo(x, y)
	case "%":
		q := new(big.Rat).Quo(x, y)
		n := new(big.Int).Quo(q.Num(), q.Denom())
		z.Sub(x, new(big.Rat).Mul(y, new(big.Rat).SetInt(n)))
	}
	return fit(z, e.Type, "Overflow")
}

func rounding(e *expr.Expr, a []any) any {
	if x, ok := a[0].(float64); ok {
		return rounded(roundingDouble(e.Name, x, a), e.Type)
	}
	x, z := rat(a[0]), new(big.Rat)
	switch e.Name {
	case "NEG":
		z.Neg(x)
	case "ABS":
		z.Abs(x)
	case "ROUND":
		n := int(a[1].(*big.Int).Int64())
		r := new(big.Rat).SetInt(roundRat(x, n))
		if n >= 0 {
			z.Quo(r, new(big.Rat).SetInt(ten(n)))
		} else {
			z.Mul(r, new(big.Rat).SetInt(ten(-n)))
		}
	default:
		n := new(big.Int).Div(x.Num(), x.Denom()) // floor, the denominator being positive
		if e.Name == "CEIL" && !x.IsInt() {
			n.Add(n, big.NewInt(1))
		}
		z.SetInt(n)
	}
	return fit(z, e.Type, "Overflow")
}

func roundingDouble(name string, x float64, a []any) any {
	switch name {
	case "NEG":
		return -x
	case "ABS":
		return math.Abs(x)
	case "FLOOR":
		return math.Floor(x)
	case "CEIL":
		return math.Ceil(x)
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	n := int(a[1].(*big.Int).Int64())
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	z := new(big.Rat).SetInt(roundRat(r, n))
	if n >= 0 {
		z.Quo(z, new(big.Rat).SetInt(ten(n)))
	} else {
		z.Mul(z, new(big.Rat).SetInt(ten(-n)))
	}
	f, _ := z.Float64()
	return math.Copysign(f, x)
}

func goTime(v any) time.Time {
	if d, ok := v.(date); ok {
		return time.Unix(int64(d)*86400, 0).UTC()
	}
	switch x := v.(type) {
	case clock:
		return time.UnixMicro(int64(x)).UTC()
	case instant:
		return time.UnixMicro(int64(x)).UTC()
	}
	return time.UnixMicro(int64(v.(stamp))).UTC()
}

// fromTime is a time as a value of the type, in range or raised.
func fromTime(t time.Time, typ expr.Type) any {
	s := t.Unix()
	days := s / 86400
	if s%86400 < 0 {
		days--
	}
	if typ.Kind == expr.Date {
		if days < math.MinInt32 || days > math.MaxInt32 {
			panic(raised("Overflow"))
		}
		return date(days)
	}
	m := new(big.Int).Add(new(big.Int).Mul(big.NewInt(s), big.NewInt(1e6)), big.NewInt(int64(t.Nanosecond()/1000)))
	if !m.IsInt64() {
		panic(raised("Overflow"))
	}
	switch typ.Kind {
	case expr.Time:
		return clock(m.Int64())
	case expr.TimestampLTZ:
		return instant(m.Int64())
	}
	return stamp(m.Int64())
}

func temporal(e *expr.Expr, a []any) any {
	unit := a[0].(string)
	switch e.Name {
	case "EXTRACT":
		return big.NewInt(extract(unit, goTime(a[1])))
	case "FLOOR_TO":
		return fromTime(floorTime(unit, goTime(a[1])), e.Type)
	case "CEIL_TO":
		t := goTime(a[1])
		from := floorTime(unit, t)
		if !from.Equal(t) {
			from = addTime(unit, 1, from)
		}
		return fromTime(from, e.Type)
	case "TIMESTAMPADD":
		n := a[1].(*big.Int).Int64()
		return fromTime(addTime(unit, n, goTime(a[2])), e.Type)
	}
	return timeDiff(unit, a[1], a[2])
}

func extract(unit string, t time.Time) int64 {
	isoYear, week := t.ISOWeek()
	century := func(years int) int {
		if t.Year() < 1 {
			return int(math.Ceil(float64(t.Year()+1)/float64(years))) - 1
		}
		return int(math.Ceil(float64(t.Year()) / float64(years)))
	}
	m := map[string]int{
		"YEAR": t.Year(), "QUARTER": (int(t.Month()) + 2) / 3, "MONTH": int(t.Month()), "WEEK": week, "DAY": t.Day(), "DOY": t.YearDay(),
		"DOW": int(t.Weekday()) + 1, "HOUR": t.Hour(), "MINUTE": t.Minute(), "SECOND": t.Second(),
		"MILLISECOND": t.Nanosecond() / 1e6, "MICROSECOND": t.Nanosecond() / 1e3, "EPOCH": int(t.Unix()), "ISOYEAR": isoYear, "ISODOW": (int(t.Weekday())+6)%7 + 1,
		"DECADE": int(math.Floor(float64(t.Year()) / 10)), "CENTURY": century(100), "MILLENNIUM": century(1000),
	}
	return int64(m[unit])
}

func floorTime(unit string, t time.Time) time.Time {
	y, m, d := t.Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	switch unit {
	case "YEAR":
		return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)
	case "QUARTER":
		return time.Date(y, (m-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "MONTH":
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	case "WEEK":
		return day.AddDate(0, 0, -int(t.Weekday()))
	case "HOUR":
		return time.Date(y, m, d, t.Hour(), 0, 0, 0, time.UTC)
	case "MINUTE":
		return time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, time.UTC)
	case "SECOND":
		return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	}
	return day
}

func addTime(unit string, n int64, t time.Time) time.Time {
	months := map[string]int64{"MONTH": 1, "QUARTER": 3, "YEAR": 12}
	seconds := map[string]int64{"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400, "WEEK": 7 * 86400}
	if m := map[string]int64{"MILLISECOND": 1e3, "MICROSECOND": 1}[unit]; m != 0 {
		if n > 1<<62/m || n < -1<<62/m {
			panic(raised("Overflow"))
		}
		return time.Unix(t.Unix()+n*m/1e6, int64(t.Nanosecond())+n*m%1e6*1000).UTC()
	}
	if s := seconds[unit]; s != 0 {
		return time.Unix(t.Unix()+n*s, int64(t.Nanosecond())).UTC()
	}
	m := int(months[unit] * n)
	first := time.Date(t.Year(), t.Month()+time.Month(m), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	last := time.Date(first.Year(), first.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

func timeDiff(unit string, a, b any) any { return timeDiffOf(unit, goTime(a), goTime(b)) }

func timeDiffOf(unit string, x, y time.Time) any {
	n := new(big.Int)
	if m := map[string]int64{"MONTH": 1, "QUARTER": 3, "YEAR": 12}[unit]; m != 0 {
		n.SetInt64(int64(y.Year()-x.Year())*12 + int64(y.Month()-x.Month()))
		px := time.Date(2000, 1, x.Day(), x.Hour(), x.Minute(), x.Second(), x.Nanosecond(), time.UTC)
		py := time.Date(2000, 1, y.Day(), y.Hour(), y.Minute(), y.Second(), y.Nanosecond(), time.UTC)
		if n.Sign() > 0 && py.Before(px) {
			n.Sub(n, big.NewInt(1))
		} else if n.Sign() < 0 && py.After(px) {
			n.Add(n, big.NewInt(1))
		}
		n.Quo(n, big.NewInt(m))
	} else {
		s := map[string]int64{"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400, "WEEK": 7 * 86400}[unit]
		micros := func(t time.Time) *big.Int {
			u := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1e6))
			return u.Add(u, big.NewInt(int64(t.Nanosecond()/1000)))
		}
		n.Sub(micros(y), micros(x))
		n.Quo(n, big.NewInt(s*1e6))
	}
	return fit(new(big.Rat).SetInt(n), expr.Of(expr.Int), "Overflow")
}
