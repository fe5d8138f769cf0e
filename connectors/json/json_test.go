package json

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files/rowtext"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func fields(t *testing.T, list string) expr.Schema {
	t.Helper()
	var s expr.Schema
	for _, f := range strings.Split(list, "; ") {
		name, text, _ := strings.Cut(f, " ")
		typ, err := expr.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Fields = append(s.Fields, expr.Field{Name: name, Type: typ})
	}
	return s
}

// TestSink runs the tests of every sink; the standard library reads the lines back, numbers as the
// digits they have.
func TestSink(t *testing.T) {
	in := fields(t, "b BOOLEAN; i INT; l BIGINT NOT NULL; d DOUBLE; m DECIMAL(9, 2); w DECIMAL(38, 10); s STRING; day DATE; t TIMESTAMP(3); k TINYINT; h SMALLINT; f FLOAT; c TIME(0); g TIMESTAMP_LTZ(3); y BYTES")
	connectortest.Sink{
		Component: connectors.Erase(Spec), In: in, Ext: ".jsonl", Folders: true,
		Options: func(target, mode string) any { return Options{Path: []string{target}, Mode: mode} },
		Read: func(t *testing.T, names []string, in expr.Schema, _ memory.Allocator) []string {
			t.Helper()
			var out []string
			for _, n := range names {
				out = append(out, readLines(t, n, in)...)
			}
			return out
		},
	}.Run(t)
}

func readLines(t *testing.T, name string, in expr.Schema) []string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.UseNumber()
		var row map[string]any
		if err := d.Decode(&row); err != nil || len(row) != len(in.Fields) {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		var cells []string
		for _, f := range in.Fields {
			v := row[f.Name]
			if v == nil {
				v = "NULL"
			}
			cells = append(cells, fmt.Sprint(v))
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}

// TestText holds what is decided about values that JSON has no form for, and its escapes.
func TestText(t *testing.T) {
	in := fields(t, "x DOUBLE; text STRING; big BIGINT; m DECIMAL(38, 2)")
	in.Fields[1].Name = "a \"name\"\n"
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -0.5}, nil)
	s := array.NewStringBuilder(memory.DefaultAllocator)
	s.AppendValues([]string{"", "\x00\x1f\"\\/\t\r\n\u2028é😀", "<&>", "null", "x"}, []bool{true, true, true, true, false})
	l := array.NewInt64Builder(memory.DefaultAllocator)
	l.AppendValues([]int64{math.MaxInt64, math.MinInt64, 9007199254740993, 0, 1}, nil)
	m := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 38, Scale: 2})
	for range 5 {
		if err := m.AppendValueFromString("999999999999999999999999999999999999.99"); err != nil {
			t.Fatal(err)
		}
	}
	rec := column.NewRecord(in.Fields, []arrow.Array{b.NewArray(), s.NewArray(), l.NewArray(), m.NewArray()}, 5)
	var out bytes.Buffer
	e := rowtext.NewJSON(in, &out)
	if err := e.Write(operators.Batch{Rec: rec, Sel: []int32{0, 1, 2, 4}}); err != nil {
		t.Fatal(err)
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	want := `{"x":"NaN","a \"name\"\n":"","big":9223372036854775807,"m":999999999999999999999999999999999999.99}
{"x":"Infinity","a \"name\"\n":"\u0000\u001f\"\\/\t\r\n` + "\u2028" + `é😀","big":-9223372036854775808,"m":999999999999999999999999999999999999.99}
{"x":"-Infinity","a \"name\"\n":"<&>","big":9007199254740993,"m":999999999999999999999999999999999999.99}
{"x":-0.5,"a \"name\"\n":null,"big":1,"m":999999999999999999999999999999999999.99}
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestNotText refuses bytes that are no text instead of changing them.
func TestNotText(t *testing.T) {
	in := fields(t, "s STRING")
	s := array.NewStringBuilder(memory.DefaultAllocator)
	s.Append("\xff")
	rec := column.NewRecord(in.Fields, []arrow.Array{s.NewArray()}, 1)
	sink, err := Spec.BindSink(t.Context(), Options{Path: []string{"x.jsonl"}}, in, connectors.Env{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	k, err := Spec.OpenSink(sink.State, in)
	if err != nil {
		t.Fatal(err)
	}
	w, err := k.Writer(&operators.Task{Ctx: t.Context()}, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	var c interface{ Class() string }
	err = w.Write(operators.Batch{Rec: rec})
	if err == nil || !strings.Contains(err.Error(), `column s holds "\xff"`) {
		t.Errorf("%v", err)
	}
	if c, _ = err.(interface{ Class() string }); c == nil || c.Class() != "SinkError" {
		t.Errorf("%v has class %v", err, c)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(sink.Targets[0]), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestNested writes ARRAY, ROW and MAP as arrays and objects, to any depth; keys of a MAP are texts.
func TestNested(t *testing.T) {
	in := fields(t, "a ARRAY<ROW<s STRING, n DECIMAL(5, 2)>>; m MAP<STRING, DOUBLE>; k MAP<INT, ARRAY<DATE>>; r ROW<`x \"y\"` BOOLEAN, z ROW<t TIMESTAMP(3)>>")
	var cols []arrow.Array
	for i, rows := range []string{
		`[[{"s": "a\"b", "n": 150}, null, {"s": null, "n": null}], [], null]`,
		`[[{"key": "k\n", "value": 1.5}, {"key": "", "value": null}], null, []]`,
		`[[{"key": -7, "value": ["1998-09-02", null]}], [{"key": 1, "value": null}, {"key": 2, "value": []}], null]`,
		`[{"x \"y\"": true, "z": {"t": "1998-09-02 10:00:00.123"}}, {"x \"y\"": null, "z": null}, null]`,
	} {
		arr, _, err := array.FromJSON(memory.DefaultAllocator, in.Fields[i].Type.Arrow(), strings.NewReader(rows))
		if err != nil {
			t.Fatal(err)
		}
		cols = append(cols, arr)
	}
	var out bytes.Buffer
	e := rowtext.NewJSON(in, &out)
	if err := e.Write(operators.Batch{Rec: column.NewRecord(in.Fields, cols, 3)}); err != nil {
		t.Fatal(err)
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	want := `{"a":[{"s":"a\"b","n":1.50},null,{"s":null,"n":null}],"m":{"k\n":1.5,"":null},"k":{"-7":["1998-09-02",null]},"r":{"x \"y\"":true,"z":{"t":"1998-09-02 10:00:00.123"}}}
{"a":[],"m":null,"k":{"1":null,"2":[]},"r":{"x \"y\"":null,"z":null}}
{"a":null,"m":{},"k":null,"r":null}
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}
