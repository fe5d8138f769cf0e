package expr_test

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func castTo(v any, from, to expr.Type) any {
	if v == nil {
		return nil
	}
	const class = "CastError"
	if to.Kind == expr.Float {
		return castToFloat(v, from)
	}
	switch x := v.(type) {
	case string:
		return fromString(x, to)
	case bool:
		if to.Kind == expr.Boolean {
			return x
		}
		n := int64(0)
		if x {
			n = 1
		}
		return fromExact(big.NewRat(n, 1), to, from, v)
	case float64:
		switch to.Kind {
		case expr.Double:
			return x
		case expr.Boolean:
			return x != 0
		case expr.String:
			return textOf(x, from)
		}
		r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
		if !ok {
			panic(raised(class))
		}
		return fit(r, to, class)
	case date:
		switch to.Kind {
		case expr.Date:
			return x
		case expr.String:
			return textOf(v, from)
		}
		return fromTimeAs(goTime(x), to)
	case stamp:
		switch to.Kind {
		case expr.Date:
			return fromTime(goTime(x), to)
		case expr.String:
			return textOf(v, from)
		}
		t := goTime(x)
		step := int(math.Pow10(9 - to.Precision))
		return stamp(t.Add(-time.Duration(t.Nanosecond() % step)).UnixMicro())
	}
	return fromExact(rat(v), to, from, v)
}

func fromTimeAs(t time.Time, to expr.Type) any {
	v, class := attempt(func() any { return fromTime(t, to) })
	if class != "" {
		panic(raised("CastError"))
	}
	return v
}

func fromExact(r *big.Rat, to, from expr.Type, v any) any {
	switch to.Kind {
	case expr.Boolean:
		return r.Sign() != 0
	case expr.Double:
		f, _ := r.Float64()
		return f
	case expr.String:
		return textOf(v, from)
	}
	return fit(r, to, "CastError")
}

// shortExponent writes an exponent of many digits with at most five, without another value: leading
// zeros go, and beyond 99999 a number is nothing, or too large for every type.
func shortExponent(s string) string {
	m := longExponent.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	digits := strings.TrimLeft(m[3], "0")
	switch {
	case len(digits) == 0:
		digits = "0"
	case len(digits) <= 5:
	case m[2] == "-" || strings.Trim(m[1], "+-0.") == "":
		return strings.TrimRight(m[1], "0123456789.") + "0"
	default:
		digits = "99999"
	}
	return m[1] + "e" + m[2] + digits
}

// castToFloat rounds to 32 bits once, from the exact value.
func castToFloat(v any, from expr.Type) any {
	out := func(x float64, ok bool) any {
		if !ok {
			panic(raised("CastError"))
		}
		return x
	}
	switch x := v.(type) {
	case string:
		return fromString(x, expr.Of(expr.Float))
	case bool:
		return castTo(v, from, expr.Of(expr.Double))
	case float64:
		f := float64(float32(x))
		return out(f, math.IsInf(x, 0) || !math.IsInf(f, 0))
	}
	f, _ := rat(v).Float32()
	return out(float64(f), true)
}

func doubleText(x float64) string { return doubleTextOf(x, 64) }

func doubleTextOf(x float64, bits int) string {
	switch {
	case x != x:
		return "NaN"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(fmt.Sprintf("%+vinity", x), "+")
	}
	if a := math.Abs(x); a != 0 && (a < 1e-3 || a >= 1e7) {
		return javaExponent(x, bits)
	}
	s := strconv.FormatFloat(x, 'f', -1, bits)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// javaExponent: digits d1.d2…E±n, the fewest that read back, and of those with two digits the nearest
// where one would do.
func javaExponent(x float64, bits int) string {
	s := strconv.FormatFloat(x, 'e', -1, bits)
	mantissa, exp, _ := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
		best := new(big.Rat).SetInt64(1)
		exact := new(big.Rat)
		exact.SetFloat64(x)
		whole, _, _ := strings.Cut(mantissa, ".")
		first, _ := strconv.Atoi(strings.TrimPrefix(whole, "-"))
		for tenths := first*10 - 9; tenths <= first*10+9; tenths++ {
			if tenths < 10 { // 0.9 is 9.x of the next exponent, seen from there
				continue
			}
			text := fmt.Sprintf("%d.%d", tenths/10, tenths%10)
			if x < 0 {
				text = "-" + text
			}
			back, _ := strconv.ParseFloat(text+"e"+exp, bits)
			r, _ := new(big.Rat).SetString(text + "e" + exp)
			off := r.Sub(r, exact)
			off.Abs(off).Quo(off, new(big.Rat).Abs(exact))
			if back == x && off.Cmp(best) < 0 {
				best, mantissa = off, text
			}
		}
	}
	n, _ := strconv.Atoi(exp)
	return mantissa + "E" + strconv.Itoa(n)
}

// textOf is a value's text: CAST AS STRING, except that BOOLEAN is lower case where it is shown.
func textOf(v any, t expr.Type) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return strings.ToUpper(strconv.FormatBool(x))
	case *big.Int:
		return x.String()
	case *big.Rat:
		return x.FloatString(t.Scale)
	case float64:
		if t.Kind == expr.Float {
			return doubleTextOf(x, 32)
		}
		return doubleText(x)
	case date:
		return yearText(goTime(x)) + goTime(x).Format("-01-02")
	case stamp:
		return stampText(goTime(x), t.Precision)
	case clock:
		return strings.TrimPrefix(stampText(goTime(x), t.Precision), "1970-01-01 ")
	}
	return v.(string)
}

func yearText(t time.Time) string {
	if y := t.Year(); y < 0 {
		return fmt.Sprintf("-%04d", -y)
	}
	return fmt.Sprintf("%04d", t.Year())
}

var (
	wholeText    = regexp.MustCompile(`^[+-]?[0-9]+$`)
	longExponent = regexp.MustCompile(`^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))[eE]([+-]?)([0-9]{6,})$`)
	numText      = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,5})?$`)
	specials     = regexp.MustCompile(`^[+-]?(?i:nan|inf|infinity)$`)
	timeText     = regexp.MustCompile(`^([+-]?\d{4,9})-(\d{1,2})-(\d{1,2})( \(BC\))?(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?)?$`)
)

func fromString(s string, to expr.Type) any {
	if to.Kind == expr.String {
		return s
	}
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	bad := raised("CastError")
	if to.Kind == expr.Float || to.Kind == expr.Double || to.Kind == expr.Decimal {
		s = shortExponent(s)
	}
	switch to.Kind {
	case expr.Boolean:
		switch strings.ToLower(s) {
		case "true", "t", "yes", "y", "1":
			return true
		case "false", "f", "no", "n", "0":
			return false
		}
		panic(bad)
	case expr.TinyInt, expr.SmallInt, expr.Int, expr.BigInt:
		if !wholeText.MatchString(s) {
			panic(bad)
		}
		n, _ := new(big.Int).SetString(s, 10)
		return fit(new(big.Rat).SetInt(n), to, string(bad))
	case expr.Float:
		x, _ := fromString(s, expr.Of(expr.Double)).(float64)
		if !numText.MatchString(s) {
			return x
		}
		f, err := strconv.ParseFloat(s, 32)
		if err != nil {
			panic(bad)
		}
		return f
	case expr.Double:
		if !numText.MatchString(s) && !specials.MatchString(s) {
			panic(bad)
		}
		f, err := strconv.ParseFloat(s, 64)
		if specials.MatchString(s) && len(s) == 4 && strings.HasSuffix(strings.ToLower(s), "nan") {
			return math.NaN() // Go reads no sign before NaN
		}
		if err != nil {
			panic(bad)
		}
		return f
	case expr.Decimal:
		if !numText.MatchString(s) {
			panic(bad)
		}
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(bad)
		}
		return fit(r, to, string(bad))
	}
	switch to.Kind {
	case expr.Time, expr.TimestampLTZ:
		return fromFurtherText(s, to, "")
	case expr.Bytes:
		b, err := base64.StdEncoding.Strict().DecodeString(s)
		if err != nil {
			panic(bad)
		}
		return blob(b)
	}
	return fromTimeText(s, to)
}

func fromTimeText(s string, to expr.Type) any {
	bad := raised("CastError")
	m := timeText.FindStringSubmatch(s)
	if m == nil {
		panic(bad)
	}
	at := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	year := at(1)
	if m[4] != "" {
		if year == 0 || m[1][0] == '-' {
			panic(bad)
		}
		year = 1 - year
	}
	if at(2) < 1 || at(2) > 12 || at(3) < 1 || at(5) > 23 || at(6) > 59 || at(7) > 59 {
		panic(bad)
	}
	t := time.Date(year, time.Month(at(2)), at(3), at(5), at(6), at(7), 0, time.UTC)
	if t.Day() != at(3) {
		panic(bad)
	}
	if to.Kind == expr.Timestamp {
		frac := (m[8] + "000000")[:to.Precision]
		n, _ := strconv.Atoi((frac + "000000")[:6])
		t = t.Add(time.Duration(n) * time.Microsecond)
	}
	return fromTimeAs(t, to)
}
