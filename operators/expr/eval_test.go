package expr_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	oldrand "math/rand"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// buildColumn makes a column of the oracle's values.
func buildColumn(alloc memory.Allocator, t expr.Type, vals []any, coded bool) arrow.Array {
	typ := t.Arrow()
	if coded && t.Kind == expr.String {
		typ = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	}
	b := array.NewBuilder(alloc, typ)
	defer b.Release()
	for _, v := range vals {
		if v == nil {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.BooleanBuilder:
			b.Append(v.(bool))
		case *array.Int32Builder:
			b.Append(int32(v.(*big.Int).Int64()))
		case *array.Int64Builder:
			if r, ok := v.(*big.Rat); ok {
				b.Append(roundRat(r, t.Scale).Int64())
			} else {
				b.Append(wordOf(v))
			}
		case *array.Decimal128Builder:
			b.Append(decimal128.FromBigInt(roundRat(v.(*big.Rat), t.Scale)))
		case *array.Float64Builder:
			b.Append(v.(float64))
		case *array.StringBuilder:
			b.Append(v.(string))
		case *array.BinaryDictionaryBuilder:
			_ = b.AppendString(v.(string))
		case *array.Date32Builder:
			b.Append(arrow.Date32(v.(date)))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(wordOf(v)))
		case *array.BinaryBuilder:
			b.Append([]byte(v.(blob)))
		}
	}
	return b.NewArray()
}

// wordOf is a value that stands in 64 bits.
func wordOf(v any) int64 {
	switch x := v.(type) {
	case clock:
		return int64(x)
	case stamp:
		return int64(x)
	case instant:
		return int64(x)
	}
	return v.(*big.Int).Int64()
}

func buildRecord(alloc memory.Allocator, in expr.Schema, rows [][]any, coded bool) arrow.Record {
	cols := make([]arrow.Array, len(in.Fields))
	for c, f := range in.Fields {
		vals := make([]any, len(rows))
		for r := range rows {
			vals[r] = rows[r][c]
		}
		cols[c] = buildColumn(alloc, f.Type, vals, coded)
		defer cols[c].Release()
	}
	return column.NewRecord(in.Fields, cols, int64(len(rows)))
}

// shown is a value as [column.AppendText] writes it.
func shown(v any, t expr.Type) string {
	if b, ok := v.(bool); ok {
		return fmt.Sprint(b)
	}
	if s, ok := shownFurther(v, t); ok {
		return s
	}
	return textOf(v, t)
}

// checkEval compares a program with the oracle: all rows at once, one by one, some, over plain and
// coded texts, with a known dictionary and an unknown one, as part of a larger batch, and twice over,
// so that what is remembered of a dictionary is used too.
func checkEval(t *testing.T, in expr.Schema, rows [][]any, e *expr.Expr, r *rand.Rand) {
	t.Helper()
	want, class := make([]any, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		want[i], class[i] = attempt(func() any { return oracle(e, row) })
	}
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	for form := range 4 {
		rec := buildRecord(alloc, in, rows, form > 0)
		if form == 3 && len(rows) > 0 {
			rec.Release()
			whole := buildRecord(alloc, in, append([][]any{rows[len(rows)-1], rows[0], rows[0]}, rows...), true)
			rec = whole.NewSlice(3, whole.NumRows())
			whole.Release()
		}
		var dict []uint64
		if form == 2 {
			dict = make([]uint64, len(in.Fields))
			for i := range dict {
				dict[i] = expr.NewDictID()
			}
		}
		p, err := expr.Compile(e, in)
		if err != nil {
			t.Fatalf("compiling %s: %v", e, err)
		}
		for _, sel := range selections(len(rows), r) {
			checkOnce(t, alloc, p, e, rec, dict, sel, want, class)
			if e.Type.Kind == expr.Boolean {
				checkSelect(t, p, e, rec, dict, sel, rows)
			}
		}
		rec.Release()
	}
	alloc.AssertSize(t, 0)
}

// selections are all rows, the first rows alone, and some rows.
func selections(n int, r *rand.Rand) [][]int32 {
	some := []int32{}
	few := []int32{}
	all := [][]int32{nil}
	for i := range int32(n) {
		if r.IntN(3) > 0 {
			some = append(some, i)
		}
		if r.IntN(6) == 0 {
			few = append(few, i)
		}
		if i < 70 {
			all = append(all, []int32{i})
		}
	}
	return append(all, some, few, []int32{}, nil)
}

func checkOnce(t *testing.T, alloc memory.Allocator, p *expr.Program, e *expr.Expr, rec arrow.Record, dict []uint64, sel []int32, want []any, class []string) {
	t.Helper()
	live := sel
	if sel == nil {
		for i := range want {
			live = append(live, int32(i))
		}
	}
	failing := map[string]bool{}
	for _, i := range live {
		if class[i] != "" {
			failing[class[i]] = true
		}
	}
	arr, _, err := p.Eval(alloc, rec, dict, sel)
	if err != nil {
		var ee *expr.EvalError
		if !errors.As(err, &ee) {
			t.Fatalf("%s: %v is no EvalError", e, err)
		}
		if len(failing) == 0 {
			t.Fatalf("%s over %v: unexpected failure at row %d: %v", e, sel, ee.Row, err)
		}
		if class[ee.Row] != ee.Kind {
			t.Fatalf("%s over %v: fails with %s at row %d, want %q there", e, sel, ee.Kind, ee.Row, class[ee.Row])
		}
		return
	}
	defer arr.Release()
	if len(failing) > 0 {
		t.Fatalf("%s over %v: no failure, want %v", e, sel, failing)
	}
	if arr.Len() != len(want) {
		t.Fatalf("%s: %d rows, want %d", e, arr.Len(), len(want))
	}
	for _, i := range live {
		got := string(column.AppendText(nil, arr, e.Type, int(i)))
		if w := shown(want[i], e.Type); got != w {
			t.Fatalf("%s over %v, row %d: got %s, want %s (%s)", e, sel, i, got, w, rec)
		}
	}
}

// selected is what Select does with a row: a further argument of AND counts only for TRUE so far.
func selected(e *expr.Expr, row []any) bool {
	if e.Op == expr.OpCall && e.Name == "AND" && len(expr.Columns(e)) > 0 {
		for _, a := range e.Args {
			if !selected(a, row) {
				return false
			}
		}
		return true
	}
	return oracle(e, row) == true
}

func checkSelect(t *testing.T, p *expr.Program, e *expr.Expr, rec arrow.Record, dict []uint64, sel []int32, rows [][]any) {
	t.Helper()
	var want []int32
	fails := ""
	for i := range rows {
		if sel != nil && !contains(sel, int32(i)) {
			continue
		}
		v, class := attempt(func() any { return selected(e, rows[i]) })
		if class != "" {
			fails = class
		}
		if v == true {
			want = append(want, int32(i))
		}
	}
	got, err := p.Select(rec, dict, sel, nil)
	if (err != nil) != (fails != "") {
		t.Fatalf("selecting %s over %v: error %v, want %q", e, sel, err, fails)
	}
	if err == nil && fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("selecting %s over %v: got %v, want %v (%s)", e, sel, got, want, rec)
	}
}

func contains(sel []int32, i int32) bool {
	for _, s := range sel {
		if s == i {
			return true
		}
	}
	return false
}

// evalSchema has every type, DECIMALs of both widths.
var evalSchema = expr.SchemaOf(
	field("b", "BOOLEAN"), field("i", "INT"), field("j", "INT"), field("l", "BIGINT"), field("m", "BIGINT"),
	field("d", "DOUBLE"), field("e", "DOUBLE"), field("p", "DECIMAL(10, 2)"), field("q", "DECIMAL(18, 4)"),
	field("w", "DECIMAL(38, 6)"), field("v", "DECIMAL(25, 0)"), field("s", "STRING"), field("t", "STRING"),
	field("u", "DATE"), field("x", "TIMESTAMP(3)"), field("y", "TIMESTAMP(6)"), field("z", "DATE"),
	field("k", "TINYINT"), field("h", "SMALLINT"), field("f", "FLOAT"), field("c", "TIME(3)"), field("g", "TIMESTAMP_LTZ(3)"), field("n", "TIMESTAMP_LTZ(6)"), field("o", "BYTES"),
)

func field(name, typ string) expr.Field {
	t, err := expr.ParseType(typ)
	if err != nil {
		panic(err)
	}
	return expr.Field{Name: name, Type: t}
}

var someTexts = []string{"", "a", "ab", "abc", "Zürich", "  7 ", "+5", "-12", "3.0", "1e3", "x", "two", "2147483648", "TRUE", "no",
	"2021-02-28", "2021-02-30", "2024-02-29 23:59:59.123456", "10000-01-01", "0044-03-15 (BC)", "2023-11-05 01:40-07:00", "NaN", "-inf", ".5", "9999999999999999999", "日本語", "a_b%", "%",
	"12:34", "23:59:59.9999999", "2024-10-27 02:30:00", "2024-03-31 02:30", "2024-03-31T02:30:00.5Z", "2024-10-27 02:30:00+01:00", "2011-12-30 12:00 UTC"}

func randomValue(t expr.Type, r *rand.Rand) any {
	if r.IntN(5) == 0 {
		return nil
	}
	small := int64(r.IntN(21) - 10)
	switch t.Kind {
	case expr.Boolean:
		return r.IntN(2) == 0
	case expr.Int:
		return big.NewInt(pickOne(r, small, small, int64(int32(r.Uint32())), math.MaxInt32, math.MinInt32))
	case expr.TinyInt:
		return big.NewInt(pickOne(r, small, int64(int8(r.Uint32())), math.MaxInt8, math.MinInt8))
	case expr.SmallInt:
		return big.NewInt(pickOne(r, small, int64(int16(r.Uint32())), math.MaxInt16, math.MinInt16))
	case expr.Float:
		return float64(pickOne(r, float32(small), float32(small)/4, float32(r.NormFloat64()*1e6), float32(math.NaN()), float32(math.Inf(-1)), 3e38, 0.1, 16777217, 1.005))
	case expr.BigInt:
		return big.NewInt(pickOne(r, small, small, int64(r.Uint64()), int64(r.Uint64()>>24), math.MaxInt64, math.MinInt64))
	case expr.Double:
		return pickOne(r, float64(small), float64(small)/4, r.NormFloat64()*1e6, math.NaN(), math.Inf(1), math.Copysign(0, -1), 1e300, 0.285, 1.005, float64(r.IntN(100000))/1000)
	case expr.Decimal:
		n := new(big.Int).Rand(randSource(r), ten(t.Precision))
		switch r.IntN(4) {
		case 0:
			n.SetInt64(small)
		case 1:
			n.Sub(ten(t.Precision), big.NewInt(1))
		case 2:
			n.SetInt64(int64(r.IntN(1000000)))
			n.Rem(n, ten(t.Precision))
		}
		if r.IntN(2) == 0 {
			n.Neg(n)
		}
		return new(big.Rat).SetFrac(n, ten(t.Scale))
	case expr.String:
		return someTexts[r.IntN(len(someTexts))]
	case expr.Date:
		return date(pickOne(r, small, int64(r.IntN(40000)-10000), int64(int32(r.Uint32())), math.MinInt32, math.MaxInt32))
	}
	step := int64(math.Pow10(6 - t.Precision))
	switch t.Kind {
	case expr.Bytes:
		return blob(pickOne(r, "", "a", "abc", "\x00\xff", "Zürich", "\xc3", string([]byte{byte(r.Uint32())})))
	case expr.Time:
		return clock(pickOne(r, 0, 86400e6-step, r.Int64N(86400e6)/step*step, r.Int64N(24)*3600e6))
	case expr.TimestampLTZ: // about when clocks are put forward and back in Berlin, New York and on Lord Howe
		if r.IntN(2) == 0 {
			at := pickOne(r, int64(1711846800), 1729990800, 1710054000, 1730613600, 1712415600, 1728142200, 1325239200)
			return instant((at*1e6 + r.Int64N(7*3600e6) - 35*36e8/10) / step * step)
		}
	}
	n := pickOne(r, small*86400e6, r.Int64N(4e15)-1e15, r.Int64N(4e15)-1e15, int64(r.Uint64()>>8), math.MinInt64/1000000*1000000, math.MaxInt64/1000000*1000000)
	if t.Kind == expr.TimestampLTZ {
		return instant(n / step * step)
	}
	return stamp(n / step * step)
}

func pickOne[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// randSource is a math/rand source for big numbers.
func randSource(r *rand.Rand) *oldrand.Rand { return oldrand.New(oldrand.NewSource(r.Int64())) }

func randomRows(r *rand.Rand, n int) [][]any {
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = make([]any, len(evalSchema.Fields))
		for c, f := range evalSchema.Fields {
			rows[i][c] = randomValue(f.Type, r)
		}
	}
	return rows
}

// checkSeed runs one random expression over random rows; texts that Check refuses do not count.
func checkSeed(t *testing.T, seed uint64) bool {
	r := rand.New(rand.NewPCG(seed, 1))
	g := generator{r}
	text := g.any(3)
	e, err := expr.Parse(text, nil)
	if err != nil {
		t.Fatalf("seed %d: %s: %v", seed, text, err)
	}
	e, err = expr.Check(e, evalSchema, expr.CheckOptions{Zone: pickOne(r, "", "UTC", "Europe/Berlin", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "+05:30")})
	if err != nil {
		return false
	}
	defer func() {
		if x := recover(); x != nil {
			t.Errorf("seed %d: %s panics", seed, e)
			panic(x)
		}
	}()
	rows := randomRows(r, pickOne(r, 0, 1, 3, 3, 8, 8, 64, 70, 70, 300))
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	checkEval(t, evalSchema, rows, e, r)
	checkEval(t, evalSchema, rows[:min(3, len(rows))], expr.Fold(e), r)
	if !expr.CanFail(e) {
		for _, row := range rows {
			if _, class := attempt(func() any { return oracle(e, row) }); class != "" {
				t.Fatalf("seed %d: %s cannot fail, they say, and fails with %s", seed, e, class)
			}
		}
	}
	return true
}

func TestEvalAgainstOracle(t *testing.T) {
	n := uint64(600)
	if testing.Short() {
		n = 100
	}
	ran := 0
	for seed := range n {
		if checkSeed(t, seed) {
			ran++
		}
	}
	if ran < int(n)/2 {
		t.Fatalf("only %d of %d expressions were accepted", ran, n)
	}
}

func FuzzEval(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkSeed(t, seed) })
}

// A generator writes random expressions as text.
type generator struct{ r *rand.Rand }

func (g generator) any(depth int) string {
	return pickOne(g.r, g.boolean, g.boolean, g.number, g.number, g.text, g.day, g.time, g.mixed, g.clock, g.instant, g.bytes)(depth)
}

// mixed casts between any types.
func (g generator) mixed(depth int) string {
	types := []string{"BOOLEAN", "TINYINT", "SMALLINT", "FLOAT", "INT", "BIGINT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(4, 4)", "DECIMAL(38, 6)", "DECIMAL(30, 0)", "DECIMAL(18, 4)", "STRING", "DATE", "TIMESTAMP(3)", "TIMESTAMP(0)", "TIMESTAMP(6)", "TIME(0)", "TIME(3)", "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)", "BYTES"}
	return fmt.Sprintf("%s(%s AS %s)", pickOne(g.r, "CAST", "TRY_CAST", "TRY_CAST"), pickOne(g.r, g.boolean, g.number, g.text, g.text, g.day, g.time, g.clock, g.instant, g.instant, g.bytes)(depth-1), pickOne(g.r, types...))
}

func (g generator) sub(depth int, leaves []string, f func(depth int) string) string {
	if depth <= 0 || g.r.IntN(5) == 0 {
		return pickOne(g.r, leaves...)
	}
	return f(depth - 1)
}

func (g generator) boolean(depth int) string {
	return g.sub(depth, []string{"b", "TRUE", "FALSE", "(b IS NULL)", "(i > 0)", "(s = 'x')"}, func(d int) string {
		kind := pickOne(g.r, g.number, g.number, g.text, g.day, g.time, g.boolean, g.clock, g.instant, g.bytes)
		switch g.r.IntN(11) {
		case 9:
			return fmt.Sprintf("%s(%s)", pickOne(g.r, "IS_ALPHA", "IS_DIGIT", "IS_DECIMAL"), g.text(d))
		case 10:
			return fmt.Sprintf(pickOne(g.r, "STARTSWITH(%s, LEFT(t, 1))", "ENDSWITH(%s, 'c')", `REGEXP(%s, '^\d+-(\d\d)')`, "REGEXP(%s, '(?i)Z.+|a')", "REGEXP(%s, '')", "LEAST(b, STARTSWITH(s, %s))"), g.text(d))
		case 0:
			return fmt.Sprintf("(%s AND %s AND %s)", g.boolean(d), g.boolean(d), g.boolean(d-1))
		case 1:
			return fmt.Sprintf("(%s OR %s)", g.boolean(d), g.boolean(d))
		case 2:
			return "(NOT " + g.boolean(d) + ")"
		case 3:
			return fmt.Sprintf("(%s IS %s)", kind(d), pickOne(g.r, "NULL", "NOT NULL"))
		case 4:
			return "(" + pickOne(g.r, "s IN ('a', 'x', NULL)", "i IN (1, 2)", "k IN (1, 2, 3)", "f IN (1, 2.5)", "l IN (1, -1, 2, 3, 4, 5, 6, 7, 8)", "p IN (1.00, 2.50)", "w IN (1, 2)", "d IN (1e0, CAST('NaN' AS DOUBLE))", "b IN (TRUE)", "o IN (x'61', x'00FF', NULL)", "c IN (TIME '00:00:00', TIME '12:34:00.001')", "g IN ('2024-03-31 01:00:00', '2024-10-27 02:30:00', NULL)", "SUBSTRING(s FROM 1 FOR 1) NOT IN ('a', '2')") + ")"
		case 5:
			return fmt.Sprintf("(%s LIKE %s)", g.text(d), pickOne(g.r, "'a%'", "'%c'", "'%b%'", "'_b_'", "'%'", "''", "t", "'2%-02-%'", "'Z_rich'", `'%a\_%' ESCAPE '\'`, "'%_b%_'"))
		case 6:
			return fmt.Sprintf("(%s IS %s)", g.boolean(d), pickOne(g.r, "TRUE", "NOT TRUE", "FALSE", "NOT FALSE"))
		case 7:
			return fmt.Sprintf("(%s IS %sDISTINCT FROM %s)", kind(d), pickOne(g.r, "", "NOT "), kind(d))
		}
		return fmt.Sprintf("(%s %s %s)", kind(d), pickOne(g.r, "=", "<>", "<", "<=", ">", ">="), kind(d))
	})
}

func (g generator) choose(d int, f func(int) string) string {
	switch g.r.IntN(4) {
	case 0:
		return fmt.Sprintf("COALESCE(%s, %s)", f(d), f(d))
	case 1:
		return fmt.Sprintf("NULLIF(%s, %s)", f(d), f(d))
	case 2:
		return fmt.Sprintf("CASE WHEN %s THEN %s WHEN %s THEN %s END", g.boolean(d), f(d), g.boolean(d), f(d))
	}
	return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.boolean(d), f(d), f(d))
}

func (g generator) number(depth int) string {
	leaves := []string{"k", "h", "f", "i", "j", "l", "m", "d", "e", "p", "q", "w", "v", "0", "1", "-7", "2.50", "1e2", "3000000000", "0.001", "12345678901234567890.5"}
	return g.sub(depth, leaves, func(d int) string {
		switch g.r.IntN(14) {
		case 13:
			return fmt.Sprintf(pickOne(g.r, "REGEXP_COUNT(%s, '[a-z]|ü')", `REGEXP_INSTR(%s, '\d+')`, "REGEXP_INSTR(%s, '')", "UNIX_TIMESTAMP(%s)", "UNIX_TIMESTAMP(%s, 'yyyy-MM-dd')", "TRUNCATE(CHAR_LENGTH(%s) * d, 1)"), g.text(d))
		case 9:
			return fmt.Sprintf("%s(%s)", pickOne(g.r, "SIGN", "SQRT", "EXP", "LN", "LOG10", "LOG2", "SIN", "COT", "ATAN", "TANH", "DEGREES", "LOG"), g.number(d))
		case 10:
			return fmt.Sprintf("%s(%s, %s)", pickOne(g.r, "POWER", "ATAN2", "LOG", "MOD", "GREATEST", "LEAST"), g.number(d), g.number(d))
		case 11:
			return fmt.Sprintf(pickOne(g.r, "ASCII(%s)", "POSITION('b' IN %s)", "INSTR(%s, t)", "LOCATE('', %s, i)", "LOCATE('a', %s, 2)"), g.text(d))
		case 12:
			return fmt.Sprintf("EXTRACT(%s FROM %s)", pickOne(g.r, "ISODOW", "ISOYEAR", "DECADE", "CENTURY", "MILLENNIUM", "EPOCH", "MILLISECOND", "MICROSECOND", "HOUR", "MINUTE", "SECOND"), pickOne(g.r, g.time, g.clock, g.instant)(d))
		case 0:
			return fmt.Sprintf("%s(%s)", pickOne(g.r, "ABS", "FLOOR", "CEIL", "ROUND"), g.number(d))
		case 1:
			return fmt.Sprintf("%s(%s, %d)", pickOne(g.r, "ROUND", "TRUNCATE"), g.number(d), g.r.IntN(7)-2)
		case 2:
			return fmt.Sprintf("CHAR_LENGTH(%s)", g.text(d))
		case 3:
			return fmt.Sprintf("EXTRACT(%s FROM %s)", pickOne(g.r, "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOY", "DOW"), pickOne(g.r, g.day, g.time, g.instant)(d))
		case 4:
			return fmt.Sprintf("TIMESTAMPDIFF(%s, %s)", pickOne(g.r, "YEAR", "MONTH", "DAY", "WEEK", "SECOND", "HOUR"), pickOne(g.r, "u, z", "x, x", "y, TIMESTAMP '2020-02-29 12:00:00.000000'", "x, TIMESTAMP '2020-02-29 12:00:00.000'", "g, n", "n, x"))
		case 5:
			return g.choose(d, g.number)
		case 6:
			return fmt.Sprintf("(- %s)", g.number(d))
		}
		return fmt.Sprintf("(%s %s %s)", g.number(d), pickOne(g.r, "+", "-", "*", "/", "%"), g.number(d))
	})
}

func (g generator) text(depth int) string {
	return g.sub(depth, []string{"s", "s", "t", "'abc'", "''", "'Zürich'"}, func(d int) string {
		switch g.r.IntN(15) {
		case 13:
			return fmt.Sprintf(pickOne(g.r, "OVERLAY(%s PLACING 'üx' FROM i)", "OVERLAY(%s PLACING t FROM 2 FOR j)", "TRANSLATE(%s, 'abü', 'xy')", "TRANSLATE(%s, t, s)", "ELT(i, %s, t, NULL)", "REGEXP_SUBSTR(%s, '[b-z]+')", "URL_ENCODE(%s)", "URL_DECODE(%s)", "URL_DECODE(URL_ENCODE(%s))", "HEX(%s)", "TO_BASE64(%s)", "FROM_BASE64(TO_BASE64(%s))", "FROM_BASE64(%s)",
				"CONVERT_TZ(%s, 'UTC', 'Europe/Berlin')", "CONVERT_TZ(CAST(CAST(x AS TIMESTAMP(0)) AS STRING) || LEFT(%s, 0), 'America/New_York', 'Asia/Kolkata')", "TYPEOF(%s)"), g.text(d))
		case 14:
			return pickOne(g.r, "HEX(l)", "BIN(i)", "HEX("+g.bytes(d)+")", "SHA2("+g.bytes(d)+", 256)", "MD5(o)", "DECODE("+g.bytes(d)+", '"+pickOne(g.r, "UTF-8", "us-ascii", "ISO-8859-1", "UTF-16", "UTF-16LE", "UTF-16BE")+"')", "FROM_UNIXTIME(l)", "FROM_UNIXTIME(i, 'dd.MM.yyyy HH')", "FROM_UNIXTIME(1729990800 + i * 900)")
		case 8:
			return fmt.Sprintf(pickOne(g.r, "LEFT(%s, i)", "RIGHT(%s, 2)", "LPAD(%s, 4, 'üx')", "RPAD(%s, i %% 20, t)", "REPEAT(%s, i %% 5)", "REVERSE(%s)", "INITCAP(%s)", "RTRIM(%s, 'bc')"), g.text(d))
		case 9:
			return fmt.Sprintf(pickOne(g.r, "REPLACE(%s, 'b', '')", "REPLACE(%s, '', '-')", "REPLACE(%s, t, s)", "SPLIT_INDEX(%s, '-', i)", "SPLIT_INDEX(%s, '', 1)", "CONCAT_WS('|', %s, t, s)", "CONCAT_WS(t, s, %s)", "CONCAT(%s, s)", "LEAST(t, %s)"), g.text(d))
		case 10:
			return fmt.Sprintf(pickOne(g.r, `REGEXP_EXTRACT(%s, '(\d+)-(\d+)?', 2)`, "REGEXP_EXTRACT(%s, '[a-z]+')", "REGEXP_EXTRACT(%s, '(a)|(b)', i)", `REGEXP_REPLACE(%s, '\D', '$0')`, "REGEXP_REPLACE(%s, 'ü|a', t)"), g.text(d))
		case 11:
			return fmt.Sprintf(pickOne(g.r, "MD5(%s)", "SHA256(%s)", "SHA512(%s)", "CHR(ASCII(%s))", "IFNULL(%s, t)", "IF(b, t, %s)"), g.text(d))
		case 12:
			return fmt.Sprintf("DATE_FORMAT(%s, '%s')", pickOne(g.r, g.day, g.time, g.instant)(d), pickOne(g.r, "yyyy-MM-dd''T''HH:mm:ss.SSS", "d.M.yyyy H:m:s SSSSSSSSS", "''year ''yyyy", "HH''''mm"))
		case 0:
			return fmt.Sprintf("UPPER(%s)", g.text(d))
		case 1:
			return fmt.Sprintf("LOWER(%s)", g.text(d))
		case 2:
			return fmt.Sprintf("(%s || %s)", g.text(d), g.text(d))
		case 3:
			return fmt.Sprintf("SUBSTRING(%s FROM %d FOR %d)", g.text(d), g.r.IntN(9)-4, g.r.IntN(5)-1)
		case 4:
			return fmt.Sprintf("TRIM(%s '%s' FROM %s)", pickOne(g.r, "BOTH", "LEADING", "TRAILING"), pickOne(g.r, " ", "a", "ab", "ü語"), g.text(d))
		case 5:
			return fmt.Sprintf("CAST(%s AS STRING)", pickOne(g.r, g.number, g.boolean, g.day, g.time, g.clock, g.instant, g.bytes)(d))
		case 6:
			return fmt.Sprintf("SUBSTRING(%s FROM %s)", g.text(d), pickOne(g.r, "i", "2", "-2"))
		}
		return g.choose(d, g.text)
	})
}

func (g generator) day(depth int) string {
	return g.sub(depth, []string{"u", "z", "DATE '2020-02-29'"}, func(d int) string {
		switch g.r.IntN(5) {
		case 4:
			return fmt.Sprintf(pickOne(g.r, "TO_DATE(%s)", "TO_DATE(%s, 'yyyy-MM-dd')", "TO_DATE(DATE_FORMAT(z, 'dMyyyy') || LEFT(%s, 0), 'ddMMyyyy')"), g.text(d))
		case 0:
			return fmt.Sprintf("%s(%s TO %s)", pickOne(g.r, "FLOOR", "CEIL"), g.day(d), pickOne(g.r, "YEAR", "QUARTER", "MONTH", "WEEK", "DAY"))
		case 1:
			return fmt.Sprintf("TIMESTAMPADD(%s, %s, %s)", pickOne(g.r, "YEAR", "QUARTER", "MONTH", "WEEK", "DAY"), pickOne(g.r, "1", "-13", "i"), g.day(d))
		case 2:
			return fmt.Sprintf("CAST(%s AS DATE)", g.time(d))
		}
		return g.choose(d, g.day)
	})
}

func (g generator) time(depth int) string {
	return g.sub(depth, []string{"x", "y", "TIMESTAMP '2021-12-31 23:59:59.999'"}, func(d int) string {
		units := []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"}
		switch g.r.IntN(6) {
		case 5:
			if g.r.IntN(2) == 0 {
				return fmt.Sprintf("(%s %s INTERVAL %s)", pickOne(g.r, g.time, g.instant)(d), pickOne(g.r, "+", "-"), pickOne(g.r, "'1-6' YEAR TO MONTH", "'-1 02:03' DAY TO MINUTE", "'3 04:05:06.789' DAY TO SECOND", "-'1:02:03.000001' HOUR TO SECOND", "'5:59' MINUTE TO SECOND", "'0.5' SECOND", "'400 23' DAY(3) TO HOUR"))
			}
			return fmt.Sprintf(pickOne(g.r, "(%s + INTERVAL '%d' %s)", "(%s - INTERVAL '%d' %s)"), g.time(d), g.r.IntN(90)-30, pickOne(g.r, units...))
		case 4:
			return fmt.Sprintf(pickOne(g.r, "TO_TIMESTAMP(%s)", "TO_TIMESTAMP(%s, 'yyyy-MM-dd HH:mm:ss.SSSSSS')", "TO_TIMESTAMP(DATE_FORMAT(x, 'd/M/yyyy H:mm:ss.S') || LEFT(%s, 0), 'd/M/yyyy H:mm:s.S')"), g.text(d))
		case 0:
			return fmt.Sprintf("%s(%s TO %s)", pickOne(g.r, "FLOOR", "CEIL"), g.time(d), pickOne(g.r, units...))
		case 1:
			return fmt.Sprintf("TIMESTAMPADD(%s, %s, %s)", pickOne(g.r, units...), pickOne(g.r, "1", "-13", "i"), g.time(d))
		case 2:
			return fmt.Sprintf("CAST(%s AS TIMESTAMP(%d))", pickOne(g.r, g.time, g.day)(d), g.r.IntN(7))
		}
		return g.choose(d, g.time)
	})
}

func (g generator) clock(depth int) string {
	return g.sub(depth, []string{"c", "c", "TIME '23:30:00'", "TIME '01:02:03.456'"}, func(d int) string {
		units := []string{"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"}
		switch g.r.IntN(5) {
		case 0:
			return fmt.Sprintf("%s(%s TO %s)", pickOne(g.r, "FLOOR", "CEIL"), g.clock(d), pickOne(g.r, units[:3]...))
		case 1:
			return fmt.Sprintf("TIMESTAMPADD(%s, %s, %s)", pickOne(g.r, units...), pickOne(g.r, "1", "-13", "i", "l"), g.clock(d))
		case 2:
			return fmt.Sprintf("CAST(%s AS TIME(%d))", pickOne(g.r, g.time, g.instant, g.clock)(d), g.r.IntN(7))
		case 3:
			return fmt.Sprintf("TRY_CAST(%s AS TIME(3))", g.text(d))
		}
		return g.choose(d, g.clock)
	})
}

func (g generator) instant(depth int) string {
	return g.sub(depth, []string{"g", "g", "n", "CAST('2024-10-27 00:30:00Z' AS TIMESTAMP_LTZ(3))"}, func(d int) string {
		units := []string{"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"}
		switch g.r.IntN(6) {
		case 0:
			return fmt.Sprintf("%s(%s TO %s)", pickOne(g.r, "FLOOR", "CEIL"), g.instant(d), pickOne(g.r, units...))
		case 1:
			return fmt.Sprintf("TIMESTAMPADD(%s, %s, %s)", pickOne(g.r, append(units, "MICROSECOND")...), pickOne(g.r, "1", "-13", "i"), g.instant(d))
		case 2:
			return fmt.Sprintf("CAST(%s AS TIMESTAMP_LTZ(%d))", pickOne(g.r, g.time, g.day, g.clock, g.instant)(d), g.r.IntN(7))
		case 4:
			return pickOne(g.r, "TO_TIMESTAMP_LTZ(l)", "TO_TIMESTAMP_LTZ(i, 0)", "TO_TIMESTAMP_LTZ(1711846800 + i * 900, 0)", "TO_TIMESTAMP_LTZ("+g.text(d)+")", "TO_TIMESTAMP_LTZ("+g.text(d)+", 'yyyy-MM-dd')", "TO_TIMESTAMP_LTZ(DATE_FORMAT(x, 'yyyy-MM-dd HH:mm:ss.SSS'), 'yyyy-MM-dd HH:mm:ss.SSS', 'Australia/Lord_Howe')")
		case 3:
			return fmt.Sprintf("TRY_CAST(%s AS TIMESTAMP_LTZ(3))", g.text(d))
		}
		return g.choose(d, g.instant)
	})
}

func (g generator) bytes(depth int) string {
	return g.sub(depth, []string{"o", "o", "x'00ff'", "x''", "x'616263'"}, func(d int) string {
		switch g.r.IntN(4) {
		case 0:
			return fmt.Sprintf(pickOne(g.r, "CAST(%s AS BYTES)", "UNHEX(%s)", "UNHEX(HEX(%s))", "ENCODE(%s, 'UTF-16')", "ENCODE(%s, 'iso-8859-1')", "ENCODE(%s, 'US-ASCII')", "ENCODE(%s, 'UTF-16LE')"), g.text(d))
		case 1:
			return fmt.Sprintf("%s(%s, %s)", pickOne(g.r, "GREATEST", "LEAST"), g.bytes(d), g.bytes(d))
		}
		return g.choose(d, g.bytes)
	})
}
