package expr_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestFold shows what becomes a literal and what stays.
func TestFold(t *testing.T) {
	in := expr.SchemaOf(field("a", "INT"), field("s", "STRING"), field("d", "DOUBLE"))
	for text, want := range map[string]string{
		"1 + 2 * 3":                               "7",
		"a + (1 + 2)":                             "a + 3",
		"UPPER('x') || s":                         "'X' || s",
		"CAST('2024-02-29' AS DATE)":              "DATE '2024-02-29'",
		"1 / 0":                                   "1 / 0",
		"a + 1 / 0":                               "a + 1 / 0",
		"CASE WHEN 1 > 2 THEN 1 / 0 END":          "CASE WHEN FALSE THEN 1 / 0 END",
		"CAST('x' AS INT)":                        "CAST('x' AS INT)",
		"d + CAST('NaN' AS DOUBLE)":               "d + CAST('NaN' AS DOUBLE)",
		"d > LN(0)":                               "d > CAST('-Infinity' AS DOUBLE)",
		"SQRT(-1) = d":                            "CAST('NaN' AS DOUBLE) = d",
		"TO_DATE('2024', 'yyyy')":                 "DATE '2024-01-01'",
		"REPEAT('ab', 20000000)":                  "REPEAT('ab', 20000000)",
		"CHAR_LENGTH('Zürich') > a":               "6 > a",
		"TIMESTAMPADD(DAY, 1, DATE '2024-02-28')": "DATE '2024-02-29'",
	} {
		e, err := expr.Parse(text, nil)
		if err == nil {
			e, err = expr.Check(e, in, expr.CheckOptions{})
		}
		if err != nil {
			t.Fatal(text, err)
		}
		before := e.String()
		f := expr.Fold(e)
		if got := f.String(); got != want {
			t.Errorf("%s folds to %s, want %s", text, got, want)
		}
		if !f.Type.Same(e.Type) {
			t.Errorf("%s: the type %s becomes %s", text, e.Type, f.Type)
		}
		if e.String() != before {
			t.Errorf("%s was changed", text)
		}
	}
}

// TestSecretsAreNotFolded holds that no literal is made of a secret in which the secret cannot be found
// again, and that the mark travels.
func TestSecretsAreNotFolded(t *testing.T) {
	in := expr.SchemaOf(field("a", "INT"), field("s", "STRING"))
	params := expr.Params{
		"w": {Value: expr.Value{Text: "hunter22", Secret: true}, Type: expr.Of(expr.String).Nullable(false)},
		"n": {Value: expr.Value{Int: 41414, Secret: true}, Type: expr.Of(expr.BigInt).Nullable(false)},
	}
	for text, want := range map[string]string{
		"UPPER(${w}) || s":          "UPPER('hunter22') || s",
		"SUBSTRING('x' || ${w}, 2)": "SUBSTRING('xhunter22' FROM 2)",
		"s = ${w} || 'x'":           "s = 'hunter22x'",
		"${w} = 'a' OR a > 1":       "FALSE OR a > 1",
		"a > ${n} + 1":              "a > CAST(41414 AS BIGINT) + 1",
		"s = CAST(${n} AS STRING)":  "s = '41414'",
		"a > CAST(${n} AS DOUBLE)":  "a > CAST(CAST(41414 AS BIGINT) AS DOUBLE)",
	} {
		e, err := expr.Parse(text, params)
		if err == nil {
			e, err = expr.Check(e, in, expr.CheckOptions{})
		}
		if err != nil {
			t.Fatal(text, err)
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var sent expr.Expr
		if err := json.Unmarshal(b, &sent); err != nil {
			t.Fatal(err)
		}
		if got := expr.Fold(&sent).String(); got != want {
			t.Errorf("%s folds to %s, want %s", text, got, want)
		}
	}
}

// TestLiteralsTravel sends folded literals through JSON, as plans do.
func TestLiteralsTravel(t *testing.T) {
	for _, text := range []string{"0e0 * -1", "9007199254740993", "1.5 * 12345678901234567890.123456", "-1e-300 * 1e0", "SQRT(-1)", "LN(0)", "-LN(0)", "x'00ffc3'", "CAST('2024-10-27 02:30:00.5' AS TIMESTAMP_LTZ(3))", "TIME '12:34:56.789' + INTERVAL '1' HOUR"} {
		e, err := expr.Parse(text, nil)
		if err == nil {
			e, err = expr.Check(e, expr.Schema{}, expr.CheckOptions{})
		}
		if err != nil {
			t.Fatal(text, err)
		}
		f := expr.Fold(e)
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var back expr.Expr
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		x, y := shown(oracle(f, nil), f.Type), shown(oracle(&back, nil), back.Type)
		if x != y || f.Op != expr.OpLiteral || f.Value.Double == f.Value.Double && math.Signbit(f.Value.Double) != math.Signbit(back.Value.Double) {
			t.Errorf("%s: %s becomes %s", text, x, y)
		}
	}
}
