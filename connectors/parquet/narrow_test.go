package parquet

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
)

// TestNarrow writes TINYINT, SMALLINT and FLOAT, and reads them as declared, as wider types, and as the
// file has them; what does not fit fails, and a DOUBLE is no FLOAT.
func TestNarrow(t *testing.T) {
	a := alloc(t)
	in := schemaOf(t, "k TINYINT; h SMALLINT; f FLOAT; d DOUBLE; i INT")
	cols := make([]arrow.Array, len(in.Fields))
	for c, f := range in.Fields {
		b := array.NewBuilder(a, f.Type.Arrow())
		for row := range 3 {
			switch b := b.(type) {
			case *array.Int32Builder:
				b.Append([]int32{-128, 127, 5}[row])
			case *array.Float64Builder:
				b.Append([]float64{float64(float32(0.1)), -2.5, float64(float32(3e38))}[row])
			}
		}
		cols[c] = b.NewArray()
		b.Release()
	}
	rec := column.NewRecord(in.Fields, cols, 3)
	for _, c := range cols {
		c.Release()
	}
	dir := t.TempDir()
	names := write(t, a, Options{Path: []string{filepath.Join(dir, "x.parquet")}}, in, 1, operators.Batch{Rec: rec})
	read := func(columns string) (string, error) {
		o := Options{Path: names}
		if columns != "" {
			o.Columns = connectors.Columns(schemaOf(t, columns).Fields)
		}
		got, err := readAll(t, a, input{Options: o})
		slices.Sort(got)
		return strings.Join(got, " "), err
	}
	for columns, want := range map[string]string{
		"k TINYINT; h SMALLINT; f FLOAT":       "-128|-128|0.1| 127|127|-2.5| 5|5|3e+38|",
		"h TINYINT; k BIGINT; i SMALLINT":      "-128|-128|-128| 127|127|127| 5|5|5|",
		"":                                     "-128|-128|0.10000000149011612|0.10000000149011612|-128| 127|127|-2.5|-2.5|127| 5|5|3.0000000054977558e+38|3.0000000054977558e+38|5|",
		"d FLOAT":                              "declared FLOAT",
		"k FLOAT":                              "declared FLOAT",
		"f TINYINT":                            "declared TINYINT",
		"f DOUBLE; k DECIMAL(3, 0); h BOOLEAN": "declared BOOLEAN",
	} {
		got, err := read(columns)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", columns, got, want)
		}
	}
}

// TestInt96 reads instants that a writer counted over the end of 64 bits, and none that nobody can mean.
func TestInt96(t *testing.T) {
	spark := func(micros int64) (v int96) { // its arithmetic, in 64 bits
		since := micros + 2440588*86_400_000_000
		copy(v[:], int96Text(int32(since/86_400_000_000)-2440588, uint64(since%86_400_000_000*1000)))
		return v
	}
	for _, micros := range []int64{0, 1, 9089380393200000000, 9223372036854775807, 9012505233600000000} {
		if got, bad := fromInt96(spark(micros)); bad != nil || got != micros {
			t.Errorf("%d: %d, %+v", micros, got, bad)
		}
	}
	for _, text := range []string{int96Text(-2440590, 36000432100000), int96Text(1<<31-1, 0), int96Text(-1<<31, ^uint64(0))} {
		var v int96
		copy(v[:], text)
		if got, bad := fromInt96(v); bad == nil {
			t.Errorf("%x: %d", text, got)
		}
	}
}
