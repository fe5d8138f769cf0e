package runner_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/plans"
)

const nestedTypes = "id INT; customer ROW<name STRING, address ROW<city STRING, zip INT>>; items ARRAY<ROW<sku STRING, qty INT>>; props MAP<STRING, BIGINT>"

// writeNested writes a Parquet file of rows given as JSON, a column a line.
func writeNested(t testing.TB, path, types string, rows ...string) {
	t.Helper()
	var fields []expr.Field
	var cols []arrow.Array
	for i, f := range strings.Split(types, "; ") {
		name, text, _ := strings.Cut(f, " ")
		typ, err := expr.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		arr, _, err := array.FromJSON(memory.DefaultAllocator, typ.Arrow(), strings.NewReader(rows[i]))
		if err != nil {
			t.Fatal(err)
		}
		fields, cols = append(fields, expr.Field{Name: name, Type: typ}), append(cols, arr)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	rec := column.NewRecord(fields, cols, int64(cols[0].Len()))
	w, err := pqarrow.NewFileWriter(rec.Schema(), f, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(3)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// manyOrders are n rows that repeat the same seven.
func manyOrders(t testing.TB, path string, n int) {
	t.Helper()
	some := [][]string{
		{`{"name": "ann", "address": {"city": "Ulm", "zip": 89073}}`, `[{"sku": "a", "qty": 1}, null, {"sku": "c", "qty": 3}]`, `[{"key": "k", "value": 5}]`},
		{`null`, `null`, `null`},
		{`{"name": "bob", "address": null}`, `[]`, `[]`},
		{`{"name": null, "address": {"city": "Bonn", "zip": null}}`, `[{"sku": null, "qty": 7}]`, `[{"key": "k", "value": null}, {"key": "z", "value": 1}]`},
		{`{"name": "eve", "address": {"city": "Ulm", "zip": 1}}`, `[{"sku": "b", "qty": null}, {"sku": "b", "qty": 2}]`, `[{"key": "z", "value": 2}]`},
	}
	cols := make([][]string, 4)
	for i := range n {
		cols[0] = append(cols[0], fmt.Sprint(i))
		for c, v := range some[i%len(some)] {
			cols[c+1] = append(cols[c+1], v)
		}
	}
	var rows []string
	for _, c := range cols {
		rows = append(rows, "["+strings.Join(c, ", ")+"]")
	}
	writeNested(t, path, nestedTypes, rows...)
}

// TestNestedPlans reads nested columns, takes them apart and carries them to a sink, however the run is cut.
func TestNestedPlans(t *testing.T) {
	dir := t.TempDir()
	manyOrders(t, filepath.Join(dir, "o.parquet"), 20)
	text := `
sources: {o: {parquet: {path: o.parquet}}}
transforms:
  p:
    from: o
    where: id < 7 AND (customer.address.city = 'Ulm' OR items[1].qty > 5)
    select: {id: id, city: UPPER(customer.address.city), first: "items[1]", n: CARDINALITY(items), k: "props['k']", c: customer, items: items, text: CAST(props AS STRING)}
  s: {from: p, order_by: ["first.sku DESC", id]}
aggregations:
  g: {from: o, group_by: [customer.address.city], measures: {n: "COUNT(items)", zip: MAX(customer.address.zip)}}
sinks:
  out: {from: s, json: {path: out.jsonl, mode: overwrite}}
  sums: {from: g, json: {path: sums.jsonl, mode: overwrite}}
`
	want := `{"id":4,"city":"ULM","first":{"sku":"b","qty":null},"n":2,"k":null,"c":{"name":"eve","address":{"city":"Ulm","zip":1}},"items":[{"sku":"b","qty":null},{"sku":"b","qty":2}],"text":"{z=2}"}
{"id":0,"city":"ULM","first":{"sku":"a","qty":1},"n":3,"k":5,"c":{"name":"ann","address":{"city":"Ulm","zip":89073}},"items":[{"sku":"a","qty":1},null,{"sku":"c","qty":3}],"text":"{k=5}"}
{"id":5,"city":"ULM","first":{"sku":"a","qty":1},"n":3,"k":5,"c":{"name":"ann","address":{"city":"Ulm","zip":89073}},"items":[{"sku":"a","qty":1},null,{"sku":"c","qty":3}],"text":"{k=5}"}
{"id":3,"city":"BONN","first":{"sku":null,"qty":7},"n":1,"k":null,"c":{"name":null,"address":{"city":"Bonn","zip":null}},"items":[{"sku":null,"qty":7}],"text":"{k=NULL, z=1}"}
`
	for _, o := range everyWay() {
		finished(t, run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o}))
		if got := read(t, filepath.Join(dir, "out.jsonl")); got != want {
			t.Fatalf("%v gives\n%swant\n%s", o, got, want)
		}
		sums := strings.Split(strings.TrimSpace(read(t, filepath.Join(dir, "sums.jsonl"))), "\n")
		sort.Strings(sums)
		if got := strings.Join(sums, "\n"); got != `{"customer.address.city":"Bonn","n":4,"zip":null}
{"customer.address.city":"Ulm","n":8,"zip":89073}
{"customer.address.city":null,"n":4,"zip":null}` {
			t.Fatalf("%v gives\n%s", o, got)
		}
	}
}

// TestNestedKeys refuses nested values where rows are told apart by them, before anything runs.
func TestNestedKeys(t *testing.T) {
	dir := t.TempDir()
	manyOrders(t, filepath.Join(dir, "o.parquet"), 5)
	for step, want := range map[string]string{
		"aggregations: {g: {from: o, group_by: [items], measures: {n: COUNT(*)}}}":   "rows cannot be grouped by ARRAY<ROW<sku STRING, qty INT>>",
		"aggregations: {g: {from: o, measures: {n: COUNT(DISTINCT customer)}}}":      "COUNT(DISTINCT) cannot take ROW<",
		"aggregations: {g: {from: o, measures: {n: MIN(props)}}}":                    "MIN cannot take MAP<STRING NOT NULL, BIGINT>",
		"transforms: {g: {from: o, order_by: [customer]}}":                           "rows cannot be sorted by ROW<",
		"transforms: {g: {from: o, distinct: true}}":                                 "column customer is ROW<",
		"transforms: {g: {from: o, select: {a: customer.nme}}}":                      "customer has no field nme (did you mean name?)",
		"transforms: {g: {from: o, select: {a: 'CASE WHEN id > 1 THEN items END'}}}": "the results of CASE cannot be ARRAY<",
		"transforms: {g: {from: [o, o], union: {distinct: true}}}":                   "column customer is ROW<",
	} {
		_, err := tryRun(t, filepath.Join(dir, "plan.yaml"), "sources: {o: {parquet: {path: o.parquet}}}\n"+step+"\nsinks: {out: {from: g, json: {path: out.jsonl}}}\n", setup{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", step, err, want)
		}
	}
	// A sink that has no form for a type is a fault of the plan, found before anything runs.
	_, err := tryRun(t, filepath.Join(dir, "plan.yaml"), "sources: {o: {parquet: {path: o.parquet}}}\nsinks: {out: {from: o, csv: {path: out.csv}}}\n", setup{})
	var found plans.Findings
	if !errors.As(err, &found) || len(found) != 1 || found[0].Line != 2 || !strings.Contains(found[0].Message, "which CSV cannot hold: write its parts, CAST(customer AS STRING), or to a json sink") {
		t.Errorf("a csv sink gives %v", err)
	}
}

// TestWordCount counts the words of lines, and takes arrays and maps apart beside the columns of their rows.
func TestWordCount(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "lines.csv", "line\nto be or not to be\n\"\"\nthat is the question to be\n")
	manyOrders(t, filepath.Join(dir, "o.parquet"), 7)
	text := `
sources:
  lines: {csv: {path: lines.csv, columns: {line: STRING}}}
  o: {parquet: {path: o.parquet}}
transforms:
  words: {from: lines, unnest: {array: "SPLIT(line, ' ')", as: word}}
  top: {from: counts, where: "word <> ''", order_by: [n DESC, word], limit: 3}
  positions: {from: o, unnest: {array: items, ordinality: at, outer: true}}
  some: {from: positions, where: id < 4, select: {id: id, sku: sku, qty: qty, at: at, city: customer.address.city}, order_by: [id, at]}
  entries: {from: o, unnest: {array: props, as: [k, v]}}
aggregations:
  counts: {from: words, group_by: [word], measures: {n: COUNT(*)}}
  values: {from: entries, group_by: [k], measures: {sum: SUM(v), n: COUNT(*)}}
sinks:
  out: {from: top, csv: {path: out.csv, mode: overwrite}}
  flat: {from: some, csv: {path: flat.csv, mode: overwrite}}
  sums: {from: values, csv: {path: sums.csv, mode: overwrite}}
`
	for _, o := range everyWay() {
		finished(t, run(t, filepath.Join(dir, "plan.yaml"), text, setup{options: o}))
		if got := read(t, filepath.Join(dir, "out.csv")); got != "word,n\nbe,3\nto,3\nis,1\n" {
			t.Fatalf("%v gives\n%s", o, got)
		}
		if got := read(t, filepath.Join(dir, "flat.csv")); got != "id,sku,qty,at,city\n0,a,1,1,Ulm\n0,,,2,Ulm\n0,c,3,3,Ulm\n1,,,,\n2,,,,\n3,,7,1,Bonn\n" {
			t.Fatalf("%v gives\n%s", o, got)
		}
		sums := strings.Split(strings.TrimSpace(read(t, filepath.Join(dir, "sums.csv"))), "\n")
		sort.Strings(sums)
		if got := strings.Join(sums, " "); got != "k,10,3 k,sum,n z,3,2" {
			t.Fatalf("%v gives %s", o, got)
		}
	}
	for step, want := range map[string]string{
		"{from: o, unnest: {array: id, as: x}}":                         "unnest takes an ARRAY or a MAP, not INT",
		"{from: o, unnest: {array: items, as: x}}":                      "unnest gives 2 columns of ARRAY<ROW<sku STRING, qty INT>>, and as names 1",
		"{from: o, unnest: {array: items, as: [id, qty]}}":              "column id is given twice",
		"{from: o, unnest: {as: x}}":                                    "array is missing",
		"{from: o, unnest: {array: items, elements: 1}}":                "elements",
		"{from: o, unnest: items}":                                      "a mapping such as",
		"{from: o, where: id > 1, unnest: {array: items}}":              "where cannot stand beside unnest",
		"{from: o, unnest: {array: 'SPLIT(customer.name, id)', as: x}}": "SPLIT takes text, not INT",
	} {
		_, err := tryRun(t, filepath.Join(dir, "plan.yaml"), "sources: {o: {parquet: {path: o.parquet}}}\ntransforms: {g: "+step+"}\nsinks: {out: {from: g, json: {path: out.jsonl}}}\n", setup{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", step, err, want)
		}
	}
}
