package csv

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// inferText writes files, infers their columns from so many bytes, and binds them.
func inferText(t testing.TB, o Options, budget int64, texts ...string) (state []byte, v *Inferred, err error) {
	t.Helper()
	dir := t.TempDir()
	for i, s := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%c.csv", 'a'+i)), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	list, err := files.List(context.Background(), []string{"*.csv"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.bound()
	if err != nil {
		return nil, nil, err
	}
	b.budget = budget
	if v, err = b.infer(context.Background(), files.Local(), o, list); err != nil {
		return nil, nil, err
	}
	o.Path, o.Columns = []string{"*.csv"}, v.Columns
	if state, err = bind(context.Background(), o, connectors.Env{Node: "in", Dir: dir}); err != nil {
		return nil, nil, err
	}
	var bound bound
	if err := json.Unmarshal(state, &bound); err != nil {
		t.Fatal(err)
	}
	bound.Inferred = &v.Inference
	state, err = json.Marshal(bound)
	return state, v, err
}

// TestLateValue: a value that no sample saw and that does not fit the inferred type is an error, also where
// a declared type would take it and cut something off; the error has the lines that cure it, and they do.
func TestLateValue(t *testing.T) {
	many := func(value string, n int) string { return strings.Repeat(value+",x\n", n) }
	for _, c := range []struct{ usual, late, typ, cure string }{
		{"1", "two", "BIGINT", "columns: {v: STRING, w: STRING}"},
		{"1", "007", "BIGINT", "columns: {v: STRING, w: STRING}"},
		{"1", "1.5", "BIGINT", `columns: {v: "DECIMAL(38, 1)", w: STRING}`},
		{"1.50", "1.505", "DECIMAL(18, 2)", `columns: {v: "DECIMAL(38, 3)", w: STRING}`},
		{"true", "yes", "BOOLEAN", "columns: {v: STRING, w: STRING}"},
		{"2024-01-02", "2024-01-02 10:00", "DATE", "columns: {v: TIMESTAMP(6), w: STRING}"},
		{"2024-01-02 10:00:00", "2024-01-02 10:00:00.1234567", "TIMESTAMP(6)", "columns: {v: STRING, w: STRING}"},
		{"1", "NULL", "BIGINT", "`null_values: [NULL]`"},
		{"1.5", `"1,5"`, "DECIMAL(18, 1)", "`decimal: \",\"`"},
	} {
		// The late value is neither in the beginning nor in the last piece.
		text := "v,w\n" + many(c.usual, 20_000) + c.late + ",x\n" + many(c.usual, 19_999)
		state, v, err := inferText(t, Options{}, 64<<10, text)
		if err != nil {
			t.Fatal(err)
		}
		if v.Whole || v.Bytes > 100<<10 || v.Columns[0].Type.String() != c.typ {
			t.Errorf("%s: %s", c.usual, &v.Inference)
		}
		for _, split := range []int64{1 << 30, 30 << 10} {
			_, _, err = readAll(t, state, how{split: split})
			if err == nil || !strings.Contains(err.Error(), "inferred from a sample of ") || !strings.Contains(err.Error(), c.cure) || !strings.Contains(err.Error(), "a.csv:20002:1") {
				t.Errorf("%s, then %s: %v", c.usual, c.late, err)
			}
		}
		list, ok := strings.CutPrefix(c.cure, "columns: {")
		if !ok {
			continue
		}
		typ, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimPrefix(list, "v: "), `"`, ""), ", w")
		o := Options{Columns: columns(t, "v "+typ+"; w STRING")}
		_, state, err = bindText(t, o, text)
		if err != nil {
			t.Fatal(err)
		}
		rows, _, err := readAll(t, state, how{split: 1 << 30})
		if err != nil || len(rows) != 40_000 {
			t.Errorf("cured by %s: %d rows, %v", c.cure, len(rows), err)
		}
	}
}

// TestSampleInQuotes: a piece that begins inside a quoted field is looked at from the next record on.
func TestSampleInQuotes(t *testing.T) {
	var b strings.Builder
	b.WriteString("n,t\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "%d,\"line\nx,y\n\"\"%d\"\"\"\n", i, i)
	}
	for _, budget := range []int64{5 << 10, 300 << 10, 600 << 10, 1 << 30} {
		_, v, err := inferText(t, Options{}, budget, b.String(), b.String())
		if err != nil {
			t.Fatal(err)
		}
		if v.Columns[0].Type.String() != "BIGINT" || v.Columns[1].Type.String() != "STRING" || v.Rows == 0 {
			t.Errorf("%d bytes: %s", budget, &v.Inference)
		}
	}
}

// FuzzInfer: what columns were inferred from can be read, whole; what no sample saw is read or refused with
// a word about the sample.
func FuzzInfer(f *testing.F) {
	for _, s := range []string{"1,a\n2,b\n", "02134,1.5\n,\n", "true,2024-01-01\nfalse,2024-01-02 10:00:00.5\n", "1e3,\"\"\n\"1\n2\",x\n", "NULL,1\n", "-0,.5\n+1,5.\n", "NaN,12345678901234567890\n", "1\n1,2,3\n"} {
		f.Add([]byte(s), int64(1<<20))
		f.Add([]byte(s), int64(16))
	}
	f.Fuzz(func(t *testing.T, data []byte, budget int64) {
		if len(data) > 1<<16 || budget <= 0 {
			return
		}
		state, v, err := inferText(t, Options{Ragged: "skip"}, budget, "a,b\n"+string(data))
		if err != nil {
			return
		}
		_, _, err = readAll(t, state, how{split: 1 << 30})
		if err == nil || class(err) == "CsvFormatError" {
			return
		}
		if v.Whole || !strings.Contains(err.Error(), "inferred from a sample") {
			t.Errorf("%s: %v", &v.Inference, err)
		}
	})
}

// TestSampleOfOthers: files that cannot be cut for reading are sampled from their middle too, if they are
// not compressed, in the encoding that they have.
func TestSampleOfOthers(t *testing.T) {
	var b strings.Builder
	b.WriteString("n;t\n")
	for i := range 300_000 {
		fmt.Fprintf(&b, "%d;é%d\n", i, i)
	}
	wide := func(s string, order binary.ByteOrder) string {
		out := make([]byte, 2, 2*len(s)+2)
		order.PutUint16(out, 0xFEFF)
		for _, c := range utf16.Encode([]rune(s)) {
			out = append(out, 0, 0)
			order.PutUint16(out[len(out)-2:], c)
		}
		return string(out)
	}
	cases := map[string]struct {
		o    Options
		text string
	}{
		"plain":    {Options{}, b.String()},
		"trim":     {Options{Trim: true}, b.String()},
		"cr":       {Options{LineEnding: "cr"}, strings.ReplaceAll(b.String(), "\n", "\r")},
		"latin-1":  {Options{Encoding: "latin-1"}, strings.ReplaceAll(b.String(), "é", "\xe9")},
		"utf-16le": {Options{}, wide(b.String(), binary.LittleEndian)},
		"utf-16be": {Options{Encoding: "utf-16"}, wide(b.String(), binary.BigEndian)},
	}
	for name, c := range cases {
		c.o.Delimiter = ";"
		_, v, err := inferText(t, c.o, 1200<<10, c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if v.Columns[0].Type.String() != "BIGINT" || v.Whole || v.Rows < 20_000 || v.Bytes < 1000<<10 || v.Bytes > 1300<<10 {
			t.Errorf("%s: %s", name, &v.Inference)
		}
	}
}
