package columntext

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Set is the columns that a reader parses. Those that the filter reads are parsed for all rows, the
// others for the rows that pass.
type Set struct {
	fields  []expr.Field
	cols    []*Column // per field; nil: not used
	first   []int     // parsed for all rows, ascending: those of the filter, or all of them
	rest    []int     // parsed for the rows that pass, ascending
	wanted  []int     // given out, in their order
	where   *expr.Program
	tries   expr.TryCasts // of the filter
	arrs    []arrow.Array // per field
	dicts   []uint64
	sel     []int32
	idents  []int32
	schemas map[uint64]*arrow.Schema // by which columns are coded
}

// Rows is a run of records whose fields were found.
type Rows interface {
	// Layout says where the fields of a column are, of the first row on.
	Layout(col int) Layout
	// Unfit is the place in sel of the first row whose field may not even be looked at for its column, and
	// len(sel) where there is none.
	Unfit(col int, sel []int32) int
}

// A Bad is a row that cannot be read.
type Bad struct {
	Row  int32
	Col  int   // the field at fault; -1: the filter failed
	Flaw *Flaw // what is wrong with it
	Err  error // of the filter
}

// Parsed is what became of some rows.
type Parsed struct {
	Sel      []int32 // the rows that pass, ascending
	Filtered int     // rows that do not
	Left     []Bad   // rows that were left out because they are bad
	// Fault is the first bad row where none may be left out; only the rows before it were looked at.
	// Within a row the columns of the filter come first, then the filter, then the other columns.
	Fault *Bad
}

// NewSet makes a set of the columns wanted of fields, and of those that the filter (nil: none) reads. With
// all every field is parsed for every row. column makes the column of a field.
func NewSet(fields []expr.Field, wanted []int, where *expr.Expr, all bool, column func(i int) *Column) (*Set, error) {
	s := &Set{
		fields: fields, cols: make([]*Column, len(fields)), wanted: wanted, arrs: make([]arrow.Array, len(fields)),
		dicts: make([]uint64, len(fields)), schemas: map[uint64]*arrow.Schema{}, first: expr.Columns(where),
	}
	if all {
		s.first = nil
		for i := range fields {
			s.first = append(s.first, i)
		}
	}
	for _, i := range s.first {
		if s.cols[i] == nil {
			s.cols[i] = column(i)
		}
	}
	for _, i := range slices.Sorted(slices.Values(wanted)) {
		if s.cols[i] == nil {
			s.cols[i] = column(i)
			s.rest = append(s.rest, i)
		}
	}
	if where == nil {
		return s, nil
	}
	return s, s.compile(where)
}

// Used are the columns that are parsed at all, ascending.
func (s *Set) Used() []int {
	var out []int
	for i, c := range s.cols {
		if c != nil {
			out = append(out, i)
		}
	}
	return out
}

// TryCasts is for how many rows a TRY_CAST of the filter gave NULL.
func (s *Set) TryCasts() []expr.TryCast { return s.tries.Counts() }

// Column is the column of a field, nil where it is not used.
func (s *Set) Column(i int) *Column { return s.cols[i] }

// compile builds the filter over a schema of just the columns it reads.
func (s *Set) compile(where *expr.Expr) error {
	place := map[int]int{}
	var in expr.Schema
	for _, i := range s.first {
		place[i] = len(in.Fields)
		in.Fields = append(in.Fields, s.fields[i])
	}
	e := expr.Rewrite(where, func(n *expr.Expr) *expr.Expr {
		if n.Op == expr.OpColumn {
			n.Col = place[n.Col]
		}
		return n
	})
	p, err := expr.Compile(e, in)
	if err != nil {
		return fmt.Errorf("compiling the filter of a source: %w", err)
	}
	s.where = p
	s.tries.Watch(p)
	return nil
}

// Parse parses rows. With skip bad rows are left out; a filter that fails is a fault in any case. What it
// made is given by Batch, and freed by Drop.
func (s *Set) Parse(rows int, from Rows, skip bool) Parsed {
	for i := len(s.idents); i < rows; i++ {
		s.idents = append(s.idents, int32(i))
	}
	p := Parsed{Sel: s.idents[:rows]}
	for _, i := range s.first {
		s.one(&p, i, rows, from, skip)
	}
	before := len(p.Sel)
	if s.where != nil {
		s.tries.Begin()
		s.filter(&p, rows)
	}
	p.Filtered = before - len(p.Sel)
	for _, i := range s.rest {
		s.one(&p, i, rows, from, skip)
	}
	return p
}

// one parses one column.
func (s *Set) one(p *Parsed, i, rows int, from Rows, skip bool) {
	f := s.column(i, rows, from, p.Sel)
	if f != nil && skip {
		f = s.weed(p, i, rows, from, f)
	}
	if f != nil {
		p.fail(&Bad{Row: f.Row, Col: i, Flaw: f})
	}
}

// fail notes a fault and keeps the rows before it.
func (p *Parsed) fail(b *Bad) {
	p.Fault = b
	p.Sel = p.Sel[:sort.Search(len(p.Sel), func(k int) bool { return p.Sel[k] >= b.Row })]
}

func (s *Set) column(i, rows int, from Rows, sel []int32) *Flaw {
	c := s.cols[i]
	c.Fields.Set(from.Layout(i))
	fit := from.Unfit(i, sel)
	arr, dict, bad := c.Parse(rows, sel[:fit])
	if s.arrs[i] != nil {
		s.arrs[i].Release()
	}
	s.arrs[i], s.dicts[i] = arr, dict
	if bad == nil && fit < len(sel) {
		bad = &Flaw{Row: sel[fit], Unfit: true}
	}
	return bad
}

// weed parses a column again without the rows whose field is bad. first is the first of those.
func (s *Set) weed(p *Parsed, i, rows int, from Rows, first *Flaw) (left *Flaw) {
	kept := make([]int32, 0, len(p.Sel))
	for k, row := range p.Sel {
		if row >= first.Row {
			bad := &Flaw{Row: row, Unfit: true}
			if from.Unfit(i, p.Sel[k:k+1]) > 0 {
				bad = s.cols[i].Check(row)
			}
			if bad != nil {
				p.Left = append(p.Left, Bad{Row: row, Col: i, Flaw: bad})
				continue
			}
		}
		kept = append(kept, row)
	}
	p.Sel = kept
	return s.column(i, rows, from, kept)
}

// filter keeps the rows that pass. A row on which the filter fails is the last one looked at: rows before
// it may fail too, so it is asked again about them.
func (s *Set) filter(p *Parsed, rows int) {
	cols := make([]arrow.Array, len(s.first))
	dicts := make([]uint64, len(s.first))
	fields := make([]arrow.Field, len(s.first))
	for k, i := range s.first {
		cols[k], dicts[k] = s.arrs[i], s.dicts[i]
		fields[k] = arrow.Field{Name: s.fields[i].Name, Type: cols[k].DataType(), Nullable: true}
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows))
	defer rec.Release()
	for {
		in := p.Sel
		if len(in) == rows {
			in = nil
		}
		out, err := s.where.Select(rec, dicts, in, s.sel)
		if err == nil {
			s.sel, p.Sel = out, out
			return
		}
		b := &Bad{Col: -1, Err: err}
		var e *expr.EvalError
		if errors.As(err, &e) && e.Row >= 0 && e.Row < rows {
			b.Row = int32(e.Row)
		}
		p.fail(b)
		if len(p.Sel) == 0 {
			return
		}
	}
}

// Batch is the rows parsed last that pass, without a record where none does.
func (s *Set) Batch(p Parsed, rows int, from operators.Origin) operators.Batch {
	b := operators.Batch{Sel: p.Sel, From: from}
	switch len(p.Sel) {
	case 0:
		return operators.Batch{}
	case rows:
		b.Sel = nil
	}
	b.Rec, b.Dict = s.record(rows)
	return b
}

// record puts the wanted columns of the rows parsed last together, with the ids of their dictionaries.
func (s *Set) record(rows int) (arrow.Record, []uint64) {
	cols := make([]arrow.Array, len(s.wanted))
	var dicts []uint64
	coded := uint64(0)
	for k, i := range s.wanted {
		cols[k] = s.arrs[i]
		if s.dicts[i] == 0 {
			continue
		}
		if dicts == nil {
			dicts = make([]uint64, len(cols))
		}
		dicts[k] = s.dicts[i]
		coded |= 1 << (k & 63)
	}
	schema := s.schemas[coded]
	if schema == nil || len(cols) > 64 {
		f := make([]arrow.Field, len(cols))
		for k, i := range s.wanted {
			f[k] = arrow.Field{Name: s.fields[i].Name, Type: cols[k].DataType(), Nullable: !s.fields[i].Type.NotNull}
		}
		schema = arrow.NewSchema(f, nil)
		s.schemas[coded] = schema
	}
	return array.NewRecord(schema, cols, int64(rows)), dicts
}

// Drop releases the arrays of the rows parsed last; a record has its own references.
func (s *Set) Drop() {
	for i, a := range s.arrs {
		if a != nil {
			a.Release()
			s.arrs[i] = nil
		}
	}
}

// Release frees all that is held.
func (s *Set) Release() {
	s.Drop()
	for _, c := range s.cols {
		if c != nil {
			c.Release()
		}
	}
}
