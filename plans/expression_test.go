package plans

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestExprFinding holds that what Check finds later is put where it stands in the file, through quotes
// and blocks, with the hints that only the plan can give.
func TestExprFinding(t *testing.T) {
	const text = `sources:
  orders:
    csv: {path: o.csv, columns: {id: BIGINT, country: STRING, Flight Date: DATE, net-total: BIGINT}}
transforms:
  t:
    from: orders
    where: |
      id > 1
        AND contry = 'x'
    select:
      a: Flight Date
      b: net-total
      c: Flght Date
      d: id AND
      e: "country || idd"
      f: 'DE'
      g: ABS(country) + ABS(country)
      h: nothing # this
  u:
    from: t
    order_by: [a DESC, UPPER(x)]
    select: [a, UPPER(a)]
sinks:
  o: {from: u, print: {}}
`
	p, fs := Parse("p.yaml", []byte(text), nil, testKnown())
	if len(fs) > 0 {
		t.Fatal(fs)
	}
	in := expr.SchemaOf(expr.Field{Name: "id", Type: expr.Of(expr.BigInt)}, expr.Field{Name: "country", Type: expr.Of(expr.String)},
		expr.Field{Name: "Flight Date", Type: expr.Of(expr.Date)}, expr.Field{Name: "net-total", Type: expr.Of(expr.BigInt)})
	var found Findings
	check := func(e *Expression) {
		if _, err := expr.Check(e.In(in), in, expr.CheckOptions{}); err != nil {
			found = append(found, ExprFinding(p, e, fmt.Errorf("wrapped: %w", err))...)
		}
	}
	check(p.Nodes[1].Select.Where)
	for i := range p.Nodes[1].Select.Items {
		check(&p.Nodes[1].Select.Items[i].Expression)
	}
	for i := range p.Nodes[2].Select.Items {
		check(&p.Nodes[2].Select.Items[i].Expression)
	}
	var got []string
	for _, f := range found {
		got = append(got, strings.TrimRight(fmt.Sprintf("%d:%d %s %s | %s | %s", f.Line, f.Column, f.Rule, f.Path, strings.Trim(f.Near, "`"), f.Hint), " |"))
	}
	want := []string{
		"9:13 unknown-column transforms.t.where | country",
		"13:10 unknown-column transforms.t.select.c | Flight Date",
		"14:16 expression transforms.t.select.d",
		"15:22 unknown-column transforms.t.select.e | id",
		`16:11 unknown-column transforms.t.select.f |  | the quotes are YAML's; a text in SQL is written "'DE'"`,
		"17:14 type-mismatch transforms.t.select.g",
		"17:29 type-mismatch transforms.t.select.g",
		"18:10 unknown-column transforms.t.select.h |  | YAML takes what follows a space and # for a comment: put the whole value in double quotes, or below a |",
		"22:14 unknown-column transforms.u.select.a",
		"22:17 unknown-column transforms.u.select.UPPER(a) |  | an item alone names a column; an expression is given a name: x: UPPER(a)",
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] && got[i]+" |" != want[i] {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	other := ExprFinding(p, p.Nodes[1].Select.Where, errors.New("no reason"))
	if other[0].Line != 7 || other[0].Column != 12 || other[0].Source != "    where: |" {
		t.Errorf("%+v", other)
	}
}

// TestTrace holds that every character of a value that stands in the file as it is maps to itself.
func TestTrace(t *testing.T) {
	for _, c := range []struct{ name, yaml string }{
		{"plain", "where: abc def\n"},
		{"plain over lines", "where: abc\n  def   \n\n  ghi\n"},
		{"single", "where: 'ab''c ''d'\n"},
		{"single over lines", "where: 'ab\n  c\n\n  d'\n"},
		{"double", `where: "a\tb\u00e9\x41\"c\\ d"` + "\n"},
		{"double over lines", "where: \"a\\\n  b\n\n  c\"\n"},
		{"literal", "where: |\n  a\n    b\n\n  c\n"},
		{"literal with indent", "where: |2-\n    a\n   b\n"},
		{"literal kept", "where: |+\n  a\n\n\n"},
		{"literal with empty lines first", "where: |\n\n  a\n  b\n"},
		{"folded", "where: >\n  a b\n  c\n\n  d\n    e\n    f\n  g\n"},
		{"folded with more empty lines", "where: >-\n  a\n\n\n  b\n  c"},
		{"beyond ASCII", "where: é 日本 'x'\n"},
	} {
		for _, deep := range []bool{false, true} {
			text := c.yaml
			if deep {
				text = "t:\n  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
			}
			tx := newText("p", text)
			root, fs := readTree(tx)
			if fs.Failed() {
				t.Fatal(c.name, fs)
			}
			if deep {
				root = root.Keys[0].Value
			}
			n := root.Keys[0].Value
			last := 0
			for i := range len(n.Text) {
				p := n.At(i)
				at := tx.offset(p.Line, p.Column)
				if at < last {
					t.Errorf("%s %v: the place of %q at %d goes back", c.name, deep, n.Text, i)
				}
				last = at
				if ch := n.Text[i]; ch >= 'a' && ch <= 'z' && text[at] != ch {
					t.Errorf("%s %v: %q at %d is mapped to %q at %v in %q", c.name, deep, ch, i, text[at], p, text)
				}
			}
		}
	}
}
