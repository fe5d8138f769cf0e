package columntext

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// parseTexts parses values as one run of records of a single column.
func parseTexts(c *Column, values []string) (arrow.Array, *Flaw) {
	text := bytes.NewBuffer(make([]byte, Front))
	pos := []uint32{0}
	for _, v := range values {
		text.WriteByte('\n')
		text.WriteString(v)
		pos = append(pos, uint32(text.Len()-Front))
	}
	text.Write(make([]byte, Front))
	c.Fields.Set(Layout{Buf: text.Bytes()[Front : text.Len()-Front], Pos: pos, Step: 1, Bare: true})
	sel := make([]int32, len(values))
	for i := range sel {
		sel[i] = int32(i)
	}
	arr, _, bad := c.Parse(len(values), sel)
	return arr, bad
}

// TestDictionaryGivesUp: a dictionary that stops paying in the middle of a batch leaves no row of it without its
// value, also where all rows of the batch together would make it pay again.
func TestDictionaryGivesUp(t *testing.T) {
	for _, old := range []int{100, 1900, 2047, 2200, 2249} { // of 9000 rows
		for _, fresh := range []int{0, 1, 50, 200, 1000, 3000, 9000} {
			alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
			c := New(expr.Field{Name: "s", Type: expr.Of(expr.String)}, Style{Nulls: NewNullTokens([]string{""})}, alloc)
			for batch, n := range []int{0, fresh, 0, fresh} {
				values := make([]string, 9000)
				for i := range values {
					if values[i] = fmt.Sprintf("value %d", i%old); i < n {
						values[i] = fmt.Sprintf("fresh %d of %d", i, batch)
					}
				}
				arr, bad := parseTexts(c, values)
				if bad != nil {
					t.Fatalf("%+v", bad)
				}
				for i, want := range values {
					if got := arr.ValueStr(i); got != want {
						t.Fatalf("%d values, then %d that are new: row %d of batch %d is %q, expected %q", old, fresh, i, batch, got, want)
					}
				}
				if d, ok := arr.(*array.Dictionary); ok && d.Dictionary().Len() > 4*9000/trialDivide {
					t.Errorf("%d values, then %d: a dictionary of %d", old, fresh, d.Dictionary().Len())
				}
				arr.Release()
			}
			c.Release()
			alloc.AssertSize(t, 0)
		}
	}
}
