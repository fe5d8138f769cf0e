package expr

import (
	"math"
	"math/big"
	"strconv"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// toWhole casts numbers to whole ones, cutting towards zero.
func toWhole(from, to Type) convert {
	lo, hi := to.wholeRange()
	narrow := to.narrow()
	set := func(out *vec, i int, v int64) Status {
		if v < lo || v > hi {
			return OutOfRange
		}
		if narrow {
			out.i32[i] = int32(v)
		} else {
			out.i64[i] = v
		}
		return OK
	}
	switch {
	case from.Kind.Storage() == Double:
		return func(in, out *vec, i int) Status {
			v := math.Trunc(in.f64[i&in.m])
			if !(v >= -1<<63 && v < 1<<63) {
				return OutOfRange
			}
			return set(out, i, int64(v))
		}
	case from.wide():
		cut := decimalScale(from.Scale)
		return func(in, out *vec, i int) Status {
			v, _ := in.dec[i&in.m].Div(cut)
			if v.HighBits() != int64(v.LowBits())>>63 {
				return OutOfRange
			}
			return set(out, i, int64(v.LowBits()))
		}
	case from.Kind == Decimal:
		cut := int64(pow10[from.Scale])
		return func(in, out *vec, i int) Status { return set(out, i, in.i64[i&in.m]/cut) }
	}
	return func(in, out *vec, i int) Status { return set(out, i, in.num(i)) }
}

func decimalScale(n int) decimal128.Num { return signed(tenTo(n), false) }

// A rescaler brings unscaled values from one scale to a DECIMAL type, rounding half away from zero.
type rescaler struct {
	to         Type
	up, down   int
	limit      u128
	x, y, z, r big.Int
}

func newRescaler(scale int, to Type) *rescaler {
	return &rescaler{to: to, up: max(to.Scale-scale, 0), down: max(scale-to.Scale, 0), limit: tenTo(to.Precision)}
}

func (k *rescaler) set(out *vec, i int, n decimal128.Num) Status {
	m, neg := magnitude(n)
	m, ok := m.scaleUp(k.up)
	if !ok {
		return OutOfRange
	}
	if k.down > 18 {
		setBig(&k.x, n)
		tenBig(&k.y, k.down)
		divideBig(&k.z, &k.x, &k.y, &k.r)
		n, ok = fromBig(&k.z, k.limit)
		out.setDecimal(i, n)
		return status(ok)
	}
	m, _ = m.scaleDown(k.down)
	out.setDecimal(i, signed(m, neg))
	return status(m.less(k.limit))
}

func status(ok bool) Status {
	if ok {
		return OK
	}
	return OutOfRange
}

func toDecimal(from, to Type) convert {
	if from.Kind.Storage() == Double {
		return doubleToDecimal(to)
	}
	k := newRescaler(from.Scale, to)
	if room := to.Precision - to.Scale; !from.wide() && !to.wide() && k.down == 0 && digitsOf(from) <= room {
		p := int64(pow10[k.up])
		return func(in, out *vec, i int) Status { out.i64[i] = in.num(i) * p; return OK }
	}
	return func(in, out *vec, i int) Status { return k.set(out, i, in.dec128(i)) }
}

// digitsOf is how many digits an exact number has before its point at most.
func digitsOf(t Type) int {
	t = decimalOf(t)
	return t.Precision - t.Scale
}

// doubleToDecimal rounds the shortest text of the double, as Flink does: 0.285 to two places is
// 0.29 although the double lies below.
func doubleToDecimal(to Type) convert {
	var buf [32]byte
	text := buf[:0]
	return func(in, out *vec, i int) Status {
		v := in.f64[i&in.m]
		if n, ok := roundScaled(v, to.Scale); ok && to.Precision <= MaxDecimal64 && uint64(max(n, -n)) < pow10[to.Precision] {
			out.i64[i] = n
			return OK
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return OutOfRange
		}
		text = strconv.AppendFloat(text[:0], v, 'e', -1, 64)
		n, s := ParseDecimal128(text, to.Precision, to.Scale)
		if s == OK {
			out.setDecimal(i, n)
		}
		return s
	}
}

// roundScaled is v * 10^n rounded half away from zero, where that can be told without the decimal
// text of v: not close to a half, and below 2^52.
func roundScaled(v float64, n int) (int64, bool) {
	if n < 0 || n > 15 {
		return 0, false
	}
	s := v * exact10[n]
	if !(s > -1<<50 && s < 1<<50) {
		return 0, false
	}
	r := math.Floor(s)
	if d := math.Abs(s - r - 0.5); d < 1e-15*math.Max(math.Abs(s), 1) {
		return 0, false
	}
	return int64(math.Round(s)), true
}

// decimalToDouble is the nearest double.
func decimalToDouble(from Type) convert {
	var buf [48]byte
	text := buf[:0]
	return func(in, out *vec, i int) Status {
		n := in.dec128(i)
		if v := int64(n.LowBits()); n.HighBits() == v>>63 && v > -1<<53 && v < 1<<53 && from.Scale <= 22 {
			out.f64[i] = float64(v) / exact10[from.Scale]
			return OK
		}
		text = AppendDecimal128(text[:0], n, from.Scale)
		f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
		out.f64[i] = f
		return status(err == nil)
	}
}

// bulk converts all n rows at once, and says false where one does not fit, be it NULL or not
// selected: then rows go one by one. nil where there is no such way.
func bulk(from, to Type) func(in, out *vec, n int) bool {
	switch {
	case from.Kind == BigInt && to.Kind == Int:
		return func(in, out *vec, n int) bool {
			bad := int64(0)
			for i, v := range in.i64[:min(n, len(in.i64))] {
				out.i32[i] = int32(v)
				bad |= v ^ int64(int32(v))
			}
			return bad == 0
		}
	case from.Kind == Decimal && to.Kind == Double && !from.wide():
		return func(in, out *vec, n int) bool {
			bad, p := uint64(0), exact10[from.Scale]
			for i, v := range in.i64[:min(n, len(in.i64))] {
				out.f64[i] = float64(v) / p
				bad |= uint64(v+1<<53) >> 54
			}
			return bad == 0
		}
	case to.Kind == Decimal && (from.Kind == BigInt || from.Kind == Decimal) && !from.wide() && to.Scale >= from.Scale && to.Scale-from.Scale <= 18:
		return upscale(from, to)
	}
	return nil
}

// upscale multiplies by a power of ten, checking the range where it matters.
func upscale(from, to Type) func(in, out *vec, n int) bool {
	p := int64(pow10[to.Scale-from.Scale])
	if to.wide() {
		return upscaleWide(from, to, p)
	}
	most := pow10[to.Precision-(to.Scale-from.Scale)] - 1 // of the source's unscaled values
	return func(in, out *vec, n int) bool {
		bad := false
		for i, v := range in.i64[:min(n, len(in.i64))] {
			out.i64[i] = v * p
			bad = bad || uint64(v)+most > 2*most
		}
		return !bad
	}
}

func upscaleWide(from, to Type, p int64) func(in, out *vec, n int) bool {
	most := uint64(1<<63 - 1)
	if d := to.Precision - (to.Scale - from.Scale); digitsOf(from) > to.Precision-to.Scale && d < len(pow10)-1 {
		most = pow10[d] - 1
	}
	return func(in, out *vec, n int) bool {
		bad := false
		for i, v := range in.i64[:min(n, len(in.i64))] {
			out.dec[i] = mulWide(v, p)
			bad = bad || uint64(v)+most > 2*most
		}
		return !bad
	}
}

// toFloat gives the nearest value of 32 bits. A DOUBLE beyond the largest one does not fit.
func toFloat(from Type) convert {
	switch {
	case from.Kind == Double:
		return func(in, out *vec, i int) Status {
			v := in.f64[i&in.m]
			f := float64(float32(v))
			out.f64[i] = f
			return status(finite(f) || !finite(v))
		}
	case from.Kind == Decimal:
		var buf [48]byte
		text := buf[:0]
		return func(in, out *vec, i int) (s Status) {
			text = AppendDecimal128(text[:0], in.dec128(i), from.Scale)
			out.f64[i], s = ParseFloat(text)
			return s
		}
	}
	return func(in, out *vec, i int) Status { out.f64[i] = float64(float32(in.num(i))); return OK }
}
