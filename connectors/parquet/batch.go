package parquet

import (
	"errors"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A fileColumn is a used column in the file being read.
type fileColumn struct {
	boundCol
	place   int // in the source's schema
	leaf    leaf
	decoder *decoder
	cast    *expr.Program // to the declared type; nil where the file has it
	paths   [][]string    // of a nested column: the fields that are looked at, nil = all of it
	nested  *nestedReader // of a nested column
	skips   bool          // bad rows are left out, so all of them are wanted
	room    room
	chunk   *chunk     // of the group being read; nil before it is opened
	gaps    []rowRange // of the group: rows of which none passes the filter
	reader  *reader
	owed    int64 // rows of the group to pass over before the next are decoded
	absent  bool  // the file has no such column: it is NULL
}

// read decodes the next n rows of a group; of a nested column only values in selected rows (nil: all) fail.
func (c *fileColumn) read(d *document, group, n int, sel []int32) (piece, error) {
	if c.absent {
		c.owed = 0
		return piece{arr: column.Nulls(c.reader.alloc, c.Type, n)}, nil
	}
	if c.nested != nil {
		if c.owed > 0 {
			if err := c.nested.skip(d, group, c.owed); err != nil {
				return piece{}, err
			}
			c.owed = 0
		}
		return c.nested.next(d, group, n, sel)
	}
	if c.chunk == nil {
		var err error
		if c.room.plan, err = c.planPages(d, group); err != nil {
			return piece{}, err
		}
		if c.chunk, err = openChunk(d, group, c.Name, c.leaf.index, &c.room); err != nil {
			return piece{}, err
		}
	}
	if c.owed > 0 {
		if err := c.decoder.skip(c.chunk, c.owed); err != nil {
			return piece{}, err
		}
		c.owed = 0
	}
	return c.decoder.next(c.chunk, n)
}

// leave ends the group.
func (c *fileColumn) leave() {
	c.chunk, c.owed, c.gaps, c.room.plan = nil, 0, nil, nil
	if c.nested != nil {
		c.nested.leave()
	}
}

// attach finds the column in a file.
func (c *fileColumn) attach(d *document, has []leaf, alloc memory.Allocator, w *words) error {
	l := find(has, c.Name)
	if c.absent = l == nil && c.reader != nil && c.reader.src.Nulls; c.absent {
		c.leave()
		c.leaf, c.decoder, c.nested, c.cast = leaf{name: c.Name, index: -1, typ: c.Type}, &decoder{alloc: alloc, typ: c.Type}, nil, nil
		return nil
	}
	if l != nil && l.nest != nil {
		return c.attachNested(d, l, alloc)
	}
	if l == nil || l.index < 0 || c.Type.Nested() {
		return mismatch(d.path, c.Name, fmt.Sprintf("column %s of %s is gone: the file was written anew while the plan ran", c.Name, d.path))
	}
	column := l.as(c.Type)
	l = &column
	node, ok := d.meta.Schema.Column(l.index).SchemaNode().(*schema.PrimitiveNode)
	if !ok {
		return mismatch(d.path, c.Name, fmt.Sprintf("column %s of %s is no plain column", c.Name, d.path))
	}
	if c.cast != nil && c.leaf.typ != l.typ {
		c.cast = nil
	}
	c.leaf = *l
	c.decoder = &decoder{alloc: alloc, node: node, typ: l.typ, words: w}
	if c.cast != nil || l.typ.Same(c.Type) {
		return nil
	}
	to := c.Type
	to.NotNull = l.typ.NotNull
	e := &expr.Expr{Op: expr.OpCast, Type: to, Args: []*expr.Expr{{Op: expr.OpColumn, Name: c.Name, Type: l.typ}}}
	var err error
	c.cast, err = expr.Compile(e, expr.SchemaOf(expr.Field{Name: c.Name, Type: l.typ}))
	if err != nil {
		return mismatch(d.path, c.Name, fmt.Sprintf("column %s is %s in %s and declared %s: %v", c.Name, l.typ, d.path, c.Type, err))
	}
	return nil
}

// attachNested finds a nested column in a file.
func (c *fileColumn) attachNested(d *document, l *leaf, alloc memory.Allocator) (err error) {
	c.leaf, c.cast, c.decoder = *l, nil, &decoder{alloc: alloc}
	c.leaf.index = max(l.index, 0)
	if c.nested, err = newNestedReader(l.nest, c.Type, c.paths, d, alloc); err != nil {
		return mismatch(d.path, c.Name, fmt.Sprintf("column %s of %s: %v", c.Name, d.path, err))
	}
	c.nested.all = c.skips
	return nil
}

// A filter is the condition that the source took, over the columns it reads.
type filter struct {
	program *expr.Program
	fields  []expr.Field
	sel     []int32
	tries   expr.TryCasts
}

func newFilter(s *source, cols []int) (*filter, error) {
	all := s.Schema()
	in := all.Pick(cols)
	where := expr.Rewrite(s.where, func(e *expr.Expr) *expr.Expr {
		if e.Op == expr.OpColumn {
			e.Col = sort.SearchInts(cols, e.Col)
		}
		return e
	})
	p, err := expr.Compile(where, in)
	if err != nil {
		return nil, fmt.Errorf("compiling the filter of a parquet source: %w", err)
	}
	f := &filter{program: p, fields: in.Fields}
	f.tries.Watch(p)
	return f, nil
}

// batch gives the next rows of the group; no record where the filter drops all of them.
func (r *reader) batch() (operators.Batch, error) {
	f := &r.src.Files[r.split.File-1]
	if r.src.Skip || f.Only != nil {
		return r.skippingBatch()
	}
	n := int(min(f.Rows[r.group]-r.at, r.toGap(), r.mostRows()))
	b := batchOf{reader: r, n: n, arrs: map[int]arrow.Array{}, dicts: map[int]uint64{}}
	defer b.release()
	origin := operators.Origin{File: int64(r.split.File), Row: r.row(), Offset: f.Starts[r.split.From]}
	if err := b.columns(r.cols[:r.first], nil); err != nil {
		return operators.Batch{}, err
	}
	sel, err := b.filter(nil)
	if err != nil {
		return operators.Batch{}, err
	}
	none := sel != nil && len(sel) == 0
	if none {
		r.pass(r.cols[r.first:], int64(n))
	} else if err := b.columns(r.cols[r.first:], sel); err != nil {
		return operators.Batch{}, err
	}
	r.at += int64(n)
	t := r.tally(r.split.File)
	t.Read += int64(n)
	if sel != nil {
		t.Filtered += int64(n - len(sel))
	}
	if none {
		return operators.Batch{}, nil
	}
	rec, ids := r.record(b.arrs, b.dicts, n)
	return operators.Batch{Rec: rec, Sel: sel, Dict: ids, From: origin}, nil
}

// A batchOf is a batch being made of the next n rows.
type batchOf struct {
	*reader
	n     int
	arrs  map[int]arrow.Array // by place in the source's schema
	dicts map[int]uint64
}

func (b *batchOf) release() {
	for _, a := range b.arrs {
		a.Release()
	}
}

// filter gives the rows of a selection (nil: all) that pass; nil: all rows. It holds until the next call.
func (b *batchOf) filter(sel []int32) ([]int32, error) {
	f := b.reader.filter
	if f == nil {
		return sel, nil
	}
	cols := make([]arrow.Array, b.first)
	ids := make([]uint64, b.first)
	for i, c := range b.cols[:b.first] {
		cols[i], ids[i] = b.arrs[c.place], b.dicts[c.place]
	}
	rec := column.NewRecord(f.fields, cols, int64(b.n))
	defer rec.Release()
	f.tries.Begin()
	sel, err := f.program.Select(rec, ids, sel, f.sel[:0])
	if err != nil {
		return nil, b.evalError(err, "")
	}
	f.sel = sel
	if len(sel) == b.n {
		return nil, nil
	}
	if sel == nil {
		sel = []int32{}
	}
	return sel, nil
}

// columns reads some used columns and brings them to their declared types. Only selected rows may fail.
func (b *batchOf) columns(cols []*fileColumn, sel []int32) error {
	for _, c := range cols {
		p, err := c.read(b.doc, b.group, b.n, sel)
		if err != nil {
			return err
		}
		arr, dict := p.arr, p.dict
		if bad := b.firstBad(p.bad, sel); bad != nil {
			arr.Release()
			return b.badValue(c, *bad)
		}
		if c.cast != nil {
			cast, id, err := b.convert(c, arr, dict, sel)
			arr.Release()
			if err != nil {
				return err
			}
			arr, dict = cast, id
		}
		b.arrs[c.place], b.dicts[c.place] = arr, dict
		if c.Type.NotNull && arr.NullN() > 0 {
			if row, found := firstNull(arr, sel); found {
				return b.nullViolation(c, row)
			}
		}
	}
	return nil
}

func (b *batchOf) convert(c *fileColumn, arr arrow.Array, dict uint64, sel []int32) (arrow.Array, uint64, error) {
	rec := column.NewRecord([]expr.Field{{Name: c.Name, Type: c.leaf.typ}}, []arrow.Array{arr}, int64(b.n))
	defer rec.Release()
	cast, id, err := c.cast.Eval(b.alloc, rec, []uint64{dict}, sel)
	if err != nil {
		return nil, 0, b.evalError(err, c.Name)
	}
	return cast, id, nil
}

// firstBad is the first bad value in a selected row.
func (b *batchOf) firstBad(bad []badValue, sel []int32) *badValue {
	for _, v := range bad {
		if sel != nil {
			i := sort.Search(len(sel), func(i int) bool { return int(sel[i]) >= v.row })
			if i == len(sel) || int(sel[i]) != v.row {
				continue
			}
		}
		return &v
	}
	return nil
}

func firstNull(arr arrow.Array, sel []int32) (int, bool) {
	if sel != nil {
		for _, row := range sel {
			if arr.IsNull(int(row)) {
				return int(row), true
			}
		}
		return 0, false
	}
	for row := range arr.Len() {
		if arr.IsNull(row) {
			return row, true
		}
	}
	return 0, false
}

func (b *batchOf) nullViolation(c *fileColumn, row int) error {
	return b.at(row, connectors.DataError{
		Kind: "NullViolation", Field: c.Name, Value: "NULL", Wanted: c.Type.String(),
		Message: fmt.Sprintf("column %s is declared %s and has a NULL", c.Name, c.Type),
	})
}

func (b *batchOf) badValue(c *fileColumn, v badValue) error {
	return b.at(v.row, connectors.DataError{
		Kind: v.kind, Field: c.Name, Value: v.value, Wanted: c.leaf.typ.String(),
		Message: fmt.Sprintf("column %s: %s", c.Name, v.why),
	})
}

// evalError places an error of an expression, which knows the row of the batch.
func (b *batchOf) evalError(err error, field string) error {
	var e *expr.EvalError
	if !errors.As(err, &e) {
		return fmt.Errorf("reading %s: %w", b.doc.path, err)
	}
	if e.Field != "" {
		field = e.Field
	}
	return b.at(e.Row, connectors.DataError{Kind: e.Kind, Field: field, Value: e.Value, Message: e.Error(), Cause: err})
}

// at places an error at a row of the batch.
func (b *batchOf) at(row int, e connectors.DataError) error {
	f := &b.src.Files[b.split.File-1]
	e.File = f.Path
	e.Line = b.split.rowsBefore(f) + b.row() + int64(row) + 1
	e.Column = int64(b.fileColumn(e.Field)) + 1
	return &e
}

// fileColumn is the place of a column in the file, -1 where it has none of that name.
func (r *reader) fileColumn(name string) int {
	for _, c := range r.cols {
		if c.Name == name {
			return c.leaf.index
		}
	}
	return -1
}

// rowsBefore is how many rows of the file stand before the split.
func (s splitState) rowsBefore(f *boundFile) int64 {
	n := int64(0)
	for _, r := range f.Rows[:s.From] {
		n += r
	}
	return n
}
