package parquet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A nestedReader reads a nested column: its leaves each by itself, and puts them together by their levels.
type nestedReader struct {
	root   *fetch
	alloc  memory.Allocator
	leaves []*leafReader
	sel    []int32 // rows that may fail, nil = all
	all    bool    // all values that are bad are wanted, not just one
	bad    []badValue
	rows   map[slotOf][]int // row of each slot, of this batch
}

// newNestedReader opens the leaves that are looked at. Where none of a value's leaves is, as of a ROW of fields
// that the file has not, its first one is read for its levels.
func newNestedReader(n *nest, to expr.Type, paths [][]string, d *document, alloc memory.Allocator) (*nestedReader, error) {
	root, err := fetchOf(n, to, paths)
	if err != nil {
		return nil, err
	}
	r := &nestedReader{root: root, alloc: alloc}
	return r, r.open(root, d)
}

func (r *nestedReader) open(f *fetch, d *document) error {
	if f.nest == nil || f.unread {
		return nil
	}
	if !f.typ.Nested() {
		return r.openLeaf(f, f.nest, f.typ, d)
	}
	for _, p := range f.parts {
		if err := r.open(p, d); err != nil {
			return err
		}
		f.shape = append(f.shape, p.shape...)
	}
	if len(f.shape) > 0 {
		return nil
	}
	n := f.nest.firstLeaf()
	if n == nil {
		return fmt.Errorf("%s: none of its parts can be read", f.nest.path)
	}
	any := &fetch{}
	if err := r.openLeaf(any, n, n.typ, d); err != nil {
		return err
	}
	f.shape = any.shape
	return nil
}

func (r *nestedReader) openLeaf(f *fetch, n *nest, to expr.Type, d *document) error {
	l, err := newLeafReader(n, to, d, r.alloc)
	if err != nil {
		return err
	}
	f.leaf, f.shape = l, []*leafReader{l}
	r.leaves = append(r.leaves, l)
	return nil
}

// firstLeaf is a plain value under a part, nil where none can be read.
func (x *nest) firstLeaf() *nest {
	if len(x.parts) == 0 {
		if x.why != "" {
			return nil
		}
		return x
	}
	for _, p := range x.parts {
		if l := p.firstLeaf(); l != nil {
			return l
		}
	}
	return nil
}

// leave ends the group.
func (r *nestedReader) leave() {
	for _, l := range r.leaves {
		l.leave()
	}
}

// skip passes over n rows of a group.
func (r *nestedReader) skip(d *document, group int, n int64) error {
	for n > 0 {
		k := int(min(n, maxRows))
		for _, l := range r.leaves {
			if err := l.next(d, group, k); err != nil {
				return err
			}
			l.drop()
		}
		n -= int64(k)
	}
	return nil
}

var errApart = errors.New("the levels of its leaves contradict each other")

// next reads n rows of a group. Values of rows that are not selected (sel nil: all are) do not fail.
func (r *nestedReader) next(d *document, group, n int, sel []int32) (p piece, err error) {
	r.sel, r.bad, r.rows = sel, nil, nil
	for _, l := range r.leaves {
		if err := l.next(d, group, n); err != nil {
			return piece{}, err
		}
	}
	defer func() {
		for _, l := range r.leaves {
			l.drop()
		}
	}()
	for _, l := range r.leaves {
		for _, b := range l.faults {
			b.why = l.path + ": " + b.why
			r.fault(l, l.nest, b)
		}
		bad, err := l.convert(r.selected(l), r.all)
		if err != nil {
			return piece{}, fmt.Errorf("reading %s: %w", d.path, err)
		}
		for _, b := range bad {
			r.fault(l, l.nest, b)
		}
		if len(bad) > 0 && !r.all {
			return r.failed(n), nil
		}
	}
	err = r.leaves[0].chunk.guard(func() error {
		p.arr, err = r.build(r.root, n)
		return err
	})
	slices.SortStableFunc(r.bad, func(a, b badValue) int { return a.row - b.row })
	p.bad = r.bad
	return p, err
}

// failed is a piece of which only the bad values are looked at.
func (r *nestedReader) failed(n int) piece {
	slices.SortStableFunc(r.bad, func(a, b badValue) int { return a.row - b.row })
	return piece{arr: column.Nulls(r.alloc, r.root.typ, n), bad: r.bad}
}

// fault notes a bad value of a slot by its row.
func (r *nestedReader) fault(l *leafReader, n *nest, b badValue) {
	at := slotOf{l, n}
	if r.rows[at] == nil {
		if r.rows == nil {
			r.rows = map[slotOf][]int{}
		}
		r.rows[at] = l.rowsOf(n)
	}
	b.row = r.rows[at][b.row]
	r.bad = append(r.bad, b)
}

// A slotOf is a part whose slots are those of a leaf under it.
type slotOf struct {
	leaf *leafReader
	part *nest
}

// rowsOf are the rows that the slots of a part belong to.
func (l *leafReader) rowsOf(n *nest) []int {
	rep, def := l.levels()
	rows := make([]int, 0, len(def))
	row := -1
	for i, d := range def {
		if rep[i] == 0 {
			row++
		}
		if d >= n.slot && rep[i] <= n.rep {
			rows = append(rows, row)
		}
	}
	return rows
}

// selected are the slots of a leaf in rows that may fail, nil for all.
func (r *nestedReader) selected(l *leafReader) []int32 {
	if r.sel == nil {
		return nil
	}
	rep, def := l.levels()
	row, slot := -1, int32(0)
	sel := []int32{}
	for i, d := range def {
		if rep[i] == 0 {
			row++
		}
		if d < l.slot {
			continue
		}
		if k := sort.Search(len(r.sel), func(k int) bool { return int(r.sel[k]) >= row }); k < len(r.sel) && int(r.sel[k]) == row {
			sel = append(sel, slot)
		}
		slot++
	}
	return sel
}

// build makes the array of a part that has so many slots.
func (r *nestedReader) build(f *fetch, slots int) (arrow.Array, error) {
	if f.nest == nil || f.unread {
		return column.Nulls(r.alloc, f.typ, slots), nil
	}
	if f.leaf != nil {
		if f.leaf.slots.Len() != slots {
			return nil, errApart
		}
		f.leaf.slots.Retain()
		return f.leaf.slots, nil
	}
	form, err := f.filling(slots)
	if err != nil {
		return nil, err
	}
	within := slots
	bufs := []*memory.Buffer{r.bitmap(form.valid, form.nulls)}
	if f.typ.Kind != expr.Row {
		offsets := memory.NewResizableBuffer(r.alloc)
		offsets.Resize(len(form.offsets) * 4)
		copy(arrow.Int32Traits.CastFromBytes(offsets.Bytes()), form.offsets)
		bufs, within = append(bufs, offsets), int(form.offsets[slots])
	}
	defer func() {
		for _, b := range bufs {
			if b != nil {
				b.Release()
			}
		}
	}()
	var parts []arrow.Array
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	for i, p := range f.parts {
		arr, err := r.build(p, within)
		if err != nil {
			return nil, err
		}
		parts = append(parts, arr)
		r.notNull(f, i, arr, form)
	}
	return f.assemble(slots, form.nulls, bufs, parts, within), nil
}

// assemble makes the array of its parts.
func (f *fetch) assemble(slots, nulls int, bufs []*memory.Buffer, parts []arrow.Array, within int) arrow.Array {
	data := func(t arrow.DataType, n, nulls int, bufs []*memory.Buffer, parts ...arrow.Array) arrow.ArrayData {
		children := make([]arrow.ArrayData, len(parts))
		for i, p := range parts {
			children[i] = p.Data()
		}
		return array.NewData(t, n, bufs, children, nulls, 0)
	}
	t := f.typ.Arrow()
	var d arrow.ArrayData
	if m, ok := t.(*arrow.MapType); ok {
		entries := data(m.Elem(), within, 0, []*memory.Buffer{nil}, parts...)
		defer entries.Release()
		d = array.NewData(t, slots, bufs, []arrow.ArrayData{entries}, nulls, 0)
	} else {
		d = data(t, slots, nulls, bufs, parts...)
	}
	defer d.Release()
	return array.MakeFromData(d)
}

// bitmap is a bitmap of what is valid, nil where all is.
func (r *nestedReader) bitmap(valid []bool, nulls int) *memory.Buffer {
	if nulls == 0 {
		return nil
	}
	buf := memory.NewResizableBuffer(r.alloc)
	buf.Resize((len(valid) + 7) / 8)
	b := buf.Bytes()
	clear(b)
	for i, v := range valid {
		if v {
			b[i>>3] |= 1 << (i & 7)
		}
	}
	return buf
}

// notNull notes NULLs of a part that may have none: within a value that is itself not NULL.
func (r *nestedReader) notNull(f *fetch, part int, arr arrow.Array, form filling) {
	p := f.parts[part]
	isKey := f.typ.Kind == expr.Map && part == 0
	if p.nest == nil || p.unread || arr.NullN() == 0 || !p.typ.NotNull && !isKey {
		return
	}
	for i := range arr.Len() {
		if !arr.IsNull(i) || f.typ.Kind == expr.Row && !form.valid[i] {
			continue
		}
		why := fmt.Sprintf("%s is declared %s and has a NULL", p.nest.path, p.typ)
		if isKey {
			why = fmt.Sprintf("%s is NULL, and the keys of a MAP are not", p.nest.path)
		}
		r.fault(p.shape[0], p.nest, badValue{row: i, kind: "NullViolation", value: "NULL", why: why})
	}
}

// A filling is how the slots of a nested part are filled.
type filling struct {
	valid   []bool
	nulls   int
	offsets []int32 // of a list: where the elements of each slot begin, and the end
}

// filling reads the levels of a leaf under the part, and holds those of the others against them.
func (f *fetch) filling(slots int) (filling, error) {
	first, err := f.fillingBy(f.shape[0], slots)
	if err != nil {
		return first, err
	}
	for _, l := range f.shape[1:] {
		other, err := f.fillingBy(l, slots)
		if err != nil {
			return first, err
		}
		if !slices.Equal(first.valid, other.valid) || !slices.Equal(first.offsets, other.offsets) {
			return first, errApart
		}
	}
	return first, nil
}

func (f *fetch) fillingBy(l *leafReader, slots int) (filling, error) {
	n := f.nest
	list := f.typ.Kind != expr.Row
	out := filling{valid: make([]bool, 0, slots)}
	elements := int32(0)
	rep, def := l.levels()
	for i, d := range def {
		if d < n.slot {
			continue
		}
		switch {
		case rep[i] <= n.rep:
			out.valid = append(out.valid, d >= n.def)
			if d < n.def {
				out.nulls++
			}
			if list {
				out.offsets = append(out.offsets, elements)
				if d >= n.elem {
					elements++
				}
			}
		case list && rep[i] == n.rep+1:
			if d < n.elem {
				return out, errApart
			}
			elements++
		}
		if elements == math.MaxInt32 {
			return out, errors.New("it has too many elements for one batch")
		}
	}
	if list {
		out.offsets = append(out.offsets, elements)
	}
	if len(out.valid) != slots {
		return out, errApart
	}
	return out, nil
}
