package docs

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	connectorlist "github.com/seed-4b0e9f7c/runner/connectors/builtin"
	operatorlist "github.com/seed-4b0e9f7c/runner/operators/builtin"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func pages(t *testing.T) []Page {
	t.Helper()
	c, err := connectorlist.Catalog(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o, err := operatorlist.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Pages(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPages holds that pages are the same every time, and that every row of a table has all its cells.
func TestPages(t *testing.T) {
	first := pages(t)
	for range 20 {
		for i, p := range pages(t) {
			if string(p.Text) != string(first[i].Text) {
				t.Fatalf("%s differs from one time to the next", p.Name)
			}
		}
	}
	for _, p := range first {
		columns := 0
		for i, line := range strings.Split(string(p.Text), "\n") {
			if !strings.HasPrefix(line, "| ") || !strings.HasSuffix(p.Name, ".md") {
				columns = 0
				continue
			}
			n := strings.Count(line, "|") - strings.Count(line, `\|`)
			if columns == 0 {
				columns = n
			}
			if n != columns && !strings.HasPrefix(line, "|---") {
				t.Errorf("%s:%d has %d bars, expected %d: %s", p.Name, i+1, n, columns, line)
			}
		}
	}
}

// TestStale holds that what is changed, missing or too much is found.
func TestStale(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "reference")
	p := pages(t)
	if found, err := Stale(dir, p); err != nil || len(found) != len(p) {
		t.Errorf("of no folder: %v %v", found, err)
	}
	if err := Write(dir, p); err != nil {
		t.Fatal(err)
	}
	if found, err := Stale(dir, p); err != nil || len(found) != 0 {
		t.Errorf("fresh pages: %v %v", found, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "options.md"), append(slices.Clone(p[3].Text), "more\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "plan.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "old.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := Stale(dir, p)
	if err != nil || len(found) != 3 || !strings.HasPrefix(found[0], "old.md is no page") ||
		!strings.HasPrefix(found[1], "options.md is stale: line ") || found[2] != "plan.md is missing" {
		t.Errorf("%q %v", found, err)
	}
}

// TestForms holds that every function is shown as it is written, and that what is shown is that function.
func TestForms(t *testing.T) {
	shown := map[string]bool{}
	for _, f := range forms() {
		e, err := checked(f.Written, sampleSchema())
		if err != nil {
			t.Errorf("%s: %v", f.Written, err)
			continue
		}
		if e.Op == expr.OpCast && e.Implicit {
			e = e.Args[0]
		}
		if e.Op != expr.OpCall || e.Name != f.Name {
			t.Errorf("%s is %s %s, and stands beside %s", f.Written, e.Op, e.Name, f.Name)
		}
		shown[f.Name] = true
	}
	for _, f := range expr.Functions() {
		if shown[f.Name] {
			continue
		}
		if e, err := expr.Parse(plainForm(f), nil); err != nil || e.Op != expr.OpCall || e.Name != f.Name {
			t.Errorf("%s is not written %s (%v): forms has to say how", f.Name, plainForm(f), err)
		}
	}
	for _, f := range otherForms() {
		if _, err := checked(f[0], sampleSchema()); err != nil {
			t.Errorf("%s: %v", f[0], err)
		}
	}
}

// TestLiterals holds what the page says of the types of literals.
func TestLiterals(t *testing.T) {
	for text, want := range map[string]string{"12": "INT", "3000000000": "BIGINT", "1.50": "DECIMAL(3, 2)", "1e3": "DOUBLE"} {
		e, err := checked(text, expr.Schema{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := e.Type.Nullable(true).String(); got != want {
			t.Errorf("%s is %s, the page says %s", text, got, want)
		}
	}
}

// TestDifferences computes what the page says of this side.
func TestDifferences(t *testing.T) {
	for _, d := range differences() {
		got := value(t, d.Expr)
		switch d.Here {
		case fails, refused:
			if !strings.HasPrefix(got, d.Here+": ") || !strings.Contains(got, d.Says) || d.Says == "" {
				t.Errorf("%s gives %q, the page says that it %s and says %q", d.Expr, got, d.Here, d.Says)
			}
		case empty:
			if got != "" {
				t.Errorf("%s gives %q, the page says %s", d.Expr, got, d.Here)
			}
		default:
			if got != d.Here {
				t.Errorf("%s gives %q, the page says %s", d.Expr, got, d.Here)
			}
		}
		if got == d.Flink {
			t.Errorf("%s is no difference", d.Expr)
		}
	}
}

func checked(text string, in expr.Schema) (*expr.Expr, error) {
	e, err := expr.Parse(text, nil)
	if err != nil {
		return nil, err
	}
	return expr.Check(e, in, expr.CheckOptions{})
}

// value is the text of an expression's value over one row without columns.
func value(t *testing.T, text string) string {
	t.Helper()
	e, err := checked(text, expr.Schema{})
	if err != nil {
		return refused + ": " + err.Error()
	}
	p, err := expr.Compile(e, expr.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	rec := array.NewRecord(arrow.NewSchema(nil, nil), nil, 1)
	defer rec.Release()
	arr, _, err := p.Eval(alloc, rec, nil, nil)
	if err != nil {
		return fails + ": " + err.Error()
	}
	defer arr.Release()
	return string(column.AppendText(nil, arr, e.Type, 0))
}
