package expr_test

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// furtherFunctions are by other means than the kernels again.
var furtherFunctions = map[string]func(e *expr.Expr, a []any) any{
	"ENCODE":      func(_ *expr.Expr, a []any) any { return encoded(a[0].(string), strings.ToUpper(a[1].(string))) },
	"DECODE":      func(_ *expr.Expr, a []any) any { return decoded(string(a[0].(blob)), strings.ToUpper(a[1].(string))) },
	"TO_BASE64":   func(_ *expr.Expr, a []any) any { return base64.StdEncoding.EncodeToString([]byte(rawOf(a[0]))) },
	"FROM_BASE64": fromBase64,
	"HEX": func(_ *expr.Expr, a []any) any {
		if n, ok := a[0].(*big.Int); ok {
			return strings.ToUpper(new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Text(16))
		}
		return fmt.Sprintf("%X", rawOf(a[0]))
	},
	"UNHEX": func(_ *expr.Expr, a []any) any {
		s := a[0].(string)
		s = strings.Repeat("0", len(s)%2) + s
		if !regexp.MustCompile(`^[0-9a-fA-F]*$`).MatchString(s) {
			return nil
		}
		out := ""
		for ; s != ""; s = s[2:] {
			n, _ := strconv.ParseUint(s[:2], 16, 8)
			out += string([]byte{byte(n)})
		}
		return blob(out)
	},
	"BIN": func(_ *expr.Expr, a []any) any {
		return new(big.Int).And(a[0].(*big.Int), new(big.Int).SetUint64(math.MaxUint64)).Text(2)
	},
	"URL_ENCODE": func(_ *expr.Expr, a []any) any {
		return strings.NewReplacer("~", "%7E", "%2A", "*").Replace(url.QueryEscape(a[0].(string)))
	},
	"URL_DECODE": func(_ *expr.Expr, a []any) any {
		s, err := url.QueryUnescape(a[0].(string))
		if err != nil || !utf8.ValidString(s) {
			return nil
		}
		return s
	},
	"OVERLAY": func(_ *expr.Expr, a []any) any {
		s, with, from := []rune(a[0].(string)), []rune(a[1].(string)), number(a[2])
		n := len(with)
		if len(a) == 4 {
			n = max(number(a[3]), 0)
		}
		if from < 1 || from > len(s) {
			return string(s)
		}
		return string(s[:from-1]) + string(with) + string(s[min(from-1+n, len(s)):])
	},
	"TRANSLATE": func(_ *expr.Expr, a []any) any {
		to := map[rune]string{}
		with := []rune(a[2].(string))
		for i, r := range []rune(a[1].(string)) {
			if _, has := to[r]; has {
				continue
			}
			to[r] = ""
			if i < len(with) {
				to[r] = string(with[i])
			}
		}
		out := ""
		for _, r := range a[0].(string) {
			if s, has := to[r]; has {
				out += s
			} else {
				out += string(r)
			}
		}
		return out
	},
	"REGEXP_COUNT": func(_ *expr.Expr, a []any) any {
		n := int64(0)
		regexp.MustCompile(a[1].(string)).ReplaceAllStringFunc(a[0].(string), func(string) string { n++; return "" })
		return big.NewInt(n)
	},
	"REGEXP_INSTR": func(_ *expr.Expr, a []any) any {
		parts := regexp.MustCompile(a[1].(string)).FindStringIndex(a[0].(string))
		if parts == nil {
			return big.NewInt(0)
		}
		return big.NewInt(int64(len([]rune(a[0].(string)[:parts[0]]))) + 1)
	},
	"REGEXP_SUBSTR": func(_ *expr.Expr, a []any) any {
		r := regexp.MustCompile(a[1].(string))
		if !r.MatchString(a[0].(string)) {
			return nil
		}
		return r.FindString(a[0].(string))
	},
	"TRUNCATE": cutNumber,
	"TO_TIMESTAMP_LTZ": func(e *expr.Expr, a []any) any {
		if n, ok := a[0].(*big.Int); ok {
			v := new(big.Int).Mul(n, big.NewInt(map[int]int64{0: 1e6, 3: 1e3}[number(a[1])]))
			if !v.IsInt64() {
				return nil
			}
			return instant(v.Int64())
		}
		zone := e.Zone
		if len(a) == 3 {
			zone = a[2].(string)
		}
		if len(a) == 1 {
			v, class := attempt(func() any { return fromFurtherText(a[0].(string), expr.TimestampLTZOf(3), zone) })
			if class == "" {
				return v
			}
		}
		local := readAs(a[:min(len(a), 2)], expr.TimestampOf(3))
		if local == nil {
			return nil
		}
		return toInstant(local.(stamp), zone, false)
	},
	"UNIX_TIMESTAMP": func(e *expr.Expr, a []any) any {
		local := readAs([]any{a[0], append(a, "yyyy-MM-dd HH:mm:ss")[1]}, expr.TimestampOf(6))
		if local == nil {
			return nil
		}
		return big.NewInt(time.UnixMicro(int64(toInstant(local.(stamp), e.Zone, false).(instant))).Unix())
	},
	"FROM_UNIXTIME": func(e *expr.Expr, a []any) any {
		v := new(big.Int).Mul(a[0].(*big.Int), big.NewInt(1e6))
		if !v.IsInt64() {
			return nil
		}
		return formattedTime(wall(instant(v.Int64()), e.Zone), append(a, "yyyy-MM-dd HH:mm:ss")[1].(string))
	},
	"CONVERT_TZ": func(_ *expr.Expr, a []any) any {
		local := readAs([]any{a[0], "yyyy-MM-dd HH:mm:ss"}, expr.TimestampOf(6))
		if local == nil {
			return nil
		}
		return stampText(wall(toInstant(local.(stamp), a[1].(string), false).(instant), a[2].(string)), 0)
	},
}

func rawOf(v any) string {
	if b, ok := v.(blob); ok {
		return string(b)
	}
	return v.(string)
}

func elt(args []any) any {
	if args[0] == nil {
		return nil
	}
	if n := number(args[0]); n >= 1 && n < len(args) {
		return args[n]
	}
	return nil
}

func fromBase64(_ *expr.Expr, a []any) any {
	b, err := base64.StdEncoding.DecodeString(a[0].(string))
	if err != nil || !utf8.Valid(b) {
		panic(raised("EvaluationError"))
	}
	return string(b)
}

func encoded(s, charset string) any {
	switch charset {
	case "UTF-8":
		return blob(s)
	case "US-ASCII", "ISO-8859-1":
		out := ""
		for _, r := range s {
			b, ok := charmap.ISO8859_1.EncodeRune(r)
			if !ok || charset == "US-ASCII" && b > 127 {
				b = '?'
			}
			out += string([]byte{b})
		}
		return blob(out)
	}
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if charset == "UTF-16LE" {
			out = binary.LittleEndian.AppendUint16(out, u)
		} else {
			out = binary.BigEndian.AppendUint16(out, u)
		}
	}
	if charset == "UTF-16" && s != "" {
		out = append([]byte{0xFE, 0xFF}, out...)
	}
	return blob(out)
}

func decoded(b, charset string) any {
	switch charset {
	case "UTF-8":
		return string([]rune(b))
	case "US-ASCII", "ISO-8859-1":
		var out []rune
		for i := range len(b) {
			r := charmap.ISO8859_1.DecodeByte(b[i])
			if charset == "US-ASCII" && r > 127 {
				r = utf8.RuneError
			}
			out = append(out, r)
		}
		return string(out)
	}
	var order binary.ByteOrder = binary.BigEndian
	if charset == "UTF-16LE" || charset == "UTF-16" && strings.HasPrefix(b, "\xff\xfe") {
		order = binary.LittleEndian
	}
	if charset == "UTF-16" {
		b = strings.TrimPrefix(strings.TrimPrefix(b, "\xff\xfe"), map[bool]string{true: "\xfe\xff"}[strings.HasPrefix(b, "\xfe\xff")])
	}
	var units []uint16
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, order.Uint16([]byte(b[i:])))
	}
	out := string(utf16.Decode(units))
	if len(b)%2 != 0 {
		out += "\ufffd"
	}
	return out
}

// cutNumber cuts towards zero, a DOUBLE by its text.
func cutNumber(e *expr.Expr, a []any) any {
	n := number(a[1])
	down := func(r *big.Rat) *big.Rat {
		up := new(big.Rat).SetInt(ten(max(n, 0)))
		up.Quo(up, new(big.Rat).SetInt(ten(max(-n, 0))))
		r = new(big.Rat).Mul(r, up)
		return r.Quo(new(big.Rat).SetInt(new(big.Int).Quo(r.Num(), r.Denom())), up)
	}
	if x, ok := a[0].(float64); ok {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return x
		}
		r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
		f, _ := down(r).Float64()
		return rounded(math.Copysign(f, x), e.Type)
	}
	return fit(down(rat(a[0])), e.Type, "Overflow")
}
