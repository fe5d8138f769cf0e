package parquet

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

var (
	requiredRep = parquet.Repetitions.Required
	optionalRep = parquet.Repetitions.Optional
	repeatedRep = parquet.Repetitions.Repeated
)

func group(t *testing.T, name string, r parquet.Repetition, kind schema.ConvertedType, fields ...schema.Node) schema.Node {
	t.Helper()
	g, err := schema.NewGroupNodeConverted(name, r, fields, kind, -1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestFormsOfLists reads the forms of LIST and MAP that old writers left, by the rules of the format.
func TestFormsOfLists(t *testing.T) {
	list, pairs, none, old := schema.ConvertedTypes.List, schema.ConvertedTypes.Map, schema.ConvertedTypes.None, schema.ConvertedTypes.MapKeyValue
	n := func(name string, r parquet.Repetition) schema.Node { return schema.NewInt32Node(name, r, -1) }
	s := func(name string, r parquet.Repetition) schema.Node {
		x, err := schema.NewPrimitiveNodeConverted(name, r, parquet.Types.ByteArray, schema.ConvertedTypes.UTF8, 0, 0, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		node schema.Node
		want string
	}{
		{group(t, "a", optionalRep, list, group(t, "list", repeatedRep, none, n("element", optionalRep))), "ARRAY<INT>"},
		{group(t, "a", requiredRep, list, group(t, "bag", repeatedRep, none, n("array_element", requiredRep))), "ARRAY<INT NOT NULL> NOT NULL"},
		{group(t, "a", optionalRep, list, n("element", repeatedRep)), "ARRAY<INT NOT NULL>"},
		{group(t, "a", optionalRep, list, group(t, "element", repeatedRep, none, s("str", requiredRep), n("num", optionalRep))), "ARRAY<ROW<str STRING NOT NULL, num INT> NOT NULL>"},
		{group(t, "a", optionalRep, list, group(t, "array", repeatedRep, none, s("str", requiredRep))), "ARRAY<ROW<str STRING NOT NULL> NOT NULL>"},
		{group(t, "a", optionalRep, list, group(t, "a_tuple", repeatedRep, none, s("str", optionalRep))), "ARRAY<ROW<str STRING> NOT NULL>"},
		{group(t, "a", optionalRep, list, group(t, "element", repeatedRep, none, n("x", repeatedRep))), "ARRAY<ROW<x ARRAY<INT NOT NULL> NOT NULL> NOT NULL>"},
		{group(t, "a", optionalRep, list, group(t, "list", repeatedRep, none, group(t, "element", optionalRep, list, group(t, "list", repeatedRep, none, n("element", optionalRep))))), "ARRAY<ARRAY<INT>>"},
		{n("a", repeatedRep), "ARRAY<INT NOT NULL> NOT NULL"},
		{group(t, "a", repeatedRep, none, n("x", optionalRep), s("y", repeatedRep)), "ARRAY<ROW<x INT, y ARRAY<STRING NOT NULL> NOT NULL> NOT NULL> NOT NULL"},
		{group(t, "a", optionalRep, pairs, group(t, "key_value", repeatedRep, none, s("key", requiredRep), n("value", optionalRep))), "MAP<STRING NOT NULL, INT>"},
		{group(t, "a", requiredRep, pairs, group(t, "map", repeatedRep, old, s("key", optionalRep), n("value", requiredRep))), "MAP<STRING NOT NULL, INT NOT NULL> NOT NULL"},
		{group(t, "a", optionalRep, old, group(t, "map", repeatedRep, none, n("key", requiredRep), s("value", optionalRep))), "MAP<INT NOT NULL, STRING>"},
		{group(t, "a", optionalRep, pairs, group(t, "key_value", repeatedRep, none, s("key", requiredRep))), "ARRAY<STRING NOT NULL>"},
		{group(t, "a", optionalRep, none, group(t, "b", requiredRep, none, n("c", optionalRep))), "ROW<b ROW<c INT> NOT NULL>"},

		{group(t, "a", optionalRep, list, n("x", repeatedRep), n("y", repeatedRep)), "its LIST has 2 fields and not one that repeats"},
		{group(t, "a", optionalRep, list, n("x", optionalRep)), "its LIST has 1 fields and not one that repeats"},
		{group(t, "a", optionalRep, pairs, group(t, "kv", repeatedRep, none, n("k", requiredRep), n("v", optionalRep), n("w", optionalRep))), "its MAP is not one group that repeats"},
		{group(t, "a", optionalRep, none, n("x", optionalRep), n("x", optionalRep)), "it has two fields a.x"},
	} {
		root, err := schema.NewGroupNode("schema", requiredRep, schema.FieldList{c.node, n("after", optionalRep)}, -1)
		if err != nil {
			t.Fatal(err)
		}
		sc := schema.NewSchema(root)
		has := leaves(sc)
		got := has[0].typ.String()
		if has[0].why != "" {
			got = has[0].why
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\nis %s, not %s", sc, got, c.want)
		}
		if last := has[1]; last.index != sc.NumColumns()-1 || last.name != "after" {
			t.Errorf("%s\nthe column after it is %+v", sc, last)
		}
	}
	deep := n("x", optionalRep)
	for range maxNesting {
		deep = group(t, "x", optionalRep, none, deep)
	}
	root, err := schema.NewGroupNode("schema", requiredRep, schema.FieldList{deep}, -1)
	if err != nil {
		t.Fatal(err)
	}
	if has := leaves(schema.NewSchema(root)); !strings.Contains(has[0].why, "nested deeper than 64 types") {
		t.Errorf("%+v", has[0])
	}
}

// TestTwoLevelList reads values of the oldest form, whose elements are never NULL.
func TestTwoLevelList(t *testing.T) {
	list := group(t, "a", optionalRep, schema.ConvertedTypes.List, schema.NewInt32Node("element", repeatedRep, -1))
	root, err := schema.NewGroupNode("schema", requiredRep, schema.FieldList{list}, -1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root)
	c, err := w.AppendRowGroup().NextColumn()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{1, 2, 3}, []int16{2, 2, 0, 1, 2}, []int16{0, 1, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{save(t, b.Bytes())}}})
	if err != nil || strings.Join(got, " ") != "[1, 2]| NULL| []| [3]|" {
		t.Errorf("%v %v", got, err)
	}
}

// nestedFile writes columns given as JSON.
func nestedFile(t testing.TB, name, types string, rows ...string) string {
	t.Helper()
	var fields []expr.Field
	var cols []arrow.Array
	for i, f := range strings.Split(types, "; ") {
		n, text, _ := strings.Cut(f, " ")
		typ, err := expr.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		arr, _, err := array.FromJSON(memory.DefaultAllocator, typ.Arrow(), strings.NewReader(rows[i]))
		if err != nil {
			t.Fatal(err)
		}
		fields, cols = append(fields, expr.Field{Name: n, Type: typ}), append(cols, arr)
	}
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	rec := column.NewRecord(fields, cols, int64(cols[0].Len()))
	w, err := pqarrow.NewFileWriter(rec.Schema(), f, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	orderTypes = "id INT; c ROW<name STRING, addr ROW<city STRING, zip INT>>; items ARRAY<ROW<sku STRING, qty INT>>; m MAP<STRING, ROW<x INT, y STRING>>"
	orderIDs   = "[1, 2, 3]"
	orderC     = `[{"name": "ann", "addr": {"city": "Ulm", "zip": 7}}, null, {"name": null, "addr": null}]`
	orderItems = `[[{"sku": "1", "qty": 1}, null, {"sku": "c", "qty": 3}], [], null]`
	orderM     = `[[{"key": "a", "value": {"x": 1, "y": "p"}}, {"key": "b", "value": null}], null, []]`
)

// TestNestedDeclared reads nested columns as they are declared: by name, casts within, NULL for what the file has
// not, and refuses what does not fit.
func TestNestedDeclared(t *testing.T) {
	path := nestedFile(t, "o.parquet", orderTypes, orderIDs, orderC, orderItems, orderM)
	read := func(columns string) (string, error) {
		got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}, Columns: schemaOf(t, columns).Fields}})
		return strings.Join(got, " "), err
	}
	for columns, want := range map[string]string{
		"c ROW<addr ROW<zip BIGINT>, name STRING>":                  "((7), ann)| NULL| (NULL, NULL)|",
		"c ROW<addr ROW<zip STRING, extra DATE>, other ARRAY<INT>>": "((7, NULL), NULL)| NULL| (NULL, NULL)|",
		"c ROW<other INT>":                                "(NULL)| NULL| (NULL)|",
		"items ARRAY<ROW<qty SMALLINT>>":                  "[(1), NULL, (3)]| []| NULL|",
		"items ARRAY<ROW<nothing ROW<a INT>>>":            "[(NULL), NULL, (NULL)]| []| NULL|",
		"m MAP<STRING, ROW<y STRING>>; id BIGINT":         "{a=(p), b=NULL}|1| NULL|2| {}|3|",
		"c ROW<name STRING, addr ROW<city STRING>>":       "(ann, (Ulm))| NULL| (NULL, NULL)|",
		"items ARRAY<ROW<sku STRING, qty DECIMAL(5, 2)>>": "[(1, 1.00), NULL, (c, 3.00)]| []| NULL|",
	} {
		if got, err := read(columns); err != nil || got != want {
			t.Errorf("%s gives %q, %v, want %q", columns, got, err, want)
		}
	}
	for columns, want := range map[string]string{
		"c ROW<name INT>":                       `cannot cast 'ann' to INT`,
		"items ARRAY<ROW<sku INT>>":             "items.element.sku: cannot cast 'c' to INT",
		"c ARRAY<INT>":                          "c is ROW<name STRING, addr ROW<city STRING, zip INT>> in the file and ARRAY<INT> in the plan",
		"items ARRAY<INT>":                      "items.element is ROW<sku STRING, qty INT> in the file and INT in the plan",
		"c ROW<addr ROW<zip DATE>>":             "c.addr.zip is INT in the file and DATE in the plan",
		"id ROW<a INT>":                         "declare it INT and take it apart in a transform",
		"c STRING":                              "declare it ROW<name STRING, addr ROW<city STRING, zip INT>> and take it apart in a transform",
		"c ROW<extra INT NOT NULL>":             "c has no field extra, which is INT NOT NULL in the plan",
		"items ARRAY<ROW<sku STRING> NOT NULL>": "items.element is declared ROW<sku STRING> NOT NULL and has a NULL",
		"c ROW<name STRING NOT NULL>":           "c.name is declared STRING NOT NULL and has a NULL",
		"m MAP<STRING, ROW<x INT> NOT NULL>":    "m.value is declared ROW<x INT> NOT NULL and has a NULL",
		"c ROW<name STRING> NOT NULL":           "column c is declared ROW<name STRING> NOT NULL and has a NULL",
	} {
		if got, err := read(columns); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %q, %v, want %s", columns, got, err, want)
		}
	}
}

// TestNestedEvolution reads files whose nested types differ: a missing field is NULL, a conflict names both files
// and types.
func TestNestedEvolution(t *testing.T) {
	first := nestedFile(t, "a.parquet", "c ROW<name STRING, addr ROW<city STRING, zip INT>>", `[{"name": "ann", "addr": {"city": "Ulm", "zip": 7}}]`)
	for _, c := range []struct{ types, rows, want string }{
		{"c ROW<name STRING>", `[{"name": "bob"}, null]`, "(ann, (Ulm, 7))| (bob, NULL)| NULL|"},
		{"c ROW<addr ROW<zip INT>, name STRING>", `[{"name": "bob", "addr": {"zip": 9}}, {"name": null, "addr": null}]`, "(ann, (Ulm, 7))| (bob, (NULL, 9))| (NULL, NULL)|"},
		{"c ROW<name INT>", `[{"name": 1}]`, "c.name is STRING there and INT here"},
		{"c ROW<name STRING, addr ARRAY<INT>>", `[null]`, "c.addr is ROW<city STRING, zip INT> there and ARRAY<INT> here"},
		{"c ROW<name STRING, extra INT>", `[null]`, "c.extra (INT) is not there"},
		{"c STRING", `["x"]`, "column c is ROW<name STRING, addr ROW<city STRING, zip INT>> in "},
	} {
		second := nestedFile(t, "b.parquet", c.types, c.rows)
		got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{first, second}}})
		if err == nil && strings.Join(got, " ") == c.want {
			continue
		}
		var e *connectors.DataError
		if !errors.As(err, &e) || e.Kind != "SchemaMismatch" || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), first) || !strings.Contains(err.Error(), second) {
			t.Errorf("%s gives %v, %v, want %s", c.types, got, err, c.want)
		}
	}
}

// TestNestedPaths reads only the leaves that are looked at: damage in the others is not seen, and they are NULL.
func TestNestedPaths(t *testing.T) {
	path := nestedFile(t, "o.parquet", orderTypes, orderIDs, orderC, orderItems, orderM)
	read := func(paths map[int][][]string, path string) ([]string, error) {
		return readAll(t, alloc(t), input{Options: Options{Path: []string{path}}, push: &connectors.Pushdown{Columns: []int{1, 2, 3}, Limit: -1, Paths: paths}})
	}
	paths := map[int][][]string{1: {{"addr", "zip"}}, 2: {{"sku"}}, 3: {{"y"}, {"y", "z"}}}
	want := "(NULL, (NULL, 7))|[(1, NULL), NULL, (c, NULL)]|{a=(NULL, p), b=NULL}| NULL|[]|NULL| (NULL, NULL)|NULL|{}|"
	got, err := read(paths, path)
	if err != nil || strings.Join(got, " ") != want {
		t.Fatalf("%v, %v", got, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unread := map[string]bool{"c.name": true, "c.addr.city": true, "items.list.element.qty": true, "m.key_value.value.x": true}
	for _, g := range otherFooter(t, b).RowGroups {
		for _, c := range g.Columns {
			name := strings.Join(c.MetaData.PathInSchema, ".")
			bad := bytes.Clone(b)
			from := c.MetaData.DataPageOffset
			if d := c.MetaData.DictionaryPageOffset; d != nil {
				from = *d
			}
			for i := range c.MetaData.TotalCompressedSize {
				bad[min(from+i, int64(len(bad))-200)] = 0xff
			}
			got, err := read(paths, save(t, bad))
			if unread[name] != (err == nil) && name != "id" || err == nil && strings.Join(got, " ") != want {
				t.Errorf("with %s damaged: %v, %v", name, got, err)
			}
		}
	}
}

// TestNestedDamage changes bytes of a nested file: an error with a class, or rows, and never a panic.
func TestNestedDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	good, err := os.ReadFile(nestedFile(t, "o.parquet", orderTypes, orderIDs, orderC, orderItems, orderM))
	if err != nil {
		t.Fatal(err)
	}
	for range 400 {
		bad := bytes.Clone(good)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] = byte(r.IntN(256))
		}
		a := memory.NewCheckedAllocator(memory.DefaultAllocator)
		_, err := readQuietly(t, a, save(t, bad))
		a.AssertSize(t, 0)
		var c interface{ Class() string }
		if err != nil && !errors.As(err, &c) {
			t.Fatalf("no class: %v", err)
		}
	}
}
