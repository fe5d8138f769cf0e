package json

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// An oracle reads records one by one with the standard library, the functions of package expr and
// arithmetic of any size. It is slow and complete, and shares nothing with the reader but parsed paths.
type oracle struct {
	b     bound
	paths [][]step
	cols  []int // wanted
	where int64 // with a filter on column 0: its least value
	has   bool
}

// A verdict is what the oracle says of a text.
type verdict struct {
	rows     []string
	rejected []int64 // offsets
	class    string  // of the fault; "" where there is none
	line     int64   // that it stands in
	order    int64   // offset of its record
}

// errSyntax is a fault of a record as a whole.
var errSyntax = errors.New(formatError)

// lines reads a text of lines.
func (o *oracle) lines(data []byte) (v verdict) {
	at := int64(0)
	if bytes.HasPrefix(data, []byte("\uFEFF")) {
		at = 3
	}
	for line, rest := int64(1), data[at:]; len(rest) > 0; line++ {
		raw, next, _ := bytes.Cut(rest, []byte("\n"))
		if !o.record(&v, raw, line, at, true) {
			return v
		}
		at += int64(len(rest) - len(next))
		rest = next
	}
	return v
}

// record reads one record, and is false where the job fails.
func (o *oracle) record(v *verdict, raw []byte, line, at int64, blank bool) bool {
	text := bytes.Trim(raw, " \t\r\n")
	if blank && len(text) == 0 {
		return true
	}
	row, pass, err := o.row(text)
	switch {
	case err != nil && o.b.Skip:
		v.rejected = append(v.rejected, at)
	case err != nil:
		v.class, v.line, v.order = err.Error(), line, at
		return false
	case pass:
		v.rows = append(v.rows, row)
	}
	return true
}

// row is a record as a row; an error's text is its class.
func (o *oracle) row(text []byte) (row string, pass bool, err error) {
	if !utf8.Valid(text) || !json.Valid(text) || text[0] != '{' {
		return "", false, errSyntax
	}
	all := make([]string, len(o.b.Columns))
	for i := range all {
		all[i] = "?"
	}
	order := slices.Sorted(slices.Values(o.cols))
	if o.b.CheckAll {
		order = nil
		for i := range all {
			order = append(order, i)
		}
	}
	if o.has && !slices.Contains(order, 0) {
		order = slices.Insert(order, 0, 0)
	}
	found := map[int]any{}
	for _, i := range order {
		x, err := o.at(text, o.paths[i])
		if errors.Is(err, errSyntax) {
			return "", false, err
		}
		if found[i] = x; err != nil {
			found[i] = err
		}
	}
	passed := true
	for n, i := range order {
		if err, bad := found[i].(error); bad {
			return "", false, err
		}
		raw, _ := found[i].(json.RawMessage)
		s, err := oracleValue(o.b.Columns[i].Type, raw, o.b.Last)
		if err != nil {
			return "", false, err
		}
		if all[i] = s; i == 0 && o.has {
			var x int64
			_, err := fmt.Sscan(s, &x)
			passed = err == nil && x >= o.where
		}
		// Columns beside those of the filter are looked at where it passes.
		if !passed && (!o.b.CheckAll || n == len(order)-1) {
			return "", false, nil
		}
	}
	var out []string
	for _, i := range o.cols {
		out = append(out, all[i])
	}
	return strings.Join(out, "|"), true, nil
}

// at is the value at a path, nil where there is none.
func (o *oracle) at(raw json.RawMessage, path []step) (json.RawMessage, error) {
	if len(path) == 0 {
		return raw, nil
	}
	if string(raw) == "null" {
		return nil, nil
	}
	s := path[0]
	if s.index >= 0 {
		var list []json.RawMessage
		if raw[0] != '[' {
			return nil, errors.New("CastError")
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		if s.index >= len(list) {
			return nil, nil
		}
		return o.at(list[s.index], path[1:])
	}
	if raw[0] != '{' {
		return nil, errors.New("CastError")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var value json.RawMessage
	var first error
	times := 0
	for d.More() {
		start := d.InputOffset()
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		half := halves(raw[start:d.InputOffset()])
		var x json.RawMessage
		if err := d.Decode(&x); err != nil {
			return nil, err
		}
		if k != s.name || half {
			continue
		}
		if times++; times > 1 && !o.b.Last {
			return nil, errSyntax
		}
		// What is below a key that stands twice is looked at too.
		if value, first = o.at(x, path[1:]); errors.Is(first, errSyntax) {
			return nil, first
		}
	}
	return value, first
}

// halves reports whether a text between quotes has half of a surrogate pair.
func halves(raw []byte) bool {
	i := bytes.IndexByte(raw, '"')
	var s string
	if json.Unmarshal(raw[i:], &s) != nil {
		return false
	}
	replaced := strings.Count(s, "\uFFFD")
	written := strings.Count(string(raw), "\uFFFD")
	// An escape of U+FFFD itself: a backslash that is not escaped, then ufffd.
	for k := i; k < len(raw); k++ {
		if raw[k] == '\\' {
			if k+5 < len(raw) && strings.EqualFold(string(raw[k+1:k+6]), "ufffd") && raw[k+1] == 'u' {
				written++
			}
			k++
		}
	}
	return replaced != written
}

// oracleValue is a value as text; an error's text is its class.
func oracleValue(t expr.Type, raw json.RawMessage, last bool) (string, error) {
	bad := errors.New("CastError")
	if raw == nil || string(raw) == "null" {
		if t.NotNull {
			return "", errors.New("NullViolation")
		}
		return "NULL", nil
	}
	if t.Nested() {
		return oracleNested(t, raw, last)
	}
	text := string(raw)
	if raw[0] == '"' {
		if halves(raw) || json.Unmarshal(raw, &text) != nil {
			return "", bad
		}
	}
	number := raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
	if t.Kind == expr.String {
		return text, nil
	}
	if raw[0] == '{' || raw[0] == '[' {
		return "", bad
	}
	literal := raw[0] == 't' || raw[0] == 'f'
	switch t.Kind {
	case expr.Boolean:
		if number {
			return "", bad
		}
	case expr.Date, expr.Timestamp, expr.Time, expr.TimestampLTZ, expr.Bytes:
		if number || literal {
			return "", bad
		}
	default:
		if literal {
			return "", bad
		}
	}
	s, ok := oracleScalar(t, text)
	if !ok {
		return "", bad
	}
	return s, nil
}

// oracleNested is a nested value as text.
func oracleNested(t expr.Type, raw json.RawMessage, last bool) (string, error) {
	bad := errors.New("CastError")
	var parts []string
	if t.Kind == expr.Array {
		var list []json.RawMessage
		if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
			return "", bad
		}
		for _, x := range list {
			s, err := oracleValue(t.Element(), x, last)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	}
	if raw[0] != '{' {
		return "", bad
	}
	keys, values, err := oracleObject(t, raw, last)
	if err != nil {
		return "", err
	}
	if t.Kind == expr.Map {
		for i, k := range keys {
			s, err := oracleValue(t.Element(), values[i], last)
			if err != nil {
				return "", err
			}
			parts = append(parts, k+"="+s)
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	for _, f := range t.Fields() {
		var x json.RawMessage
		if i := slices.Index(keys, f.Name); i >= 0 {
			x = values[i]
		}
		s, err := oracleValue(f.Type, x, last)
		if err != nil {
			return "", err
		}
		parts = append(parts, s)
	}
	return "(" + strings.Join(parts, ", ") + ")", nil
}

// oracleObject lists the members of an object that a type wants.
func oracleObject(t expr.Type, raw json.RawMessage, last bool) (keys []string, values []json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	for d.More() {
		start := d.InputOffset()
		k, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		key := k.(string)
		if halves(raw[start:d.InputOffset()]) {
			key = "\xff" // no key of a plan
		}
		var x json.RawMessage
		if err := d.Decode(&x); err != nil {
			return nil, nil, err
		}
		if _, at := t.Field(key); t.Kind == expr.Row && at < 0 {
			continue
		}
		i := slices.Index(keys, key)
		switch {
		case i < 0:
			keys, values = append(keys, key), append(values, x)
		case last:
			values[i] = x
		default:
			return nil, nil, errors.New("CastError")
		}
	}
	return keys, values, nil
}

func oracleScalar(t expr.Type, text string) (out string, ok bool) {
	b := []byte(text)
	var s expr.Status
	var dst []byte
	switch t.Kind {
	case expr.TinyInt, expr.SmallInt, expr.Int, expr.BigInt:
		return oracleWhole(t, text)
	case expr.Float:
		var v float64
		v, s = expr.ParseFloat(b)
		dst = expr.AppendFloat(nil, v)
	case expr.Double:
		var v float64
		v, s = expr.ParseDouble(b)
		dst = expr.AppendDouble(nil, v)
	case expr.Date:
		var v int32
		v, s = expr.ParseDate(b)
		dst = expr.AppendDate(nil, v)
	case expr.Timestamp:
		var v int64
		v, s = expr.ParseTimestamp(b, t.Precision)
		dst = expr.AppendTimestamp(nil, v, t.Precision)
	case expr.Bytes:
		var v []byte
		v, s = expr.ParseBytes(b)
		dst = expr.AppendBytes(nil, v)
	case expr.Time:
		var v int64
		v, s = expr.ParseTime(b, t.Precision)
		dst = expr.AppendTime(nil, v, t.Precision)
	case expr.TimestampLTZ:
		z, err := expr.LoadZone("Europe/Berlin")
		if err != nil {
			return "", false
		}
		var v int64
		v, s = expr.ParseTimestampLTZ(b, t.Precision, z)
		dst = expr.AppendTimestampLTZ(nil, v, t.Precision)
	case expr.Boolean:
		var v bool
		v, s = expr.ParseBoolean(b)
		dst = fmt.Append(nil, v)
	case expr.Decimal:
		v, st := expr.ParseDecimal128(b, t.Precision, t.Scale)
		s, dst = st, expr.AppendDecimal128(nil, v, t.Scale)
	}
	return string(dst), s == expr.OK
}

// oracleWhole reads a whole number with arithmetic of any size.
func oracleWhole(t expr.Type, text string) (string, bool) {
	if v, s := expr.ParseInt64([]byte(text)); s == expr.OK {
		limit := int64(1) << (t.Bits() - 1)
		return fmt.Sprint(v), t.Bits() == 64 || v >= -limit && v < limit
	}
	mantissa, exp, _ := strings.Cut(strings.ToLower(text), "e")
	if strings.Trim(text, "0123456789.eE+-") != "" || len(exp) > 4 {
		// Beyond that only nothing at all is whole and fits.
		return "0", strings.Trim(text, "0123456789.eE+-") == "" && strings.Trim(mantissa, "+-0.") == "" && mantissaFine(mantissa) && expFine(exp)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "_/") || !mantissaFine(mantissa) || !r.IsInt() {
		return "", false
	}
	limit := new(big.Int).Lsh(big.NewInt(1), uint(t.Bits()-1))
	least := new(big.Int).Neg(limit)
	if r.Num().Cmp(least) < 0 || r.Num().Cmp(limit) >= 0 {
		return "", false
	}
	return r.Num().String(), true
}

func mantissaFine(m string) bool {
	m = strings.TrimPrefix(strings.TrimPrefix(m, "-"), "+")
	return strings.Trim(m, "0123456789.") == "" && strings.Count(m, ".") < 2 && strings.Trim(m, ".") != ""
}

func expFine(e string) bool {
	if len(e) > 0 && (e[0] == '-' || e[0] == '+') {
		e = e[1:]
	}
	return e != "" && strings.Trim(e, "0123456789") == ""
}

// TestOracleHalves makes sure that the oracle tells half of a pair from the character U+FFFD.
func TestOracleHalves(t *testing.T) {
	for text, want := range map[string]bool{
		`"\ud800"`: true, `"\ufffd"`: false, `"\uFFFD"`: false, `"�"`: false, `"\\ufffd"`: false, `"\ud83d\ude00"`: false, `"\udc00\ud800"`: true, `"\ud800�"`: true,
	} {
		if halves([]byte(text)) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
