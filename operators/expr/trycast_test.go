package expr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// plainRecord has the rows of codedRecord as plain texts.
func plainRecord(alloc memory.Allocator, entries []string, codes []int32) arrow.Record {
	b := array.NewStringBuilder(alloc)
	defer b.Release()
	for _, c := range codes {
		if c < 0 {
			b.AppendNull()
		} else {
			b.Append(entries[c])
		}
	}
	col := b.NewArray()
	defer col.Release()
	return column.NewRecord(textSchema.Fields, []arrow.Array{col}, int64(len(codes)))
}

// counted evaluates a batch, as a condition where it is one, and counts.
func counted(t *testing.T, alloc memory.Allocator, p *expr.Program, boolean bool, rec arrow.Record, id uint64, sel []int32) {
	t.Helper()
	defer rec.Release()
	var ids []uint64
	if id != 0 {
		ids = []uint64{id}
	}
	if boolean {
		if _, err := p.Select(rec, ids, sel, nil); err != nil {
			t.Fatal(err)
		}
		return
	}
	a, _, err := p.Eval(alloc, rec, ids, sel)
	if err != nil {
		t.Fatal(err)
	}
	a.Release()
}

// TestTryCastCounts holds that rows are counted alike one by one, in plain batches and by the entries of
// dictionaries that grow, with selections and NULLs, and that a batch counts a row once per expression.
func TestTryCastCounts(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	entries := []string{"1", "", " 7", "+5", "3.0", "x", "2147483648", "x", "2021-02-30", "true", "12x"}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, text := range []string{
		"TRY_CAST(s AS INT)", "TRY_CAST(s AS INT) + TRY_CAST(s AS INT)", "TRY_CAST(s AS DATE)", "TRY_CAST(s AS BOOLEAN)",
		"CAST(TRY_CAST(s AS INT) AS STRING)", "TRY_CAST(COALESCE(s, 'none') AS INT)", "CAST(TRY_CAST(COALESCE(s, 'none') AS INT) AS STRING)",
		"TRY_CAST(s AS INT) > 0", "s <> 'x' AND TRY_CAST(s AS INT) IS NULL", "s = '1' OR s = 'x' OR TRY_CAST(s AS DECIMAL(5, 2)) > 1",
		"CASE WHEN s = 'x' THEN 0 WHEN TRY_CAST(s AS INT) > 1 THEN TRY_CAST(s AS SMALLINT) END", "COALESCE(TRY_CAST(s AS INT), TRY_CAST(s AS DOUBLE))",
		"TRY_CAST(TRY_CAST(s AS DOUBLE) AS INT)", "NOT (CHAR_LENGTH(s) > 1 AND TRY_CAST(s AS BIGINT) > 2)",
	} {
		e, plain := compileText(t, text)
		_, coded := compileText(t, text)
		_, anonymous := compileText(t, text)
		_, again := compileText(t, text)
		_, single := compileText(t, text)
		boolean := e.Type.Kind == expr.Boolean
		var all [4]expr.TryCasts
		all[0].Watch(plain)
		all[0].Watch(again)
		all[1].Watch(coded)
		all[2].Watch(anonymous)
		all[3].Watch(single)
		id := expr.NewDictID()
		for round := range 8 {
			known := min(len(entries), 2+round*2)
			codes := make([]int32, 130)
			var sel []int32
			for i := range codes {
				codes[i] = int32(rng.IntN(known+1)) - 1
				if round%2 == 1 && rng.IntN(3) > 0 {
					sel = append(sel, int32(i))
				}
			}
			for i := range all[:3] {
				all[i].Begin()
			}
			counted(t, alloc, plain, boolean, plainRecord(alloc, entries, codes), 0, sel)
			counted(t, alloc, again, boolean, plainRecord(alloc, entries, codes), 0, sel)
			counted(t, alloc, coded, boolean, codedRecord(alloc, entries[:known], codes), id, sel)
			counted(t, alloc, anonymous, boolean, codedRecord(alloc, entries[:known], codes), 0, sel)
			rows := sel
			if rows == nil {
				for i := range codes {
					rows = append(rows, int32(i))
				}
			}
			for _, i := range rows {
				all[3].Begin()
				counted(t, alloc, single, boolean, plainRecord(alloc, entries, codes[i:i+1]), 0, nil)
			}
		}
		want := fmt.Sprint(all[3].Counts())
		for i, name := range []string{"plain", "coded", "coded without an id"} {
			if got := fmt.Sprint(all[i].Counts()); got != want || want == "[]" {
				t.Errorf("%s, %s: %s, row by row %s", text, name, got, want)
			}
		}
	}
}

// TestTryCastReasons holds the words of the counters, and that NULL is no miss.
func TestTryCastReasons(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	for _, c := range []struct{ text, value, want string }{
		{"TRY_CAST(s AS INT)", " ", "empty"}, {"TRY_CAST(s AS INT)", "x", "malformed"}, {"TRY_CAST(s AS INT)", "3.0", "fraction"},
		{"TRY_CAST(s AS INT)", "2147483648", "out-of-range"}, {"TRY_CAST(s AS DATE)", "2021-02-30", "out-of-range"},
		{"TRY_CAST(s AS TIMESTAMP)", "2021-02-03 10:00:00Z", "time-zone"}, {"COALESCE(TRY_CAST(x'ff' AS STRING), s)", "a", ""},
		{"TRY_CAST(s AS BOOLEAN)", "perhaps", "malformed"}, {"TRY_CAST(CAST(s AS BYTES) AS STRING)", "\xff", "not-utf8"}, {"TRY_CAST(s AS INT)", " 7", ""},
	} {
		_, p := compileText(t, c.text)
		var n expr.TryCasts
		n.Watch(p)
		counted(t, alloc, p, false, plainRecord(alloc, []string{c.value}, []int32{0, -1, 0}), 0, nil)
		got := ""
		for _, x := range n.Counts() {
			got += fmt.Sprint(x.Reason, x.Rows)
		}
		if want := c.want; want == "" && got != "" || want != "" && got != want+"2" {
			t.Errorf("%s of %q: %s, want 2 of %q", c.text, c.value, got, want)
		}
	}
}
