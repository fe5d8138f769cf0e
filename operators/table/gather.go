package table

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A rowRef is a row of one of several batches.
type rowRef struct {
	prefix uint64
	batch  uint32
	row    uint32
}

const rowRefSize = 16

// A gatherer collects rows of several batches in new columns, STRING ones plain.
type gatherer struct {
	fields   []expr.Field
	builders []array.Builder
	rows     int64
}

func newGatherer(s expr.Schema, alloc memory.Allocator, n int) *gatherer {
	g := &gatherer{fields: s.Fields}
	for _, f := range s.Fields {
		b := array.NewBuilder(alloc, f.Type.Arrow())
		b.Reserve(n)
		g.builders = append(g.builders, b)
	}
	return g
}

func (g *gatherer) add(b *sortBatch, row int) {
	for i := range b.cols {
		appendValue(g.builders[i], &b.cols[i], row)
	}
	g.rows++
}

// record is what was collected since the last one.
func (g *gatherer) record() arrow.Record {
	cols := make([]arrow.Array, len(g.builders))
	for i, b := range g.builders {
		cols[i] = b.NewArray()
	}
	rec := column.NewRecord(g.fields, cols, g.rows)
	for _, c := range cols {
		c.Release()
	}
	g.rows = 0
	return rec
}

func (g *gatherer) release() {
	for _, b := range g.builders {
		b.Release()
	}
}

// gather is a record of the rows that refs name, built column by column.
func gather(s expr.Schema, alloc memory.Allocator, batches []*sortBatch, refs []rowRef) arrow.Record {
	cols := make([]arrow.Array, len(s.Fields))
	for i, f := range s.Fields {
		b := array.NewBuilder(alloc, f.Type.Arrow())
		b.Reserve(len(refs))
		for _, r := range refs {
			appendValue(b, &batches[r.batch].cols[i], int(r.row))
		}
		cols[i] = b.NewArray()
		b.Release()
	}
	rec := column.NewRecord(s.Fields, cols, int64(len(refs)))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

func appendValue(b array.Builder, c *keyColumn, row int) {
	if c.nulls() && c.null(row) {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.StructBuilder, *array.ListBuilder, *array.MapBuilder:
		appendNested(b, c, row)
	case *array.StringBuilder:
		b.BinaryBuilder.Append(c.textAt(row))
	case *array.BinaryBuilder:
		b.Append(c.textAt(row))
	case *array.Float64Builder:
		b.Append(c.f64[row])
	case *array.Decimal128Builder:
		b.Append(c.d128[row])
	default:
		appendInt(b, c.int(row))
	}
}

// recordBytes is what the rows of a record take, however large the buffers are that it shares.
func recordBytes(rec arrow.Record) (int64, error) {
	n := int64(0)
	for i := range int(rec.NumCols()) {
		var c keyColumn
		if err := c.load(rec.Column(i)); err != nil {
			return 0, fmt.Errorf("column %s: %w", rec.ColumnName(i), err)
		}
		n += c.bytes(0, int(rec.NumRows()))
	}
	return n, nil
}

// bytes is what some rows of a column take.
func (c *keyColumn) bytes(from, to int) int64 {
	rows := int64(to - from)
	switch {
	case c.parts != nil:
		return c.nestedBytes(from, to)
	case c.codes != nil:
		return 4*rows + int64(len(c.text.data))/8
	case c.text.offsets != nil:
		return 4*rows + int64(c.text.offsets[to]-c.text.offsets[from])
	case c.d128 != nil:
		return 16 * rows
	}
	return 8 * rows
}
