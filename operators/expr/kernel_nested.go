package expr

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A vec of a nested type has src, the array that holds it; without src all rows are NULL.

// argument evaluates the n-th argument of a call.
func (nd *node) argument(c *ctx, n int, sel []int32) (*vec, error) {
	v, err := nd.args[n].eval(c, sel)
	nd.in[n] = v
	return v, err
}

// nothing is NULL in all rows.
func (nd *node) nothing(c *ctx) (*vec, error) {
	nd.out.reset(nd.e.Type)
	return allNull(nd, c.n), nil
}

// shown makes an array the node's result; valid is what is true of its rows besides their own NULLs.
func (nd *node) shown(c *ctx, arr arrow.Array, valid *vec) *vec {
	v := &nd.view
	loadVec(v, arr, nd.e.Type, &nd.bufs)
	if valid == nil || valid.valid == nil {
		return v
	}
	v.valid = both(v, valid, c.n, &nd.nulls)
	if v.src = nil; v.t.Nested() {
		v.src = withValidity(arr, v.valid)
		c.owned = append(c.owned, v.src)
	}
	return v
}

// withValidity is an array with other NULLs.
func withValidity(arr arrow.Array, valid []uint64) arrow.Array {
	d := arr.Data()
	b := make([]byte, (d.Offset()+d.Len()+7)/8)
	nulls := 0
	for i := range d.Len() {
		if valid[i>>6]>>(i&63)&1 != 0 {
			at := d.Offset() + i
			b[at>>3] |= 1 << (at & 7)
		} else {
			nulls++
		}
	}
	bufs := append([]*memory.Buffer{memory.NewBufferBytes(b)}, d.Buffers()[1:]...)
	out := array.NewData(d.DataType(), d.Len(), bufs, d.Children(), nulls, d.Offset())
	defer out.Release()
	return array.MakeFromData(out)
}

func bindField(nd *node) error {
	_, place := nd.e.Args[0].Type.Field(nd.e.Args[1].Value.Text)
	if place < 0 {
		return fmt.Errorf("%s has no field %s", nd.e.Args[0].Type, nd.e.Args[1].Value.Text)
	}
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		x, err := nd.argument(c, 0, sel)
		if err != nil {
			return nil, err
		}
		s, ok := x.src.(*array.Struct)
		if !ok {
			return nd.nothing(c)
		}
		return nd.shown(c, s.Field(place), x), nil
	}
	return nil
}

// A lister is an array of lists taken apart: the elements of all rows, and which are a row's.
type lister struct {
	rows interface {
		ValueOffsets(i int) (start, end int64)
	}
	values []arrow.Array // an ARRAY's elements, or a MAP's keys and values
}

// listerOf takes a vec apart; nil where all rows are NULL.
func listerOf(v *vec) *lister {
	switch a := v.src.(type) {
	case *array.List:
		return &lister{a, []arrow.Array{a.ListValues()}}
	case *array.Map:
		return &lister{a, []arrow.Array{a.Keys(), a.Items()}}
	}
	return nil
}

// picked is the node's result of those of the elements that place gives: -1 for NULL.
func (nd *node) picked(c *ctx, sel []int32, from arrow.Array, valid []uint64, place func(i int) (int, error)) (*vec, error) {
	idx := sized(nd.codes, c.n)
	nd.codes = idx
	for i := range idx {
		idx[i] = -1
	}
	var err error
	each(c.n, sel, valid, func(i int) bool {
		var at int
		at, err = place(i)
		idx[i] = int32(at)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	some := take(from, idx)
	c.owned = append(c.owned, some)
	return nd.shown(c, some, nil), nil
}

func bindItem(nd *node) error {
	isMap := nd.e.Args[0].Type.Kind == Map
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		x, err := nd.argument(c, 0, sel)
		if err != nil {
			return nil, err
		}
		key, err := nd.argument(c, 1, sel)
		if err != nil {
			return nil, err
		}
		list := listerOf(x)
		if list == nil {
			return nd.nothing(c)
		}
		valid := both(&vec{m: -1, valid: spread(x, c.n)}, key, c.n, &nd.nulls)
		if isMap {
			equal := equality(list.values[0], key, nd.e.Args[0].Type.Key())
			return nd.picked(c, sel, list.values[1], valid, func(i int) (int, error) {
				from, to := list.rows.ValueOffsets(i)
				for k := int(to) - 1; k >= int(from); k-- {
					if equal(k, i) {
						return k, nil
					}
				}
				return -1, nil
			})
		}
		return nd.picked(c, sel, list.values[0], valid, func(i int) (int, error) {
			from, to := list.rows.ValueOffsets(i)
			if n := key.num(i); n >= 1 && n <= to-from {
				return int(from + n - 1), nil
			}
			return -1, nil
		})
	}
	return nil
}

func bindElement(nd *node) error {
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		x, err := nd.argument(c, 0, sel)
		if err != nil {
			return nil, err
		}
		list := listerOf(x)
		if list == nil {
			return nd.nothing(c)
		}
		return nd.picked(c, sel, list.values[0], x.valid, func(i int) (int, error) {
			switch from, to := list.rows.ValueOffsets(i); to - from {
			case 0:
				return -1, nil
			case 1:
				return int(from), nil
			default:
				return 0, nd.fail(evaluation, i, 0, fmt.Sprintf("ELEMENT takes an ARRAY of one element, and this has %d", to-from))
			}
		})
	}
	return nil
}

func bindCardinality(nd *node) error {
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		list := listerOf(nd.in[0])
		if list == nil {
			return nd.nothing(c)
		}
		each(c.n, sel, nd.out.valid, func(i int) bool {
			from, to := list.rows.ValueOffsets(i)
			nd.out.i32[i] = int32(to - from)
			return true
		})
		return &nd.out, nil
	}
	return nil
}

func bindContains(nd *node) error {
	element := nd.e.Args[0].Type.Element()
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		x, err := nd.argument(c, 0, sel)
		if err != nil {
			return nil, err
		}
		v, err := nd.argument(c, 1, sel)
		if err != nil {
			return nil, err
		}
		list := listerOf(x)
		if list == nil {
			return nd.nothing(c)
		}
		out := &nd.out
		out.reset(nd.e.Type)
		out.room(c.n)
		clear(out.bits)
		out.valid = spread(x, c.n)
		values := list.values[0]
		equal := equality(values, v, element)
		each(c.n, sel, out.valid, func(i int) bool {
			from, to := list.rows.ValueOffsets(i)
			null := v.isNull(i)
			for k := int(from); k < int(to); k++ {
				if null && values.IsNull(k) || !null && equal(k, i) {
					out.bits[i>>6] |= 1 << (i & 63)
					break
				}
			}
			return true
		})
		return out, nil
	}
	return nil
}

// equality compares elements of an array with values of a vec that are not NULL; a NULL among the elements
// equals none.
func equality(elements arrow.Array, v *vec, t Type) func(k, i int) bool {
	var e vec
	var bufs [2][]uint64
	loadVec(&e, elements, t, &bufs)
	same := e.equals(v)
	return func(k, i int) bool { return !e.isNull(k) && same(k, i) }
}

// equals compares values of two vecs of one type that are not NULL.
func (v *vec) equals(o *vec) func(i, j int) bool {
	switch t := v.t; t.Kind.Storage() {
	case Boolean:
		return func(i, j int) bool { return v.bool(i) == o.bool(j) }
	case Double:
		return func(i, j int) bool { return compareDouble(v.f64[i&v.m], o.f64[j&o.m]) == 0 }
	case String, Bytes:
		return func(i, j int) bool { return bytes.Equal(v.str(i), o.str(j)) }
	case Array, Map, Row:
		if v.src == nil || o.src == nil { // nothing but NULLs
			return func(int, int) bool { return false }
		}
		return nestedEqual(v.src, o.src, t)
	default:
		return func(i, j int) bool { return v.dec128(i) == o.dec128(j) }
	}
}

// compareDouble orders doubles: NaN above all and equal to itself, -0.0 as 0.0.
func compareDouble(a, b float64) int {
	if a != a || b != b {
		return cmp.Compare(b2u(a != a), b2u(b != b))
	}
	return cmp.Compare(a, b)
}

// nestedEqual compares values of two arrays of a nested type that are not NULL. Within them NULL equals
// NULL; the entries of a MAP have no order.
func nestedEqual(a, b arrow.Array, t Type) func(i, j int) bool {
	parts := t.Fields()
	if t.Kind == Row {
		x, y := a.(*array.Struct), b.(*array.Struct)
		same := make([]func(i, j int) bool, len(parts))
		for k, f := range parts {
			same[k] = nullsEqual(x.Field(k), y.Field(k), f.Type)
		}
		return func(i, j int) bool {
			for _, f := range same {
				if !f(i, j) {
					return false
				}
			}
			return true
		}
	}
	x, y := listerOf(&vec{src: a}), listerOf(&vec{src: b})
	same := make([]func(i, j int) bool, len(parts))
	for k, f := range parts {
		same[k] = nullsEqual(x.values[k], y.values[k], f.Type)
	}
	return func(i, j int) bool {
		from, to := x.rows.ValueOffsets(i)
		other, end := y.rows.ValueOffsets(j)
		if to-from != end-other {
			return false
		}
		if t.Kind == Map {
			return sameEntries(same, int(from), int(other), int(to-from))
		}
		for n := range int(to - from) {
			if !same[0](int(from)+n, int(other)+n) {
				return false
			}
		}
		return true
	}
}

// sameEntries looks for each of n entries among the other ones.
func sameEntries(same []func(i, j int) bool, from, other, n int) bool {
	for i := from; i < from+n; i++ {
		found := false
		for j := other; j < other+n && !found; j++ {
			found = same[0](i, j) && same[1](i, j)
		}
		if !found {
			return false
		}
	}
	return true
}

func nullsEqual(a, b arrow.Array, t Type) func(i, j int) bool {
	var v, w vec
	var bufs [4][]uint64
	loadVec(&v, a, t, (*[2][]uint64)(bufs[:2]))
	loadVec(&w, b, t, (*[2][]uint64)(bufs[2:]))
	same := v.equals(&w)
	return func(i, j int) bool {
		if x, y := v.isNull(i), w.isNull(j); x || y {
			return x && y
		}
		return same(i, j)
	}
}

// fitsNested reports whether a nested physical type is the wanted one, whatever its parts are called.
func fitsNested(d, want arrow.DataType) bool {
	a, ok := d.(arrow.NestedType)
	b, isNested := want.(arrow.NestedType)
	if d.ID() != want.ID() || ok != isNested {
		return false
	}
	if !ok {
		return arrow.TypeEqual(d, want)
	}
	x, y := a.Fields(), b.Fields()
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !fitsNested(x[i].Type, y[i].Type) {
			return false
		}
	}
	return true
}

func bindSplit(nd *node) error {
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		b := array.NewListBuilder(memory.DefaultAllocator, arrow.BinaryTypes.String)
		defer b.Release()
		texts := b.ValueBuilder().(*array.StringBuilder)
		next := 0
		each(c.n, sel, nd.out.valid, func(i int) bool {
			b.AppendNulls(i - next)
			b.Append(true)
			for _, part := range bytes.Split(nd.in[0].str(i), nd.in[1].str(i)) {
				texts.BinaryBuilder.Append(part)
			}
			next = i + 1
			return true
		})
		b.AppendNulls(c.n - next)
		arr := b.NewArray()
		c.owned = append(c.owned, arr)
		return nd.shown(c, arr, nil), nil
	}
	return nil
}
