package expr_test

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// The further functions, by other means than the kernels: runes, Go's layouts of time, joined lists.

func concatWS(args []any) any {
	if args[0] == nil {
		return nil
	}
	var parts []string
	for _, a := range args[1:] {
		if a != nil {
			parts = append(parts, a.(string))
		}
	}
	return strings.Join(parts, args[0].(string))
}

func extreme(name string, a []any) any {
	best := a[0]
	for _, v := range a[1:] {
		if o := order(v, best); name == "GREATEST" && o > 0 || name == "LEAST" && o < 0 {
			best = v
		}
	}
	return best
}

func signOf(e *expr.Expr, v any) any {
	if x, ok := v.(float64); ok {
		switch {
		case x > 0:
			return 1.0
		case x < 0:
			return -1.0
		}
		return x
	}
	return fit(big.NewRat(int64(rat(v).Sign()), 1), e.Type, "Overflow")
}

func one(f func(float64) float64) func([]any) any {
	return func(a []any) any { return f(a[0].(float64)) }
}

var doubleFunctions = map[string]func([]any) any{
	"POWER": func(a []any) any { return math.Pow(a[0].(float64), a[1].(float64)) },
	"ATAN2": func(a []any) any { return math.Atan2(a[0].(float64), a[1].(float64)) },
	"LOG":   func(a []any) any { return math.Log(a[1].(float64)) / math.Log(a[0].(float64)) },
	"SQRT":  one(math.Sqrt), "EXP": one(math.Exp), "LN": one(math.Log), "LOG10": one(math.Log10), "SIN": one(math.Sin), "ATAN": one(math.Atan), "TANH": one(math.Tanh),
	"LOG2":    one(func(x float64) float64 { return math.Log(x) / math.Log(2) }),
	"COT":     one(func(x float64) float64 { return 1 / math.Tan(x) }),
	"DEGREES": one(func(x float64) float64 { return x * (180 / math.Pi) }),
}

var textualFunctions = map[string]func([]any) any{
	"REPLACE": func(a []any) any { return strings.ReplaceAll(a[0].(string), a[1].(string), a[2].(string)) },
	"LEFT":    func(a []any) any { return cutRunes(a[0], 0, number(a[1])) },
	"RIGHT": func(a []any) any {
		n := len([]rune(a[0].(string)))
		return cutRunes(a[0], n-number(a[1]), n)
	},
	"LPAD": func(a []any) any { return padded(a, true) },
	"RPAD": func(a []any) any { return padded(a, false) },
	"REPEAT": func(a []any) any {
		n := max(number(a[1]), 0)
		if s := a[0].(string); s != "" && n > 16<<20/len(s) {
			panic(raised("EvaluationError"))
		}
		return strings.Repeat(a[0].(string), n*min(1, len(a[0].(string))))
	},
	"REVERSE": func(a []any) any {
		out := ""
		for _, r := range a[0].(string) {
			out = string(r) + out
		}
		return out
	},
	"INITCAP": func(a []any) any {
		return words.ReplaceAllStringFunc(a[0].(string), func(w string) string {
			r := []rune(w)
			return strings.ToUpper(string(r[:1])) + strings.ToLower(string(r[1:]))
		})
	},
	"ASCII": func(a []any) any {
		for _, r := range a[0].(string) {
			return big.NewInt(int64(r))
		}
		return big.NewInt(0)
	},
	"CHR": func(a []any) any {
		n := a[0].(*big.Int).Int64()
		if n < 0 {
			return ""
		}
		return string(rune(n % 256))
	},
	"POSITION":   placeOf,
	"STARTSWITH": func(a []any) any { return strings.Index(a[0].(string), a[1].(string)) == 0 },
	"ENDSWITH": func(a []any) any {
		s, end := a[0].(string), a[1].(string)
		return len(end) <= len(s) && s[len(s)-len(end):] == end
	},
	"SPLIT_INDEX": func(a []any) any {
		s, n := a[0].(string), number(a[2])
		parts := strings.Split(s, a[1].(string))
		if a[1] == "" {
			parts = regexp.MustCompile(`\s`).Split(s, -1)
		}
		if n < 0 || s == "" || n >= len(parts) {
			return nil
		}
		return parts[n]
	},
	"REGEXP": func(a []any) any { return a[1] != "" && regexp.MustCompile(a[1].(string)).MatchString(a[0].(string)) },
	"REGEXP_REPLACE": func(a []any) any {
		return regexp.MustCompile(a[1].(string)).ReplaceAllStringFunc(a[0].(string), func(string) string { return a[2].(string) })
	},
	"REGEXP_EXTRACT": func(a []any) any {
		n := 0
		if len(a) == 3 {
			n = number(a[2])
		}
		m := regexp.MustCompile(a[1].(string)).FindStringSubmatchIndex(a[0].(string))
		if n < 0 || 2*n >= len(m) || m[2*n] < 0 {
			return nil
		}
		return a[0].(string)[m[2*n]:m[2*n+1]]
	},
	"IS_ALPHA": func(a []any) any { return regexp.MustCompile(`^\p{L}+$`).MatchString(a[0].(string)) },
	"IS_DIGIT": func(a []any) any { return regexp.MustCompile(`^\p{Nd}+$`).MatchString(a[0].(string)) },
	"IS_DECIMAL": func(a []any) any {
		s := strings.TrimFunc(a[0].(string), func(r rune) bool { return r <= ' ' })
		return numText.MatchString(s) || specials.MatchString(s)
	},
	"MD5":          func(a []any) any { return fmt.Sprintf("%x", md5.Sum([]byte(rawOf(a[0])))) },
	"SHA1":         func(a []any) any { return fmt.Sprintf("%x", sha1.Sum([]byte(rawOf(a[0])))) },
	"SHA256":       func(a []any) any { return fmt.Sprintf("%x", sha256.Sum256([]byte(rawOf(a[0])))) },
	"SHA512":       func(a []any) any { return fmt.Sprintf("%x", sha512.Sum512([]byte(rawOf(a[0])))) },
	"DATE_FORMAT":  formatted,
	"TO_TIMESTAMP": func(a []any) any { return readAs(a, expr.TimestampOf(3)) },
	"TO_DATE":      func(a []any) any { return readAs(a, expr.Of(expr.Date)) },
}

var words = regexp.MustCompile(`[\p{L}\p{Nd}]+`)

func number(v any) int { return int(v.(*big.Int).Int64()) }

func cutRunes(s any, from, to int) string {
	r := []rune(s.(string))
	from, to = max(from, 0), min(to, len(r))
	if from >= to {
		return ""
	}
	return string(r[from:to])
}

func padded(a []any, before bool) any {
	s, n, with := []rune(a[0].(string)), number(a[1]), []rune(a[2].(string))
	if n < 0 || len(with) == 0 {
		return nil
	}
	if n > 16<<20 {
		panic(raised("EvaluationError"))
	}
	if n <= len(s) {
		return string(s[:n])
	}
	fill := make([]rune, n-len(s))
	for i := range fill {
		fill[i] = with[i%len(with)]
	}
	if before {
		return string(fill) + string(s)
	}
	return string(s) + string(fill)
}

func placeOf(a []any) any {
	s, from := []rune(a[1].(string)), 1
	if len(a) == 3 {
		from = number(a[2])
	}
	for i := from; i >= 1 && i <= len(s)+1; i++ {
		if strings.HasPrefix(string(s[i-1:]), a[0].(string)) {
			return big.NewInt(int64(i))
		}
	}
	return big.NewInt(0)
}

// letters finds the pieces of a time pattern.
var letters = regexp.MustCompile(`''|'(?:[^']|'')*'|y+|M+|d+|H+|m+|s+|S+|[^a-zA-Z']`)

func formatted(a []any) any { return formattedTime(goTime(a[0]), a[1].(string)) }

func formattedTime(t time.Time, pattern string) any {
	return letters.ReplaceAllStringFunc(pattern, func(p string) string {
		year := t.Year()
		if year < 1 {
			year = 1 - year
		}
		plus := ""
		if year > 9999 {
			plus = "+"
		}
		short := map[string]int{"M": int(t.Month()), "d": t.Day(), "H": t.Hour(), "m": t.Minute(), "s": t.Second()}
		switch {
		case p == "''":
			return "'"
		case p[0] == '\'':
			return strings.ReplaceAll(p[1:len(p)-1], "''", "'")
		case p == "yyyy":
			return fmt.Sprintf("%s%04d", plus, year)
		case p[0] == 'S':
			return fmt.Sprintf("%09d", t.Nanosecond())[:len(p)]
		case len(p) == 2 && unicode.IsLetter(rune(p[0])):
			return fmt.Sprintf("%02d", short[p[:1]])
		case unicode.IsLetter(rune(p[0])):
			return strconv.Itoa(short[p])
		}
		return p
	})
}

// readAs reads by a regular expression made of the pattern; NULL where Go finds no such time.
func readAs(a []any, t expr.Type) any {
	if len(a) == 1 {
		v, class := attempt(func() any { return fromString(a[0].(string), t) })
		if class != "" {
			return nil
		}
		return v
	}
	var fields []byte
	form := letters.ReplaceAllStringFunc(a[1].(string), func(p string) string {
		if p == "''" {
			return "'"
		}
		if p[0] == '\'' {
			return regexp.QuoteMeta(strings.ReplaceAll(p[1:len(p)-1], "''", "'"))
		}
		if !unicode.IsLetter(rune(p[0])) {
			return regexp.QuoteMeta(p)
		}
		fields = append(fields, p[0])
		if len(p) == 1 && p != "S" {
			return `(\d{1,2})`
		}
		return fmt.Sprintf(`(\d{%d})`, len(p))
	})
	m := regexp.MustCompile("^" + form + "$").FindStringSubmatch(a[0].(string))
	if m == nil {
		return nil
	}
	v := map[byte]int{'y': 1970, 'M': 1, 'd': 1}
	for i, f := range fields {
		text := m[i+1]
		if f == 'S' {
			text = (text + "000000000")[:9]
		}
		v[f], _ = strconv.Atoi(text)
	}
	at := time.Date(v['y'], time.Month(v['M']), v['d'], v['H'], v['m'], v['s'], v['S'], time.UTC)
	if v['y'] < 1 || at.Day() != v['d'] || int(at.Month()) != v['M'] || at.Hour() != v['H'] || at.Minute() != v['m'] || at.Second() != v['s'] {
		return nil
	}
	if t.Kind == expr.Date {
		return fromTime(at, t)
	}
	return fromTime(at.Truncate(time.Millisecond), t)
}
