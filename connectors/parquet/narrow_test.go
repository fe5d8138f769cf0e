package parquet

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

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

// TestNarrowInts reads numbers of 8 and 16 bits whose upper bits are filled in another way than their annotation
// says, and refuses those that have more bits; filters do not go by such bounds.
func TestNarrowInts(t *testing.T) {
	path := filledFile(t, []schema.Node{
		optionalNode(t, "u8", schema.NewIntLogicalType(8, false), parquet.Types.Int32, 0),
		optionalNode(t, "i8", schema.NewIntLogicalType(8, true), parquet.Types.Int32, 0),
		optionalNode(t, "u16", schema.NewIntLogicalType(16, false), parquet.Types.Int32, 0),
		optionalNode(t, "i16", schema.NewIntLogicalType(16, true), parquet.Types.Int32, 0),
		optionalNode(t, "u", schema.NewIntLogicalType(8, false), parquet.Types.Int32, 0),
		optionalNode(t, "i", schema.NewIntLogicalType(16, true), parquet.Types.Int32, 0),
	},
		[]int32{0, 127, 255, -1, -128}, []int32{0, 127, 255, -1, 128}, []int32{0, 32767, 65535, -1, -32768}, []int32{0, 32767, 65535, -1, 32768},
		[]int32{0, 0, 0, 0, -129}, []int32{0, 0, 0, 65536, 0})
	o := Options{Path: []string{path}, Columns: schemaOf(t, "u8 INT; i8 TINYINT; u16 INT; i16 INT").Fields}
	got, err := readAll(t, alloc(t), input{Options: o})
	if want := "0|0|0|0| 127|127|32767|32767| 255|-1|65535|-1| 255|-1|65535|-1| 128|-128|32768|-32768|"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, strings.Join(got, " "), want)
	}
	for condition, rows := range map[string]int{"u8 > 200": 2, "i8 < 0": 3, "u16 = 32768": 1, "i16 = -32768": 1} {
		push := connectors.Pushdown{Columns: []int{0}, Limit: -1, Where: where(t, condition, open1(t, o).Schema())}
		if got, err := readAll(t, alloc(t), input{Options: o, push: &push}); err != nil || len(got) != rows {
			t.Errorf("%s: %q, %v", condition, got, err)
		}
	}
	for column, text := range map[string]string{"u": "-129 is none of the numbers of 8 bits from 0 to 255", "i": "65536 is none of the numbers of 16 bits from -32768 to 32767"} {
		o.Columns = schemaOf(t, column+" INT").Fields
		if _, err := readAll(t, alloc(t), input{Options: o}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", column, err)
		}
	}
}
