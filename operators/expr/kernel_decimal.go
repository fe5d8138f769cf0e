package expr

import (
	"math/big"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// A decimalOp is + - * / or % of two DECIMALs. The result is the exact one, rounded half away from zero
// to the result's scale.
type decimalOp struct {
	name           byte
	a, b, out      Type
	up1, up2, down int  // powers of ten: to bring the operands to one scale, and the exact result to its own
	limit          u128 // 10^precision
	x, y, z, r     big.Int
}

func bindDecimal(nd *node) error {
	k := &decimalOp{name: nd.e.Name[0], a: nd.e.Args[0].Type, b: nd.e.Args[1].Type, out: nd.e.Type}
	k.limit = tenTo(k.out.Precision)
	common := max(k.a.Scale, k.b.Scale)
	switch k.name {
	case '*':
		k.down = k.a.Scale + k.b.Scale - k.out.Scale
	case '/':
		if e := k.out.Scale + k.b.Scale - k.a.Scale; e >= 0 {
			k.up1 = e
		} else {
			k.up2 = -e
		}
	default:
		k.up1, k.up2, k.down = common-k.a.Scale, common-k.b.Scale, common-k.out.Scale
	}
	nd.extra = k
	switch {
	case k.inLongs() && k.name == '*':
		nd.run = runDecimalProduct
	case k.inLongs():
		nd.run = runDecimalSum
	case k.name == '*' && k.down == 0 && !k.a.wide() && !k.b.wide() && k.out.wide() && k.a.Precision+k.b.Precision <= k.out.Precision:
		nd.run = runWideProduct
	case (k.name == '+' || k.name == '-') && k.up1 == 0 && k.up2 == 0 && k.down == 0 && k.out.wide():
		nd.run = runWideSum
	default:
		nd.run = runDecimals
	}
	return nil
}

// inLongs reports whether nothing on the way needs more than 18 digits or a check.
func (k *decimalOp) inLongs() bool {
	if k.a.wide() || k.b.wide() || k.out.wide() || k.down != 0 {
		return false
	}
	switch k.name {
	case '*':
		return k.a.Precision+k.b.Precision <= k.out.Precision
	case '+', '-':
		whole := max(k.a.Precision-k.a.Scale, k.b.Precision-k.b.Scale)
		return whole+k.out.Scale+1 <= k.out.Precision
	}
	return false
}

// runDecimalProduct multiplies in 64 bits; the result's precision has room for every product.
func runDecimalProduct(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	a, b, out := nd.in[0], nd.in[1], nd.out.i64[:c.n]
	if a.one() {
		a, b = b, a
	}
	switch {
	case !dense(sel, c.n):
		for _, r := range sel {
			i := int(r)
			out[i] = a.i64[i&a.m] * b.i64[i&b.m]
		}
	case b.one() && !a.one():
		y := b.i64[0]
		for i, x := range a.i64[:c.n] {
			out[i] = x * y
		}
	default:
		for i := range out {
			out[i] = a.i64[i&a.m] * b.i64[i&b.m]
		}
	}
	return &nd.out, nil
}

// runDecimalSum adds or subtracts in 64 bits at the larger scale.
func runDecimalSum(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	k := nd.extra.(*decimalOp)
	a, b, out := nd.in[0], nd.in[1], nd.out.i64[:c.n]
	p, q := int64(pow10[k.up1]), int64(pow10[k.up2])
	if k.name == '-' {
		q = -q
	}
	switch {
	case !dense(sel, c.n):
		for _, r := range sel {
			i := int(r)
			out[i] = a.i64[i&a.m]*p + b.i64[i&b.m]*q
		}
	case b.one() && !a.one():
		y := b.i64[0] * q
		for i, x := range a.i64[:c.n] {
			out[i] = x*p + y
		}
	default:
		for i := range out {
			out[i] = a.i64[i&a.m]*p + b.i64[i&b.m]*q
		}
	}
	return &nd.out, nil
}

// runWideProduct multiplies 64 bits to 128; the result's precision has room for every product.
func runWideProduct(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	a, b, out := nd.in[0], nd.in[1], nd.out.dec[:c.n]
	if !dense(sel, c.n) {
		for _, r := range sel {
			i := int(r)
			out[i] = mulWide(a.i64[i&a.m], b.i64[i&b.m])
		}
		return &nd.out, nil
	}
	for i := range out {
		out[i] = mulWide(a.i64[i&a.m], b.i64[i&b.m])
	}
	return &nd.out, nil
}

func fits64(x decimal128.Num) bool { return x.HighBits() == int64(x.LowBits())>>63 }

func mulWide(a, b int64) decimal128.Num {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return decimal128.New(int64(hi)-a>>63&b-b>>63&a, lo)
}

// runWideSum adds or subtracts at one scale, with a check of the result's precision.
func runWideSum(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	k := nd.extra.(*decimalOp)
	a, b, out := nd.in[0], nd.in[1], nd.out.dec
	var err error
	each(c.n, sel, nd.out.valid, func(i int) bool {
		y := b.dec128(i)
		if k.name == '-' {
			y = y.Negate()
		}
		x := a.dec128(i)
		v := x.Add(y)
		m, _ := magnitude(v)
		// Two values of one sign may leave 127 bits: then the sum has the other sign.
		if (x.HighBits()^v.HighBits())&(y.HighBits()^v.HighBits()) < 0 || !m.less(k.limit) {
			err = nd.overflows(i)
			return false
		}
		out[i] = v
		return true
	})
	return &nd.out, err
}

// runDecimals is the general way, row by row.
func runDecimals(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	k := nd.extra.(*decimalOp)
	a, b := nd.in[0], nd.in[1]
	direct := k.name == '*' && k.down == 0 && k.out.Precision == MaxDecimal
	var err error
	each(c.n, sel, nd.out.valid, func(i int) bool {
		x, y := a.dec128(i), b.dec128(i)
		if direct && fits64(x) && fits64(y) { // the product of 64 bits is below 10^38
			nd.out.dec[i] = mulWide(int64(x.LowBits()), int64(y.LowBits()))
			return true
		}
		if (k.name == '/' || k.name == '%') && y == (decimal128.Num{}) {
			err = nd.dividesByZero(i)
			return false
		}
		v, ok := k.apply(x, y)
		if !ok {
			err = nd.overflows(i)
			return false
		}
		nd.out.setDecimal(i, v)
		return true
	})
	return &nd.out, err
}

func (v *vec) setDecimal(i int, n decimal128.Num) {
	if v.t.wide() {
		v.dec[i] = n
	} else {
		v.i64[i] = int64(n.LowBits())
	}
}

// magnitude is the absolute value and whether the number is negative.
func magnitude(n decimal128.Num) (u128, bool) {
	if n.HighBits() < 0 {
		n = n.Negate()
		return u128{uint64(n.HighBits()), n.LowBits()}, true
	}
	return u128{uint64(n.HighBits()), n.LowBits()}, false
}

func signed(m u128, neg bool) decimal128.Num {
	n := decimal128.New(int64(m.hi), m.lo)
	if neg {
		return n.Negate()
	}
	return n
}

// apply is the operation in 128 bits, and in big integers where those do not suffice.
func (k *decimalOp) apply(a, b decimal128.Num) (decimal128.Num, bool) {
	x, xn := magnitude(a)
	y, yn := magnitude(b)
	m, neg, ok := k.inWords(x, y, xn, yn)
	if !ok {
		return k.inBig(a, b)
	}
	return signed(m, neg), m.less(k.limit)
}

// inWords gives false where a step leaves 128 bits.
func (k *decimalOp) inWords(x, y u128, xn, yn bool) (m u128, neg, ok bool) {
	x, ok1 := x.scaleUp(k.up1)
	y, ok2 := y.scaleUp(k.up2)
	if !ok1 || !ok2 {
		return m, false, false
	}
	neg = xn != yn
	switch k.name {
	case '*':
		if x.hi == 0 {
			x, y = y, x
		}
		if y.hi != 0 {
			return m, false, false
		}
		if m, ok = x.mulAdd(y.lo, 0); !ok {
			return m, false, false
		}
	case '/':
		m, ok = x.divRound(y)
		return m, neg, ok
	case '%':
		if x.hi|y.hi != 0 {
			return m, false, false
		}
		m.lo, neg = x.lo%y.lo, xn
	case '-':
		m, neg, ok = addSigned(x, y, xn, !yn)
	default:
		m, neg, ok = addSigned(x, y, xn, yn)
	}
	if (k.name == '+' || k.name == '-') && !ok {
		return m, false, false
	}
	if k.down < 0 {
		m, ok = m.scaleUp(-k.down)
		return m, neg, ok
	}
	m, ok = m.scaleDown(k.down)
	return m, neg, ok
}

func addSigned(x, y u128, xn, yn bool) (m u128, neg, ok bool) {
	if xn == yn {
		var c uint64
		m.lo, c = bits.Add64(x.lo, y.lo, 0)
		m.hi, c = bits.Add64(x.hi, y.hi, c)
		return m, xn, c == 0
	}
	if x.less(y) {
		x, y, xn = y, x, yn
	}
	var c uint64
	m.lo, c = bits.Sub64(x.lo, y.lo, 0)
	m.hi, _ = bits.Sub64(x.hi, y.hi, c)
	return m, xn, true
}

// scaleUp multiplies by 10^n.
func (x u128) scaleUp(n int) (u128, bool) {
	ok := true
	for n > 0 && ok {
		step := min(n, 19)
		x, ok = x.mulAdd(pow10[step], 0)
		n -= step
	}
	return x, ok
}

// scaleDown divides by 10^n and rounds half up; false where 10^n exceeds 64 bits.
func (x u128) scaleDown(n int) (u128, bool) {
	if n == 0 {
		return x, true
	}
	if n > 19 {
		return x, false
	}
	return x.divRound(u128{0, pow10[n]})
}

// divRound divides and rounds half up; false where the divisor exceeds 63 bits.
func (x u128) divRound(y u128) (u128, bool) {
	if y.hi != 0 || y.lo>>63 != 0 {
		return x, false
	}
	var r uint64
	q := divWords(x, y.lo, &r)
	lo, c := bits.Add64(q.lo, b2u(r*2 >= y.lo), 0)
	return u128{q.hi + c, lo}, true
}

// divWords divides by 64 bits.
func divWords(x u128, y uint64, rest *uint64) u128 {
	hi, r := x.hi/y, x.hi%y
	lo, r := bits.Div64(r, x.lo, y)
	*rest = r
	return u128{hi, lo}
}

// inBig computes with integers of any size.
func (k *decimalOp) inBig(a, b decimal128.Num) (decimal128.Num, bool) {
	setBig(&k.x, a)
	setBig(&k.y, b)
	k.x.Mul(&k.x, tenBig(&k.r, k.up1))
	k.y.Mul(&k.y, tenBig(&k.r, k.up2))
	switch k.name {
	case '+':
		k.z.Add(&k.x, &k.y)
	case '-':
		k.z.Sub(&k.x, &k.y)
	case '*':
		k.z.Mul(&k.x, &k.y)
	case '%':
		k.z.Rem(&k.x, &k.y)
	default:
		divideBig(&k.z, &k.x, &k.y, &k.r)
	}
	if k.down > 0 {
		k.y.Exp(big.NewInt(10), big.NewInt(int64(k.down)), nil)
		k.x.Set(&k.z)
		divideBig(&k.z, &k.x, &k.y, &k.r)
	} else if k.down < 0 {
		k.z.Mul(&k.z, tenBig(&k.r, -k.down))
	}
	return fromBig(&k.z, k.limit)
}

// setBig makes a big integer of 128 bits.
func setBig(z *big.Int, n decimal128.Num) {
	m, neg := magnitude(n)
	z.SetUint64(m.hi)
	z.Lsh(z, 64)
	z.Add(z, new(big.Int).SetUint64(m.lo))
	if neg {
		z.Neg(z)
	}
}

func tenBig(z *big.Int, n int) *big.Int { return z.Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// divideBig is x / y rounded half away from zero.
func divideBig(z, x, y, r *big.Int) {
	z.QuoRem(x, y, r)
	r.Lsh(r, 1)
	if r.CmpAbs(y) >= 0 {
		if x.Sign()*y.Sign() < 0 {
			z.Sub(z, big.NewInt(1))
		} else {
			z.Add(z, big.NewInt(1))
		}
	}
}

// fromBig is a big integer as 128 bits, and whether it is below the limit.
func fromBig(z *big.Int, limit u128) (decimal128.Num, bool) {
	if z.BitLen() > 127 {
		return decimal128.Num{}, false
	}
	n := decimal128.FromBigInt(z)
	m, _ := magnitude(n)
	return n, m.less(limit)
}
