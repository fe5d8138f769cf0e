package expr

import (
	"bytes"
	"cmp"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// A comparison is one of two tests, its arguments perhaps exchanged and its result perhaps inverted.
type comparison struct {
	equal bool // =, else <
	swap  bool
	not   bool
}

var comparisons = map[string]comparison{
	"=":  {equal: true},
	"<>": {equal: true, not: true},
	"<":  {},
	">":  {swap: true},
	"<=": {swap: true, not: true},
	">=": {not: true},

	"IS NOT DISTINCT FROM": {equal: true},
	"IS DISTINCT FROM":     {equal: true, not: true},
}

// strict evaluates the arguments and prepares the result of a call that is NULL where one of them is.
// done is not nil where all rows are NULL.
func (nd *node) strict(c *ctx, sel []int32) (done *vec, err error) {
	nd.out.reset(nd.e.Type)
	for i, a := range nd.args {
		v, err := a.eval(c, sel)
		if err != nil {
			return nil, err
		}
		nd.in[i] = v
		if v.one() && v.isNull(0) {
			done = &nd.out
		}
	}
	if done != nil {
		return allNull(nd, c.n), nil
	}
	for i, v := range nd.in {
		if i == 0 {
			nd.out.valid = spread(v, c.n)
			continue
		}
		left := vec{m: -1, valid: nd.out.valid}
		nd.out.valid = both(&left, v, c.n, &nd.nulls)
	}
	nd.room(c)
	return nil, nil
}

func bindCompare(nd *node) error {
	k := comparisons[nd.e.Name]
	distinct := nd.e.Name == "IS DISTINCT FROM" || nd.e.Name == "IS NOT DISTINCT FROM"
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if distinct {
			return nd.runDistinct(c, k, sel)
		}
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		nd.compare(c.n, k, sel, nd.out.valid)
		return &nd.out, nil
	}
	return nil
}

// runDistinct compares where NULL is a value like others.
func (nd *node) runDistinct(c *ctx, k comparison, sel []int32) (*vec, error) {
	nd.out.reset(nd.e.Type)
	for i, a := range nd.args {
		v, err := a.eval(c, sel)
		if err != nil {
			return nil, err
		}
		nd.in[i] = v
	}
	a, b := nd.in[0], nd.in[1]
	nd.out.room(c.n)
	known := both(&vec{m: -1, valid: spread(a, c.n)}, b, c.n, &nd.nulls)
	nd.compare(c.n, comparison{equal: true}, sel, known)
	each(c.n, sel, nil, func(i int) bool {
		bit := uint64(1) << (i & 63)
		switch x, y := a.isNull(i), b.isNull(i); {
		case x && y:
			nd.out.bits[i>>6] |= bit
		case x || y:
			nd.out.bits[i>>6] &^= bit
		}
		return true
	})
	if k.not {
		invert(nd.out.bits)
	}
	return &nd.out, nil
}

func invert(b []uint64) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// compare writes bits for the arguments; valid says which rows have values.
func (nd *node) compare(n int, k comparison, sel []int32, valid []uint64) {
	a, b := nd.in[0], nd.in[1]
	if k.swap {
		a, b = b, a
	}
	out := nd.out.bits
	if !dense(sel, n) {
		clear(out)
	} else {
		sel = allOf(a.t, sel)
	}
	switch t := a.t; t.Kind.Storage() {
	case Array, Map, Row:
		same := a.equals(b)
		compareRows(out, n, sel, valid, true, func(i int) int { return int(b2u(!same(i, i))) })
	case Boolean:
		compareRows(out, n, sel, valid, k.equal, func(i int) int { return cmp.Compare(b2u(a.bool(i)), b2u(b.bool(i))) })
	case Int, Date:
		compareInts(out, a.i32, b.i32, a.m, b.m, n, sel, k.equal)
	case Double:
		compareDoubles(out, a, b, n, sel, k.equal)
	case String, Bytes:
		if k.equal {
			equalTexts(out, a, b, n, sel, valid)
			break
		}
		compareRows(out, n, sel, valid, false, func(i int) int { return bytes.Compare(a.str(i), b.str(i)) })
	default:
		if t.wide() {
			compareDecimals(out, a, b, n, sel, k.equal)
			break
		}
		compareInts(out, a.i64, b.i64, a.m, b.m, n, sel, k.equal)
	}
	if k.not {
		invert(out)
	}
}

// allOf drops a selection that covers much: fixed-width values may be read at any row.
func allOf(t Type, sel []int32) []int32 {
	if t.Kind == String || t.Kind == Bytes {
		return sel
	}
	return nil
}

func lessWide(a, b decimal128.Num) uint64 {
	return b2u(a.HighBits() < b.HighBits()) | b2u(a.HighBits() == b.HighBits())&b2u(a.LowBits() < b.LowBits())
}

func compareDecimals(out []uint64, a, b *vec, n int, sel []int32, equal bool) {
	test := func(i int) uint64 {
		if equal {
			return b2u(a.dec[i&a.m] == b.dec[i&b.m])
		}
		return lessWide(a.dec[i&a.m], b.dec[i&b.m])
	}
	if sel != nil {
		for _, r := range sel {
			out[r>>6] |= test(int(r)) << (r & 63)
		}
		return
	}
	clear(out)
	if equal {
		for i := range n {
			out[i>>6] |= b2u(a.dec[i&a.m] == b.dec[i&b.m]) << (i & 63)
		}
		return
	}
	for i := range n {
		out[i>>6] |= lessWide(a.dec[i&a.m], b.dec[i&b.m]) << (i & 63)
	}
}

// compareRows is the general way, a call for each row that has values.
func compareRows(out []uint64, n int, sel []int32, valid []uint64, equal bool, f func(i int) int) {
	clear(out)
	want := -1
	if equal {
		want = 0
	}
	each(n, sel, valid, func(i int) bool {
		out[i>>6] |= b2u(f(i) == want) << (i & 63)
		return true
	})
}

func equalTexts(out []uint64, a, b *vec, n int, sel []int32, valid []uint64) {
	clear(out)
	if a.one() {
		a, b = b, a
	}
	if b.one() && a.codes == nil && sel == nil {
		want := b.str(0)
		for i, from := range a.offs[:min(n, len(a.offs))] {
			text := a.data[from:a.offs[i+1]]
			out[i>>6] |= b2u(len(text) == len(want) && string(text) == string(want)) << (i & 63)
		}
		return
	}
	each(n, sel, valid, func(i int) bool {
		out[i>>6] |= b2u(string(a.str(i)) == string(b.str(i))) << (i & 63)
		return true
	})
}

type number64 interface{ int32 | int64 | float64 }

// compareInts compares whole numbers.
func compareInts[T int32 | int64](out []uint64, x, y []T, xm, ym, n int, sel []int32, equal bool) {
	switch {
	case sel != nil && equal:
		for _, r := range sel {
			i := int(r)
			out[i>>6] |= b2u(x[i&xm] == y[i&ym]) << (i & 63)
		}
	case sel != nil:
		for _, r := range sel {
			i := int(r)
			out[i>>6] |= b2u(x[i&xm] < y[i&ym]) << (i & 63)
		}
	case equal && ym == 0:
		equalOne(out, x[:n], y[0])
	case equal && xm == 0:
		equalOne(out, y[:n], x[0])
	case equal:
		equalBoth(out, x[:n], y[:n])
	case ym == 0:
		lessOne(out, x[:n], y[0])
	case xm == 0:
		moreOne(out, y[:n], x[0])
	default:
		lessBoth(out, x[:n], y[:n])
	}
}

// The loops below fill a word of 64 results at a time, shifting them in from above.

func equalOne[T number64](out []uint64, x []T, y T) {
	for w := range out {
		part := x[w*64 : min(len(x), w*64+64)]
		var m uint64
		for _, v := range part {
			m = m>>1 | b2u(v == y)<<63
		}
		out[w] = m >> (64 - len(part))
	}
}

func lessOne[T number64](out []uint64, x []T, y T) {
	for w := range out {
		part := x[w*64 : min(len(x), w*64+64)]
		var m uint64
		for _, v := range part {
			m = m>>1 | b2u(v < y)<<63
		}
		out[w] = m >> (64 - len(part))
	}
}

// moreOne is NOT x <= y, which differs from x > y for NaN.
func moreOne[T number64](out []uint64, x []T, y T) {
	for w := range out {
		part := x[w*64 : min(len(x), w*64+64)]
		var m uint64
		for _, v := range part {
			m = m>>1 | b2u(v <= y)<<63
		}
		out[w] = ^m >> (64 - len(part))
	}
}

func equalBoth[T number64](out []uint64, x, y []T) {
	for w := range out {
		p := x[w*64 : min(len(x), w*64+64)]
		q := y[w*64:][:len(p)]
		var m uint64
		for i, v := range p {
			m = m>>1 | b2u(v == q[i])<<63
		}
		out[w] = m >> (64 - len(p))
	}
}

func lessBoth[T number64](out []uint64, x, y []T) {
	for w := range out {
		p := x[w*64 : min(len(x), w*64+64)]
		q := y[w*64:][:len(p)]
		var m uint64
		for i, v := range p {
			m = m>>1 | b2u(v < q[i])<<63
		}
		out[w] = m >> (64 - len(p))
	}
}

// compareDoubles orders NaN above all others and equal to itself.
func compareDoubles(out []uint64, a, b *vec, n int, sel []int32, equal bool) {
	x, y := a.f64, b.f64
	switch {
	case sel == nil && b.one() && y[0] == y[0] && equal:
		equalOne(out, x[:n], y[0])
	case sel == nil && b.one() && y[0] == y[0]:
		lessOne(out, x[:n], y[0])
	case sel == nil && a.one() && x[0] == x[0] && equal:
		equalOne(out, y[:n], x[0])
	case sel == nil && a.one() && x[0] == x[0]:
		moreOne(out, y[:n], x[0])
	case equal:
		clear(out)
		each(n, sel, nil, func(i int) bool {
			p, q := x[i&a.m], y[i&b.m]
			out[i>>6] |= b2u(p == q || p != p && q != q) << (i & 63)
			return true
		})
	default:
		clear(out)
		each(n, sel, nil, func(i int) bool {
			p, q := x[i&a.m], y[i&b.m]
			out[i>>6] |= b2u(p < q || p == p && q != q) << (i & 63)
			return true
		})
	}
}
