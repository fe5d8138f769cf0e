package column_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// nestedColumns are arrays of nested types, with NULLs at every level.
func nestedColumns(t *testing.T, alloc memory.Allocator) (types []expr.Type, cols []arrow.Array) {
	t.Helper()
	for text, rows := range map[string]string{
		"ARRAY<INT>":       `[[1, 2], null, [], [3, null], [null], [4]]`,
		"ARRAY<STRING>":    `[["ab", ""], [], null, [null, "c"], ["d"], ["e", "f"]]`,
		"MAP<STRING, INT>": `[[{"key": "a", "value": 1}, {"key": "b", "value": null}], null, [], [{"key": "c", "value": 3}], [{"key": "a", "value": 1}], []]`,
		"ROW<a INT, b ROW<c STRING, d ARRAY<BOOLEAN>>>": `[{"a": 1, "b": {"c": "x", "d": [true, null]}}, null, {"a": null, "b": null}, {"a": 2, "b": {"c": null, "d": []}}, {"a": 3, "b": {"c": "", "d": null}}, {"a": 1, "b": null}]`,
		"ARRAY<ROW<k MAP<INT, ARRAY<DOUBLE>>>>":         `[[{"k": [{"key": 1, "value": [1.5, null]}]}, null], [], null, [{"k": null}], [{"k": []}], [{"k": [{"key": 2, "value": null}]}]]`,
	} {
		typ, err := expr.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		arr, _, err := array.FromJSON(alloc, typ.Arrow(), strings.NewReader(rows))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		types, cols = append(types, typ), append(cols, arr)
	}
	return types, cols
}

func textsOf(arr arrow.Array, t expr.Type) []string {
	var out []string
	for i := range arr.Len() {
		out = append(out, string(column.AppendText(nil, arr, t, i)))
	}
	return out
}

// TestNested: taken, joined and sliced nested values stay what they are, and so does their digest.
func TestNested(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	types, cols := nestedColumns(t, alloc)
	r := rand.New(rand.NewPCG(1, 1))
	for i, typ := range types {
		arr := cols[i]
		want := textsOf(arr, typ)
		idx := make([]int32, 20)
		var wanted []string
		for k := range idx {
			idx[k] = int32(r.IntN(arr.Len()+1)) - 1
			if idx[k] < 0 {
				wanted = append(wanted, "NULL")
			} else {
				wanted = append(wanted, want[idx[k]])
			}
		}
		taken := column.Take(alloc, arr, idx)
		equalTexts(t, textsOf(taken, typ), wanted)
		a, b := array.NewSlice(arr, 0, 2), array.NewSlice(arr, 2, 6)
		equalTexts(t, append(textsOf(a, typ), textsOf(b, typ)...), want)
		joined, err := column.Concat(alloc, []arrow.Array{a, b, taken})
		if err != nil {
			t.Fatal(err)
		}
		equalTexts(t, textsOf(joined, typ), append(append([]string{}, want...), wanted...))
		again := column.Take(alloc, b, []int32{3, 0, -1})
		equalTexts(t, textsOf(again, typ), []string{want[5], want[2], "NULL"})

		all, parts, other := column.NewDigest(schemaOf(typ)), column.NewDigest(schemaOf(typ)), column.NewDigest(schemaOf(typ))
		add := func(d *column.Digest, arr arrow.Array, sel []int32) {
			rec := column.NewRecord(schemaOf(typ).Fields, []arrow.Array{arr}, int64(arr.Len()))
			d.Add(operators.Batch{Rec: rec, Sel: sel})
			rec.Release()
		}
		add(all, arr, nil)
		add(parts, b, []int32{0, 2})
		add(parts, a, nil)
		add(parts, b, []int32{1, 3})
		add(other, arr, []int32{0, 0, 2, 3, 4, 5})
		if all.Sum() != parts.Sum() || all.Sum() == other.Sum() {
			t.Errorf("%s: digests %x, in parts %x, of other rows %x", typ, all.Sum(), parts.Sum(), other.Sum())
		}
		for _, x := range []arrow.Array{taken, a, b, joined, again, arr} {
			x.Release()
		}
	}
}

func schemaOf(t expr.Type) expr.Schema { return expr.SchemaOf(expr.Field{Name: "x", Type: t}) }

func equalTexts(t *testing.T, got, want []string) {
	t.Helper()
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("the values are %q, not %q", got, want)
	}
}

// TestNestedDigests: values that differ at any level differ in their digest, and the order of a MAP's entries is
// none.
func TestNestedDigests(t *testing.T) {
	sum := func(typ, value string) [16]byte {
		p, err := expr.ParseType(typ)
		if err != nil {
			t.Fatal(err)
		}
		arr, _, err := array.FromJSON(memory.DefaultAllocator, p.Arrow(), strings.NewReader("["+value+"]"))
		if err != nil {
			t.Fatal(err)
		}
		d := column.NewDigest(schemaOf(p))
		d.Add(operators.Batch{Rec: column.NewRecord(schemaOf(p).Fields, []arrow.Array{arr}, 1)})
		return d.Sum()
	}
	seen := map[[16]byte]string{}
	for _, v := range []string{"null", "[]", "[null]", "[[]]", "[[null]]", "[[1]]", "[[1], []]", "[[], [1]]", "[[1, 2]]", "[[2, 1]]", "[[1], [2]]"} {
		s := sum("ARRAY<ARRAY<INT>>", v)
		if o, twice := seen[s]; twice {
			t.Errorf("%s and %s have one digest", o, v)
		}
		seen[s] = v
	}
	a, b := `[{"key": 1, "value": 2}, {"key": 2, "value": 1}]`, `[{"key": 2, "value": 1}, {"key": 1, "value": 2}]`
	if sum("MAP<INT, INT>", a) != sum("MAP<INT, INT>", b) || sum("MAP<INT, INT>", a) == sum("MAP<INT, INT>", `[{"key": 1, "value": 1}, {"key": 2, "value": 2}]`) {
		t.Error("the digest of a MAP is not that of its entries")
	}
	if sum("ARRAY<ARRAY<INT>>", "[[1]]") != sum("ARRAY<ARRAY<BIGINT>>", "[[1]]") {
		t.Error("the digest depends on the width of numbers")
	}
}
