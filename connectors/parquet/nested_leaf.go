package parquet

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// nestedStep is how many values of a nested column are decoded at a time.
const nestedStep = 16 << 10

// A leafReader reads a leaf of a nested column, some rows at a time: the levels of their entries, and an array of
// the leaf's slots. A page may hold more or less than the rows asked for.
type leafReader struct {
	*nest
	alloc   memory.Allocator
	decoder *decoder
	cast    *expr.Program // to the declared type; nil where the file has it
	to      expr.Type
	room    room
	chunk   *chunk // of the group being read; nil before it is opened
	done    int64  // rows of the group that were given out

	pageAt   int           // entries of the open page that were decoded
	rep, def []int16       // of entries decoded and not given out, those of the rows given last first
	given    int           // how many entries were given last
	starts   int           // rows that begin in rep
	parts    []arrow.Array // their slots
	bad      []badValue    // among them, by slot
	slots    arrow.Array   // of the rows given last
	faults   []badValue    // among those
}

func newLeafReader(n *nest, to expr.Type, d *document, alloc memory.Allocator) (*leafReader, error) {
	node, ok := d.meta.Schema.Column(n.index).SchemaNode().(*schema.PrimitiveNode)
	if !ok {
		return nil, fmt.Errorf("%s is no plain column", n.path)
	}
	own := *n
	own.leaf = n.as(to)
	n = &own
	texts := newWords()
	texts.giveUp() // texts within nested values are plain
	r := &leafReader{nest: n, alloc: alloc, to: to, decoder: &decoder{alloc: alloc, node: node, typ: n.typ, words: texts}}
	if n.typ.Same(to) {
		return r, nil
	}
	e := &expr.Expr{Op: expr.OpCast, Type: to.Nullable(true), Args: []*expr.Expr{{Op: expr.OpColumn, Name: n.path, Type: n.typ.Nullable(true)}}}
	var err error
	r.cast, err = expr.Compile(e, expr.SchemaOf(expr.Field{Name: n.path, Type: n.typ.Nullable(true)}))
	return r, err
}

// leave ends the group.
func (r *leafReader) leave() {
	r.drop()
	for _, p := range r.parts {
		p.Release()
	}
	r.parts, r.bad, r.chunk, r.done, r.pageAt, r.starts = nil, nil, nil, 0, 0, 0
	r.rep, r.def = r.rep[:0], r.def[:0]
}

// drop lets go of the rows given last.
func (r *leafReader) drop() {
	if r.slots != nil {
		r.slots.Release()
		r.slots = nil
	}
	for _, l := range r.rep[:r.given] {
		if l == 0 {
			r.starts--
		}
	}
	r.rep, r.def = append(r.rep[:0], r.rep[r.given:]...), append(r.def[:0], r.def[r.given:]...)
	r.given = 0
}

// levels are those of the rows given last.
func (r *leafReader) levels() (rep, def []int16) { return r.rep[:r.given], r.def[:r.given] }

// next reads n rows of a group: their levels and slots.
func (r *leafReader) next(d *document, group int, n int) error {
	if r.chunk == nil {
		var err error
		if r.chunk, err = openChunkOf(d, group, r.path, r.index, &r.room, r.nest); err != nil {
			return err
		}
	}
	r.drop()
	return r.chunk.guard(func() error {
		for r.starts <= n { // the row after the last begins, or there is none
			more, err := r.more()
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
		if r.starts < n {
			return fmt.Errorf("its pages have %d rows, and the row group %d", r.done+int64(r.starts), r.chunk.rows)
		}
		if r.done += int64(n); r.done == r.chunk.rows && r.starts > n {
			return fmt.Errorf("its pages have more rows than the row group, which has %d", r.chunk.rows)
		}
		return r.give(n)
	})
}

// more decodes some further entries, false where the group has none.
func (r *leafReader) more() (bool, error) {
	c := r.chunk
	for r.pageAt == len(c.def) {
		if c.count == 0 {
			return false, nil
		}
		c.rep, c.def, r.pageAt = c.rep[:0], c.def[:0], 0
		if err := r.decoder.openPage(c); err != nil {
			return false, err
		}
		if c.count -= int64(len(c.def)); c.count < 0 {
			return false, errors.New("its pages have more values than the footer says")
		}
	}
	to := min(r.pageAt+nestedStep, len(c.def))
	slots := 0
	for i := r.pageAt; i < to; i++ {
		rep, def := c.rep[i], c.def[i]
		if rep == 0 {
			r.starts++
		} else if r.starts == 0 && len(r.rep) == 0 {
			return false, errors.New("its first value continues a row, and there is none before it")
		}
		if def >= r.slot {
			slots++
		}
	}
	r.rep, r.def = append(r.rep, c.rep[r.pageAt:to]...), append(r.def, c.def[r.pageAt:to]...)
	r.pageAt = to
	if slots == 0 {
		return true, nil
	}
	before := 0
	for _, p := range r.parts {
		before += p.Len()
	}
	p, err := r.decoder.decode(c, slots)
	if err != nil {
		return false, err
	}
	for _, b := range p.bad {
		b.row += before
		r.bad = append(r.bad, b)
	}
	r.parts = append(r.parts, p.arr)
	return true, nil
}

// give takes the entries of the next n rows, and their slots.
func (r *leafReader) give(n int) error {
	slots, rows := 0, 0
	for r.given = 0; r.given < len(r.rep); r.given++ {
		if r.rep[r.given] == 0 {
			if rows == n {
				break
			}
			rows++
		}
		if r.def[r.given] >= r.slot {
			slots++
		}
	}
	r.sort(slots)
	var taken []arrow.Array
	defer func() {
		for _, a := range taken {
			a.Release()
		}
	}()
	for left := slots; left > 0; {
		p := r.parts[0]
		k := min(left, p.Len())
		taken = append(taken, array.NewSlice(p, 0, int64(k)))
		left -= k
		if k == p.Len() {
			r.parts = r.parts[1:]
		} else {
			r.parts[0] = array.NewSlice(p, int64(k), int64(p.Len()))
		}
		p.Release()
	}
	var err error
	if len(taken) == 0 {
		r.slots = column.Nulls(r.alloc, r.typ, 0)
		return nil
	}
	r.slots, err = column.Concat(r.alloc, taken)
	return err
}

// sort puts the bad values among the slots given with them; those of later slots stay.
func (r *leafReader) sort(slots int) {
	var later []badValue
	r.faults = nil
	for _, b := range r.bad {
		if b.row < slots {
			r.faults = append(r.faults, b)
		} else {
			b.row -= slots
			later = append(later, b)
		}
	}
	r.bad = later
}

// convert brings the slots to the declared type; only those selected (nil: all) may fail. bad is the first that
// does, or all of them, whose slots are NULL then.
func (r *leafReader) convert(sel []int32, all bool) (bad []badValue, err error) {
	if r.cast == nil {
		return nil, nil
	}
	rec := column.NewRecord([]expr.Field{{Name: r.path, Type: r.typ.Nullable(true)}}, []arrow.Array{r.slots}, int64(r.slots.Len()))
	defer rec.Release()
	arr, _, err := r.cast.Eval(r.alloc, rec, nil, sel)
	var e *expr.EvalError
	switch {
	case err == nil:
	case errors.As(err, &e) && all:
		if arr, bad, err = r.convertAll(rec, sel); err != nil {
			return nil, err
		}
	case errors.As(err, &e):
		return []badValue{r.misfit(e)}, nil
	default:
		return nil, err
	}
	defer arr.Release()
	r.slots.Release()
	r.slots = column.Plain(r.alloc, arr)
	return bad, nil
}

// convertAll is convert where some slots fail: it says of all of them why.
func (r *leafReader) convertAll(rec arrow.Record, sel []int32) (arr arrow.Array, bad []badValue, err error) {
	faults, err := castFaults(r.cast, r.alloc, rec, 0, sel)
	if err != nil {
		return nil, nil, err
	}
	fails := make([]bool, r.slots.Len())
	for _, e := range faults {
		bad = append(bad, r.misfit(e))
		fails[e.Row] = true
	}
	good := slices.Clone(sel)
	if sel == nil {
		for i := range fails {
			good = append(good, int32(i))
		}
	}
	good = slices.DeleteFunc(good, func(i int32) bool { return fails[i] })
	arr, _, err = r.cast.Eval(r.alloc, rec, nil, good)
	return arr, bad, err
}

// misfit is a slot that is none of the declared type.
func (r *leafReader) misfit(e *expr.EvalError) badValue {
	return badValue{row: e.Row, kind: e.Kind, value: e.Value, why: r.path + ": " + e.Message}
}

// openPage opens the next data page of a chunk, and the dictionary before it.
func (d *decoder) openPage(c *chunk) error {
	for len(c.def) == 0 {
		if len(c.rest) == 0 {
			return errors.New("its pages end early")
		}
		var err error
		switch d.node.PhysicalType() {
		case parquet.Types.Boolean:
			err = openPage(c, boolOps())
		case parquet.Types.Int32:
			err = openPage(c, int32Ops())
		case parquet.Types.Int64:
			err = openPage(c, int64Ops())
		case parquet.Types.Int96:
			err = openPage(c, int96Ops())
		case parquet.Types.Float:
			err = openPage(c, floatOps())
		case parquet.Types.Double:
			err = openPage(c, doubleOps())
		case parquet.Types.ByteArray:
			err = openPage(c, bytesOps())
		case parquet.Types.FixedLenByteArray:
			err = openPage(c, fixedOps())
		default:
			return errPhysical
		}
		if err != nil {
			return err
		}
	}
	return nil
}
