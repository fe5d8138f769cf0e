package json

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"go.uber.org/goleak"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/rowtext"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cols reads "name TYPE; name TYPE @ path".
func cols(t testing.TB, list string) Columns {
	t.Helper()
	var c Columns
	for _, f := range strings.Split(list, "; ") {
		name, typ, _ := strings.Cut(strings.TrimSpace(f), " ")
		typ, path, has := strings.Cut(typ, " @ ")
		var err error
		if has {
			err = c.SetFields(name, []string{"type", "path"}, []string{typ, path})
		} else {
			err = c.SetEntry(name, typ)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// bindText writes files and binds them.
func bindText(t testing.TB, o Options, e connectors.Env, texts ...string) (dir string, state []byte, err error) {
	t.Helper()
	dir = t.TempDir()
	for i, s := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%c.jsonl", 'a'+i)), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if o.Path == nil {
		o.Path = []string{"*.jsonl*"}
	}
	e.Node, e.Dir = "in", dir
	state, err = bind(context.Background(), o, e)
	return dir, state, err
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// TestSource runs the tests of every source.
func TestSource(t *testing.T) {
	a, b, array := "", "\uFEFF", "[\n"
	var rows []string
	var lines, arrayLines []int64
	for i := range 150 {
		one := fmt.Sprintf(`{"id":%d,"name":"name %d","x":{"amount":%d.5,"tags":["a","b%d"]}}`, i, i%7, i, i)
		a += one + "\n"
		rows = append(rows, fmt.Sprintf("%d|name %d|%d.50|b%d", i, i%7, i, i))
		lines = append(lines, int64(i+1))
		if i > 0 {
			array += ",\n"
		}
		array += strings.ReplaceAll(one, ",", ",\n ")
		arrayLines = append(arrayLines, int64(2+5*i))
	}
	array += "\n]\n"
	first := len(rows)
	for i := range 90 {
		b += fmt.Sprintf("  { \"x\" : {\"more\": [1, {\"amount\": 2}], \"amount\":\t\"%d.25\"}, \"id\":%d, \"name\": null }\r\n", i, i)
		rows = append(rows, fmt.Sprintf("%d|NULL|%d.25|NULL", i, i))
		lines = append(lines, int64(i+1))
	}
	o := Options{Columns: cols(t, "id BIGINT; name STRING; amount DECIMAL(12, 2) @ x.amount; tag STRING @ x.tags[1]")}
	t.Run("lines", func(t *testing.T) { testSource(t, o, []int64{7, 100, 1000}, rows, lines, a, b, "", "\n \n") })
	t.Run("no end", func(t *testing.T) { testSource(t, o, []int64{13, 2000}, rows, lines, a, strings.TrimSuffix(b, "\r\n")) })
	t.Run("gzip", func(t *testing.T) { testSource(t, o, []int64{100}, rows, lines, zipped(a), zipped(b)) })
	o.Format = "array"
	t.Run("array", func(t *testing.T) { testSource(t, o, []int64{100}, rows[:first], arrayLines, array) })
}

func testSource(t *testing.T, o Options, sizes []int64, rows []string, lines []int64, texts ...string) {
	_, state, err := bindText(t, o, connectors.Env{}, texts...)
	if err != nil {
		t.Fatal(err)
	}
	connectortest.Source{
		Open: func(fs files.FS) (connectors.Source, error) { return openIn(fs, state) },
		Rows: rows, Lines: lines, Sizes: sizes,
		Where: atLeast(o.Columns[0].Field, 40),
		Passes: func(row string) bool {
			var id int
			_, err := fmt.Sscan(row[:strings.IndexByte(row, '|')], &id)
			return err == nil && id >= 40
		},
	}.Run(t)
}

// atLeast is the filter that the first column is not less than a number.
func atLeast(c expr.Field, least int64) *expr.Expr {
	return &expr.Expr{Op: expr.OpCall, Name: ">=", Type: expr.Of(expr.Boolean), Args: []*expr.Expr{
		{Op: expr.OpColumn, Name: c.Name, Col: 0, Type: c.Type},
		{Op: expr.OpLiteral, Type: expr.Of(expr.BigInt).Nullable(false), Value: &expr.Value{Int: least}},
	}}
}

// TestRoundTrip: what the sink writes the source reads back, nested values too.
func TestRoundTrip(t *testing.T) {
	c := cols(t, "b BOOLEAN; i INT; l BIGINT NOT NULL; d DOUBLE; f FLOAT; m DECIMAL(9, 2); w DECIMAL(38, 10); s STRING; day DATE; t TIMESTAMP(3); k TINYINT; "+
		"a ARRAY<ROW<x INT, y ARRAY<STRING>>>; o MAP<STRING, DECIMAL(5, 1)>; r ROW<p DATE, q ROW<z DOUBLE>>")
	text := `{"b":true,"i":-1,"l":9223372036854775807,"d":0.1,"f":1.5,"m":-1.25,"w":1234567890123456789012345678.0123456789,"s":"a\"\\\n\u0001é😀","day":"2024-02-29","t":"1969-12-31 23:59:59.999","k":-128,"a":[{"x":1,"y":["p",null,""]},null,{"x":null,"y":[]}],"o":{"":1.5,"k\"":null},"r":{"p":"0001-01-01","q":{"z":"NaN"}}}
{"l":0,"d":"-Infinity","s":"","a":[],"o":{},"r":{}}
{"l":1,"a":null,"r":null}
`
	_, state, err := bindText(t, Options{Columns: c}, connectors.Env{}, text)
	if err != nil {
		t.Fatal(err)
	}
	want, err := readAll(t, state, how{split: 1 << 20})
	if err != nil || len(want.rows) != 3 {
		t.Fatalf("%d rows, %v", len(want.rows), err)
	}
	src, err := openIn(files.Local(), state)
	if err != nil {
		t.Fatal(err)
	}
	rd, err := src.Reader(&operators.Task{Ctx: t.Context(), Alloc: memory.DefaultAllocator})
	if err != nil {
		t.Fatal(err)
	}
	splits, err := src.Enumerator(t.Context(), connectors.SplitOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := splits.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rd.Add(list)
	var out bytes.Buffer
	e := rowtext.NewJSON(src.Schema(), &out)
	b, _, err := rd.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Write(b), e.Finish(), rd.Close()); err != nil {
		t.Fatal(err)
	}
	if _, state, err = bindText(t, Options{Columns: c}, connectors.Env{}, out.String()); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(t, state, how{split: 9})
	if err != nil || !slices.Equal(got.rows, want.rows) {
		t.Errorf("%v\ngot  %q\nwant %q\n%s", err, got.rows, want.rows, out.String())
	}
}
