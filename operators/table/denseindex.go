package table

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Limits of a dense index, beyond which a table is better off with an index of rows.
const (
	maxCells  = 4 << 20
	maxWindow = 1 << 16 // range of an integer column
	cellSize  = 4
	pageSize  = 24

	cellsPerSlot = 64 // cells are cleared in about the time in which a slot's cell is found
)

// errUnsuited says that the keys do not suit a dense index any longer. What it holds is right.
var errUnsuited = errors.New("the keys do not suit a dense index")

// denseIndex finds slots without hashing, for keys of texts of which there are few and of integers that
// lie close together. Each column's values have places: a text the number its vocabulary gives it, an
// integer its distance from the least one, plus 1, and NULL 0. The place in the first column, which is a
// text, is the number to start from; each further column is a level, from that number and the column's
// place to the next number, and the last level's numbers are slot + 1.
type denseIndex struct {
	words  []*vocabulary // by key column; nil for integers
	places [][]uint32    // by key column, by slot
	first  int           // the column to start from
	levels []level       // one per other column; a single column has one level of one page
	cells  int
	made   int        // slots, those that were forgotten included
	at     [][]uint32 // scratch of a chunk: the rows' places by column
	remaps []*remap   // of the batch's columns; nil: their texts are looked up
}

// A level maps (number, place) to a number: a page of cells per place.
type level struct {
	col   int // -1: the single page
	base  int64
	pages [][]uint32
	next  uint32
}

// newDenseIndex is nil where keys of these types do not suit.
func newDenseIndex(key expr.Schema) *denseIndex {
	x := &denseIndex{first: -1}
	for i, f := range key.Fields {
		switch f.Type.Kind.Storage() {
		case expr.String:
			x.words = append(x.words, newVocabulary())
			if x.first < 0 {
				x.first = i
			}
		case expr.Int, expr.BigInt, expr.Date, expr.Boolean:
			x.words = append(x.words, nil)
		default:
			return nil
		}
	}
	if x.first < 0 {
		return nil
	}
	for i := range key.Fields {
		if i != x.first {
			x.levels = append(x.levels, level{col: i})
		}
	}
	if len(x.levels) == 0 {
		x.levels = []level{{col: -1}}
	}
	x.places = make([][]uint32, len(x.words))
	return x
}

func (x *denseIndex) reserve(acc *account, n int) error {
	for c := range x.places {
		var err error
		if x.places[c], err = resize(acc, x.places[c], n, 4); err != nil {
			return err
		}
	}
	return nil
}

// lookup writes the slots of a chunk's rows; see [index].
func (x *denseIndex) lookup(t *Table, r rows, slots []uint32, add bool) error {
	if !add {
		x.find(r, slots)
		return nil
	}
	if x.at == nil {
		x.at = make([][]uint32, len(x.words))
		for c := range x.at {
			x.at[c] = make([]uint32, chunk)
		}
	}
	n := len(slots)
	for c := range x.words {
		if err := x.locate(t, c, r, x.at[c][:n]); err != nil {
			return err
		}
	}
	var buf [chunk]uint32
	nums := x.at[x.first][:n]
	last := len(x.levels) - 1
	for i := range x.levels[:last] {
		nums = buf[:copy(buf[:], nums)]
		l := &x.levels[i]
		if err := x.step(t, l, x.at[l.col][:n], nums); err != nil {
			return err
		}
	}
	return x.finish(t, &x.levels[last], nums, slots)
}

// levelOf is a column's level; nil for the first column's, if it is not alone, which needs none.
func (x *denseIndex) levelOf(c int) *level {
	for i := range x.levels {
		if x.levels[i].col == c {
			return &x.levels[i]
		}
	}
	return nil
}

// step replaces each number by the level's number for it and the row's place.
func (x *denseIndex) step(t *Table, l *level, at, nums []uint32) error {
	for i, n := range nums {
		p := l.pages[at[i]]
		if int(n) >= len(p) {
			var err error
			if p, err = x.page(t, l, at[i], n); err != nil {
				return err
			}
		}
		if p[n] == 0 {
			l.next++
			p[n] = l.next
		}
		nums[i] = p[n]
	}
	return nil
}

// finish turns numbers into slots through the last level. Keys whose cells are empty are new.
func (x *denseIndex) finish(t *Table, l *level, nums, slots []uint32) error {
	if l.col < 0 {
		return x.single(t, l, nums, slots)
	}
	at := x.at[l.col][:len(nums)]
	slots = slots[:len(nums)]
	for i, n := range nums {
		p := l.pages[at[i]]
		if int(n) < len(p) {
			if s := p[n]; s != 0 {
				slots[i] = s - 1
				continue
			}
		}
		s, err := x.put(t, l, i, at[i], n)
		if err != nil {
			return err
		}
		slots[i] = s
	}
	return nil
}

// single is finish for one key column, whose numbers are found in one page.
func (x *denseIndex) single(t *Table, l *level, nums, slots []uint32) error {
	if l.pages == nil {
		if err := l.reach(&t.acc, 1); err != nil {
			return err
		}
	}
	p := l.pages[0]
	slots = slots[:len(nums)]
	for i, n := range nums {
		if int(n) < len(p) {
			if s := p[n]; s != 0 {
				slots[i] = s - 1
				continue
			}
		}
		s, err := x.put(t, l, i, 0, n)
		if err != nil {
			return err
		}
		slots[i], p = s, l.pages[0]
	}
	return nil
}

// put makes a slot for the key of the chunk's i-th row.
func (x *denseIndex) put(t *Table, l *level, i int, at, n uint32) (uint32, error) {
	p, err := x.page(t, l, at, n)
	if err != nil {
		return 0, err
	}
	if err := t.addSlot(); err != nil {
		return 0, err
	}
	for c := range x.places {
		x.places[c] = append(x.places[c], x.at[c][i])
	}
	p[n] = uint32(t.n)
	x.made++
	return uint32(t.n - 1), nil
}

// page is a level's page with room for number n.
func (x *denseIndex) page(t *Table, l *level, at, n uint32) ([]uint32, error) {
	p := l.pages[at]
	if int(n) < len(p) {
		return p, nil
	}
	size := max(64, x.numbers(l), 2*len(p)) // most pages come to have cells for all numbers
	if x.cells+size > maxCells || t.acc.grow(int64(size)*cellSize) != nil {
		return nil, errUnsuited
	}
	bigger := make([]uint32, size)
	copy(bigger, p)
	t.acc.shrink(int64(len(p)) * cellSize)
	x.cells += size - len(p)
	l.pages[at] = bigger
	return bigger, nil
}

// numbers are as many as the numbers are that lead into a level.
func (x *denseIndex) numbers(l *level) int {
	n := len(x.words[x.first].ends) + 1
	for i := range x.levels {
		if &x.levels[i] == l {
			break
		}
		n = int(x.levels[i].next) + 1
	}
	return n
}

// reach gives a level at least n pages.
func (l *level) reach(acc *account, n int) error {
	if n <= len(l.pages) {
		return nil
	}
	if n > maxWindow+2 {
		return errUnsuited
	}
	pages, err := resize(acc, l.pages, n, pageSize)
	if err != nil {
		return errUnsuited
	}
	l.pages = pages[:n]
	return nil
}

// find is lookup for keys of which none is added.
func (x *denseIndex) find(r rows, slots []uint32) {
	for i := range slots {
		slots[i] = operators.NoSlot
		if cell := x.cellOf(func(c int) (uint32, bool) { return x.placeOf(c, &r.cols[c], r.at(i)) }); cell != nil && *cell != 0 {
			slots[i] = *cell - 1
		}
	}
}

// cellOf is the cell that the places of a key lead to; nil where there is none.
func (x *denseIndex) cellOf(place func(c int) (uint32, bool)) *uint32 {
	n, ok := place(x.first)
	if !ok {
		return nil
	}
	for i := range x.levels {
		l, at := &x.levels[i], uint32(0)
		if l.col >= 0 {
			if at, ok = place(l.col); !ok {
				return nil
			}
		}
		if int(at) >= len(l.pages) || int(n) >= len(l.pages[at]) {
			return nil
		}
		cell := &l.pages[at][n]
		if i == len(x.levels)-1 {
			return cell
		}
		if n = *cell; n == 0 {
			return nil
		}
	}
	return nil
}

// cellAt is the cell of a slot's key.
func (x *denseIndex) cellAt(slot int) *uint32 {
	return x.cellOf(func(c int) (uint32, bool) { return x.places[c][slot], true })
}

func (x *denseIndex) truncate(n int) {
	had := len(x.places[0])
	if n == 0 && had > x.cells/cellsPerSlot {
		for _, p := range x.levels[len(x.levels)-1].pages {
			clear(p)
		}
	} else {
		for s := n; s < had; s++ {
			*x.cellAt(s) = 0
		}
	}
	for c := range x.places {
		x.places[c] = x.places[c][:min(n, had)]
	}
}

func (x *denseIndex) keep(slots []uint32) {
	for s := range x.places[0] {
		*x.cellAt(s) = 0
	}
	for c, p := range x.places {
		for to, s := range slots {
			p[to] = p[s]
		}
		x.places[c] = p[:len(slots)]
	}
	for s := range slots {
		*x.cellAt(s) = uint32(s) + 1
	}
}

// columns are the keys of the given slots, STRING columns plain.
func (x *denseIndex) columns(key expr.Schema, alloc memory.Allocator, slots []uint32) []arrow.Array {
	cols := make([]arrow.Array, len(key.Fields))
	for c, f := range key.Fields {
		if x.words[c] == nil {
			cols[c] = x.intColumn(c, f.Type, alloc, slots)
			continue
		}
		cols[c] = x.textColumn(c, alloc, slots)
	}
	return cols
}

func (x *denseIndex) textColumn(c int, alloc memory.Allocator, slots []uint32) arrow.Array {
	b := array.NewStringBuilder(alloc)
	defer b.Release()
	b.Reserve(len(slots))
	for _, s := range slots {
		if p := x.places[c][s]; p == 0 {
			b.AppendNull()
		} else {
			b.BinaryBuilder.Append(x.words[c].text(p))
		}
	}
	return b.NewArray()
}

func (x *denseIndex) codedColumn(c int, alloc memory.Allocator, slots []uint32) arrow.Array {
	b := array.NewInt32Builder(alloc)
	defer b.Release()
	b.Reserve(len(slots))
	for _, s := range slots {
		if p := x.places[c][s]; p == 0 {
			b.UnsafeAppendBoolToBitmap(false)
		} else {
			b.UnsafeAppend(int32(p) - 1)
		}
	}
	codes := b.NewArray()
	defer codes.Release()
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	return array.NewDictionaryArray(t, codes, x.words[c].dictionary(alloc))
}

func (x *denseIndex) intColumn(c int, t expr.Type, alloc memory.Allocator, slots []uint32) arrow.Array {
	b := newKeyBuilder(t, alloc)
	defer b.Release()
	b.Reserve(len(slots))
	base := x.levelOf(c).base
	for _, s := range slots {
		if p := x.places[c][s]; p == 0 {
			b.AppendNull()
		} else {
			appendInt(b, base+int64(p)-1)
		}
	}
	return b.NewArray()
}
