package plans_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	connectorlist "github.com/seed-4b0e9f7c/runner/connectors/builtin"
	operatorlist "github.com/seed-4b0e9f7c/runner/operators/builtin"
	"github.com/seed-4b0e9f7c/runner/plans"
)

// known is what the real catalogs offer.
func known(t *testing.T) plans.Known {
	t.Helper()
	c, err := connectorlist.Catalog(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o, err := operatorlist.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return plans.KnownOf(c, o)
}

// TestShipped holds that every plan of this folder is read without any finding, and that its files
// are there.
func TestShipped(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	k := known(t)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, fs := plans.Parse(file, b, nil, k)
		if len(fs) > 0 {
			t.Errorf("%s: %v", file, fs)
		}
		if p.Name+".yaml" != file {
			t.Errorf("%s is called %s", file, p.Name)
		}
	}
}

// TestRealOptions holds that the connectors' own declarations give findings as the plan format wants
// them: misspelt, of the other role, of the wrong form.
func TestRealOptions(t *testing.T) {
	const text = `sources:
  a:
    csv: {path: o.csv, delimter: ";", mode: append, header: no, columns: {id: BIGINT}}
  b:
    parquet: {paht: o.parquet}
  c:
    csv: {path: o.csv}
  d:
    print: {}
transforms:
  u: {from: [a, b, c, d], union: {}}
  s:
    from: u
    calc: {}
sinks:
  x:
    from: s
    parquet: {path: x, compression: snapy, row_group_rows: 0.5}
  y:
    from: s
    json: {path: [], mode: keep}
  z:
    from: s
    blackhole: {rows: 3}
`
	_, fs := plans.Parse("p.yaml", []byte(text), nil, known(t))
	var got []string
	for _, f := range fs {
		got = append(got, f.Rule+" "+f.Path)
	}
	want := `unknown-key sources.a.csv.delimter
unknown-key sources.a.csv.mode
wrong-type sources.a.csv.header
missing-key sources.b.parquet.path
unknown-key sources.b.parquet.paht
kind sources.d.print
unknown-key transforms.s.calc
invalid-value sinks.x.parquet.compression
wrong-type sinks.x.parquet.row_group_rows
invalid-value sinks.y.json.path
invalid-value sinks.y.json.mode
unknown-key sinks.z.blackhole.rows`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s\n%v", strings.Join(got, "\n"), want, fs)
	}
}
