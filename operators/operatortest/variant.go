package operatortest

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A variant is one way to run a case.
type variant struct {
	batch       int // rows of a batch, 0: all
	parallelism int
	dictionary  dictionaryMode
	selection   bool // between the rows lie others that are not selected
	budget      int64
	ids         uint64 // added to dictionary ids
	spills      *int   // counts spill files, where not nil
}

type dictionaryMode int

const (
	plain     dictionaryMode = iota
	growing                  // one dictionary with an id for all batches
	alternate                // batches that are plain, with an id, and without
	numModes
)

func (v variant) String() string {
	return fmt.Sprintf("batches of %d, %d subtasks, dictionary mode %d, selection %t, memory %d",
		v.batch, v.parallelism, v.dictionary, v.selection, v.budget)
}

// cut divides a record into the batches of the variant, each of them owned by the caller.
func (v variant) cut(alloc memory.Allocator, s expr.Schema, rec arrow.Record) []operators.Batch {
	size := int64(v.batch)
	if size == 0 {
		size = max(rec.NumRows(), 1)
	}
	coder := newCoder(alloc, s, rec)
	coder.ids = firstID + v.ids
	defer coder.release()
	var out []operators.Batch
	for lo := int64(0); lo < rec.NumRows(); lo += size {
		b := operators.Batch{Rec: rec.NewSlice(lo, min(lo+size, rec.NumRows()))}
		switch {
		case v.dictionary == growing || v.dictionary == alternate && len(out)%3 == 1:
			b = coder.encode(b, lo, true)
		case v.dictionary == alternate && len(out)%3 == 2:
			b = coder.encode(b, lo, false)
		}
		if v.selection {
			b = spread(alloc, b)
		}
		out = append(out, b)
	}
	return out
}

// spread puts a copy of the last row before every row and selects the others.
func spread(alloc memory.Allocator, b operators.Batch) operators.Batch {
	n := int32(b.Rec.NumRows())
	idx := make([]int32, 0, 2*n)
	sel := make([]int32, 0, n)
	for i := range n {
		idx = append(idx, n-1, i)
		sel = append(sel, 2*i+1)
	}
	cols := make([]arrow.Array, b.Rec.NumCols())
	for i := range cols {
		cols[i] = column.Take(alloc, b.Rec.Column(i), idx)
		defer cols[i].Release()
	}
	rec := array.NewRecord(b.Rec.Schema(), cols, int64(2*n))
	b.Rec.Release()
	b.Rec, b.Sel = rec, sel
	return b
}

// A coder turns STRING columns into codes. Every text has two entries, used in turn, since a
// dictionary may hold equal strings twice.
type coder struct {
	alloc  memory.Allocator
	schema expr.Schema
	dicts  []arrow.Array // per column, nil for those that are not STRING
	codes  [][]int32
	ids    uint64
}

// firstID is the dictionary id of the first column; ids only have to differ.
const firstID = 1001

func newCoder(alloc memory.Allocator, s expr.Schema, rec arrow.Record) *coder {
	c := &coder{alloc: alloc, schema: s, dicts: make([]arrow.Array, len(s.Fields)), codes: make([][]int32, len(s.Fields))}
	for i, f := range s.Fields {
		if f.Type.Kind != expr.String || expr.IsDictionary(rec.Column(i).DataType()) {
			continue
		}
		text, ok := rec.Column(i).(*array.String)
		if !ok {
			continue
		}
		b := array.NewStringBuilder(alloc)
		known := map[string]int32{}
		for row := range text.Len() {
			key := fmt.Sprintf("%d %s", row%2, text.Value(row))
			if _, ok := known[key]; !ok {
				known[key] = int32(len(known))
				b.Append(text.Value(row))
			}
			c.codes[i] = append(c.codes[i], known[key])
		}
		c.dicts[i] = b.NewArray()
		b.Release()
	}
	return c
}

func (c *coder) encode(b operators.Batch, lo int64, withID bool) operators.Batch {
	n := int(b.Rec.NumRows())
	cols := make([]arrow.Array, b.Rec.NumCols())
	b.Dict = make([]uint64, len(cols))
	for i := range cols {
		cols[i] = b.Rec.Column(i)
		if c.dicts[i] == nil {
			cols[i].Retain()
		} else {
			cols[i] = c.coded(i, cols[i], int(lo), n)
			if withID {
				b.Dict[i] = c.ids + uint64(i)
			}
		}
		defer cols[i].Release()
	}
	rec := column.NewRecord(c.schema.Fields, cols, int64(n))
	b.Rec.Release()
	b.Rec = rec
	return b
}

// coded is a column as codes, with the part of the dictionary that its batches so far need.
func (c *coder) coded(i int, from arrow.Array, lo, n int) arrow.Array {
	idx := array.NewInt32Builder(c.alloc)
	defer idx.Release()
	size := int32(0)
	for _, code := range c.codes[i][:lo+n] {
		size = max(size, code+1)
	}
	for row := range n {
		if from.IsNull(row) {
			idx.AppendNull()
		} else {
			idx.Append(c.codes[i][lo+row])
		}
	}
	codes := idx.NewArray()
	defer codes.Release()
	part := array.NewSlice(c.dicts[i], 0, int64(size))
	defer part.Release()
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, codes, part)
}

func (c *coder) release() {
	for _, d := range c.dicts {
		if d != nil {
			d.Release()
		}
	}
}

// Batches divides a record into batches of a size, its texts plain or coded by turns beginning with
// start (which also tells dictionaries apart), every other batch with a selection. The caller owns the batches.
func Batches(alloc memory.Allocator, s expr.Schema, rec arrow.Record, size, start int) []operators.Batch {
	v := variant{batch: size, dictionary: dictionaryMode(start % int(numModes)), selection: start%2 == 1, ids: uint64(start) << 16}
	return v.cut(alloc, s, rec)
}
