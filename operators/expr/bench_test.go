package expr_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

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

// A recycler hands freed memory out again, so that what is measured is not Go's collector.
type recycler struct{ free [][]byte }

func (r *recycler) Allocate(size int) []byte {
	for i, b := range r.free {
		if cap(b) >= size {
			r.free = append(r.free[:i], r.free[i+1:]...)
			return b[:size]
		}
	}
	return memory.DefaultAllocator.Allocate(size)
}

func (r *recycler) Reallocate(size int, b []byte) []byte {
	if cap(b) >= size {
		return b[:size]
	}
	n := r.Allocate(size)
	copy(n, b)
	r.Free(b)
	return n
}

func (r *recycler) Free(b []byte) {
	if len(r.free) < 8 {
		r.free = append(r.free, b)
	}
}

// benchRows is a batch as readers make them, without NULLs.
func benchRows(b *testing.B, n int) (expr.Schema, arrow.Record) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	in := expr.SchemaOf(field("l", "BIGINT"), field("m", "BIGINT"), field("i", "INT"), field("d", "DOUBLE"), field("p", "DECIMAL(12, 2)"),
		field("s", "STRING"), field("t", "STRING"), field("x", "TIMESTAMP(3)"), field("n", "STRING"), field("w", "DECIMAL(38, 2)"))
	rows := make([][]any, n)
	for i := range rows {
		k := int64(r.IntN(1000))
		day := int64(r.IntN(365)) * 86400e6
		rows[i] = []any{big.NewInt(k), big.NewInt(k + 1), big.NewInt(k), float64(k) / 7, big.NewRat(k*100+k%100, 100),
			fmt.Sprint("country ", k%40), fmt.Sprint("text ", k), stamp(1.6e15 + day + r.Int64N(86400)*1e6), fmt.Sprint(k * 1000), big.NewRat(k*1000, 10)}
	}
	cols := make([]arrow.Array, len(in.Fields))
	for c, f := range in.Fields {
		vals := make([]any, n)
		for i := range rows {
			vals[i] = rows[i][c]
		}
		cols[c] = buildColumn(memory.DefaultAllocator, f.Type, vals, f.Name == "s")
	}
	return in, column.NewRecord(in.Fields, cols, int64(n))
}

func compiled(b *testing.B, in expr.Schema, text string) *expr.Program {
	b.Helper()
	e, err := expr.Parse(text, nil)
	if err == nil {
		e, err = expr.Check(e, in, expr.CheckOptions{})
	}
	if err != nil {
		b.Fatal(text, err)
	}
	p, err := expr.Compile(expr.Fold(e), in)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func BenchmarkEval(b *testing.B) {
	const n = 16384
	in, rec := benchRows(b, n)
	dict := make([]uint64, len(in.Fields))
	dict[5] = 9
	for _, text := range []string{"l + 1", "l + m", "l * 3", "l * m", "i * 2", "d * d", "1e0 - d", "p * p", "p + p", "p * 1.5", "p / l", "w + w", "w * 2", "CAST(p AS DOUBLE)", "CAST(l AS INT)", "CAST(l AS DECIMAL(19, 2))",
		"CAST(x AS DATE)", "EXTRACT(YEAR FROM x)", "FLOOR(x TO MONTH)", "UPPER(s)", "UPPER(t)", "t || 'x'", "CAST(n AS BIGINT)", "CAST(n AS DECIMAL(12, 2))", "CAST(n AS DOUBLE)", "CAST(l AS STRING)",
		"CASE WHEN l > 500 THEN l ELSE 0 END", "CASE WHEN l > 500 THEN 'big' ELSE 'small' END", "COALESCE(l, 0)", "ROUND(d, 2)", "s"} {
		b.Run(text, func(b *testing.B) {
			p := compiled(b, in, text)
			alloc := &recycler{}
			start := now()
			for b.Loop() {
				arr, _, err := p.Eval(alloc, rec, dict, nil)
				if err != nil {
					b.Fatal(err)
				}
				arr.Release()
			}
			start.report(b, n)
		})
	}
}

func BenchmarkSelect(b *testing.B) {
	const n = 16384
	in, rec := benchRows(b, n)
	dict := make([]uint64, len(in.Fields))
	dict[5] = 9
	for _, text := range []string{"l > 500", "l > 990", "d < 70", "p >= 10", "w > 100", "s = 'country 7'", "s LIKE '%7'", "t = 'text 7'", "t LIKE '%77%'", "l > 500 AND s = 'country 7'", "s = 'country 7' AND l > 500", "l BETWEEN 100 AND 200", "l IN (1, 2, 3)", "l > m", "x >= TIMESTAMP '2021-01-01 00:00:00'", "l > 500 OR s = 'country 7'"} {
		b.Run(text, func(b *testing.B) {
			p := compiled(b, in, text)
			var out []int32
			start := now()
			for b.Loop() {
				var err error
				if out, err = p.Select(rec, dict, nil, out); err != nil {
					b.Fatal(err)
				}
			}
			start.report(b, n)
		})
	}
}

func BenchmarkScalars(b *testing.B) {
	for _, x := range [][2]string{{"BIGINT", "1234567"}, {"BIGINT", "1234567890"}, {"INT", "42"}, {"DECIMAL(12, 2)", "123.45"}, {"DECIMAL(12, 2)", "12345.6"}, {"DOUBLE", "123.45"}, {"DOUBLE", "1.2345678e10"}, {"DATE", "2024-03-08"}, {"TIMESTAMP(3)", "2024-03-08 12:34:56"}, {"TIMESTAMP(3)", "2024-03-08 12:34:56.789"}} {
		t, err := expr.ParseType(x[0])
		if err != nil {
			b.Fatal(err)
		}
		b.Run(x[0]+" "+x[1], func(b *testing.B) {
			text := []byte(x[1])
			start := now()
			for b.Loop() {
				for range 100 {
					var s expr.Status
					switch t.Kind {
					case expr.Int:
						_, s = expr.ParseInt32(text)
					case expr.BigInt:
						_, s = expr.ParseInt64(text)
					case expr.Decimal:
						_, s = expr.ParseDecimal64(text, t.Precision, t.Scale)
					case expr.Double:
						_, s = expr.ParseDouble(text)
					case expr.Date:
						_, s = expr.ParseDate(text)
					case expr.Timestamp:
						_, s = expr.ParseTimestamp(text, t.Precision)
					}
					if s != expr.OK {
						b.Fatal(s)
					}
				}
			}
			start.report(b, 100)
		})
	}
}
