package expr

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// overlay puts a text in place of some characters.
func overlay(nd *node, dst []byte, i int) []byte {
	s, with, from := nd.in[0].str(i), nd.in[1].str(i), nd.in[2].num(i)
	if from < 1 || from > int64(utf8.RuneCount(s)) {
		return append(dst, s...)
	}
	length := int64(utf8.RuneCount(with))
	if len(nd.in) == 4 {
		length = nd.in[3].num(i)
	}
	at := skip(s, from-1)
	dst = append(append(dst, s[:at]...), with...)
	return append(dst, s[at+skip(s[at:], length):]...)
}

// translate maps characters by their places in two lists.
func translate(nd *node, dst []byte, i int) []byte {
	s, from, to := nd.in[0].str(i), nd.in[1].str(i), nd.in[2].str(i)
	for len(s) > 0 {
		_, w := utf8.DecodeRune(s)
		char := s[:w]
		s = s[w:]
		at := bytes.Index(from, char)
		if at < 0 {
			dst = append(dst, char...)
			continue
		}
		place := skip(to, int64(utf8.RuneCount(from[:at])))
		_, w = utf8.DecodeRune(to[place:])
		dst = append(dst, to[place:place+w]...)
	}
	return dst
}

// bindElt is ELT: NULLs among the texts matter only where they are chosen.
func bindElt(nd *node) error {
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) {
		nd.out.reset(nd.e.Type)
		for i, a := range nd.args {
			v, err := a.eval(c, sel)
			if err != nil {
				return nil, err
			}
			nd.in[i] = v
		}
		if v := nd.in[0]; v.one() && v.isNull(0) {
			return allNull(nd, c.n), nil
		}
		nd.out.valid = spread(nd.in[0], c.n)
		return nd.optionalTexts(c, sel, func(nd *node, dst []byte, i int) ([]byte, textOutcome) {
			n := nd.in[0].num(i)
			if n < 1 || n >= int64(len(nd.in)) || nd.in[n].isNull(i) {
				return dst, noText
			}
			return append(dst, nd.in[n].str(i)...), someText
		})
	}
	return nil
}

// optional makes a result of 32 or 64 bits of a function that may give NULL.
func optional(f func(nd *node, i int) (int64, bool)) func(c *ctx, nd *node, sel []int32) (*vec, error) {
	return func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		own := false
		each(c.n, sel, nd.out.valid, func(i int) bool {
			v, ok := f(nd, i)
			if !ok {
				if !own {
					own = true
					nd.ownValidity(c.n)
				}
				nd.out.valid[i>>6] &^= 1 << (i & 63)
				return true
			}
			nd.out.setNum(i, v)
			return true
		})
		return &nd.out, nil
	}
}

// bindTruncate is TRUNCATE(x, n): cut towards zero.
func bindTruncate(nd *node) error {
	switch t := nd.e.Type; t.Kind.Storage() {
	case Double:
		float := t.Kind == Float
		nd.run = perRow(func(nd *node, i int) error {
			v := truncated(nd.in[0].f64[i&nd.in[0].m], nd.in[1].num(i))
			if float {
				v = float64(float32(v))
			}
			nd.out.f64[i] = v
			return nil
		})
	case Decimal:
		var x, y, r big.Int
		nd.run = perRow(func(nd *node, i int) error {
			scale := nd.in[0].t.Scale
			n := int(min(max(nd.in[1].num(i), -40), int64(scale)))
			setBig(&x, nd.in[0].dec128(i))
			x.QuoRem(&x, tenBig(&y, scale-n), &r)
			if up := t.Scale - n; up >= 0 {
				x.Mul(&x, tenBig(&y, up))
			} else {
				x.Quo(&x, tenBig(&y, -up))
			}
			v, ok := fromBig(&x, tenTo(t.Precision))
			if !ok {
				return nd.overflows(i)
			}
			nd.out.setDecimal(i, v)
			return nil
		})
	default:
		nd.run = perRow(func(nd *node, i int) error {
			v, n := nd.in[0].num(i), nd.in[1].num(i)
			switch {
			case n < -18:
				v = 0
			case n < 0:
				v -= v % int64(pow10[-n])
			}
			nd.out.setNum(i, v)
			return nil
		})
	}
	return nil
}

// truncated cuts the shortest decimal text of a number.
func truncated(v float64, n int64) float64 {
	if !finite(v) || n > 400 {
		return v
	}
	var buf [32]byte
	digits, exp := shortest(strconv.AppendFloat(buf[:0], v, 'e', -1, 64))
	keep := int64(len(digits)) + n + int64(exp)
	switch {
	case keep >= int64(len(digits)):
		return v
	case keep <= 0:
		return math.Copysign(0, v)
	}
	var out [40]byte
	t := append(append(out[:0], digits[:keep]...), 'e')
	t = strconv.AppendInt(t, int64(exp)+int64(len(digits))-keep, 10)
	f, _ := strconv.ParseFloat(unsafe.String(unsafe.SliceData(t), len(t)), 64)
	return math.Copysign(f, v)
}
