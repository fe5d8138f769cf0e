package column

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Nulls is a column of rows that are NULL; the caller owns it.
func Nulls(alloc memory.Allocator, t expr.Type, rows int) arrow.Array {
	b := array.NewBuilder(alloc, t.Arrow())
	defer b.Release()
	b.AppendNulls(rows)
	return b.NewArray()
}
