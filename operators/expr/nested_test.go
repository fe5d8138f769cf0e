package expr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func TestNestedTypes(t *testing.T) {
	for text, want := range map[string]string{
		"ARRAY<INT>":                                               "",
		"array < int >":                                            "ARRAY<INT>",
		"ARRAY<INT NOT NULL> NOT NULL":                             "",
		"ARRAY<DECIMAL(12, 2)>":                                    "",
		"MAP<STRING NOT NULL, ARRAY<INT>>":                         "",
		"ROW<sku STRING, qty INT>":                                 "",
		"ROW(sku STRING, qty DECIMAL(5,1) not null)":               "ROW<sku STRING, qty DECIMAL(5, 1) NOT NULL>",
		"ROW<`a b` INT, `c``d` ROW<x DATE>, `count` INT>":          "",
		"ARRAY<ROW<a ARRAY<ROW<b MAP<STRING, ROW<c DOUBLE>>>>>>":   "",
		"MAP<ROW<a INT>, MAP<INT, TIMESTAMP(3)>> NULL":             "MAP<ROW<a INT>, MAP<INT, TIMESTAMP(3)>>",
		"ROW<a INT NOT NULL, Ünïcode STRING> NOT NULL":             "ROW<a INT NOT NULL, `Ünïcode` STRING> NOT NULL",
		"ROW<array ARRAY<INT>, row ROW<map INT>, not STRING NULL>": "ROW<`array` ARRAY<INT>, `row` ROW<`map` INT>, `not` STRING>",
	} {
		typ, err := expr.ParseType(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want == "" {
			want = text
		}
		if typ.String() != want {
			t.Errorf("%s is %s, want %s", text, typ, want)
		}
		again, err := expr.ParseType(typ.String())
		if err != nil || again != typ {
			t.Errorf("%s reads back as %s: %v", typ, again, err)
		}
		b, err := json.Marshal(typ)
		if err != nil {
			t.Fatal(err)
		}
		var back expr.Type
		if err := json.Unmarshal(b, &back); err != nil || back != typ {
			t.Errorf("%s comes back from JSON as %s: %v", typ, back, err)
		}
	}
}

func TestNestedTypesCompare(t *testing.T) {
	row := func(name string, f expr.Type) expr.Type {
		return expr.ArrayOf(expr.RowOf(expr.Field{Name: name, Type: f}))
	}
	a, b := row("a", expr.Of(expr.Int)), row("a", expr.Of(expr.Int))
	if a != b || map[expr.Type]bool{a: true}[b] != true {
		t.Error("equal types differ")
	}
	if a == row("b", expr.Of(expr.Int)) || a == row("a", expr.Of(expr.Int).Nullable(false)) || a == a.Nullable(false) || a == a.Element() {
		t.Error("different types are equal")
	}
	if !a.Same(a.Nullable(false)) || a.Depth() != 3 {
		t.Error("Same or Depth is wrong")
	}
	m := expr.MapOf(expr.Of(expr.String), a)
	if m.Key() != expr.Of(expr.String) || m.Element() != a || len(m.Fields()) != 2 {
		t.Error("the parts of a MAP are wrong")
	}
	if f, i := a.Element().Field("a"); i != 0 || f.Type != expr.Of(expr.Int) {
		t.Error("a ROW's field is not found")
	}
}

func TestNestedTypeErrors(t *testing.T) {
	deep := strings.Repeat("ARRAY<", 100000) + "INT"
	for text, want := range map[string]string{
		"ARRAY":                    "ARRAY says what it is made of: write ARRAY<INT>",
		"MAP":                      "write MAP<STRING, INT>",
		"ROW":                      "write ROW<a INT, b STRING>",
		"ARRAY<":                   "a type is missing",
		"ARRAY<>":                  "a type is missing",
		"ARRAY<INT":                "it ends too early: expected > after the type of the elements",
		"ARRAY<INT, INT>":          `unexpected ", INT>": expected >`,
		"ARRAY<TEXT>":              "TEXT is not a type here: write STRING",
		"ARRAY<INT> x":             `unexpected "x" after the type`,
		"MAP<INT>":                 "expected , after the type of the keys",
		"MAP<INT, INT, INT>":       "expected > after the type of the values",
		"ROW<>":                    "the name of a field is missing",
		"ROW<INT>":                 "a type is missing",
		"ROW<a INT, a INT>":        "the ROW has two fields a",
		"ROW<a INT b INT>":         `"INT b INT" is not a type`,
		"ROW<`a INT>":              "a name's closing ` is missing",
		"ROW<a DECIMAL(50, 2)>":    "the precision of a DECIMAL is 1 to 38",
		"ROW(a INT>":               "expected ) or , after a field's type",
		deep:                       "it is nested too deeply: at most 64",
		"ARRAY<INT NOT NULL NULL>": `is not a type`,
	} {
		if _, err := expr.ParseType(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s gives %.300v, want %s", text, err, want)
		}
	}
}
