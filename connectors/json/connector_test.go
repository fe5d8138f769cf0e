package json

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
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
	t.Run("lines", func(t *testing.T) { testSource(t, o, rows, lines, a, b, "", "\n \n") })
	t.Run("no end", func(t *testing.T) { testSource(t, o, rows, lines, a, strings.TrimSuffix(b, "\r\n")) })
	t.Run("gzip", func(t *testing.T) { testSource(t, o, rows, lines, zipped(a), zipped(b)) })
	o.Format = "array"
	t.Run("array", func(t *testing.T) { testSource(t, o, rows[:first], arrayLines, array) })
}

func testSource(t *testing.T, o Options, rows []string, lines []int64, texts ...string) {
	_, state, err := bindText(t, o, connectors.Env{}, texts...)
	if err != nil {
		t.Fatal(err)
	}
	connectortest.Source{
		Open: func(fs files.FS) (connectors.Source, error) { return openIn(fs, state) },
		Rows: rows, Lines: lines, Sizes: []int64{7, 13, 100, 1000},
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
