package taskmanager

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
)

// fileNames puts the names of their files into the batches of a source, as codes of one dictionary.
type fileNames struct {
	at    int // place of the column, from 0
	names []string
	id    uint64
	texts arrow.Array // of names; nil before the first batch
}

// newFileNames is nil where nobody wants the names.
func newFileNames(s *jobgraph.Source) *fileNames {
	if s.FileAt == 0 {
		return nil
	}
	return &fileNames{at: s.FileAt - 1, names: jobgraph.FileNames(s.Inv), id: expr.NewDictID()}
}

// add gives the batch with the column; it takes over the batch's reference.
func (f *fileNames) add(alloc memory.Allocator, b operators.Batch) operators.Batch {
	defer b.Rec.Release()
	n := int(b.Rec.NumRows())
	codes := array.NewInt32Builder(alloc)
	defer codes.Release()
	codes.Reserve(n)
	for range n {
		codes.UnsafeAppend(int32(b.From.File - 1))
	}
	index := codes.NewInt32Array()
	defer index.Release()
	if f.texts == nil {
		b := array.NewStringBuilder(alloc)
		b.AppendValues(f.names, nil)
		f.texts = b.NewStringArray()
		b.Release()
	}
	col := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, index, f.texts)
	defer col.Release()
	field := arrow.Field{Name: connectors.FileColumn, Type: col.DataType()}
	schema := arrow.NewSchema(slices.Insert(slices.Clone(b.Rec.Schema().Fields()), f.at, field), nil)
	dicts := b.Dict
	if dicts == nil {
		dicts = make([]uint64, b.Rec.NumCols())
	}
	return operators.Batch{
		Rec: array.NewRecord(schema, slices.Insert(slices.Clone(b.Rec.Columns()), f.at, arrow.Array(col)), int64(n)),
		Sel: b.Sel, Dict: slices.Insert(slices.Clone(dicts), f.at, f.id), From: b.From,
	}
}

// close frees the names.
func (f *fileNames) close() {
	if f != nil && f.texts != nil {
		f.texts.Release()
		f.texts = nil
	}
}

// wanted accounts for the splits of files that no row is wanted of, and gives the others.
func (t *task) wanted(splits []connectors.Split) []connectors.Split {
	src := t.members[0].desc.Source
	if len(src.Skip) == 0 {
		return splits
	}
	var rest []connectors.Split
	for _, s := range splits {
		if at := int(s.Order[0]); slices.Contains(src.Skip, at) && at <= len(src.Inv.Files) {
			t.skipped = append(t.skipped, connectors.Tally{File: src.Inv.Files[at-1].Path, Rows: s.Rows, Pruned: s.Rows, Bytes: s.Bytes, UnreadBytes: s.Bytes})
			continue
		}
		rest = append(rest, s)
	}
	return rest
}
