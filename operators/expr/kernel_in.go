package expr

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// An itemSet is the constant items of IN.
type itemSet struct {
	null  bool // an item is NULL
	nums  map[int64]bool
	list  []int64 // the same, where they are few
	dbls  map[uint64]bool
	decs  map[decimal128.Num]bool
	texts map[string]bool
	bools [2]bool
}

// fewItems is up to how many items a walk over them beats a map.
const fewItems = 6

func bindIn(nd *node) error {
	nd.run = runIn
	return nil
}

// items evaluates the items; one that fails fails for the first row that needs it.
func (nd *node) items(c *ctx, sel []int32) (*itemSet, error) {
	if nd.extra != nil {
		return nd.extra.(*itemSet), nil
	}
	s := &itemSet{nums: map[int64]bool{}, dbls: map[uint64]bool{}, decs: map[decimal128.Num]bool{}, texts: map[string]bool{}}
	for _, a := range nd.args[1:] {
		v, err := a.eval(c, sel)
		if err != nil {
			return nil, err
		}
		if v.isNull(0) {
			s.null = true
			continue
		}
		switch t := v.t; t.Kind.Storage() {
		case Boolean:
			s.bools[b2u(v.bool(0))] = true
		case Double:
			s.dbls[canonical(v.f64[0])] = true
		case String, Bytes:
			s.texts[string(v.str(0))] = true
		default:
			if t.wide() {
				s.decs[v.dec[0]] = true
			} else if !s.nums[v.num(0)] {
				s.nums[v.num(0)] = true
				s.list = append(s.list, v.num(0))
			}
		}
	}
	nd.extra = s
	return s, nil
}

// canonical is a double's bits with one NaN and one zero.
func canonical(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// runIn is TRUE where x is an item, else NULL where x or an item is NULL, else FALSE.
func runIn(c *ctx, nd *node, sel []int32) (*vec, error) {
	x, err := nd.args[0].eval(c, sel)
	if err != nil {
		return nil, err
	}
	out := &nd.out
	out.reset(nd.e.Type)
	out.room(c.n)
	clear(out.bits)
	if c.n == 0 || sel != nil && len(sel) == 0 {
		return out, nil
	}
	s, err := nd.items(c, sel)
	if err != nil {
		return nil, err
	}
	valid := spread(x, c.n)
	if !s.fewNumbers(x, c.n, sel, out.bits, &nd.scratch) {
		has := s.has(x)
		each(c.n, sel, valid, func(i int) bool {
			out.bits[i>>6] |= b2u(has(i)) << (i & 63)
			return true
		})
	}
	out.valid = valid
	if s.null {
		nd.nulls = sized(nd.nulls, words(c.n))
		copy(nd.nulls, out.bits)
		for i := range valid {
			nd.nulls[i] &= valid[i]
		}
		out.valid = nd.nulls
	}
	return out, nil
}

// fewNumbers compares a column of whole numbers with each item in turn, where they are few.
func (s *itemSet) fewNumbers(x *vec, n int, sel []int32, out []uint64, scratch *[]uint64) bool {
	if len(s.list) > fewItems || !dense(sel, n) || x.one() || x.i32 == nil && x.i64 == nil {
		return false
	}
	tmp := sized(*scratch, words(n))
	*scratch = tmp
	for _, item := range s.list {
		if x.t.narrow() {
			equalOne(tmp, x.i32[:n], int32(item))
		} else {
			equalOne(tmp, x.i64[:n], item)
		}
		for i, w := range tmp {
			out[i] |= w
		}
	}
	return true
}

func (s *itemSet) has(x *vec) func(i int) bool {
	switch t := x.t; {
	case t.Kind == Boolean:
		return func(i int) bool { return s.bools[b2u(x.bool(i))] }
	case t.Kind.Storage() == Double:
		return func(i int) bool { return s.dbls[canonical(x.f64[i&x.m])] }
	case t.Kind == String || t.Kind == Bytes:
		return func(i int) bool { return s.texts[string(x.str(i))] }
	case t.wide():
		return func(i int) bool { return s.decs[x.dec[i&x.m]] }
	case len(s.list) <= fewItems:
		list := s.list
		return func(i int) bool {
			v, found := x.num(i), false
			for _, w := range list {
				found = found || v == w
			}
			return found
		}
	}
	return func(i int) bool { return s.nums[x.num(i)] }
}

// bindNullIf is NULLIF(a, b): a, but NULL where it equals b.
func bindNullIf(nd *node) error {
	equal := &node{e: &Expr{Op: OpCall, Name: "=", Args: nd.e.Args, Type: Of(Boolean)}, args: nd.args, in: make([]*vec, 2), dictCol: -1}
	if err := bindCompare(equal); err != nil {
		return err
	}
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		same, err := equal.run(c, equal, sel)
		if err != nil {
			return nil, err
		}
		a := equal.in[0]
		valid := spread(a, c.n)
		hit := isTrue(same, c.n, &nd.scratch)
		nd.nulls = sized(nd.nulls, words(c.n))
		for i := range nd.nulls {
			nd.nulls[i] = ^hit[i]
			if valid != nil {
				nd.nulls[i] &= valid[i]
			}
		}
		if a.one() {
			return nd.repeated(c, a), nil
		}
		nd.view = *a
		nd.view.t, nd.view.src, nd.view.valid = nd.e.Type, nil, nd.nulls
		return &nd.view, nil
	}
	return nil
}

// repeated is a constant written to every row, with the node's validity.
func (nd *node) repeated(c *ctx, a *vec) *vec {
	x := &choice{branch: make([]int32, c.n), results: []*vec{a}}
	valid := nd.nulls
	nd.nulls = nil
	out, _ := nd.assemble(c, x, nil)
	nd.nulls = valid
	out.valid = valid
	return out
}
