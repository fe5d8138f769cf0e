package expr_test

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// parseText reads a text as a type and writes it again, or gives the status.
func parseText(b []byte, t expr.Type) (string, expr.Status) {
	var s expr.Status
	var out []byte
	switch t.Kind {
	case expr.Boolean:
		var v bool
		v, s = expr.ParseBoolean(b)
		out = expr.AppendBoolean(nil, v)
	case expr.TinyInt, expr.SmallInt:
		var v int32
		v, s = expr.ParseSmall(b, t.Bits())
		out = expr.AppendInt(nil, int64(v))
	case expr.Float:
		var v float64
		v, s = expr.ParseFloat(b)
		out = expr.AppendFloat(nil, v)
	case expr.Int:
		var v int32
		v, s = expr.ParseInt32(b)
		out = expr.AppendInt(nil, int64(v))
	case expr.BigInt:
		var v int64
		v, s = expr.ParseInt64(b)
		out = expr.AppendInt(nil, v)
	case expr.Double:
		var v float64
		v, s = expr.ParseDouble(b)
		out = expr.AppendDouble(nil, v)
	case expr.Date:
		var v int32
		v, s = expr.ParseDate(b)
		out = expr.AppendDate(nil, v)
	case expr.Timestamp:
		var v int64
		v, s = expr.ParseTimestamp(b, t.Precision)
		out = expr.AppendTimestamp(nil, v, t.Precision)
	case expr.Time:
		var v int64
		v, s = expr.ParseTime(b, t.Precision)
		out = expr.AppendTime(nil, v, t.Precision)
	case expr.TimestampLTZ:
		utc, err := expr.LoadZone("")
		if err != nil {
			panic(err)
		}
		var v int64
		v, s = expr.ParseTimestampLTZ(b, t.Precision, utc)
		out = expr.AppendTimestampLTZ(nil, v, t.Precision)
	case expr.Bytes:
		var v []byte
		v, s = expr.ParseBytes(b)
		out = expr.AppendBytes(nil, v)
	case expr.Decimal:
		n, st := expr.ParseDecimal128(b, t.Precision, t.Scale)
		s, out = st, expr.AppendDecimal128(nil, n, t.Scale)
		if t.Precision <= expr.MaxDecimal64 {
			v, st := expr.ParseDecimal64(b, t.Precision, t.Scale)
			if short := expr.AppendDecimal(nil, v, t.Scale); st != s || s == expr.OK && string(short) != string(out) {
				panic(fmt.Sprintf("%q as %s: %s in 64 bits (%d), %s in 128 (%d)", b, t, short, st, out, s))
			}
		}
	}
	return string(out), s
}

// TestScalarScripts runs testdata/scalar: "as TYPE" reads each line (in quotes where blanks matter).
func TestScalarScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scalar", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			typ, err := expr.ParseType(typeArg(d))
			if err != nil {
				t.Fatal(err)
			}
			out := ""
			for _, line := range lines(d.Input) {
				text, s := parseText([]byte(line), typ)
				if s != expr.OK {
					text = map[expr.Status]string{expr.Empty: "empty", expr.Malformed: "malformed", expr.OutOfRange: "out of range", expr.Fraction: "fraction", expr.Zoned: "zoned"}[s]
				}
				out += fmt.Sprintf("%q -> %s\n", line, text)
			}
			return out
		})
	})
}

// checkScalar compares the readers with the oracle's regular expressions and big numbers, and reads
// what is written.
func checkScalar(t *testing.T, text string) {
	t.Helper()
	for _, name := range []string{"BOOLEAN", "TINYINT", "SMALLINT", "FLOAT", "INT", "BIGINT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(18, 0)", "DECIMAL(18, 18)", "DECIMAL(38, 10)", "DATE", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIME(0)", "TIME(6)", "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(6)", "BYTES"} {
		typ, err := expr.ParseType(name)
		if err != nil {
			t.Fatal(err)
		}
		got, s := parseText([]byte(text), typ)
		v, class := attempt(func() any { return fromString(text, typ) })
		if (s == expr.OK) != (class == "") {
			t.Fatalf("%q as %s: status %d (%s), the oracle says %v %s", text, name, s, got, v, class)
		}
		if s != expr.OK {
			continue
		}
		if want := shown(v, typ); got != want {
			t.Fatalf("%q as %s: %s, the oracle says %s", text, name, got, want)
		}
		if again, s := parseText([]byte(got), typ); s != expr.OK || again != got {
			t.Fatalf("%q as %s is written %s and read back as %s (%d)", text, name, got, again, s)
		}
	}
}

func FuzzScalars(f *testing.F) {
	for _, s := range someTexts {
		f.Add(s)
	}
	for _, s := range []string{"2020-12-31 21:25:58.745232", "1969-12-31T23:59:59.9", "-290308-12-21 19:59:05.224192", "294247-01-10 04:00:54.775807", "5881580-07-11",
		"99999999.995", "-0.005", "1e-400", "1e400", "-92233720368547758085", "9223372036854775807", "00000000000000000000012", "1.", ".", "-", "+.5e-3", "4.35", "2020-1-5 3:4", "9:5", "24:00:00", "12:34:56.7890123", "2024-01-01T00:00:00+18:00", "2024-01-01 00:00 -0530", "2024-01-01 00:00:00 utc", "2024-01-01Z", "AP8=", "AP8", "AP9="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkScalar(t, s) })
}

// TestScalarsRoundTrip writes and reads values all over their ranges.
func TestScalarsRoundTrip(t *testing.T) {
	n := 6000
	if testing.Short() {
		n = 600
	}
	for i := range n {
		x := uint64(i) * 0x9E3779B97F4A7C15
		f := math.Float64frombits(x)
		if got, s := expr.ParseDouble(expr.AppendDouble(nil, f)); s != expr.OK || math.Float64bits(got) != math.Float64bits(f) && f == f {
			t.Fatalf("%v comes back as %v (%d)", f, got, s)
		}
		for bits, java := range map[int]string{64: string(expr.AppendJavaDouble(nil, f)), 32: string(expr.AppendJavaFloat(nil, float64(float32(f))))} {
			want := f
			if bits == 32 {
				want = float64(float32(f))
			}
			if got, err := strconv.ParseFloat(java, bits); f == f && (err != nil || got != want) {
				t.Fatalf("%v is %s in Java and comes back as %v, %v", want, java, got, err)
			}
		}
		d := int32(x >> 32)
		if got, s := expr.ParseDate(expr.AppendDate(nil, d)); s != expr.OK || got != d {
			t.Fatalf("day %d (%s) comes back as %d (%d)", d, expr.AppendDate(nil, d), got, s)
		}
		m := int64(x)
		if got, s := expr.ParseTimestamp(expr.AppendTimestamp(nil, m, 6), 6); s != expr.OK || got != m {
			t.Fatalf("%d (%s) comes back as %d (%d)", m, expr.AppendTimestamp(nil, m, 6), got, s)
		}
		if got, s := expr.ParseInt64(expr.AppendInt(nil, m)); s != expr.OK || got != m {
			t.Fatalf("%d comes back as %d (%d)", m, got, s)
		}
		u := new(big.Int).Rem(new(big.Int).Mul(big.NewInt(m), new(big.Int).SetUint64(x*x+1)), ten(38))
		r := new(big.Rat).SetFrac(u, ten(i%39))
		checkScalar(t, r.FloatString(i%39))
	}
}

func lines(s string) []string {
	var out []string
	for len(s) > 0 {
		i := 0
		for i < len(s) && s[i] != '\n' {
			i++
		}
		line := s[:i]
		if len(line) > 1 && line[0] == '"' {
			line = line[1 : len(line)-1]
		}
		out = append(out, line)
		s = s[min(len(s), i+1):]
	}
	return out
}

// typeArg is the argument type=T; T with numbers stands in brackets.
func typeArg(d *datadriven.TestData) string { return strings.Join(d.CmdArgs[0].Vals, ", ") }
