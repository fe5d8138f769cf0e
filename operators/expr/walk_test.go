package expr

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustCheck(t testing.TB, text string) *Expr {
	t.Helper()
	e, err := Parse(text, scriptParams)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	c, err := Check(e, propertySchema, CheckOptions{Aggregates: true})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

func TestColumns(t *testing.T) {
	e := mustCheck(t, "SUM(n + i) FILTER (WHERE b AND i > 1) + COUNT(`Flight Date`)")
	if got := Columns(e); !reflect.DeepEqual(got, []int{0, 1, 2, 10}) {
		t.Errorf("Columns = %v", got)
	}
	if Columns(nil) != nil || Columns(mustCheck(t, "1 + 2")) != nil {
		t.Error("an expression without columns has some")
	}
}

func TestRewriteCopies(t *testing.T) {
	e := mustCheck(t, "CASE WHEN i > 1 THEN SUM(n) FILTER (WHERE b) ELSE n + i END")
	before := dump(e)
	moved := Rewrite(e, func(n *Expr) *Expr {
		if n.Op == OpColumn {
			n.Col += 100
		}
		return n
	})
	if dump(e) != before {
		t.Errorf("Rewrite changed its argument to %s", dump(e))
	}
	if got := Columns(moved); !reflect.DeepEqual(got, []int{100, 101, 102}) {
		t.Errorf("Columns after Rewrite = %v", got)
	}
	if Rewrite(nil, nil) != nil {
		t.Error("nothing is rewritten to something")
	}
	if same := Rewrite(e, func(n *Expr) *Expr { return n }); !Equal(e, same) || same == e {
		t.Error("a copy differs, or is none")
	}
}

func TestEqual(t *testing.T) {
	texts := []string{"i + 1", "i + 2", "i - 1", "n + 1", "CAST(i AS STRING)", "TRY_CAST(i AS STRING)", "COUNT(*)", "COUNT(i)", "COUNT(DISTINCT i)",
		"COUNT(i) FILTER (WHERE b)", "1", "1.0", "1.00", "'1'", "CAST(NULL AS INT)", "CAST(1 AS BIGINT)", "CASE WHEN b THEN i END", "CASE WHEN b THEN i ELSE 1 END"}
	for i, a := range texts {
		for j, b := range texts {
			if got := Equal(mustCheck(t, a), mustCheck(t, "  "+b)); got != (i == j) {
				t.Errorf("Equal(%s, %s) = %t", a, b, got)
			}
		}
	}
	if !Equal(nil, nil) || Equal(nil, mustCheck(t, "1")) || Equal(mustCheck(t, "1"), nil) {
		t.Error("nothing equals something")
	}
}

func TestDepthAndAggregates(t *testing.T) {
	for text, want := range map[string]int{"i": 1, "i + 1": 2, "COUNT(*) FILTER (WHERE NOT b)": 3, "i + n": 3} {
		if got := Depth(mustCheck(t, text)); got != want {
			t.Errorf("Depth(%s) = %d, want %d", text, got, want)
		}
	}
	if ContainsAgg(mustCheck(t, "i + 1")) || !ContainsAgg(mustCheck(t, "1 + COUNT(*)")) || ContainsAgg(nil) {
		t.Error("ContainsAgg")
	}
}

// TestCanFailWithin: what fails anywhere in a tree makes the tree fail.
func TestCanFailWithin(t *testing.T) {
	for text, want := range map[string]bool{
		"b AND CAST(s AS INT) > 1":               true,
		"b AND TRY_CAST(s AS INT) > 1":           false,
		"CASE WHEN b THEN 1 / i ELSE 0 END":      true,
		"COUNT(*) FILTER (WHERE i + 1 > 2) > 1":  true,
		"UPPER(s) || 'x' LIKE '%X'":              false,
		"d >= '1998-09-02' AND d < '1999-09-02'": false,
		"p * (1 - p) + p":                        false,
		"COALESCE(s, 'x') IN ('a', 'b')":         false,
		"TIMESTAMPADD(DAY, 1, d) = d":            true,
		"AVG(big) > 1":                           false,
		"AVG(CAST(big AS DECIMAL(38, 2))) > 1":   true,
	} {
		if got := CanFail(mustCheck(t, text)); got != want {
			t.Errorf("CanFail(%s) = %t", text, got)
		}
	}
}

// TestJSON: a checked expression travels as JSON, values that JSON numbers cannot hold included.
func TestJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := genTree(3).Draw(t, "tree")
		if e.Type.Kind == Invalid {
			e.Type = Of(Int)
		}
		e = Rewrite(e, func(n *Expr) *Expr {
			if n.Type.Kind == Invalid {
				n.Type = Of(Null)
			}
			return n
		})
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		var back Expr
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if back.String() != e.String() {
			t.Fatalf("%s came back as %s", e, &back)
		}
	})
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, math.MaxFloat64} {
		b, err := json.Marshal(Value{Double: f})
		if err != nil {
			t.Fatal(err)
		}
		var v Value
		if err := json.Unmarshal(b, &v); err != nil || math.Float64bits(v.Double) != math.Float64bits(f) {
			t.Errorf("%v came back from %s as %v, %v", f, b, v.Double, err)
		}
	}
}

// TestFunctionTable: every call of the table can be written, and has types.
func TestFunctionTable(t *testing.T) {
	samples := map[string]string{
		"AND": "b AND b", "OR": "b OR b", "NOT": "NOT b", "IS NULL": "i IS NULL", "IS NOT NULL": "i IS NOT NULL", "IS TRUE": "b IS TRUE", "IS NOT TRUE": "b IS NOT TRUE",
		"IS FALSE": "b IS FALSE", "IS NOT FALSE": "b IS NOT FALSE", "IS DISTINCT FROM": "i IS DISTINCT FROM n", "IS NOT DISTINCT FROM": "i IS NOT DISTINCT FROM n",
		"IN": "i IN (1, 2)", "LIKE": "s LIKE 'a'", "NEG": "-i", "ABS": "ABS(i)", "ROUND": "ROUND(x, 1)", "FLOOR": "FLOOR(x)", "CEIL": "CEIL(x)", "||": "s || s",
		"UPPER": "UPPER(s)", "LOWER": "LOWER(s)", "CHAR_LENGTH": "CHAR_LENGTH(s)", "SUBSTRING": "SUBSTRING(s FROM 2)", "TRIM": "TRIM(s)", "EXTRACT": "EXTRACT(DAY FROM d)",
		"FLOOR_TO": "FLOOR(d TO YEAR)", "TIMESTAMPADD": "TIMESTAMPADD(DAY, 1, d)", "TIMESTAMPDIFF": "TIMESTAMPDIFF(DAY, d, d)", "COALESCE": "COALESCE(i, 1)", "NULLIF": "NULLIF(i, 1)",
		"SIGN": "SIGN(i)", "POWER": "POWER(i, p)", "LOG": "LOG(2, x)", "ATAN2": "ATAN2(1, x)", "GREATEST": "GREATEST(i, 1)", "LEAST": "LEAST(i, x)",
		"CONCAT_WS": "CONCAT_WS(',', s)", "REPLACE": "REPLACE(s, 'a', 'b')", "LEFT": "LEFT(s, 1)", "RIGHT": "RIGHT(s, 1)", "LPAD": "LPAD(s, 3, ' ')", "RPAD": "RPAD(s, i, ' ')", "REPEAT": "REPEAT(s, 3)",
		"POSITION": "INSTR(s, 'a')", "STARTSWITH": "STARTSWITH(s, 'a')", "ENDSWITH": "ENDSWITH(s, 'a')", "SPLIT_INDEX": "SPLIT_INDEX(s, ',', 0)", "REGEXP": "REGEXP(s, 'a+')", "REGEXP_REPLACE": "REGEXP_REPLACE(s, 'a+', 'b')",
		"REGEXP_EXTRACT": "REGEXP_EXTRACT(s, '(a)b', 1)", "CEIL_TO": "CEIL(d TO YEAR)", "DATE_FORMAT": "DATE_FORMAT(d, 'yyyy')", "TO_TIMESTAMP": "TO_TIMESTAMP(s)", "TO_DATE": "TO_DATE(s, 'yyyy-MM-dd')", "CHR": "CHR(i)",
		"ENCODE": "ENCODE(s, 'utf-8')", "DECODE": "DECODE(o, 'UTF-16')", "HEX": "HEX(i)", "OVERLAY": "OVERLAY(s PLACING 'a' FROM 2)", "TRANSLATE": "TRANSLATE(s, 'a', 'b')", "ELT": "ELT(i, s, 'a')", "BIN": "BIN(i)",
		"REGEXP_COUNT": "REGEXP_COUNT(s, 'a')", "REGEXP_INSTR": "REGEXP_INSTR(s, 'a')", "REGEXP_SUBSTR": "REGEXP_SUBSTR(s, 'a')", "TRUNCATE": "TRUNCATE(p)", "TO_TIMESTAMP_LTZ": "TO_TIMESTAMP_LTZ(n)",
		"UNIX_TIMESTAMP": "UNIX_TIMESTAMP(s)", "FROM_UNIXTIME": "FROM_UNIXTIME(n)", "CONVERT_TZ": "CONVERT_TZ(s, 'UTC', 'Europe/Berlin')",
		"SPLIT": "SPLIT(s, ' ')", "FIELD": "CAST(NULL AS ROW<a INT>).a", "ITEM": "CAST(NULL AS ARRAY<INT>)[i]", "CARDINALITY": "CARDINALITY(CAST(NULL AS MAP<INT, INT>))", "ELEMENT": "ELEMENT(CAST(NULL AS ARRAY<INT>))",
		"ARRAY_CONTAINS": "ARRAY_CONTAINS(CAST(NULL AS ARRAY<INT>), i)",
	}
	for _, name := range strings.Fields("SQRT EXP LN LOG10 LOG2 SIN COS TAN COT ASIN ACOS ATAN SINH COSH TANH DEGREES RADIANS") {
		samples[name] = name + "(i)"
	}
	for _, name := range strings.Fields("REVERSE INITCAP ASCII IS_ALPHA IS_DIGIT IS_DECIMAL MD5 SHA1 SHA224 SHA256 SHA384 SHA512 TO_BASE64 FROM_BASE64 UNHEX URL_ENCODE URL_DECODE") {
		samples[name] = name + "(s)"
	}
	for _, op := range strings.Fields("= <> < <= > >= + - * / %") {
		samples[op] = "i " + op + " i"
	}
	for _, f := range Functions() {
		text, ok := samples[f.Name]
		if !ok {
			t.Errorf("%s has no sample", f.Name)
			continue
		}
		if e := mustCheck(t, text); e.Name != f.Name {
			t.Errorf("%s is the call %s, not %s", text, e.Name, f.Name)
		}
		if f.Doc == "" {
			t.Errorf("%s is not documented", f.Name)
		}
	}
}

// TestNestedTexts: what is nested or repeated deeply is read, or refused, at a size that stays small.
func TestNestedTexts(t *testing.T) {
	again := func(form string) func(int) string {
		return func(n int) string {
			s := "b"
			for range n {
				s = strings.ReplaceAll(form, "@", s)
			}
			return s
		}
	}
	forms := []func(int) string{
		again("(@) BETWEEN b AND b"), again("(@) BETWEEN SYMMETRIC b AND b"), again("(@) IN (b, b, b)"), again("CASE @ WHEN b THEN b WHEN b THEN b END"),
		again("NULLIF(@, NULL)"), again("NULLIF(NULLIF(i, n), 1) = 1 AND @"), again("(@)"), again("NOT @"), again("@ IS NULL"), again("COALESCE(@, b)"), again("CAST(@ AS STRING) = 'x'"),
		func(n int) string { return strings.Repeat("- ", n) + "i" },
		func(n int) string { return strings.Repeat("+", n) + "i" },
		func(n int) string { return "i" + strings.Repeat("+i", n) },
		func(n int) string { return "b" + strings.Repeat(" AND b", 4*n) },
		func(n int) string { return "n" + strings.Repeat(" % i", n) },
		func(n int) string { return "i IN (1" + strings.Repeat(", 1", 4*n) + ")" },
		func(n int) string { return strings.Repeat("(", 8*n) },
	}
	for _, form := range forms {
		for _, n := range []int{1, 4, 9, 12, 60, 600} {
			holdsUp(t, form(n))
		}
	}
	if _, err := Parse(strings.Repeat("a", maxText+1), nil); err == nil {
		t.Error("a text of more than a mebibyte is read")
	}
	if _, err := Parse("i"+strings.Repeat("+i", 400), nil); err != nil {
		t.Errorf("a sum of 400: %v", err)
	}
	if _, err := Parse("i"+strings.Repeat("+i", 2*maxDepth), nil); err == nil {
		t.Error("a sum of a thousand is read")
	}
}

// TestFoldedCasts: a literal that Check cast and Fold folded prints as the plan has it, nearly.
func TestFoldedCasts(t *testing.T) {
	for text, want := range map[string]string{
		"n > 5": "n > 5", "x < 24": "x < 24", "x >= 0.05": "x >= 0.05", "p = 100": "p = 100.00", "p = -1.5": "p = -1.50", "big > 3": "big > 3.0000000000",
		"d < '1998-09-02'": "d < DATE '1998-09-02'", "ts >= '1998-09-02'": "ts >= TIMESTAMP '1998-09-02 00:00:00.000'", "n IN (1, 2)": "n IN (1, 2)", "n = CAST(5 AS BIGINT)": "n = CAST(5 AS BIGINT)",
		"COALESCE(i, NULL)": "COALESCE(i, NULL)", "x = 1e300": "x = 1E300",
	} {
		folded := Fold(mustCheck(t, text))
		if got := folded.String(); got != want {
			t.Errorf("%s is printed as %s, want %s", text, got, want)
		}
		if again := mustCheck(t, folded.String()); Fold(again).String() != want {
			t.Errorf("%s is then printed as %s", folded, Fold(again))
		}
	}
}

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"country": "country", "_x1": "_x1", "Flight Date": "`Flight Date`", "count": "`count`", "DATE": "`DATE`", "a`b": "`a``b`", "1st": "`1st`", "größe": "`größe`", "": "``",
	} {
		if got := Quote(name); got != want {
			t.Errorf("Quote(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestAggType(t *testing.T) {
	for _, c := range []struct {
		fn       string
		arg      Type
		distinct bool
		want     string
	}{
		{"COUNT", Type{}, false, "BIGINT NOT NULL"}, {"COUNT", Of(String), true, "BIGINT NOT NULL"},
		{"SUM", Of(Int).Nullable(false), false, "INT"}, {"SUM", DecimalOf(38, 37), false, "DECIMAL(38, 37)"}, {"SUM", Of(String), false, "fails"}, {"SUM", Of(Int), true, "INT"}, {"SUM", Of(String), true, "fails"},
		{"AVG", DecimalOf(5, 1), false, "DECIMAL(38, 6)"}, {"AVG", DecimalOf(20, 8), false, "DECIMAL(38, 8)"}, {"AVG", Of(Date), false, "fails"},
		{"MIN", Of(String).Nullable(false), false, "STRING"}, {"MAX", TimestampOf(3), true, "TIMESTAMP(3)"}, {"MAX", Of(Bytes), false, "fails"}, {"MEDIAN", Of(Int), false, "fails"},
	} {
		got, err := AggType(c.fn, c.arg, c.distinct)
		if text := got.String(); err == nil && text != c.want || err != nil && c.want != "fails" {
			t.Errorf("AggType(%s, %s, %t) = %s, %v, want %s", c.fn, c.arg, c.distinct, text, err, c.want)
		}
	}
}
