package column

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/cespare/xxhash/v2"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func typeOf(t testing.TB, s string) expr.Type {
	t.Helper()
	typ, err := expr.ParseType(s)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// build makes a column of texts; "NULL" is NULL. A coded STRING has its entries in the order of sight.
func build(t testing.TB, alloc memory.Allocator, typ expr.Type, coded bool, vals ...string) arrow.Array {
	t.Helper()
	phys := typ.Arrow()
	if coded {
		phys = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	}
	b := array.NewBuilder(alloc, phys)
	defer b.Release()
	for _, v := range vals {
		if v == "NULL" {
			b.AppendNull()
			continue
		}
		s := expr.OK
		switch b := b.(type) {
		case *array.BooleanBuilder:
			var x bool
			x, s = expr.ParseBoolean([]byte(v))
			b.Append(x)
		case *array.Int32Builder:
			var x int32
			x, s = expr.ParseInt32([]byte(v))
			b.Append(x)
		case *array.Int64Builder:
			var x int64
			if typ.Kind == expr.Decimal {
				x, s = expr.ParseDecimal64([]byte(v), typ.Precision, typ.Scale)
			} else if typ.Kind == expr.Time {
				x, s = expr.ParseTime([]byte(v), typ.Precision)
			} else {
				x, s = expr.ParseInt64([]byte(v))
			}
			b.Append(x)
		case *array.Decimal128Builder:
			var x decimal128.Num
			x, s = expr.ParseDecimal128([]byte(v), typ.Precision, typ.Scale)
			b.Append(x)
		case *array.Float64Builder:
			var x float64
			x, s = expr.ParseDouble([]byte(v))
			b.Append(x)
		case *array.StringBuilder:
			b.Append(v)
		case *array.BinaryDictionaryBuilder:
			if err := b.AppendString(v); err != nil {
				t.Fatal(err)
			}
		case *array.Date32Builder:
			var x int32
			x, s = expr.ParseDate([]byte(v))
			b.Append(arrow.Date32(x))
		case *array.TimestampBuilder:
			var x int64
			if x, s = expr.ParseTimestamp([]byte(v), typ.Precision); typ.Kind == expr.TimestampLTZ {
				utc, _ := expr.LoadZone("")
				x, s = expr.ParseTimestampLTZ([]byte(v), typ.Precision, utc)
			}
			b.Append(arrow.Timestamp(x))
		case *array.BinaryBuilder:
			var x []byte
			x, s = expr.ParseBytes([]byte(v))
			b.Append(x)
		}
		if s != expr.OK {
			t.Fatalf("%q is no %s", v, typ)
		}
	}
	return b.NewArray()
}

func show(arr arrow.Array, t expr.Type) string {
	var s []string
	for i := range arr.Len() {
		s = append(s, string(AppendText(nil, arr, t, i)))
	}
	return strings.Join(s, " ")
}

// samples has some values of every type, as AppendText writes them.
var samples = map[string][]string{
	"BOOLEAN":          {"true", "false", "NULL", "true"},
	"INT":              {"1", "-2147483648", "NULL", "7"},
	"BIGINT":           {"1", "NULL", "-9223372036854775808", "7"},
	"DOUBLE":           {"1.5", "NaN", "-Infinity", "NULL", "1e+300"},
	"DECIMAL(10, 2)":   {"1.50", "NULL", "-99999999.99", "0.00"},
	"DECIMAL(38, 4)":   {"1.5000", "-9999999999999999999999999999999999.9999", "NULL", "0.0001"},
	"STRING":           {"a", "", "NULL", "Zürich", "a", "b"},
	"DATE":             {"1970-01-01", "NULL", "-0044-03-15", "12021-02-28"},
	"TIME(3)":          {"00:00:00.000", "23:59:59.999", "NULL"},
	"TIMESTAMP_LTZ(3)": {"1969-12-31 23:59:59.999Z", "NULL", "2021-02-28 00:00:00.000Z"},
	"BYTES":            {"AP8=", "NULL", "", "dGV4dA=="},
	"TIMESTAMP(3)":     {"1969-12-31 23:59:59.999", "NULL", "2021-02-28 00:00:00.000"},
}

func eachSample(t *testing.T, f func(t *testing.T, alloc memory.Allocator, typ expr.Type, coded bool, vals []string)) {
	for name, vals := range samples {
		for _, coded := range []bool{false, true} {
			if coded && name != "STRING" {
				continue
			}
			t.Run(fmt.Sprintf("%s coded=%t", name, coded), func(t *testing.T) {
				alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
				defer alloc.AssertSize(t, 0)
				f(t, alloc, typeOf(t, name), coded, vals)
			})
		}
	}
}

func TestTake(t *testing.T) {
	eachSample(t, func(t *testing.T, alloc memory.Allocator, typ expr.Type, coded bool, vals []string) {
		whole := build(t, alloc, typ, coded, append([]string{"NULL", vals[0]}, vals...)...)
		defer whole.Release()
		arr := array.NewSlice(whole, 2, int64(whole.Len())) // an offset, as slices have
		defer arr.Release()
		for _, idx := range [][]int32{{}, {0}, {2, 0, 1, 1}, {-1, 2, -1}, {0, 1, 2}} {
			got := Take(alloc, arr, idx)
			want := make([]string, len(idx))
			nulls := 0
			for k, i := range idx {
				want[k] = "NULL"
				if i >= 0 {
					want[k] = vals[i]
				}
				if want[k] == "NULL" {
					nulls++
				}
			}
			if s := show(got, typ); s != strings.Join(want, " ") || got.NullN() != nulls || !arrow.TypeEqual(got.DataType(), arr.DataType()) {
				t.Errorf("taking %v of %v: %s (%d NULLs, %s)", idx, vals, s, got.NullN(), got.DataType())
			}
			got.Release()
		}
	})
}

func TestConcat(t *testing.T) {
	eachSample(t, func(t *testing.T, alloc memory.Allocator, typ expr.Type, coded bool, vals []string) {
		a := build(t, alloc, typ, coded, vals...)
		b := build(t, alloc, typ, coded, vals[1:]...)
		c := array.NewSlice(a, 1, 3)
		empty := build(t, alloc, typ, coded)
		plain := build(t, alloc, typ, false, vals[0])
		defer release([]arrow.Array{a, b, c, empty, plain})
		text := func(more ...[]string) string {
			var all []string
			for _, m := range more {
				all = append(all, m...)
			}
			return strings.Join(all, " ")
		}
		for _, x := range []struct {
			arrs []arrow.Array
			want string
		}{
			{[]arrow.Array{a}, text(vals)},
			{[]arrow.Array{a, c, a}, text(vals, vals[1:3], vals)},
			{[]arrow.Array{a, b}, text(vals, vals[1:])},
			{[]arrow.Array{b, a, c, b, a, a}, text(vals[1:], vals, vals[1:3], vals[1:], vals, vals)},
			{[]arrow.Array{empty, a, empty}, text(vals)},
			{[]arrow.Array{plain, a}, text(vals[:1], vals)},
		} {
			got, err := Concat(alloc, x.arrs)
			if err != nil {
				t.Fatal(err)
			}
			if s := show(got, typ); s != x.want {
				t.Errorf("got %s, want %s", s, x.want)
			}
			got.Release()
		}
		if coded {
			same, err := Concat(alloc, []arrow.Array{a, c})
			if err != nil || same.DataType().ID() != arrow.DICTIONARY || same.(*array.Dictionary).Dictionary().Len() != a.(*array.Dictionary).Dictionary().Len() {
				t.Errorf("one dictionary is not kept: %v %v", same, err)
			}
			same.Release()
		}
	})
	if _, err := Concat(memory.DefaultAllocator, nil); err == nil {
		t.Error("joining nothing is no error")
	}
}

func TestCompact(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	fields := []expr.Field{{Name: "a", Type: expr.Of(expr.BigInt)}, {Name: "s", Type: expr.Of(expr.String)}}
	for _, sel := range [][]int32{nil, {}, {1, 3}, {0, 1, 2, 3}} {
		a, s := build(t, alloc, fields[0].Type, false, "1", "2", "NULL", "4"), build(t, alloc, fields[1].Type, true, "x", "y", "x", "NULL")
		rec := NewRecord(fields, []arrow.Array{a, s}, 4)
		release([]arrow.Array{a, s})
		out := Compact(alloc, operators.Batch{Rec: rec, Sel: sel})
		want := map[int]string{0: "", 2: "2 4|y NULL", 4: "1 2 NULL 4|x y x NULL"}
		n := 4
		if sel != nil {
			n = len(sel)
		}
		if got := show(out.Column(0), fields[0].Type) + "|" + show(out.Column(1), fields[1].Type); int(out.NumRows()) != n || n > 0 && got != want[n] {
			t.Errorf("%v: %s", sel, got)
		}
		out.Release()
	}
}

// hashOf are the hashes of a column of texts.
func hashOf(t *testing.T, typ expr.Type, coded bool, id uint64, sel []int32, vals ...string) []uint64 {
	t.Helper()
	arr := build(t, memory.DefaultAllocator, typ, coded, vals...)
	defer arr.Release()
	h := NewHasher([]expr.Type{typ})
	n := len(vals)
	if sel != nil {
		n = len(sel)
	}
	out := make([]uint64, n)
	h.Hash([]arrow.Array{arr}, []uint64{id}, sel, out)
	again := make([]uint64, n)
	h.Hash([]arrow.Array{arr}, []uint64{id}, sel, again)
	if fmt.Sprint(out) != fmt.Sprint(again) {
		t.Fatalf("the hashes of %v differ from one call to the next", vals)
	}
	return out
}

// TestHashVectors holds the hashes and key groups in testdata/hashes: they may never change, since
// saved state is divided by them. Lines: type, value, hash, key group of 128.
func TestHashVectors(t *testing.T) {
	const file = "testdata/hashes"
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(vectors), "\n") {
		name, text, _ := strings.Cut(line, "|")
		h := hashOf(t, typeOf(t, name), false, 0, nil, text)[0]
		fmt.Fprintf(&b, "%s|%s|%016x|%d\n", name, text, h, KeyGroup(h, 128))
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("hashes differ from %s:\n%s", file, b.String())
	}
}

const vectors = `
BOOLEAN|true
BOOLEAN|false
INT|0
INT|1
INT|-1
INT|2147483647
BIGINT|0
BIGINT|1
BIGINT|-1
BIGINT|9223372036854775807
DECIMAL(10, 2)|1.00
DECIMAL(10, 2)|1.50
DECIMAL(18, 4)|-1.5
DECIMAL(38, 4)|1.5
DECIMAL(38, 0)|1
DECIMAL(38, 10)|1234567890123456789012345678.0000000001
DOUBLE|0
DOUBLE|-0.0
DOUBLE|1.5
DOUBLE|NaN
DOUBLE|-inf
STRING|
STRING|a
STRING|Zürich
STRING|a longer text of more than thirty-two bytes
STRING|NULL
BIGINT|NULL
DATE|1970-01-01
DATE|2024-02-29
TIMESTAMP(3)|2024-02-29 12:00:00.123
TIMESTAMP(6)|2024-02-29 12:00:00.123
TIME(3)|12:00:00.123
TIMESTAMP_LTZ(3)|2024-02-29 12:00:00.123Z
BYTES|AP8=
BYTES|
`

// TestWordIsXXHash compares the inlined hash of 8 bytes with the library's.
func TestWordIsXXHash(t *testing.T) {
	for i := range uint64(1000) {
		v := i * 0x9E3779B97F4A7C15
		if got, want := word(v), xxhash.Sum64(binary.LittleEndian.AppendUint64(nil, v)); got != want {
			t.Fatalf("%x: got %x, want %x", v, got, want)
		}
	}
}

func TestHashIsCanonical(t *testing.T) {
	one := func(name, v string) uint64 { return hashOf(t, typeOf(t, name), false, 0, nil, v)[0] }
	for _, x := range [][4]string{
		{"INT", "-7", "BIGINT", "-7"},
		{"BIGINT", "7", "DECIMAL(10, 2)", "7.00"},
		{"DECIMAL(10, 2)", "1.50", "DECIMAL(38, 10)", "1.5"},
		{"DECIMAL(18, 4)", "-1.25", "DECIMAL(20, 2)", "-1.25"},
		{"DOUBLE", "0.0", "DOUBLE", "-0.0"},
		{"TIMESTAMP(3)", "2024-02-29 12:00:00.120", "TIMESTAMP(6)", "2024-02-29 12:00:00.12"},
		{"INT", "NULL", "STRING", "NULL"},
	} {
		if one(x[0], x[1]) != one(x[2], x[3]) {
			t.Errorf("%v: the hashes differ", x)
		}
	}
	if one("BIGINT", "0") == one("BIGINT", "NULL") || one("STRING", "") == one("STRING", "NULL") {
		t.Error("NULL hashes as a value")
	}
	vals := []string{"a", "NULL", "b", "", "a"}
	s := typeOf(t, "STRING")
	for _, sel := range [][]int32{nil, {}, {1, 4}, {0, 2, 3}} {
		want := hashOf(t, s, false, 0, sel, vals...)
		for _, id := range []uint64{0, 9} {
			if got := hashOf(t, s, true, id, sel, vals...); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v, id %d: coded %x, plain %x", sel, id, got, want)
			}
		}
	}
}

// TestHashGrowingDictionary hashes batches whose dictionary grows under one id.
func TestHashGrowingDictionary(t *testing.T) {
	s := typeOf(t, "STRING")
	h := NewHasher([]expr.Type{s, s})
	vals := []string{}
	for i := range 50 {
		vals = append(vals, fmt.Sprint("v", i%20), fmt.Sprint("w", i))
		coded := build(t, memory.DefaultAllocator, s, true, vals...)
		plain := build(t, memory.DefaultAllocator, s, false, vals...)
		a, b := make([]uint64, len(vals)), make([]uint64, len(vals))
		h.Hash([]arrow.Array{coded, plain}, []uint64{5, 0}, nil, a)
		NewHasher([]expr.Type{s, s}).Hash([]arrow.Array{plain, coded}, nil, nil, b)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("after %d rows the hashes differ", len(vals))
		}
	}
}

func TestHashSpread(t *testing.T) {
	n, groups := 1<<14, make([]int, 128)
	vals := make([]int64, n)
	for i := range vals {
		vals[i] = int64(i)
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(vals, nil)
	out := make([]uint64, n)
	NewHasher([]expr.Type{expr.Of(expr.BigInt)}).Hash([]arrow.Array{b.NewArray()}, nil, nil, out)
	for _, h := range out {
		groups[KeyGroup(h, len(groups))]++
	}
	for g, c := range groups {
		if c < 64 || c > 256 { // 128 expected, standard deviation 11
			t.Errorf("key group %d has %d keys of %d", g, c, n)
		}
	}
}

// TestDigest adds the same rows in other orders, batches, forms, types and subtasks.
func TestDigest(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	schema := func(num, dec string) expr.Schema {
		return expr.SchemaOf(expr.Field{Name: "n", Type: typeOf(t, num)}, expr.Field{Name: "d", Type: typeOf(t, dec)}, expr.Field{Name: "s", Type: expr.Of(expr.String)}, expr.Field{Name: "f", Type: expr.Of(expr.Double)})
	}
	rows := [][4]string{{"1", "1.50", "x", "0.0"}, {"2", "NULL", "y", "NaN"}, {"NULL", "3.00", "NULL", "1.5"}, {"1", "1.50", "x", "-0.0"}, {"4", "0.25", "x", "NULL"}}
	batch := func(s expr.Schema, coded bool, order []int) arrow.Record {
		cols := make([]arrow.Array, 4)
		for c := range cols {
			var vals []string
			for _, r := range order {
				vals = append(vals, rows[r][c])
			}
			cols[c] = build(t, alloc, s.Fields[c].Type, coded && c == 2, vals...)
		}
		defer release(cols)
		return NewRecord(s.Fields, cols, int64(len(order)))
	}
	sum := func(num, dec string, coded bool, sel []int32, parts ...[]int) [16]byte {
		s := schema(num, dec)
		total := NewDigest(s)
		for i, p := range parts {
			rec := batch(s, coded, p)
			d := NewDigest(s)
			d.Add(operators.Batch{Rec: rec, Sel: sel, Dict: []uint64{0, 0, uint64(i % 2), 0}})
			total.Merge(d.Sum())
			rec.Release()
		}
		return total.Sum()
	}
	want := sum("BIGINT", "DECIMAL(10, 2)", false, nil, []int{0, 1, 2, 3, 4})
	for name, got := range map[string][16]byte{
		"order":     sum("BIGINT", "DECIMAL(10, 2)", false, nil, []int{4, 3, 2, 1, 0}),
		"batches":   sum("BIGINT", "DECIMAL(10, 2)", true, nil, []int{4}, []int{3, 0}, []int{}, []int{2, 1}),
		"types":     sum("INT", "DECIMAL(38, 7)", true, nil, []int{0, 1, 2, 3, 4}),
		"selection": sum("INT", "DECIMAL(38, 7)", true, []int32{1, 3}, []int{4, 0, 2, 1}, []int{0, 2, 0, 3}, []int{2, 0, 2, 4}),
	} {
		want := want
		if name == "selection" {
			want = sum("BIGINT", "DECIMAL(10, 2)", false, nil, []int{0, 1, 2, 3, 0, 4})
		}
		if got != want {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
	}
	for name, got := range map[string][16]byte{
		"a row less":     sum("BIGINT", "DECIMAL(10, 2)", false, nil, []int{0, 1, 2, 3}),
		"a row twice":    sum("BIGINT", "DECIMAL(10, 2)", false, nil, []int{0, 1, 2, 3, 4, 4}),
		"another column": sum("BIGINT", "DECIMAL(10, 2)", false, nil, []int{0, 1, 2, 3, 0}),
		"nothing":        sum("BIGINT", "DECIMAL(10, 2)", false, nil),
	} {
		if got == want {
			t.Errorf("%s: the digest is the same", name)
		}
	}
}

func TestTextOfEveryType(t *testing.T) {
	eachSample(t, func(t *testing.T, alloc memory.Allocator, typ expr.Type, coded bool, vals []string) {
		arr := build(t, alloc, typ, coded, vals...)
		defer arr.Release()
		if got := show(arr, typ); got != strings.Join(vals, " ") {
			t.Errorf("got %s, want %v", got, vals)
		}
	})
}

// cpu is a reading of the process's processor time: on a busy machine wall time says little.
type cpu int64

func now() cpu {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return cpu(u.Utime.Nano() + u.Stime.Nano())
}

func (c cpu) report(b *testing.B, rows int) {
	b.ReportMetric(float64(now()-c)/float64(b.N)/float64(rows), "cpu-ns/row")
}

func benchmarkColumn(b *testing.B, typ expr.Type, coded bool, id uint64) {
	r := rand.New(rand.NewPCG(1, 2))
	var vals []string
	for range 8192 {
		switch typ.Kind {
		case expr.String:
			vals = append(vals, fmt.Sprint("country ", r.IntN(50)))
		default:
			vals = append(vals, fmt.Sprint(r.IntN(math.MaxInt32)/100))
		}
	}
	arr := build(b, memory.DefaultAllocator, typ, coded, vals...)
	rec := NewRecord([]expr.Field{{Name: "a", Type: typ}}, []arrow.Array{arr}, int64(len(vals)))
	batch := operators.Batch{Rec: rec, Dict: []uint64{id}}
	out := make([]uint64, len(vals))
	b.Run("hash", func(b *testing.B) {
		h := NewHasher([]expr.Type{typ})
		start := now()
		for b.Loop() {
			h.Hash(rec.Columns(), batch.Dict, nil, out)
		}
		start.report(b, 8192)
	})
	b.Run("digest", func(b *testing.B) {
		d := NewDigest(expr.SchemaOf(expr.Field{Name: "a", Type: typ}))
		start := now()
		for b.Loop() {
			d.Add(batch)
		}
		start.report(b, 8192)
	})
	b.Run("take", func(b *testing.B) {
		idx := make([]int32, 0, 8192)
		for i := range int32(8192) {
			if r.IntN(2) == 0 {
				idx = append(idx, i)
			}
		}
		start := now()
		for b.Loop() {
			Take(memory.DefaultAllocator, arr, idx).Release()
		}
		start.report(b, len(idx))
	})
}

func BenchmarkBigInt(b *testing.B)  { benchmarkColumn(b, expr.Of(expr.BigInt), false, 0) }
func BenchmarkDecimal(b *testing.B) { benchmarkColumn(b, expr.DecimalOf(12, 2), false, 0) }
func BenchmarkWide(b *testing.B)    { benchmarkColumn(b, expr.DecimalOf(38, 2), false, 0) }
func BenchmarkText(b *testing.B)    { benchmarkColumn(b, expr.Of(expr.String), false, 0) }
func BenchmarkCoded(b *testing.B)   { benchmarkColumn(b, expr.Of(expr.String), true, 7) }
