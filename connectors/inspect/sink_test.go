package inspect

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/csv"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// null stands for NULL in the rows of the test.
const null = "\x00"

// sunk is the file that the csv sink makes of rows of texts.
func sunk(t *testing.T, o csv.Options, in expr.Schema, rows [][]string) string {
	t.Helper()
	dir := t.TempDir()
	o.Path = []string{"out.csv"}
	b, err := csv.Spec.BindSink(t.Context(), o, in, connectors.Env{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	sink, err := csv.Spec.OpenSink(b.State, in)
	if err != nil {
		t.Fatal(err)
	}
	var cols []arrow.Array
	for c := range in.Fields {
		s := array.NewStringBuilder(memory.DefaultAllocator)
		for _, r := range rows {
			if r[c] == null {
				s.AppendNull()
			} else {
				s.Append(r[c])
			}
		}
		cols = append(cols, s.NewArray())
	}
	connectortest.Publish(t, sink, operators.Batch{Rec: column.NewRecord(in.Fields, cols, int64(len(rows)))})
	return filepath.Join(dir, "out.csv")
}

// readBack reads a file of texts with a source's options.
func readBack(t *testing.T, o csv.Options, path string, in expr.Schema) (rows [][]string, err error) {
	t.Helper()
	o.Path, o.Columns = []string{path}, in.Fields
	state, err := csv.Spec.Bind(t.Context(), o, connectors.Env{})
	if err != nil {
		return nil, err
	}
	src, err := csv.Spec.Open(state)
	if err != nil {
		return nil, err
	}
	connectortest.InTurns(t, src, connectors.SplitOptions{SplitBytes: 50}, 2, memory.DefaultAllocator, func(b operators.Batch) {
		for i := range b.Rows() {
			if b.Sel != nil {
				i = int(b.Sel[i])
			}
			var r []string
			for c := range in.Fields {
				v := null
				if a := b.Rec.Column(c); !a.IsNull(i) {
					v = a.ValueStr(i)
				}
				r = append(r, v)
			}
			rows = append(rows, r)
		}
		b.Rec.Release()
	})
	return rows, nil
}

// found are the options that the source block of a file has.
func found(t *testing.T, path string) (csv.Options, []Column) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	x, s, err := examine(files.Local(), files.File{Path: path, Abs: path, Bytes: st.Size()})
	if err != nil {
		t.Fatal(err)
	}
	out := &Found{}
	x.describe(out, s)
	o := x.options
	o.Formats, o.Decimal, o.Thousands = nil, "", "" // are for columns of other types
	return o, out.Columns
}

// TestSinkReadsBack: whatever a text is, what the csv sink writes reads back the same: with the options it was
// written with, with a source that trims and passes comments over, and with the block that inspect writes.
func TestSinkReadsBack(t *testing.T) {
	parts := []string{
		"#", "# ", "a", "b c", " ", "\t", "NULL", "null", "NA", "N/A", "None", "-", "?", `\N`, `\`, `"`, "'", "\n", "\r", "\r\n", "\ufeff", "é", "", ",", ";", "|", "x", "1", "0.5", "true",
	}
	n := uint64(150)
	if testing.Short() {
		n = 40
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 3))
		word := func() string {
			s := ""
			for range rng.IntN(4) {
				s += parts[rng.IntN(len(parts))]
			}
			return s
		}
		nulls := [][]string{nil, {"NULL"}, {"-"}, {"NA", "x"}, {"", "a"}, {`\N`}}[rng.IntN(6)]
		o := csv.Options{Delimiter: []string{"", ";", `\t`, "|", "#", "'", "x", "-", " "}[rng.IntN(9)], NullValues: nulls}
		if len(nulls) > 0 && nulls[0] != "" && strings.Contains(nulls[0], o.Delimiter) {
			o.Delimiter = ""
		}
		header := rng.IntN(3) > 0
		o.Header = &header
		var in expr.Schema
		for len(in.Fields) < 1+rng.IntN(4) {
			name := "name" + word()
			if rng.IntN(2) == 0 {
				name = word() + "_x"
			}
			if in.Index(name) < 0 {
				in.Fields = append(in.Fields, expr.Field{Name: name, Type: expr.Of(expr.String)})
			}
		}
		rows := make([][]string, 1+rng.IntN(30))
		for i := range rows {
			for range in.Fields {
				v := word()
				if rng.IntN(8) == 0 {
					v = null
				}
				rows[i] = append(rows[i], v)
			}
		}
		t.Run("", func(t *testing.T) {
			path := sunk(t, o, in, rows)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			same := func(what string, o csv.Options, in expr.Schema) {
				t.Helper()
				got, err := readBack(t, o, path, in)
				if err != nil || !slices.EqualFunc(got, rows, slices.Equal[[]string]) {
					t.Fatalf("seed %d, %s: %v\n got      %q\n expected %q\n%s", seed, what, err, got, rows, data)
				}
			}
			same("its own options", o, in)
			if o.Delimiter != "#" && o.Delimiter != " " && o.Delimiter != `\t` {
				other := o
				other.Comment, other.Trim = "#", true
				same("trimming, with comments", other, in)
			}
			if len(nulls) > 0 && nulls[0] != "NULL" && nulls[0] != `\N` && nulls[0] != "" {
				return // in a column of texts other words may be texts
			}
			if !header || !slices.Contains([]string{"", ";", `\t`, "|"}, o.Delimiter) || len(in.Fields) == 1 {
				return // what is no header, or no common delimiter, cannot be told from the text alone
			}
			x, cols := found(t, path)
			if x.Delimiter != strings.ReplaceAll(o.Delimiter+",", `\t,`, "\t")[:1] {
				return // there are better ones, to go by the text alone
			}
			for k, c := range cols {
				if k < len(in.Fields) && c.Name != in.Fields[k].Name && x.DuplicateNames == "" {
					t.Fatalf("seed %d: column %q is found as %q\n%s", seed, in.Fields[k].Name, c.Name, data)
				}
			}
			same("the block of inspect", x, in)
		})
	}
}

// TestSinkOneColumn: a file of one column does not look like one of several.
func TestSinkOneColumn(t *testing.T) {
	in := expr.SchemaOf(expr.Field{Name: "tags", Type: expr.Of(expr.String)})
	for _, text := range []string{"a;b", "a|b", "a\tb", "# a", "NULL", "NA", " a", "a\t", "'a'", "\ufeffa"} {
		rows := [][]string{{text}, {null}, {text}, {"b"}, {text}}
		path := sunk(t, csv.Options{}, in, rows)
		o, _ := found(t, path)
		got, err := readBack(t, o, path, in)
		if err = errors.Join(err); err != nil || !slices.EqualFunc(got, rows, slices.Equal[[]string]) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
