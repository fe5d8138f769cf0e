package expr

import "math/bits"

// narrow gives the rows of sel (nil: all n) whose bit is set.
func narrow(b []uint64, n int, sel, out []int32) []int32 {
	if sel == nil {
		out = sized(out, n)
		k := 0
		for w, m := range b[:words(n)] {
			if w == n>>6 {
				m &= 1<<(n&63) - 1
			}
			base := int32(w * 64)
			if m == ^uint64(0) {
				for j := range int32(64) {
					out[k+int(j)] = base + j
				}
				k += 64
				continue
			}
			for ; m != 0; m &= m - 1 {
				out[k] = base + int32(bits.TrailingZeros64(m))
				k++
			}
		}
		return out[:k]
	}
	out = sized(out, len(sel))
	k := 0
	for _, r := range sel {
		out[k] = r
		k += int(b[r>>6] >> (r & 63) & 1)
	}
	return out[:k]
}

// isTrue are the rows where a BOOLEAN is TRUE. The result may be v's own.
func isTrue(v *vec, n int, scratch *[]uint64) []uint64 {
	if v.one() {
		out := sized(*scratch, words(n))
		*scratch = out
		fill := uint64(0)
		if !v.isNull(0) && v.bool(0) {
			fill = ^fill
		}
		for i := range out {
			out[i] = fill
		}
		return out
	}
	if v.valid == nil {
		return v.bits
	}
	out := sized(*scratch, words(n))
	*scratch = out
	for i := range out {
		out[i] = v.bits[i] & v.valid[i]
	}
	return out
}

// isFalse are the rows where a BOOLEAN is FALSE, in scratch.
func isFalse(v *vec, n int, scratch *[]uint64) []uint64 {
	out := sized(*scratch, words(n))
	*scratch = out
	if v.one() {
		fill := uint64(0)
		if !v.isNull(0) && !v.bool(0) {
			fill = ^fill
		}
		for i := range out {
			out[i] = fill
		}
		return out
	}
	for i := range out {
		out[i] = ^v.bits[i]
		if v.valid != nil {
			out[i] &= v.valid[i]
		}
	}
	return out
}

// A logic keeps, for AND and OR, the rows known to be TRUE and known to be FALSE.
type logic struct{ t, f, tmp, keep []uint64 }

func bindLogic(nd *node) error {
	nd.extra = &logic{}
	nd.run = runLogic
	return nil
}

// runLogic looks at a further argument only for the rows that are still open: AND for those not
// FALSE, OR for those not TRUE. An argument that cannot fail is cheaper to compute for all.
func runLogic(c *ctx, nd *node, sel []int32) (*vec, error) {
	x := nd.extra.(*logic)
	and := nd.e.Name == "AND"
	w := words(c.n)
	x.t, x.f = sized(x.t, w), sized(x.f, w)
	open := sel
	for k, a := range nd.args {
		if k > 0 && !a.cheap && !a.coded(c) {
			decided := x.t
			if and {
				decided = x.f
			}
			x.keep = sized(x.keep, w)
			for i, d := range decided {
				x.keep[i] = ^d
			}
			nd.sel = narrow(x.keep, c.n, sel, nd.sel)
			open = nd.sel
			if len(open) == 0 {
				break
			}
		}
		v, err := a.eval(c, open)
		if err != nil {
			return nil, err
		}
		if k == 0 {
			copy(x.t, isTrue(v, c.n, &x.tmp))
			copy(x.f, isFalse(v, c.n, &x.tmp))
			continue
		}
		x.merge(v, c.n, and)
	}
	out := &nd.out
	out.reset(nd.e.Type)
	out.room(c.n)
	copy(out.bits, x.t)
	nd.nulls = sized(nd.nulls, w)
	for i := range nd.nulls {
		nd.nulls[i] = x.t[i] | x.f[i]
	}
	out.valid = nd.nulls
	return out, nil
}

// coded reports whether the node cannot fail, counts no rows and is looked up by the codes of a dictionary column.
func (nd *node) coded(c *ctx) bool {
	if nd.dictCol < 0 || c.plain || nd.fails || nd.tries {
		return false
	}
	col, err := c.column(nd.dictCol)
	return err == nil && col.codes != nil && col.id != 0
}

func (x *logic) merge(v *vec, n int, and bool) {
	for i, m := range isTrue(v, n, &x.tmp) {
		if and {
			x.t[i] &= m
		} else {
			x.t[i] |= m
		}
	}
	for i, m := range isFalse(v, n, &x.tmp) {
		if and {
			x.f[i] |= m
		} else {
			x.f[i] &= m
		}
	}
}

// selectRows gives the rows for which the node is TRUE.
func (nd *node) selectRows(c *ctx, sel, out []int32) ([]int32, error) {
	if nd.e.Op == OpCall && nd.e.Name == "AND" && !nd.constant {
		return nd.selectAll(c, sel, out)
	}
	if nd.dictCol >= 0 && !nd.constant {
		col, err := c.column(nd.dictCol)
		if err != nil {
			return nil, err
		}
		if col.codes != nil {
			if m := nd.memo(c, col, sel); m != nil {
				m.countMisses(col, c.n, sel)
				return m.selectRows(col, c.n, sel, out), nil
			}
		}
	}
	v, err := nd.eval(c, sel)
	if err != nil {
		return nil, err
	}
	return narrow(isTrue(v, c.n, &nd.scratch), c.n, sel, out), nil
}

// selectAll narrows the rows from one argument of AND to the next.
func (nd *node) selectAll(c *ctx, sel, out []int32) ([]int32, error) {
	cur := sel
	for k, a := range nd.args {
		to := &nd.sel
		if k&1 == 1 {
			to = &nd.rest
		}
		if k == len(nd.args)-1 {
			return a.selectRows(c, cur, out)
		}
		next, err := a.selectRows(c, cur, *to)
		if err != nil {
			return nil, err
		}
		*to, cur = next, next
		if len(cur) == 0 {
			return out[:0], nil
		}
	}
	return out, nil
}

func bindNot(nd *node) error {
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		a := nd.in[0]
		for i := range nd.out.bits {
			nd.out.bits[i] = ^a.bits[i]
		}
		return &nd.out, nil
	}
	return nil
}

// bindIs is IS [NOT] NULL, IS [NOT] TRUE, IS [NOT] FALSE.
func bindIs(nd *node) error {
	name := nd.e.Name
	not := len(name) > 6 && name[:6] == "IS NOT"
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		v, err := nd.args[0].eval(c, sel)
		if err != nil {
			return nil, err
		}
		out := &nd.out
		out.reset(nd.e.Type)
		out.room(c.n)
		switch name {
		case "IS NULL", "IS NOT NULL":
			valid := spread(v, c.n)
			for i := range out.bits {
				out.bits[i] = 0
				if valid != nil {
					out.bits[i] = ^valid[i]
				}
			}
		case "IS TRUE", "IS NOT TRUE":
			copy(out.bits, isTrue(v, c.n, &nd.scratch))
		default:
			copy(out.bits, isFalse(v, c.n, &nd.scratch))
		}
		if not {
			invert(out.bits)
		}
		return out, nil
	}
	return nil
}
