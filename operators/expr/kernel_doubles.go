package expr

import (
	"bytes"
	"cmp"
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// doubles makes a kernel of a function of one DOUBLE.
func doubles(f func(float64) float64) func(*node) error {
	return func(nd *node) error {
		nd.run = perRow(func(nd *node, i int) error {
			nd.out.f64[i] = f(nd.in[0].f64[i&nd.in[0].m])
			return nil
		})
		return nil
	}
}

// doubles2 makes a kernel of a function of two.
func doubles2(f func(a, b float64) float64) func(*node) error {
	return func(nd *node) error {
		nd.run = perRow(func(nd *node, i int) error {
			nd.out.f64[i] = f(nd.in[0].f64[i&nd.in[0].m], nd.in[1].f64[i&nd.in[1].m])
			return nil
		})
		return nil
	}
}

func logBase(base, x float64) float64 { return math.Log(x) / math.Log(base) }
func log2(x float64) float64          { return math.Log(x) / math.Ln2 }
func cotangent(x float64) float64     { return 1 / math.Tan(x) }
func degrees(x float64) float64       { return x * (180 / math.Pi) }
func radians(x float64) float64       { return x * (math.Pi / 180) }

// bindSignum is SIGN, of the argument's type.
func bindSignum(nd *node) error {
	t := nd.e.Type
	if t.Kind.Storage() == Double {
		return doubles(func(x float64) float64 {
			if x > 0 {
				return 1
			} else if x < 0 {
				return -1
			}
			return x // 0, -0 and NaN as they are, as in Java
		})(nd)
	}
	one, fits := tenTo(t.Scale), t.Kind != Decimal || t.Scale < t.Precision
	nd.run = perRow(func(nd *node, i int) error {
		sign := nd.in[0].dec128(i).Sign()
		switch {
		case t.Kind != Decimal:
			nd.out.setNum(i, int64(sign))
		case sign == 0:
			nd.out.setDecimal(i, decimal128.Num{})
		case !fits:
			return nd.overflows(i)
		default:
			nd.out.setDecimal(i, signed(one, sign < 0))
		}
		return nil
	})
	return nil
}

// failsSign: 1 does not fit a DECIMAL that has no digit before its point.
func failsSign(e *Expr) bool { return e.Type.Kind == Decimal && e.Type.Scale == e.Type.Precision }

// bindExtreme is GREATEST and LEAST.
func bindExtreme(nd *node) error {
	want := 1
	if nd.e.Name == "LEAST" {
		want = -1
	}
	best := func(nd *node, i int) *vec {
		b := nd.in[0]
		for _, v := range nd.in[1:] {
			if orderAt(v, b, i) == want {
				b = v
			}
		}
		return b
	}
	if k := nd.e.Type.Kind; k == String || k == Bytes {
		return textKernel(func(nd *node, dst []byte, i int) []byte { return append(dst, best(nd, i).str(i)...) })(nd)
	}
	if nd.e.Type.Kind == Boolean {
		return condition(func(nd *node, i int) bool { return best(nd, i).bool(i) })(nd)
	}
	nd.run = perRow(func(nd *node, i int) error {
		v := best(nd, i)
		switch {
		case v.t.wide():
			nd.out.dec[i] = v.dec[i&v.m]
		case v.t.Kind.Storage() == Double:
			nd.out.f64[i] = v.f64[i&v.m]
		default:
			nd.out.setNum(i, v.num(i))
		}
		return nil
	})
	return nil
}

// orderAt compares two values of one type that are not NULL.
func orderAt(a, b *vec, i int) int {
	switch t := a.t; {
	case t.Kind == Boolean:
		return cmp.Compare(b2u(a.bool(i)), b2u(b.bool(i)))
	case t.Kind == String || t.Kind == Bytes:
		return bytes.Compare(a.str(i), b.str(i))
	case t.Kind.Storage() == Double:
		return orderDoubles(a.f64[i&a.m], b.f64[i&b.m])
	case t.wide():
		return a.dec[i&a.m].Cmp(b.dec[i&b.m])
	}
	return cmp.Compare(a.num(i), b.num(i))
}

// orderDoubles has NaN as the largest, where [cmp.Compare] has it as the smallest.
func orderDoubles(a, b float64) int {
	switch {
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	case b != b:
		return -1
	}
	return cmp.Compare(a, b)
}
