package csv

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
	vectors "github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// written is the file that the sink makes of texts and numbers ("-" is NULL in both).
func written(t *testing.T, o Options, in expr.Schema, texts []string, cents []int64) string {
	t.Helper()
	dir := t.TempDir()
	o.Path = []string{"out.csv"}
	b, err := Spec.BindSink(t.Context(), o, in, connectors.Env{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	sink, err := Spec.OpenSink(b.State, in)
	if err != nil {
		t.Fatal(err)
	}
	s, n := array.NewStringBuilder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	for i, text := range texts {
		if text == "-" {
			s.AppendNull()
			n.AppendNull()
			continue
		}
		s.Append(text)
		n.Append(cents[i])
	}
	cols := []arrow.Array{s.NewArray(), n.NewArray()}[:len(in.Fields)]
	connectortest.Publish(t, sink, operators.Batch{Rec: vectors.NewRecord(in.Fields, cols, int64(len(texts)))})
	data, err := os.ReadFile(filepath.Join(dir, "out.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSinkText(t *testing.T) {
	two := expr.SchemaOf(expr.Field{Name: "s", Type: expr.Of(expr.String)}, expr.Field{Name: "a,b", Type: expr.DecimalOf(12, 2)})
	no := false
	texts, cents := []string{"x", "", "-", "NULL", "a;b", "a,b", `q"q`, " x", "\ufeffx", "1\n2"}, []int64{0, 150, 0, -1, 1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"plain", Options{}, "s,\"a,b\"\nx,0.00\n\"\",1.50\n,\n\"NULL\",-0.01\na;b,0.01\n\"a,b\",0.02\n\"q\"\"q\",0.03\n\" x\",0.04\n\"\ufeffx\",0.05\n\"1\n2\",0.06\n"},
		{"null text", Options{NullValues: []string{"NULL", "0.01"}}, "s,\"a,b\"\nx,0.00\n\"\",1.50\nNULL,NULL\n\"NULL\",-0.01\na;b,\"0.01\"\n\"a,b\",0.02\n\"q\"\"q\",0.03\n\" x\",0.04\n\"\ufeffx\",0.05\n\"1\n2\",0.06\n"},
		{"delimiter", Options{Delimiter: ";", Header: &no}, "x;0.00\n\"\";1.50\n;\n\"NULL\";-0.01\n\"a;b\";0.01\na,b;0.02\n\"q\"\"q\";0.03\n\" x\";0.04\n\"\ufeffx\";0.05\n\"1\n2\";0.06\n"},
		{"point", Options{Delimiter: ".", Header: &no}, "x.\"0.00\"\n\"\".\"1.50\"\n.\n\"NULL\".\"-0.01\"\na;b.\"0.01\"\na,b.\"0.02\"\n\"q\"\"q\".\"0.03\"\n\" x\".\"0.04\"\n\"\ufeffx\".\"0.05\"\n\"1\n2\".\"0.06\"\n"},
	} {
		if got := written(t, c.o, two, texts, cents); got != c.want {
			t.Errorf("%s: got\n%q\nwant\n%q", c.name, got, c.want)
		}
	}
	one := expr.SchemaOf(expr.Field{Name: "s", Type: expr.Of(expr.String)})
	if got := written(t, Options{}, one, []string{"a", "-", ""}, []int64{0, 0, 0}); got != "s\na\n\n\"\"\n" {
		t.Errorf("one column: %q", got)
	}
}

func TestSinkOptions(t *testing.T) {
	in := expr.SchemaOf(expr.Field{Name: "s", Type: expr.Of(expr.String)})
	for _, c := range []struct {
		o    Options
		text string
	}{
		{Options{Path: []string{"a", "b"}}, "one target, and 2"},
		{Options{Path: []string{"a"}, Columns: in.Fields}, "columns: belongs to sources"},
		{Options{Path: []string{"a"}, Delimiter: "::"}, "expected one ASCII character"},
		{Options{Path: []string{"a"}, NullValues: []string{`"`}}, "cannot stand without quotes"},
		{Options{Path: []string{"a"}, NullValues: []string{}}, "column s may be NULL"},
		{Options{Path: []string{"a"}, Mode: "replace"}, "expected error, overwrite or append"},
	} {
		_, err := Spec.BindSink(t.Context(), c.o, in, connectors.Env{Dir: t.TempDir()})
		var fault *files.Error // of the plan, not of the target
		if err == nil || !strings.Contains(err.Error(), c.text) || !errors.As(err, &fault) || fault.Kind != files.InvalidOption {
			t.Errorf("%+v: %T %v", c.o, err, err)
		}
	}
}
