package parquet

import (
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// extent is the file with its row groups tiled over its bytes. The first tile takes the file's head
// and the last one its footer along; groups that do not lie in order share the bytes evenly.
func (d *document) extent() (boundFile, error) {
	f := boundFile{Path: d.path, Bytes: d.Size()}
	err := d.guard("the footer's row groups cannot be decoded", func() error {
		n := len(d.meta.GetRowGroups())
		for i := range n {
			g := d.meta.RowGroup(i)
			f.Rows = append(f.Rows, g.NumRows())
			start, err := groupStart(g)
			if err != nil {
				return err
			}
			f.Starts = append(f.Starts, start)
		}
		if n > 0 {
			f.Starts[0] = 0
		} else {
			f.Starts = []int64{0}
		}
		f.Starts = append(f.Starts, f.Bytes)
		if !sort.SliceIsSorted(f.Starts, func(i, j int) bool { return f.Starts[i] <= f.Starts[j] }) {
			for i := range f.Starts {
				f.Starts[i] = f.Bytes / int64(max(n, 1)) * int64(i)
			}
			f.Starts[len(f.Starts)-1] = f.Bytes
		}
		return nil
	})
	return f, err
}

// groupStart is the least byte of a group's column chunks.
func groupStart(g *metadata.RowGroupMetaData) (int64, error) {
	least := int64(-1)
	for c := range g.NumColumns() {
		m, err := g.ColumnChunk(c)
		if err != nil {
			return 0, err
		}
		if s := chunkStart(m); least < 0 || s < least {
			least = s
		}
	}
	return max(least, 0), nil
}

func chunkStart(m *metadata.ColumnChunkMetaData) int64 {
	start := m.DataPageOffset()
	if m.HasDictionaryPage() && m.DictionaryPageOffset() > 0 && m.DictionaryPageOffset() < start {
		start = m.DictionaryPageOffset()
	}
	return start
}

// chunkDamaged is an error about a column of a row group.
func (d *document) chunkDamaged(group int, column, why string) *connectors.DataError {
	return &connectors.DataError{
		Kind: "DamagedFile", File: d.path, Field: column,
		Message: fmt.Sprintf("the file is damaged: row group %d, column %s: %s", group, column, why),
	}
}
