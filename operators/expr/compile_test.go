package expr

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

func TestSmoke(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	in := SchemaOf(Field{"a", Of(BigInt)}, Field{"s", Of(String)})
	ab := array.NewInt64Builder(alloc)
	ab.AppendValues([]int64{1, 2, 3}, []bool{true, true, false})
	sb := array.NewDictionaryBuilder(alloc, stringDictionary()).(*array.BinaryDictionaryBuilder)
	for _, s := range []string{"x", "yy", "x"} {
		sb.AppendString(s)
	}
	cols := []arrow.Array{ab.NewArray(), sb.NewArray()}
	ab.Release()
	sb.Release()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: cols[0].DataType()}, {Name: "s", Type: cols[1].DataType()}}, nil), cols, 3)
	defer rec.Release()
	for _, c := range cols {
		c.Release()
	}
	for _, text := range []string{"a + 1", "a > 1 AND s = 'x'", "a > 1 OR s = 'x'", "CASE WHEN s = 'x' THEN a ELSE 0 END", "CAST(a AS STRING)", "COALESCE(a, 5)", "a * 1.50", "a / 3.0", "CAST(s AS INT)", "s", "a IS NULL", "'k'"} {
		e, err := Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e, err = Check(e, in, CheckOptions{}); err != nil {
			t.Fatal(text, err)
		}
		p, err := Compile(e, in)
		if err != nil {
			t.Fatal(err)
		}
		arr, id, err := p.Eval(alloc, rec, []uint64{0, 7}, nil)
		t.Log(text, e.Type, arr, id, err)
		if arr != nil {
			arr.Release()
		}
	}
}
