package expr

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// saturates reports whether a node is an implicit cast of an exact number to a DECIMAL of 38 digits that
// cannot hold all its values. Check puts one only below a comparison of DECIMALs whose digits before and
// after the point come to more than 38. What does not fit is then beyond every value of the other side,
// so it is compared as such: a comparison has no result that could overflow.
func saturates(e *Expr) bool {
	if e.Op != OpCast || !e.Implicit || e.Type.Kind != Decimal || e.Type.Precision != MaxDecimal {
		return false
	}
	from := e.Args[0].Type
	if from.Kind != Decimal && !from.Whole() {
		return false
	}
	return decimalOf(from).Scale <= e.Type.Scale && digitsOf(from) > e.Type.Precision-e.Type.Scale
}

// saturating writes the largest or least number of 128 bits, which no DECIMAL has, where a value is out of
// range.
func saturating(f convert) convert {
	most := decimal128.New(math.MaxInt64, math.MaxUint64)
	return func(in, out *vec, i int) Status {
		s := f(in, out, i)
		if s != OutOfRange {
			return s
		}
		beyond := most
		if in.dec128(i).Sign() < 0 {
			beyond = most.Negate()
		}
		out.setDecimal(i, beyond)
		return OK
	}
}
