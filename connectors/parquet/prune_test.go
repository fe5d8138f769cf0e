package parquet

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// prunable is ten row groups of ten rows: n counts up, and the others go along with it; group 3 has
// only NULLs, group 4 some, and group 5 a NaN.
func prunable(t *testing.T, groupRows int64, l *limits) (expr.Schema, string) {
	t.Helper()
	s := schemaOf(t, "n BIGINT; i INT NOT NULL; d DOUBLE; s STRING; day DATE; ms TIMESTAMP(3); us TIMESTAMP(6); m DECIMAL(9, 2); w DECIMAL(38, 2); b BOOLEAN")
	var cols []arrow.Array
	for _, f := range s.Fields {
		b := array.NewBuilder(memory.DefaultAllocator, f.Type.Arrow())
		for row := range 100 {
			v := int64(row) - 20
			if group := row / 10; !f.Type.NotNull && (group == 3 || group == 4 && row%3 == 0) {
				b.AppendNull()
				continue
			}
			switch b := b.(type) {
			case *array.Int64Builder:
				b.Append(v * 10)
			case *array.Int32Builder:
				b.Append(int32(v))
			case *array.Float64Builder:
				d := float64(v) / 2
				if row == 55 {
					d = math.NaN()
				}
				b.Append(d)
			case *array.StringBuilder:
				b.Append(fmt.Sprintf("v%02d ä", row))
			case *array.Date32Builder:
				b.Append(arrow.Date32(v))
			case *array.TimestampBuilder:
				b.Append(arrow.Timestamp(v * 86_400_000_000))
			case *array.Decimal128Builder:
				b.AppendNull()
			case *array.BooleanBuilder:
				b.Append(row < 10)
			}
		}
		cols = append(cols, b.NewArray())
	}
	rec := column.NewRecord(s.Fields, cols, 100)
	var buf bytes.Buffer
	codec, err := sinkState{}.codec()
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEncoder(s, &buf, codec, l, groupRows, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Write(operators.Batch{Rec: rec}); err != nil {
		t.Fatal(err)
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	return s, save(t, buf.Bytes())
}

// TestPrune reads with filters that statistics can answer, in part or not at all: always the rows that
// reading everything gives, and only the row groups that are needed.
func TestPrune(t *testing.T) {
	t.Run("row groups", func(t *testing.T) { testPrune(t, 10, usualLimits()) })
	pages := usualLimits()
	pages.pageRows = 10
	t.Run("pages", func(t *testing.T) { testPrune(t, 100, pages) })
}

func testPrune(t *testing.T, groupRows int64, l *limits) {
	s, path := prunable(t, groupRows, l)
	for text, groups := range map[string]int{
		"n = 400":                              1, // groups read
		"n > 600":                              2,
		"n >= 600":                             2,
		"600 <= n":                             2,
		"n < -150":                             1,
		"n <= -200":                            1,
		"n <> 5":                               9, // all but the one of NULLs
		"n IS NULL":                            2,
		"n IS NOT NULL":                        9,
		"i IS NULL":                            0,
		"n IN (-200, 790)":                     2,
		"n NOT IN (1, 2)":                      10,
		"n BETWEEN 0 AND 40":                   1,
		"n BETWEEN 40 AND 0":                   1,
		"n = 100 AND i > 50":                   0,
		"n = 40 OR i > 70":                     2,
		"n = 100 OR b":                         10,
		"n = 1000 AND (b OR i > 0)":            0,
		"NOT n > 0":                            10,
		"i = 5":                                1,
		"i = 5000000000":                       0,
		"i > 70.5":                             1,
		"d < -5":                               1,
		"d = 25":                               1,
		"d > 35":                               10, // NaN is greater than all
		"d = CAST('NaN' AS DOUBLE)":            10,
		"s = 'v42 ä'":                          1, // a NULL
		"s > 'v89'":                            2,
		"s < 'v1'":                             1,
		"s LIKE 'v1%'":                         10,
		"day = DATE '1970-01-05'":              1,
		"day > DATE '1970-03-15'":              1,
		"us = TIMESTAMP '1970-01-05 00:00:00'": 1,
		"ms < TIMESTAMP '1969-12-20 00:00:00'": 1,
		"CAST(us AS DATE) = DATE '1970-01-05'": 1,
		"m > 0":                                7,
		"w > 0":                                0,
		"b AND n > 0":                          7,
		"n + 1 > 100":                          10,
		"n / i > 3":                            10,
		"n > 700 AND n / i > 3":                10, // it may raise
	} {
		push := connectors.Pushdown{Columns: []int{0, 1, 2, 3}, Where: where(t, text, s), Limit: -1}
		got, read := readPruned(t, path, push, true)
		want, _ := readPruned(t, path, push, false)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %d rows, want %d", text, len(got), len(want))
		}
		if read != int64(groups)*10 {
			t.Errorf("%s: %d rows read, want %d", text, read, groups*10)
		}
	}
}

// readPruned reads a file, using its statistics or not; read is how many rows were looked at.
func readPruned(t *testing.T, path string, push connectors.Pushdown, use bool) (got []string, read int64) {
	t.Helper()
	src := open1(t, Options{Path: []string{path}}).(*source)
	src.Push(push)
	r, err := newReader(src, &operators.Task{Ctx: t.Context(), Alloc: alloc(t)})
	if err != nil {
		t.Fatal(err)
	}
	if !use {
		r.pruner = nil
	}
	e, err := src.Enumerator(t.Context(), connectors.SplitOptions{SplitBytes: 1500}, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, _, err := e.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Add(splits)
	for {
		b, status, err := r.Next(t.Context())
		if err != nil {
			// Some filters raise; they do so in either way.
			got = append(got, err.Error())
			break
		}
		if status != connectors.More {
			break
		}
		got = append(got, lines(b, src.Schema().Pick(push.Columns))...)
		b.Rec.Release()
	}
	tally := r.Tally()[0]
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 && tally.Unread != 0 || tally.Rows != tally.Read+tally.Pruned+tally.Unread {
		t.Errorf("the books: %+v", tally)
	}
	return got, tally.Rows - tally.Pruned
}

// TestUntrustedStats gives statistics that contradict themselves, or that only old writers made.
func TestUntrustedStats(t *testing.T) {
	node := func(list string) *decoder {
		s := schemaOf(t, list)
		n, err := nodes(s)
		if err != nil {
			t.Fatal(err)
		}
		return &decoder{node: n[0].(*schema.PrimitiveNode), typ: s.Fields[0].Type}
	}
	i8 := func(v int64) []byte { return []byte(fmt.Sprintf("%c\x00\x00\x00\x00\x00\x00\x00", rune(v))) }
	nan := []byte("\x00\x00\x00\x00\x00\x00\xf8\x7f")
	for name, c := range map[string]struct {
		typ   string
		stats chunkStats
		want  span
	}{
		"good":            {"x BIGINT", chunkStats{i8(1), i8(9), true, true, 3}, span{least: int64(1), most: int64(9), nulls: 3}},
		"nulls unknown":   {"x BIGINT", chunkStats{i8(1), i8(9), true, true, -1}, span{least: int64(1), most: int64(9), nulls: -1}},
		"swapped":         {"x BIGINT", chunkStats{i8(9), i8(1), true, true, 3}, span{least: nil, most: nil, nulls: -1}},
		"only one":        {"x BIGINT", chunkStats{i8(1), nil, true, false, 3}, span{least: nil, most: nil, nulls: -1}},
		"none":            {"x BIGINT", chunkStats{nil, nil, false, false, 0}, span{least: nil, most: nil, nulls: -1}},
		"all NULL":        {"x BIGINT", chunkStats{nil, nil, false, false, 10}, span{least: nil, most: nil, nulls: 10}},
		"all NULL and no": {"x BIGINT", chunkStats{i8(1), i8(9), true, true, 10}, span{least: nil, most: nil, nulls: -1}},
		"too many NULLs":  {"x BIGINT", chunkStats{i8(1), i8(9), true, true, 11}, span{least: int64(1), most: int64(9), nulls: -1}},
		"too short":       {"x BIGINT", chunkStats{i8(1)[:4], i8(9), true, true, 3}, span{least: nil, most: nil, nulls: 3}},
		"NULLs of none":   {"x BIGINT NOT NULL", chunkStats{nil, nil, false, false, 10}, span{least: nil, most: nil, nulls: -1}},
		"a NULL of none":  {"x BIGINT NOT NULL", chunkStats{i8(1), i8(9), true, true, 1}, span{least: nil, most: nil, nulls: -1}},
		"none, none":      {"x BIGINT NOT NULL", chunkStats{i8(1), i8(9), true, true, 0}, span{least: int64(1), most: int64(9), nulls: 0}},
		"NaN":             {"x DOUBLE", chunkStats{nan, nan, true, true, 3}, span{least: nil, most: nil, nulls: -1}},
		"wide decimal":    {"x DECIMAL(38, 2)", chunkStats{make([]byte, 16), make([]byte, 16), true, true, 3}, span{least: nil, most: nil, nulls: 3}},
	} {
		got := node(c.typ).span(c.stats, 10)
		got.sure, got.why = false, doubt{} // tested by what is left out and what is said
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
