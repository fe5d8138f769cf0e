package expr

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// propertySchema has a column of every type, and names that need quoting.
var propertySchema = SchemaOf(
	Field{"b", Of(Boolean)}, Field{"i", Of(Int)}, Field{"n", Of(BigInt).Nullable(false)}, Field{"x", Of(Double)},
	Field{"p", DecimalOf(12, 2)}, Field{"big", DecimalOf(38, 10)}, Field{"s", Of(String)}, Field{"d", Of(Date)},
	Field{"ts", TimestampOf(3)}, Field{"count", Of(Int)}, Field{"Flight Date", Of(Date)}, Field{"a`b", Of(String)}, Field{"größe", Of(Double)}, Field{"k", Of(TinyInt)}, Field{"h", Of(SmallInt)}, Field{"f", Of(Float)}, Field{"c", TimeOf(3)}, Field{"g", TimestampLTZOf(3)}, Field{"o", Of(Bytes)},
)

// genTree makes trees without regard to types, of every form that the printer knows.
func genTree(depth int) *rapid.Generator[*Expr] {
	return rapid.Custom(func(t *rapid.T) *Expr {
		if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
			return genLeaf(t)
		}
		sub := func() *Expr { return genTree(depth-1).Draw(t, "arg") }
		several := func(least int) []*Expr {
			args := make([]*Expr, rapid.IntRange(least, least+2).Draw(t, "n"))
			for i := range args {
				args[i] = sub()
			}
			return args
		}
		switch rapid.IntRange(0, 5).Draw(t, "form") {
		case 0:
			return &Expr{Op: OpCase, Args: several(2)}
		case 1:
			return &Expr{Op: rapid.SampledFrom([]Op{OpCast, OpTryCast}).Draw(t, "cast"), Type: genType(t), Args: []*Expr{sub()}}
		case 2:
			e := &Expr{Op: OpAgg, Name: rapid.SampledFrom([]string{"SUM", "AVG", "MIN", "MAX", "COUNT"}).Draw(t, "agg"), Args: []*Expr{sub()}}
			e.Distinct = rapid.Bool().Draw(t, "distinct")
			if rapid.Bool().Draw(t, "filtered") {
				e.Filter = sub()
			}
			return e
		case 3:
			return &Expr{Op: OpCast, Implicit: true, Type: genType(t), Args: []*Expr{sub()}}
		}
		f := rapid.SampledFrom(functionList).Draw(t, "function")
		most := f.MaxArgs
		if most < 0 {
			most = 4
		}
		e := &Expr{Op: OpCall, Name: f.Name}
		for range rapid.IntRange(f.MinArgs, most).Draw(t, "args") {
			e.Args = append(e.Args, sub())
		}
		fixWords(t, e)
		return e
	})
}

// fixWords puts literals where the syntax has bare words.
func fixWords(t *rapid.T, e *Expr) {
	word := func(s string) *Expr { return &Expr{Op: OpLiteral, Type: Of(String), Value: &Value{Text: s}} }
	if u := units[e.Name]; u != nil {
		e.Args[0] = word(rapid.SampledFrom(u).Draw(t, "unit"))
	}
	if e.Name == "FIELD" {
		e.Args[1] = word(rapid.SampledFrom([]string{"f", "two words", "count"}).Draw(t, "field"))
	}
	if e.Name == "TRIM" {
		e.Args[0] = word(rapid.SampledFrom([]string{"BOTH", "LEADING", "TRAILING"}).Draw(t, "side"))
	}
}

func genType(t *rapid.T) Type {
	switch k := rapid.SampledFrom([]Kind{Boolean, Int, BigInt, Decimal, Double, String, Date, Timestamp, TinyInt, SmallInt, Float, Time, TimestampLTZ, Bytes}).Draw(t, "kind"); k {
	case Decimal:
		p := rapid.IntRange(1, MaxDecimal).Draw(t, "precision")
		return DecimalOf(p, rapid.IntRange(0, p).Draw(t, "scale"))
	case Time, Timestamp, TimestampLTZ:
		return Type{Kind: k, Precision: rapid.IntRange(0, 6).Draw(t, "precision")}
	default:
		return Of(k)
	}
}

func genLeaf(t *rapid.T) *Expr {
	if rapid.Bool().Draw(t, "column") {
		name := rapid.OneOf(rapid.SampledFrom(propertySchema.Names()), rapid.StringN(1, 5, -1)).Draw(t, "name")
		return &Expr{Op: OpColumn, Name: name}
	}
	typ := genType(t)
	v := Value{}
	switch typ.Kind {
	case Boolean:
		v.Int = rapid.Int64Range(0, 1).Draw(t, "v")
	case Int:
		v.Int = int64(rapid.Int32().Draw(t, "v"))
	case TinyInt:
		v.Int = int64(rapid.Int8().Draw(t, "v"))
	case SmallInt:
		v.Int = int64(rapid.Int16().Draw(t, "v"))
	case Float:
		v.Double = float64(rapid.OneOf(rapid.Float32(), rapid.SampledFrom([]float32{0.1, float32(math.NaN()), float32(math.Inf(1)), 3e38})).Draw(t, "v"))
	case BigInt:
		v.Int = rapid.Int64().Draw(t, "v")
	case Decimal:
		v.Text = strings.TrimLeft(rapid.StringMatching(`[0-9]{0,`+string(rune('0'+min(typ.Precision, 9)))+`}`).Draw(t, "v"), "0")
		if v.Text == "" {
			v.Text = "0"
		} else if rapid.Bool().Draw(t, "minus") {
			v.Text = "-" + v.Text
		}
	case Double:
		v.Double = rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)})).Draw(t, "v")
	case String:
		v.Text = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "'", "${a}", "a${${b}}", "$", "'${"})).Draw(t, "v")
	case Date:
		v.Int = int64(rapid.Int32().Draw(t, "v"))
	case Bytes:
		v.Text = string(rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "v"))
	case Time:
		v.Int = rapid.Int64Range(0, microsPerDay-1).Draw(t, "v") / microsOf(typ.Precision) * microsOf(typ.Precision)
	case Timestamp, TimestampLTZ:
		v.Int = rapid.Int64Range(-1<<60, 1<<60).Draw(t, "v") / microsOf(typ.Precision) * microsOf(typ.Precision)
	}
	if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
		v = Value{Null: true}
	}
	return &Expr{Op: OpLiteral, Type: typ.Nullable(v.Null), Value: &v, Implicit: rapid.IntRange(0, 3).Draw(t, "implicit") == 0}
}

// TestPrintParsePrint: what String writes is read, and is written the same again.
func TestPrintParsePrint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := genTree(4).Draw(t, "tree").String()
		again, err := Parse(text, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := again.String(); got != text {
			t.Fatalf("%s\nis printed again as\n%s", text, got)
		}
	})
}

// TestLiteralsKeepTheirTypes: a literal printed, read and checked has its value and type.
func TestLiteralsKeepTheirTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := genLeaf(t)
		if e.Op == OpColumn || e.Implicit {
			return
		}
		parsed, err := Parse(e.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Check(parsed, Schema{}, CheckOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !c.Type.Same(e.Type) {
			t.Fatalf("%s has the type %s, not %s", e, c.Type, e.Type)
		}
		if c.Op == OpLiteral && !sameValue(*c.Value, *e.Value) {
			t.Fatalf("%s has the value %+v, not %+v", e, *c.Value, *e.Value)
		}
	})
}

func sameValue(a, b Value) bool {
	if math.IsNaN(a.Double) && math.IsNaN(b.Double) {
		return true
	}
	return a == b && math.Signbit(a.Double) == math.Signbit(b.Double)
}

// TestCheckIsStable: what Check accepts it accepts again, after printing too, with the same tree;
// what it refuses has its place in the text.
func TestCheckIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		holdsUp(t, genTree(3).Draw(t, "tree").String())
	})
}

// TestTyped: expressions made to have types have them.
func TestTyped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]Kind{Boolean, Int, String, Date, Timestamp}).Draw(t, "kind")
		text := genTyped(k, 3).Draw(t, "text")
		if !holdsUp(t, text) {
			e, _ := Parse(text, nil)
			_, err := Check(e, propertySchema, CheckOptions{})
			t.Fatalf("%s: %v", text, err)
		}
	})
}

type fataler interface{ Fatalf(string, ...any) }

// holdsUp checks one text in every way; true where it is an expression with types.
func holdsUp(t fataler, text string) bool {
	e, err := Parse(text, scriptParams)
	if err != nil {
		var one *Error
		if !errors.As(err, &one) {
			t.Fatalf("%q: an error of type %T", text, err)
		}
		checkPlace(t, text, one)
		return false
	}
	checkPlaces(t, text, e)
	printed := e.String()
	again, err := Parse(printed, nil)
	if err != nil {
		t.Fatalf("%q is printed as %q: %v", text, printed, err)
	}
	if got := again.String(); got != printed {
		t.Fatalf("%q is printed as %q and then as %q", text, printed, got)
	}
	c, err := Check(e, propertySchema, CheckOptions{Aggregates: true})
	if err != nil {
		var all Errors
		if !errors.As(err, &all) || len(all) == 0 {
			t.Fatalf("%q: an error of type %T", text, err)
		}
		for _, one := range all {
			checkPlace(t, text, one)
		}
		return false
	}
	wellTyped(t, text, c)
	second, err := Check(c, propertySchema, CheckOptions{Aggregates: true})
	if err != nil || !Equal(c, second) {
		t.Fatalf("%q is checked as %s and then as %s, %v", text, dump(c), dumped(second), err)
	}
	if len(c.String()) > 1<<18 || Depth(c) > maxDepth { // Check has put levels in
		return true
	}
	parsed, err := Parse(c.String(), nil)
	if err != nil {
		t.Fatalf("%q is printed after Check as %q: %v", text, c, err)
	}
	third, err := Check(parsed, propertySchema, CheckOptions{Aggregates: true})
	if err != nil || third.String() != c.String() || third.Type != c.Type {
		t.Fatalf("%q is %s and after printing %s, %v", text, dump(c), dumped(third), err)
	}
	return true
}

func dumped(e *Expr) string {
	if e == nil {
		return "nothing"
	}
	return dump(e)
}

func checkPlaces(t fataler, text string, e *Expr) {
	Walk(e, func(n *Expr) bool {
		if n.Pos < 0 || n.End < int(n.Pos) || n.End > len(text) {
			t.Fatalf("%q: %s stands at %d-%d", text, n, n.Pos, n.End)
		}
		return true
	})
}

// wellTyped holds a checked tree to what the kernels rely on.
func wellTyped(t fataler, text string, e *Expr) {
	Walk(e, func(n *Expr) bool {
		ok := n.Type.Kind != Invalid && n.Type.Kind != Null
		switch n.Op {
		case OpCall:
			f, known := functions[n.Name]
			ok = ok && known && len(n.Args) >= f.MinArgs && (f.MaxArgs < 0 || len(n.Args) <= f.MaxArgs) && typesFit(n)
		case OpCase:
			ok = ok && len(n.Args)%2 == 1 && len(n.Args) >= 3
			for i, a := range n.Args {
				if i%2 == 0 && i < len(n.Args)-1 {
					ok = ok && a.Type.Kind == Boolean
				} else {
					ok = ok && a.Type.Same(n.Type)
				}
			}
		case OpCast, OpTryCast:
			allowed, _ := CastRule(n.Args[0].Type, n.Type)
			ok = ok && allowed
		case OpColumn:
			ok = ok && propertySchema.Fields[n.Col].Type == n.Type
		}
		if n.Type.Kind == Decimal {
			ok = ok && n.Type.Precision >= 1 && n.Type.Precision <= MaxDecimal && n.Type.Scale >= 0 && n.Type.Scale <= n.Type.Precision
		}
		if !ok {
			t.Fatalf("%q: %s is not well typed", text, dump(n))
		}
		return true
	})
}

// typesFit holds the arguments of a call to its documentation.
func typesFit(n *Expr) bool {
	a := n.Args
	switch n.Name {
	case "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "IN", "COALESCE", "NULLIF", "GREATEST", "LEAST":
		for _, x := range a {
			if !x.Type.Same(a[0].Type) {
				return false
			}
		}
	case "+", "-", "*", "/":
		if n.Type.Kind == Decimal {
			return a[0].Type.Kind == Decimal && a[1].Type.Kind == Decimal
		}
		return a[0].Type.Same(n.Type) && a[1].Type.Same(n.Type)
	case "%":
		return a[0].Type.Kind == n.Type.Kind && a[1].Type.Kind == n.Type.Kind
	case "NEG", "ABS", "SIGN":
		return a[0].Type.Same(n.Type)
	case "AND", "OR":
		for _, x := range a {
			if x.Type.Kind != Boolean || x.Op == OpCall && x.Name == n.Name {
				return false
			}
		}
	case "TIMESTAMPADD":
		return a[1].Type.Kind == BigInt && a[2].Type.Same(n.Type)
	case "TIMESTAMPDIFF":
		return a[1].Type.Same(a[2].Type) && n.Type.Kind == Int
	}
	if s, ok := signatures[n.Name]; ok {
		for i, x := range a {
			if !takes(n.Name, i, s.args[min(i, len(s.args)-1)], x.Type.Kind) {
				return false
			}
		}
		return n.Type.Kind == s.result
	}
	return true
}

// FuzzParse: no text makes the parser or the checker panic, hang or point outside of the text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "a + b * 2", "x BETWEEN 1 AND 2 AND NOT b", "CASE i WHEN 1 THEN 'a' ELSE 'b' END", "CAST(s AS DECIMAL(10, 2)) / 3",
		"COUNT(DISTINCT i) FILTER (WHERE b)", "TRIM(LEADING '0' FROM s) || '${'", "${min} >= i", "d >= '1998-09-02' OR ts IN ('2020-01-01', NULL)",
		"`Flight Date` IS NOT DISTINCT FROM DATE '1998-01-01'", "-(-5) - -5 -- x", "FLOOR(ts TO MONTH) = TIMESTAMP '2020-01-01 00:00:00.123'",
		"((((((((((", "NOT NOT NOT b", "1e999", "'", "`", "/*", "i IN (n, 1, NULL)", "s LIKE '10!%' ESCAPE '!'", "ROUND(p, 1) % 2.5", "\xff", "SUBSTRING(s FROM 1 FOR 2)",
		"EXTRACT(DOW FROM d) + TIMESTAMPDIFF(DAY, d, ts)", "x IS UNKNOWN", "big BETWEEN SYMMETRIC p AND 0.5", "NULLIF(i, n) + COALESCE(NULL, 1)",
		"REGEXP_EXTRACT(s, '(a|b)+?[^c]', 1)", "REGEXP(s, '(?<=a)b')", "DATE_FORMAT(ts, 'yyyy-MM-dd''T''HH:mm')", "TO_TIMESTAMP(s, 'dd.MM.yyyy')", "POSITION('a' IN s) + LOCATE('a', s, 2)", "LPAD(s, 5, '0')", "ts + INTERVAL '1' DAY - INTERVAL -'2' MONTH", "ts - INTERVAL '1 02:03:04.5' DAY TO SECOND", "FLOOR(g TO DAY) > '2024-03-31 02:30:00' OR c + INTERVAL '2:30' HOUR TO MINUTE = TIME '10:00'", "OVERLAY(s PLACING 'x' FROM 2 FOR 3) || HEX(x'0aff')", "TO_TIMESTAMP_LTZ(s, 'yyyy', 'UTC')", "DECODE(o, 'UTF-16')", "TYPEOF(i)", "SHA2(o, 256)", "INTERVAL '1' DAY", "GREATEST(i, n, 1.5)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		holdsUp(t, text)
	})
}
