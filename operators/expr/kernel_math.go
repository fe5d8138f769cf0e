package expr

import (
	"math"
	"math/big"
	"strconv"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// bindSign is NEG and ABS. Both keep the type, and the least integer has no opposite.
func bindSign(nd *node) error {
	abs := nd.e.Name == "ABS"
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		in, out := nd.in[0], &nd.out
		var err error
		least := int64(math.MinInt64)
		if out.t.Whole() {
			least, _ = out.t.wholeRange()
		}
		each(c.n, sel, out.valid, func(i int) bool {
			switch {
			case out.t.Kind.Storage() == Double:
				if v := in.f64[i&in.m]; abs {
					out.f64[i] = math.Abs(v)
				} else {
					out.f64[i] = -v
				}
			case out.t.wide():
				v := in.dec[i&in.m]
				if !abs || v.Sign() < 0 {
					v = v.Negate()
				}
				out.dec[i] = v
			default:
				v := in.num(i)
				if v == least {
					err = nd.overflows(i)
					return false
				}
				if !abs || v < 0 {
					v = -v
				}
				out.setNum(i, v)
			}
			return true
		})
		return out, err
	}
	return nil
}

// setNum writes a whole number of the types held in 32 or 64 bits.
func (v *vec) setNum(i int, n int64) {
	if v.t.narrow() {
		v.i32[i] = int32(n)
	} else {
		v.i64[i] = n
	}
}

// perRow makes a kernel of a function of one row that may fail.
func perRow(f func(nd *node, i int) error) func(c *ctx, nd *node, sel []int32) (*vec, error) {
	return func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		var err error
		each(c.n, sel, nd.out.valid, func(i int) bool {
			err = f(nd, i)
			return err == nil
		})
		return &nd.out, err
	}
}

// bindWhole is FLOOR and CEIL.
func bindWhole(nd *node) error {
	up := nd.e.Name == "CEIL"
	switch t := nd.e.Args[0].Type; t.Kind.Storage() {
	case Double:
		nd.run = perRow(func(nd *node, i int) error {
			v := nd.in[0].f64[i&nd.in[0].m]
			if up {
				nd.out.f64[i] = math.Ceil(v)
			} else {
				nd.out.f64[i] = math.Floor(v)
			}
			return nil
		})
	case Decimal:
		cut := tenTo(t.Scale)
		limit := tenTo(nd.e.Type.Precision)
		nd.run = perRow(func(nd *node, i int) error {
			m, neg := magnitude(nd.in[0].dec128(i))
			q, rest := m.quoRem(cut)
			if rest != (u128{}) && neg != up {
				q, _ = q.mulAdd(1, 1)
			}
			if !q.less(limit) {
				return nd.overflows(i)
			}
			nd.out.setDecimal(i, signed(q, neg))
			return nil
		})
	default:
		nd.run = runSame
	}
	return nil
}

// quoRem divides by a power of ten.
func (x u128) quoRem(y u128) (q, r u128) {
	if y.hi != 0 {
		n, rest := signed(x, false).Div(signed(y, false))
		q, _ = magnitude(n)
		r, _ = magnitude(rest)
		return q, r
	}
	q = divWords(x, y.lo, &r.lo)
	return q, r
}

// bindRound is ROUND(x, n): half away from zero.
func bindRound(nd *node) error {
	float := nd.e.Type.Kind == Float
	switch nd.e.Type.Kind.Storage() {
	case Double:
		var buf [32]byte
		text := buf[:0]
		nd.run = perRow(func(nd *node, i int) error {
			text = nd.roundDouble(i, text)
			if float {
				nd.out.f64[i] = float64(float32(nd.out.f64[i]))
			}
			return nil
		})
	case Decimal:
		k := &decimalRound{limit: tenTo(nd.e.Type.Precision)}
		nd.run = perRow(k.round)
	default:
		nd.run = perRow(roundWhole)
	}
	return nil
}

// roundWhole rounds an INT or BIGINT to a power of ten.
func roundWhole(nd *node, i int) error {
	v, n := nd.in[0].num(i), nd.in[1].num(i)
	if n >= 0 {
		nd.out.setNum(i, v)
		return nil
	}
	if n < -19 {
		nd.out.setNum(i, 0)
		return nil
	}
	p := pow10[-n]
	m, neg := uint64(v), v < 0
	if neg {
		m = -m
	}
	q := m / p
	if m%p >= p-p/2 {
		q++
	}
	r := u128{0, q}
	r, _ = r.mulAdd(p, 0)
	_, most := nd.out.t.wholeRange()
	if r.hi != 0 || r.lo > uint64(most)+b2u(neg) {
		return nd.overflows(i)
	}
	if neg {
		r.lo = -r.lo
	}
	nd.out.setNum(i, int64(r.lo))
	return nil
}

// roundDouble rounds the shortest decimal text of the number, as Flink does, so that 1.005 becomes
// 1.01 at two places although the double lies below it.
func (nd *node) roundDouble(i int, text []byte) []byte {
	v, n := nd.in[0].f64[i&nd.in[0].m], int(nd.in[1].num(i))
	out := nd.out.f64
	if r, ok := roundScaled(v, n); ok {
		out[i] = math.Copysign(float64(r)/exact10[n], v)
		return text
	}
	out[i] = v
	if !finite(v) || n > 400 || n < -400 {
		if n < -400 && finite(v) {
			out[i] = 0
		}
		return text
	}
	text = strconv.AppendFloat(text[:0], v, 'e', -1, 64)
	digits, exp := shortest(text)
	keep := len(digits) + n + exp // digits up to the place rounded to
	if keep >= len(digits) {
		return text
	}
	out[i] = roundedDigits(digits, exp, keep, v)
	return text
}

// shortest takes "-d.ddde±dd" apart: the digits as a number times 10^exp.
func shortest(text []byte) (digits []byte, exp int) {
	t, _ := sign(text)
	e := len(t) - 1
	for t[e] != 'e' {
		e--
	}
	exp, _ = strconv.Atoi(string(t[e+1:]))
	digits = t[:1]
	if e > 1 {
		digits = append(digits, t[2:e]...)
	}
	return digits, exp - (len(digits) - 1)
}

// roundedDigits is the number of the first keep digits, rounded half up, with the sign of v.
func roundedDigits(digits []byte, exp, keep int, v float64) float64 {
	var m uint64
	for k := 0; k < keep; k++ {
		m = m*10 + uint64(digits[k]-'0')
	}
	if keep >= 0 && digits[keep] >= '5' {
		m++
	}
	var buf [40]byte
	t := append(strconv.AppendUint(buf[:0], m, 10), 'e')
	t = strconv.AppendInt(t, int64(exp+len(digits)-keep), 10)
	f, _ := strconv.ParseFloat(unsafe.String(unsafe.SliceData(t), len(t)), 64)
	return math.Copysign(f, v)
}

type decimalRound struct {
	limit      u128
	x, y, z, r big.Int
}

// round rounds to n places and then writes the value with the result's scale.
func (k *decimalRound) round(nd *node, i int) error {
	scale, n := nd.in[0].t.Scale, int(nd.in[1].num(i))
	n = min(max(n, -40), scale)
	m, neg := magnitude(nd.in[0].dec128(i))
	q, ok := m.scaleDown(scale - n)
	if ok {
		q, ok = q.rescale(nd.out.t.Scale - n)
	}
	if ok {
		if !q.less(k.limit) {
			return nd.overflows(i)
		}
		nd.out.setDecimal(i, signed(q, neg))
		return nil
	}
	v, ok := k.roundBig(nd.in[0].dec128(i), scale-n, nd.out.t.Scale-n)
	if !ok {
		return nd.overflows(i)
	}
	nd.out.setDecimal(i, v)
	return nil
}

// rescale multiplies by 10^n, or divides where n is below 0.
func (x u128) rescale(n int) (u128, bool) {
	if n < 0 {
		return x.scaleDown(-n)
	}
	return x.scaleUp(n)
}

func (k *decimalRound) roundBig(v decimal128.Num, down, up int) (decimal128.Num, bool) {
	setBig(&k.x, v)
	tenBig(&k.y, down)
	divideBig(&k.z, &k.x, &k.y, &k.r)
	if up >= 0 {
		k.z.Mul(&k.z, tenBig(&k.y, up))
	} else {
		k.x.Set(&k.z)
		tenBig(&k.y, -up)
		divideBig(&k.z, &k.x, &k.y, &k.r)
	}
	return fromBig(&k.z, k.limit)
}
