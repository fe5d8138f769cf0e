package parquet

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/xitongsys/parquet-go-source/buffer"
	other "github.com/xitongsys/parquet-go/reader"
	"github.com/xitongsys/parquet-go/types"
	"github.com/xitongsys/parquet-go/writer"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// TestOtherReader lets an independent implementation read what the sink writes, all types and NULLs.
func TestOtherReader(t *testing.T) {
	s := schemaOf(t, everyType)
	for _, compression := range []string{"snappy", "zstd", "none"} {
		a := alloc(t)
		path := filepath.Join(t.TempDir(), "out.parquet")
		b := operators.Batch{Rec: record(a, s, 0, 500, true)}
		want := lines(b, s)
		write(t, a, Options{Path: []string{path}, Compression: compression, RowGroupRows: 120}, s, 1, b)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pr, err := other.NewParquetColumnReader(buffer.NewBufferFileFromBytes(data), 1)
		if err != nil {
			t.Fatal(err)
		}
		if pr.GetNumRows() != 500 {
			t.Fatal(pr.GetNumRows())
		}
		got := make([]string, 500)
		for c, f := range s.Fields {
			values, _, levels, err := pr.ReadColumnByIndex(int64(c), 500)
			if err != nil || len(values) != 500 {
				t.Fatal(f.Name, len(values), err)
			}
			for row, v := range values {
				if !f.Type.NotNull && levels[row] == 0 {
					v = nil
				}
				got[row] += foreignText(v, f.Type) + "|"
			}
		}
		pr.ReadStop()
		for row := range want {
			if got[row] != want[row] {
				t.Fatalf("%s row %d:\n got %s\nwant %s", compression, row, got[row], want[row])
			}
		}
	}
}

// foreignText is the text of a physical value, made without this repository's code for values.
func foreignText(v any, typ expr.Type) string {
	unscaled := func(n *big.Int) string {
		s := new(big.Int).Abs(n).String()
		if typ.Scale > 0 {
			s = strings.Repeat("0", max(typ.Scale+1-len(s), 0)) + s
			s = s[:len(s)-typ.Scale] + "." + s[len(s)-typ.Scale:]
		}
		if n.Sign() < 0 {
			s = "-" + s
		}
		return s
	}
	switch v := v.(type) {
	case nil:
		return "NULL"
	case int32:
		if typ.Kind == expr.Date {
			d := time.Unix(int64(v)*86400, 0).UTC()
			if d.Year() > 9999 {
				return fmt.Sprintf("%d-%02d-%02d", d.Year(), d.Month(), d.Day())
			}
			return d.Format("2006-01-02")
		}
		if typ.Kind == expr.Time {
			return time.UnixMilli(int64(v)).UTC().Format("15:04:05.000")
		}
		return fmt.Sprint(v)
	case int64:
		switch {
		case typ.Kind == expr.Decimal:
			return unscaled(big.NewInt(v))
		case typ.Kind == expr.Time:
			return time.UnixMicro(v).UTC().Format("15:04:05.000000")
		case typ.Kind == expr.TimestampLTZ:
			return foreignText(v, expr.TimestampOf(typ.Precision)) + "Z"
		case typ.Kind == expr.Timestamp && typ.Precision <= 3:
			return time.UnixMilli(v).UTC().Format(strings.TrimSuffix("2006-01-02 15:04:05."+strings.Repeat("0", typ.Precision), "."))
		case typ.Kind == expr.Timestamp:
			return time.UnixMicro(v).UTC().Format("2006-01-02 15:04:05." + strings.Repeat("0", typ.Precision))
		}
		return fmt.Sprint(v)
	case float32:
		return string(expr.AppendFloat(nil, float64(v)))
	case float64:
		return string(expr.AppendDouble(nil, v))
	case string:
		if typ.Kind == expr.Bytes {
			return base64.StdEncoding.EncodeToString([]byte(v))
		}
		if typ.Kind == expr.Decimal {
			n := new(big.Int).SetBytes([]byte(v))
			if v[0]&0x80 != 0 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v))))
			}
			return unscaled(n)
		}
		return v
	}
	return fmt.Sprint(v)
}

// A foreign row is written by the other implementation.
type foreign struct {
	D32  *int32   `parquet:"name=d32, type=INT32, convertedtype=DECIMAL, precision=9, scale=2"`
	D64  *int64   `parquet:"name=d64, type=INT64, convertedtype=DECIMAL, precision=12, scale=2"`
	DF   *string  `parquet:"name=df, type=FIXED_LEN_BYTE_ARRAY, length=16, convertedtype=DECIMAL, precision=24, scale=2"`
	DB   *string  `parquet:"name=db, type=BYTE_ARRAY, convertedtype=DECIMAL, precision=24, scale=2"`
	T96  *string  `parquet:"name=t96, type=INT96"`
	TNs  *int64   `parquet:"name=tns, type=INT64, logicaltype=TIMESTAMP, logicaltype.isadjustedtoutc=true, logicaltype.unit=NANOS"`
	U32  *int32   `parquet:"name=u32, type=INT32, convertedtype=UINT_32"`
	U64  *int64   `parquet:"name=u64, type=INT64, convertedtype=UINT_64"`
	I8   *int32   `parquet:"name=i8, type=INT32, convertedtype=INT_8"`
	F    *float32 `parquet:"name=f, type=FLOAT"`
	Raw  *string  `parquet:"name=raw, type=BYTE_ARRAY"`
	Day  *int32   `parquet:"name=day, type=INT32, convertedtype=DATE"`
	DL   *int64   `parquet:"name=dl, type=INT64, encoding=DELTA_BINARY_PACKED"`
	DLA  *string  `parquet:"name=dla, type=BYTE_ARRAY, convertedtype=UTF8, encoding=DELTA_LENGTH_BYTE_ARRAY"`
	DBA  *string  `parquet:"name=dba, type=BYTE_ARRAY, convertedtype=UTF8, encoding=DELTA_BYTE_ARRAY"`
	List []int32  `parquet:"name=list, type=LIST, valuetype=INT32"`
}

func ptr[T any](v T) *T { return &v }

func foreignFile(t *testing.T, rows ...foreign) string {
	t.Helper()
	var b bytes.Buffer
	w, err := writer.NewParquetWriterFromWriter(&b, new(foreign), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteStop(); err != nil {
		t.Fatal(err)
	}
	return save(t, b.Bytes())
}

func bigEndianOf(n string, size int) *string {
	v, _ := new(big.Int).SetString(n, 10)
	if v.Sign() < 0 {
		v.Add(v, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return ptr(string(v.FillBytes(make([]byte, size))))
}

// TestForeignTypes reads what another writer wrote, in all the ways a type can be stored.
func TestForeignTypes(t *testing.T) {
	at := time.Date(2022, 1, 1, 9, 9, 9, 9009000, time.UTC)
	path := foreignFile(t,
		foreign{
			D32: ptr(int32(-12345)), D64: ptr(int64(-12345)), DF: bigEndianOf("-12345", 16), DB: bigEndianOf("-12345", 2),
			T96: ptr(types.TimeToINT96(at)), TNs: ptr(at.UnixNano()), U32: ptr(int32(-1)), U64: ptr(int64(7)), I8: ptr(int32(-128)),
			F: ptr(float32(0.5)), Raw: ptr("text"), Day: ptr(int32(2932897)), DL: ptr(int64(10)), DLA: ptr("a"), DBA: ptr("prefix-1"),
		},
		foreign{List: []int32{1}},
		foreign{
			D32: ptr(int32(0)), D64: ptr(int64(0)), DF: bigEndianOf("999999999999999999999999", 16), DB: bigEndianOf("999999999999999999999999", 11),
			T96: ptr(int96Text(-1, 86_399_999_999_999)), TNs: ptr(int64(-1)), U32: ptr(int32(5)), U64: ptr(int64(1)), I8: ptr(int32(127)),
			F: ptr(float32(-2)), Raw: ptr(""), Day: ptr(int32(-1)), DL: ptr(int64(-10)), DLA: ptr("bb"), DBA: ptr("prefix-2"),
		},
	)
	got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"-123.45|-123.45|-123.45|-123.45|2022-01-01 09:09:09.009009|2022-01-01 09:09:09.009009Z|4294967295|7|-128|0.5|dGV4dA==|10000-01-01|10|a|prefix-1|[]|",
		strings.Repeat("NULL|", 15) + "[1]|",
		"0.00|0.00|9999999999999999999999.99|9999999999999999999999.99|1969-12-31 23:59:59.999999|1969-12-31 23:59:59.999999Z|5|1|127|-2.0||1969-12-31|-10|bb|prefix-2|[]|",
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("row %d:\n got %q\nwant %q", i, got, want[i])
		}
	}
}

// TestNestedByAnother reads a list that another writer wrote, and refuses a plan that declares it something else.
func TestNestedByAnother(t *testing.T) {
	path := foreignFile(t, foreign{List: []int32{1}, DLA: ptr("a"), DBA: ptr("b")})
	src := open1(t, Options{Path: []string{path}})
	if i := src.Schema().Index("list"); i < 0 || src.Schema().Fields[i].Type.String() != "ARRAY<INT NOT NULL> NOT NULL" {
		t.Errorf("%s", src.Schema())
	}
	_, err := Spec.Bind(t.Context(), Options{Path: []string{path}, Columns: schemaOf(t, "list STRING").Fields}, connectors.Env{})
	var e *connectors.DataError
	if !errors.As(err, &e) || e.Kind != "SchemaMismatch" || e.Field != "list" {
		t.Errorf("%v", err)
	}
}

// TestUnsigned reads all unsigned numbers of 64 bits where the declared type holds them.
func TestUnsigned(t *testing.T) {
	var rows []foreign
	for _, u := range []uint64{0, 1, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
		rows = append(rows, foreign{DL: ptr(int64(1)), U64: ptr(int64(u)), T96: ptr(int96Text(0, 0)), DF: bigEndianOf("1", 16), DB: bigEndianOf("1", 2), D32: ptr(int32(1)), Raw: ptr("x"), DLA: ptr("x"), DBA: ptr("x")})
	}
	path := foreignFile(t, rows...)
	for _, typ := range []string{"DECIMAL(20, 0)", "DECIMAL(38, 0)", "STRING", ""} {
		o := Options{Path: []string{path}}
		if typ != "" {
			o.Columns = schemaOf(t, "u64 "+typ).Fields
		} else {
			typ = "DECIMAL(20, 0)"
		}
		got, err := readAll(t, alloc(t), input{Options: o})
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Columns) == 0 {
			at := open1(t, o).Schema().Index("u64")
			for i, row := range got {
				got[i] = strings.Split(row, "|")[at]
			}
		}
		text := strings.ReplaceAll(strings.Join(got, ";"), "|", "")
		if text != "0;1;9223372036854775807;9223372036854775808;18446744073709551615" {
			t.Errorf("%s: %s", typ, text)
		}
		push := connectors.Pushdown{Columns: []int{open1(t, o).Schema().Index("u64")}, Limit: -1}
		push.Where = where(t, "u64 = CAST('18446744073709551615' AS "+typ+")", open1(t, o).Schema())
		if got, err := readAll(t, alloc(t), input{Options: o, push: &push}); err != nil || len(got) != 1 && typ != "STRING" {
			t.Errorf("%s, filtered: %v %v", typ, got, err)
		}
	}
}

// int96Text is days from 1970 and nanoseconds of the day.
func int96Text(days int32, nanos uint64) string {
	b := binary.LittleEndian.AppendUint64(nil, nanos)
	return string(binary.LittleEndian.AppendUint32(b, uint32(days+2440588)))
}

// TestValuesThatDoNotFit fail with their row, but only where the filter lets them through.
func TestValuesThatDoNotFit(t *testing.T) {
	path := foreignFile(t,
		foreign{DL: ptr(int64(1)), U64: ptr(int64(1)), T96: ptr(int96Text(0, 0)), DF: bigEndianOf("1", 16), DB: bigEndianOf("1", 2), D32: ptr(int32(1)), Raw: ptr("x"), DLA: ptr("x"), DBA: ptr("x")},
		foreign{DL: ptr(int64(2)), U64: ptr(int64(-1)), Raw: ptr("\xff\xfe"), T96: ptr(int96Text(1<<30, 0)), D32: ptr(int32(2_000_000_000)), DF: bigEndianOf("1", 16), DB: ptr("\x01" + strings.Repeat("\x00", 16))},
		foreign{DL: ptr(int64(3)), U64: ptr(int64(3)), T96: ptr(int96Text(0, 0)), DF: bigEndianOf("1", 16), DB: bigEndianOf("1", 2), D32: ptr(int32(1)), Raw: ptr("x"), DLA: ptr("x"), DBA: ptr("x")},
	)
	for _, c := range []struct{ column, class, text string }{
		{"u64", "Overflow", "18446744073709551615 does not fit BIGINT; declared as DECIMAL(20, 0) the column holds it"},
		{"raw", "SchemaMismatch", "no UTF-8 text"},
		{"t96", "Overflow", "Julian day"},
		{"d32", "Overflow", "20000000.00 does not fit DECIMAL(9, 2)"},
		{"db", "Overflow", "does not fit DECIMAL(24, 2)"},
	} {
		o := Options{Path: []string{path}}
		if c.column == "u64" {
			o.Columns = schemaOf(t, "dl BIGINT; u64 BIGINT").Fields
		}
		if c.column == "raw" { // declared as text, which old writers do not annotate
			o.Columns = schemaOf(t, "dl BIGINT; raw STRING").Fields
		}
		src := open1(t, o)
		s := src.Schema()
		push := connectors.Pushdown{Columns: []int{s.Index(c.column)}, Limit: -1}
		_, err := readAll(t, alloc(t), input{Options: o, push: &push})
		var e *connectors.DataError
		if !errors.As(err, &e) || e.Kind != c.class || e.Line != 2 || e.Field != c.column || e.Order != [2]int64{1, 0} || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %+v", c.column, err)
		}
		push.Where = where(t, "dl <> 2", s)
		got, err := readAll(t, alloc(t), input{Options: o, push: &push})
		if err != nil || len(got) != 2 {
			t.Errorf("%s, filtered: %v, %v", c.column, got, err)
		}
	}
}

func open1(t *testing.T, o Options) connectors.Source {
	t.Helper()
	state, err := Spec.Bind(t.Context(), o, connectors.Env{Node: "in"})
	if err != nil {
		t.Fatal(err)
	}
	src, err := Spec.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func where(t *testing.T, text string, s expr.Schema) *expr.Expr {
	t.Helper()
	e, err := expr.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e, err = expr.Check(e, s, expr.CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPush reads some columns of rows that pass a filter, as filtering afterwards would.
func TestPush(t *testing.T) {
	a := alloc(t)
	s := schemaOf(t, everyType)
	path := filepath.Join(t.TempDir(), "out.parquet")
	b := operators.Batch{Rec: record(memory.DefaultAllocator, s, 0, 1000, false)}
	all := lines(b, s)
	write(t, a, Options{Path: []string{path}, RowGroupRows: 300}, s, 1, b)
	for _, c := range []struct {
		where   string
		columns []string
		keep    func(f []string) bool
	}{
		{"b AND s = 'plain'", []string{"sn", "l", "sn"}, func(f []string) bool { return f[0] == "true" && f[8] == "plain" }},
		{"m18 > 0 AND day IS NOT NULL", []string{"t6", "m18"}, func(f []string) bool { return f[5] != "NULL" && f[5][0] != '-' && f[5] != "0.0000" && f[10] != "NULL" }},
		{"l < -9000000000000000000", []string{"l"}, func(f []string) bool { return f[2] == "-9223372036854775808" }},
		{"i IS NULL AND i IS NOT NULL", []string{"i", "s"}, func([]string) bool { return false }},
		{"TRUE", nil, func([]string) bool { return true }},
	} {
		push := connectors.Pushdown{Where: where(t, c.where, s), Limit: -1}
		for _, n := range c.columns {
			push.Columns = append(push.Columns, s.Index(n))
		}
		var want []string
		for _, l := range all {
			f := strings.Split(l, "|")
			if !c.keep(f) {
				continue
			}
			out := ""
			for _, p := range push.Columns {
				out += f[p] + "|"
			}
			want = append(want, out)
		}
		for _, read := range []int64{0, 64, 64 * 7} {
			got, err := readAll(t, a, input{
				Options: Options{Path: []string{path}, Columns: s.Fields}, push: &push, split: connectors.SplitOptions{ReadBytes: read},
			})
			if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s, read %d: %d rows, want %d, %v", c.where, read, len(got), len(want), err)
			}
		}
	}
}
