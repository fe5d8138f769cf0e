package expr

import (
	"math"
	"math/bits"
)

// bindArithmetic chooses the kernel of + - * / %.
func bindArithmetic(nd *node) error {
	switch nd.e.Type.Kind {
	case Double:
		nd.run = runDoubles
	case Float:
		nd.run = runFloats
	case TinyInt, SmallInt:
		nd.run = perRow(smallOp)
	case Int:
		nd.run = runInts
	case BigInt:
		nd.run = runLongs
	default:
		return bindDecimal(nd)
	}
	return nil
}

func runDoubles(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	a, b, out := nd.in[0], nd.in[1], nd.out.f64[:c.n]
	x, y := a.f64, b.f64
	switch {
	case !dense(sel, c.n) || nd.e.Name == "%":
		f := doubleOp(nd.e.Name)
		each(c.n, sel, nil, func(i int) bool {
			out[i] = f(x[i&a.m], y[i&b.m])
			return true
		})
	case b.one():
		doublesOne(nd.e.Name, out, x[:c.n], y[0])
	case a.one():
		oneDoubles(nd.e.Name, out, x[0], y[:c.n])
	default:
		doublesBoth(nd.e.Name, out, x[:c.n], y[:c.n])
	}
	return &nd.out, nil
}

func doubleOp(name string) func(a, b float64) float64 {
	switch name {
	case "+":
		return func(a, b float64) float64 { return a + b }
	case "-":
		return func(a, b float64) float64 { return a - b }
	case "*":
		return func(a, b float64) float64 { return a * b }
	case "/":
		return func(a, b float64) float64 { return a / b }
	}
	return math.Mod
}

func doublesOne(name string, out, x []float64, y float64) {
	switch name {
	case "+":
		for i, v := range x {
			out[i] = v + y
		}
	case "-":
		for i, v := range x {
			out[i] = v - y
		}
	case "*":
		for i, v := range x {
			out[i] = v * y
		}
	default:
		for i, v := range x {
			out[i] = v / y
		}
	}
}

func oneDoubles(name string, out []float64, x float64, y []float64) {
	switch name {
	case "-":
		for i, v := range y {
			out[i] = x - v
		}
	case "/":
		for i, v := range y {
			out[i] = x / v
		}
	default:
		doublesOne(name, out, y, x)
	}
}

func doublesBoth(name string, out, x, y []float64) {
	switch name {
	case "+":
		for i, v := range x {
			out[i] = v + y[i]
		}
	case "-":
		for i, v := range x {
			out[i] = v - y[i]
		}
	case "*":
		for i, v := range x {
			out[i] = v * y[i]
		}
	default:
		for i, v := range x {
			out[i] = v / y[i]
		}
	}
}

// runInts computes in 64 bits, where nothing of 32 bits overflows, and checks the result.
func runInts(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	a, b := nd.in[0], nd.in[1]
	if nd.e.Name == "/" || nd.e.Name == "%" {
		return nd.divideInts(c, sel)
	}
	out := nd.out.i32[:c.n]
	bad := int64(0)
	op := nd.e.Name
	if !dense(sel, c.n) {
		for _, r := range sel {
			i := int(r)
			v := wholeOp(op, int64(a.i32[i&a.m]), int64(b.i32[i&b.m]))
			out[i] = int32(v)
			bad |= v ^ int64(out[i])
		}
	} else {
		bad = intsAll(op, out, a.i32, b.i32, a.m, b.m)
	}
	if bad != 0 {
		return &nd.out, nd.findOverflow(c, sel, func(i int) bool {
			v := wholeOp(op, int64(a.i32[i&a.m]), int64(b.i32[i&b.m]))
			return v != int64(int32(v))
		})
	}
	return &nd.out, nil
}

func wholeOp(name string, a, b int64) int64 {
	switch name {
	case "+":
		return a + b
	case "-":
		return a - b
	}
	return a * b
}

func intsAll(name string, out, x, y []int32, xm, ym int) (bad int64) {
	switch name {
	case "+":
		for i := range out {
			v := int64(x[i&xm]) + int64(y[i&ym])
			out[i] = int32(v)
			bad |= v ^ int64(out[i])
		}
	case "-":
		for i := range out {
			v := int64(x[i&xm]) - int64(y[i&ym])
			out[i] = int32(v)
			bad |= v ^ int64(out[i])
		}
	default:
		for i := range out {
			v := int64(x[i&xm]) * int64(y[i&ym])
			out[i] = int32(v)
			bad |= v ^ int64(out[i])
		}
	}
	return bad
}

// findOverflow looks for the first selected row with values for which a fast loop's suspicion holds.
func (nd *node) findOverflow(c *ctx, sel []int32, over func(i int) bool) error {
	var err error
	each(c.n, sel, nd.out.valid, func(i int) bool {
		if over(i) {
			err = nd.overflows(i)
		}
		return err == nil
	})
	return err
}

func runLongs(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	if nd.e.Name == "/" || nd.e.Name == "%" {
		return nd.divideInts(c, sel)
	}
	return &nd.out, nd.longs(c, sel, nd.in[0], nd.in[1])
}

// longs is + - * in 64 bits with a check.
func (nd *node) longs(c *ctx, sel []int32, a, b *vec) error {
	out := nd.out.i64[:c.n]
	op := nd.e.Name
	bad := int64(0)
	switch {
	case !dense(sel, c.n):
		for _, r := range sel {
			i := int(r)
			v, over := longOp(op, a.i64[i&a.m], b.i64[i&b.m])
			out[i] = v
			bad |= over
		}
	case b.one():
		bad = longsOne(op, out, a.i64[:c.n], b.i64[0])
	case a.one() && op != "-":
		bad = longsOne(op, out, b.i64[:c.n], a.i64[0])
	default:
		bad = longsBoth(op, out, a.i64, b.i64, a.m, b.m)
	}
	if bad >= 0 {
		return nil
	}
	return nd.findOverflow(c, sel, func(i int) bool {
		_, over := longOp(op, a.i64[i&a.m], b.i64[i&b.m])
		return over < 0
	})
}

// longOp is the wrapped result, and a number below 0 where it wrapped.
func longOp(name string, a, b int64) (v, over int64) {
	switch name {
	case "+":
		v = a + b
		return v, (a ^ v) & (b ^ v)
	case "-":
		v = a - b
		return v, (a ^ b) & (a ^ v)
	}
	return mulLong(a, b)
}

// mulLong takes the high half of the product for the check: it must repeat the low half's sign.
func mulLong(a, b int64) (v, over int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi) - a>>63&b - b>>63&a
	d := h ^ int64(lo)>>63
	return int64(lo), d | -d
}

func longsOne(name string, out, x []int64, y int64) (bad int64) {
	switch name {
	case "+":
		for i, a := range x {
			v := a + y
			out[i] = v
			bad |= (a ^ v) & (y ^ v)
		}
	case "-":
		for i, a := range x {
			v := a - y
			out[i] = v
			bad |= (a ^ y) & (a ^ v)
		}
	default:
		for i, a := range x {
			v, over := mulLong(a, y)
			out[i] = v
			bad |= over
		}
	}
	return bad
}

func longsBoth(name string, out, x, y []int64, xm, ym int) (bad int64) {
	switch name {
	case "+":
		for i := range out {
			a, b := x[i&xm], y[i&ym]
			v := a + b
			out[i] = v
			bad |= (a ^ v) & (b ^ v)
		}
	case "-":
		for i := range out {
			a, b := x[i&xm], y[i&ym]
			v := a - b
			out[i] = v
			bad |= (a ^ b) & (a ^ v)
		}
	default:
		for i := range out {
			v, over := mulLong(x[i&xm], y[i&ym])
			out[i] = v
			bad |= over
		}
	}
	return bad
}

// divideInts is / and % of INT and BIGINT. The least number by -1 overflows; its remainder is 0.
func (nd *node) divideInts(c *ctx, sel []int32) (*vec, error) {
	a, b := nd.in[0], nd.in[1]
	kind, rem := nd.e.Type.Kind, nd.e.Name == "%"
	least := int64(math.MinInt64)
	if kind == Int {
		least = math.MinInt32
	}
	var err error
	each(c.n, sel, nd.out.valid, func(i int) bool {
		x, y := a.num(i), b.num(i)
		var v int64
		switch {
		case y == 0:
			err = nd.dividesByZero(i)
			return false
		case y == -1 && rem:
		case y == -1 && x == least:
			err = nd.overflows(i)
			return false
		case rem:
			v = x % y
		default:
			v = x / y
		}
		if kind == Int {
			nd.out.i32[i] = int32(v)
		} else {
			nd.out.i64[i] = v
		}
		return true
	})
	return &nd.out, err
}
