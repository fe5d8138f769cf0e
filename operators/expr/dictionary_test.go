package expr_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

var textSchema = expr.SchemaOf(field("s", "STRING"))

// codedRecord is one coded column of given entries and codes; a code below 0 is NULL.
func codedRecord(alloc memory.Allocator, entries []string, codes []int32) arrow.Record {
	db := array.NewStringBuilder(alloc)
	defer db.Release()
	db.AppendValues(entries, nil)
	dict := db.NewArray()
	defer dict.Release()
	ib := array.NewInt32Builder(alloc)
	defer ib.Release()
	for _, c := range codes {
		if c < 0 {
			ib.AppendNull()
		} else {
			ib.Append(c)
		}
	}
	ix := ib.NewArray()
	defer ix.Release()
	col := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, ix, dict)
	defer col.Release()
	return column.NewRecord(textSchema.Fields, []arrow.Array{col}, int64(len(codes)))
}

func compileText(t *testing.T, text string) (*expr.Expr, *expr.Program) {
	t.Helper()
	e, err := expr.Parse(text, nil)
	if err == nil {
		e, err = expr.Check(e, textSchema, expr.CheckOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := expr.Compile(e, textSchema)
	if err != nil {
		t.Fatal(err)
	}
	return e, p
}

// TestGrowingDictionary evaluates batches whose dictionary grows and holds a text twice: the
// results' dictionary has one id for good, earlier results stay as they were, codes keep their meaning.
func TestGrowingDictionary(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	for text, want := range map[string]func(s string) string{
		"UPPER(s)":              strings.ToUpper,
		"COALESCE(s, 'none')":   func(s string) string { return s },
		"NULLIF(s, 'a1')":       func(s string) string { return map[bool]string{true: "NULL", false: s}[s == "a1"] },
		"s || '!'":              func(s string) string { return s + "!" },
		"CHAR_LENGTH(s)":        func(s string) string { return fmt.Sprint(len(s)) },
		"s LIKE 'a1%'":          func(s string) string { return fmt.Sprint(strings.HasPrefix(s, "a1")) },
		"CAST(s AS STRING)":     func(s string) string { return s },
		"TRY_CAST(s AS BIGINT)": func(string) string { return "NULL" },
	} {
		e, p := compileText(t, text)
		var entries, kept []string
		var codes []int32
		var results []arrow.Array
		var wants []string
		id := uint64(0)
		for round := range 40 {
			entries = append(entries, fmt.Sprint("a", round), fmt.Sprint("a", round%3))
			codes = append(codes, int32(len(entries)-1), int32(len(entries)-2), int32(round%len(entries)), -1)
			rec := codedRecord(alloc, entries, codes)
			arr, got, err := p.Eval(alloc, rec, []uint64{77}, nil)
			rec.Release()
			if err != nil {
				t.Fatal(err)
			}
			coded := arr.DataType().ID() == arrow.DICTIONARY
			if coded != (e.Type.Kind == expr.String) || coded && (got == 0 || id != 0 && got != id) {
				t.Fatalf("%s: %s with id %d after %d", text, arr.DataType(), got, id)
			}
			id = got
			kept = kept[:0]
			for _, c := range codes {
				switch {
				case c >= 0:
					kept = append(kept, want(entries[c]))
				case strings.HasPrefix(text, "COALESCE"):
					kept = append(kept, "none")
				default:
					kept = append(kept, "NULL")
				}
			}
			results, wants = append(results, arr), append(wants, strings.Join(kept, " "))
		}
		for i, arr := range results {
			var got []string
			for r := range arr.Len() {
				got = append(got, string(column.AppendText(nil, arr, e.Type, r)))
			}
			if s := strings.Join(got, " "); s != wants[i] {
				t.Errorf("%s, batch %d: got %s, want %s", text, i, s, wants[i])
			}
			arr.Release()
		}
	}
}

// TestUnusedEntriesDoNotFail casts a dictionary with a bad entry: only rows that use it fail.
func TestUnusedEntriesDoNotFail(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	rec := codedRecord(alloc, []string{"1", "two", "3"}, []int32{0, 2, 1, 2})
	defer rec.Release()
	_, p := compileText(t, "CAST(s AS INT)")
	for _, id := range []uint64{0, 5} {
		arr, _, err := p.Eval(alloc, rec, []uint64{id}, []int32{0, 1, 3})
		if err != nil {
			t.Fatal(err)
		}
		arr.Release()
		_, _, err = p.Eval(alloc, rec, []uint64{id}, nil)
		var e *expr.EvalError
		if !errors.As(err, &e) || e.Row != 2 || e.Value != "two" || e.Field != "s" || e.Kind != "CastError" || e.Expression != "CAST(s AS INT)" {
			t.Fatalf("got %#v", err)
		}
	}
}

// TestUnselectedRowsAreNotRead puts codes without an entry at rows that are not selected, as a
// reader may leave them that parses only what is needed.
func TestUnselectedRowsAreNotRead(t *testing.T) {
	rec := codedRecord(memory.DefaultAllocator, []string{"a", "b"}, []int32{0, 1 << 30, 1, -1, 1 << 29})
	sel := []int32{0, 2, 3}
	for _, text := range []string{"s", "UPPER(s)", "s = 'a'", "s = s", "COALESCE(s, 'x')", "CASE WHEN s = 'a' THEN s ELSE 'z' END", "s || s", "s IN ('a')", "NULLIF(s, 'b')", "CAST(s AS STRING)", "TRY_CAST(s AS INT)", "s IS NULL", "s < 'b' OR s IS NULL", "CHAR_LENGTH(s) + 1"} {
		e, p := compileText(t, text)
		for _, id := range []uint64{0, 5} {
			arr, _, err := p.Eval(memory.DefaultAllocator, rec, []uint64{id}, sel)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range sel {
				var v any
				if r == 0 {
					v = "a"
				} else if r == 2 {
					v = "b"
				}
				want := shown(oracle(e, []any{v}), e.Type)
				if got := string(column.AppendText(nil, arr, e.Type, int(r))); got != want {
					t.Errorf("%s, row %d: got %s, want %s", text, r, got, want)
				}
			}
			if e.Type.Kind == expr.Boolean {
				if _, err := p.Select(rec, []uint64{id}, sel, nil); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestLongValuesAreClipped casts a text of a megabyte: neither the message nor the value repeats it all.
func TestLongValuesAreClipped(t *testing.T) {
	rec := buildRecord(memory.DefaultAllocator, textSchema, [][]any{{strings.Repeat("ü", 1<<19)}}, false)
	defer rec.Release()
	_, p := compileText(t, "CAST(s AS INT)")
	_, _, err := p.Eval(memory.DefaultAllocator, rec, nil, nil)
	var e *expr.EvalError
	if !errors.As(err, &e) || len(e.Value) > 1010 || len(e.Message) > 300 || !utf8.ValidString(e.Value) || !strings.HasSuffix(e.Value, "…") {
		t.Fatalf("%d bytes of value, %d of message", len(e.Value), len(e.Message))
	}
}
