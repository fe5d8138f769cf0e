package connectortest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Batches makes batches of a schema whose values go to the edges of every type: plain and with
// dictionary columns, with a selection and without, one without rows and one with none selected.
func Batches(alloc memory.Allocator, in expr.Schema, seed uint64) []operators.Batch {
	rng := rand.New(rand.NewPCG(seed, 11))
	id := expr.NewDictID()
	var out []operators.Batch
	for i, rows := range []int{0, 1, 7, 100, 40, 5} {
		cols := make([]arrow.Array, len(in.Fields))
		dict := make([]uint64, len(in.Fields))
		for k, f := range in.Fields {
			if f.Type.Kind == expr.String && i%2 == 1 {
				cols[k], dict[k] = codes(alloc, rng, f.Type, rows), id+uint64(k)
			} else {
				cols[k] = values(alloc, rng, f.Type, rows)
			}
		}
		b := operators.Batch{Rec: column.NewRecord(in.Fields, cols, int64(rows)), Dict: dict}
		for _, c := range cols {
			c.Release()
		}
		if i >= 3 {
			b.Sel = []int32{}
			for r := range rows {
				if i != 5 && rng.IntN(3) > 0 {
					b.Sel = append(b.Sel, int32(r))
				}
			}
		}
		out = append(out, b)
	}
	return out
}

// words are texts that formats like to get wrong.
func words() []string {
	return []string{
		"", " ", "plain", "NULL", "null", "a,b", `say "hi"`, `"`, "line\nbreak", "cr\r\nlf", "tab\t", "ä€😀", "'", "1e5", "007", "-", `back\slash`,
		"a rather long text that goes on for more than sixteen bytes", " blanks ",
	}
}

// codes is a STRING column as codes of a dictionary in which one word stands twice.
func codes(alloc memory.Allocator, rng *rand.Rand, t expr.Type, rows int) arrow.Array {
	w := array.NewStringBuilder(alloc)
	defer w.Release()
	w.AppendValues(append(words(), "plain"), nil)
	d := w.NewArray()
	defer d.Release()
	b := array.NewInt32Builder(alloc)
	defer b.Release()
	for range rows {
		if !t.NotNull && rng.IntN(5) == 0 {
			b.AppendNull()
		} else {
			b.Append(int32(rng.IntN(d.Len())))
		}
	}
	c := b.NewArray()
	defer c.Release()
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, c, d)
}

// values is a column of a type.
func values(alloc memory.Allocator, rng *rand.Rand, t expr.Type, rows int) arrow.Array {
	b := array.NewBuilder(alloc, t.Arrow())
	defer b.Release()
	for range rows {
		if !t.NotNull && rng.IntN(5) == 0 {
			b.AppendNull()
			continue
		}
		appendValue(b, rng, t)
	}
	return b.NewArray()
}

func appendValue(b array.Builder, rng *rand.Rand, t expr.Type) {
	n := rng.Int64() >> rng.IntN(63) * (1 - 2*rng.Int64N(2))
	edge := rng.IntN(8) == 0
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(n&1 == 0)
	case *array.Int32Builder:
		if edge {
			n = math.MinInt32
		}
		b.Append(int32(n << (64 - t.Bits()) >> (64 - t.Bits())))
	case *array.Int64Builder:
		if t.Kind == expr.Decimal {
			n %= power(t.Precision)
		} else if t.Kind == expr.Time {
			step := power(6 - t.Precision)
			n = (n & math.MaxInt64) % 86_400_000_000 / step * step
			if edge {
				n = 86_400_000_000 - step
			}
		} else if edge {
			n = math.MinInt64
		}
		b.Append(n)
	case *array.Float64Builder:
		v := math.Float64frombits(rng.Uint64())
		if edge || math.IsNaN(v) || math.IsInf(v, 0) {
			v = float64(n) / 8
		}
		if f := float32(v); t.Kind == expr.Float {
			if v = float64(f); math.IsInf(v, 0) {
				v = float64(float32(n) / 8)
			}
		}
		b.Append(v)
	case *array.Decimal128Builder:
		v := decimal128.FromI64(n)
		if t.Precision > 19 && edge {
			v = decimal128.GetMaxValue(int32(t.Precision))
		}
		b.Append(v)
	case *array.Date32Builder:
		b.Append(arrow.Date32(n % 2_932_896))
	case *array.TimestampBuilder:
		step := power(6 - t.Precision)
		b.Append(arrow.Timestamp(n % 200_000_000_000_000_000 / step * step))
	case *array.BinaryBuilder:
		b.Append([][]byte{{}, {0}, {0xff, 0xfe}, []byte("text"), []byte(words()[n&7])}[rng.IntN(5)])
	case *array.StringBuilder:
		w := words()
		if edge {
			b.Append(fmt.Sprint("text ", n))
		} else {
			b.Append(w[rng.IntN(len(w))])
		}
	default:
		b.AppendNull()
	}
}

func power(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}
