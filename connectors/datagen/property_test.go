package datagen

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"pgregory.net/rapid"

	"github.com/seed-4b0e9f7c/runner/config/spec"
	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// anyField draws a field of at most two options, so that it often makes sense.
func anyField(t *rapid.T) Field {
	numbers := []string{"0", "-5", "7", "1000", "1e300", "-9223372036854775808", "9223372036854775807", "0.5", "x",
		"2024-02-29", "1969-12-31 23:59:59.999", "9999-12-31", "99999999999999999999999999999999999999"}
	text := func() string { return rapid.SampledFrom(numbers).Draw(t, "text") }
	f := Field{Kind: rapid.SampledFrom([]string{"", random, random, sequence, eventTime, "other"}).Draw(t, "kind")}
	for range rapid.IntRange(0, 2).Draw(t, "options") {
		switch rapid.IntRange(0, 10).Draw(t, "option") {
		case 0, 1:
			f.Min = text()
		case 2, 3:
			f.Max = text()
		case 4:
			f.NullRate = rapid.SampledFrom([]float64{0.5, 1, -1, math.Inf(1)}).Draw(t, "null_rate")
		case 5:
			f.Skew = rapid.SampledFrom([]float64{0.1, 1, 20, -1, 1e9}).Draw(t, "skew")
		case 6:
			f.VarLen = true
		case 7:
			f.Start = text()
		case 8:
			f.Interval = spec.Duration(rapid.SampledFrom([]int64{1, 86_400_000, math.MaxInt64, -1}).Draw(t, "interval"))
			f.Disorder = spec.Duration(rapid.SampledFrom([]int64{0, 1, 5000, math.MaxInt64 / 8000}).Draw(t, "disorder"))
		case 9:
			f.Values = []string{"a", "", "long"}
		case 10:
			f.Length = ptr(rapid.SampledFrom([]int64{0, 1, 17, 65536, 65537, -1}).Draw(t, "characters"))
		}
	}
	return f
}

// TestAnyOptions holds that any options are refused, naming one of them, or give the rows they promise: the
// same in one split and in several, and again by Locate.
func TestAnyOptions(t *testing.T) {
	bound := 0
	rapid.Check(t, func(t *rapid.T) {
		var c connectors.Columns
		typ := rapid.SampledFrom([]string{"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL(5, 2)", "DECIMAL(38, 38)", "DECIMAL(30, 0)", "FLOAT", "DOUBLE",
			"STRING", "STRING NOT NULL", "BYTES", "DATE", "TIME(3)", "TIMESTAMP_LTZ(3)", "TIMESTAMP(0)", "TIMESTAMP(6)"}).Draw(t, "type")
		if err := c.SetEntry("x", typ); err != nil {
			t.Fatal(err)
		}
		o := Options{
			Columns: c, Fields: map[string]Field{"x": anyField(t)}, NumberOfRows: ptr(rapid.Int64Range(1, 3000).Draw(t, "rows")),
			Seed: rapid.Int64().Draw(t, "seed"), Splits: rapid.Int64Range(0, 9).Draw(t, "splits"),
		}
		if o.Splits > 0 {
			o.IdleSplits = rapid.Int64Range(0, o.Splits).Draw(t, "idle")
		}
		state, err := Spec.Bind(t.Context(), o, connectors.Env{Node: "made"})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fields.x") && !strings.HasPrefix(err.Error(), "idle_splits: ") {
				t.Fatalf("%v", err)
			}
			return
		}
		bound++
		src, err := open(state, &stopped{})
		if err != nil {
			t.Fatal(err)
		}
		all := inOrder(t, src)
		if int64(len(all)) != *o.NumberOfRows {
			t.Fatalf("%d rows of %d", len(all), *o.NumberOfRows)
		}
		r, err := src.Reader(&operators.Task{Alloc: memory.DefaultAllocator})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range all {
			p, err := r.Locate(t.Context(), operators.Origin{File: 1, Offset: int64(i)}, 0, "x")
			if err != nil || p.Value != text || p.Line != int64(i)+1 {
				t.Fatalf("row %d is %q, and located %+v, %v", i, text, p, err)
			}
		}
	})
	if bound < 10 {
		t.Errorf("only %d of the options made sense", bound)
	}
}

// inOrder reads all splits by readers of their own, and gives the rows in their order.
func inOrder(t *rapid.T, src *source) []string {
	e, err := src.Enumerator(t.Context(), connectors.SplitOptions{SplitBytes: 5000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, _, err := e.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		at   int64
		text string
	}
	var rows []row
	for _, s := range splits {
		n := int64(0)
		r, err := src.Reader(&operators.Task{Alloc: memory.DefaultAllocator})
		if err != nil {
			t.Fatal(err)
		}
		r.Add([]connectors.Split{s})
		for {
			b, st, err := r.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if st != connectors.More {
				break
			}
			n += int64(b.Rows())
			for i, text := range textOf(b, expr.SchemaOf(src.Options.Columns...)) {
				rows = append(rows, row{b.From.Offset + int64(i), text})
			}
		}
		if n != s.Rows || n*src.Width != s.Bytes {
			t.Fatalf("split %s has %d rows in %d bytes, and gave %d", s.ID, s.Rows, s.Bytes, n)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return int(a.at - b.at) })
	out := make([]string, len(rows))
	for i, r := range rows {
		if r.at != int64(i) {
			t.Fatalf("row %d stands where row %d is to be", r.at, i)
		}
		out[i] = r.text
	}
	return out
}
