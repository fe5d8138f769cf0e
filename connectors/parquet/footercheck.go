package parquet

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// checkGroup compares what the footer says of a row group's columns with what it says of the group and of
// the schema: the columns that nobody reads tell too whether its number of rows can be right, and columns
// that have changed places would be put into each other.
func (d *document) checkGroup(group int, g *metadata.RowGroupMetaData, places map[int64]string) error {
	wrong := func(column int, format string, args ...any) error {
		name := d.meta.Schema.Column(column).Path()
		return d.damaged(fmt.Sprintf("row group %d, column %s: ", group, name)+fmt.Sprintf(format, args...), nil)
	}
	for i := range g.NumColumns() {
		m, err := chunkOf(g, i)
		if err != nil {
			return wrong(i, "%v", err)
		}
		leaf := d.meta.Schema.Column(i)
		if m.FilePath() != "" {
			return &connectors.DataError{
				Kind: "NotSupported", File: d.path, Field: leaf.Path(),
				Message: fmt.Sprintf("row group %d, column %s: its values are in another file, %s: read the files that have values", group, leaf.Path(), m.FilePath()),
			}
		}
		path := m.PathInSchema().String()
		if other := d.meta.Schema.ColumnIndexByName(path); other >= 0 && other != i && path != leaf.Path() {
			return wrong(i, "the footer has column %s in its place", path)
		}
		if m.CryptoMetadata() != nil {
			continue // reading it says so
		}
		if m.Type() != leaf.PhysicalType() {
			return wrong(i, "the footer says that its values are %s, and the schema %s", m.Type(), leaf.PhysicalType())
		}
		// A row has at least one value, or one level that stands for none.
		if n, rows := m.NumValues(), g.NumRows(); leaf.MaxRepetitionLevel() == 0 && n != rows || n < rows {
			return wrong(i, "the footer says %d values in %d rows", n, rows)
		}
		if g.NumRows() == 0 {
			continue
		}
		start := chunkStart(m)
		if other, taken := places[start]; taken && !d.twice(group, g) {
			return wrong(i, "it begins at byte %d, as %s does", start, other)
		}
		places[start] = fmt.Sprintf("column %s of row group %d", path, group)
	}
	return nil
}

// chunkOf is what the footer says of a column of a row group; the library panics where it says nothing.
func chunkOf(g *metadata.RowGroupMetaData, column int) (m *metadata.ColumnChunkMetaData, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the footer does not say where it is")
		}
	}()
	return g.ColumnChunk(column)
}

// twice reports whether all columns of a row group are those of one before it: that is one row group which the
// footer has twice, so that its rows are there twice.
func (d *document) twice(group int, g *metadata.RowGroupMetaData) bool {
	for i := range group {
		before := d.meta.RowGroup(i)
		same := before.NumRows() == g.NumRows()
		for c := 0; same && c < g.NumColumns(); c++ {
			a, errA := before.ColumnChunk(c)
			b, errB := g.ColumnChunk(c)
			same = errA == nil && errB == nil && chunkStart(a) == chunkStart(b) && a.TotalCompressedSize() == b.TotalCompressedSize() && a.NumValues() == b.NumValues()
		}
		if same {
			return true
		}
	}
	return false
}
