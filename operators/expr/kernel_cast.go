package expr

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// bindCast chooses the kernel of CAST and TRY_CAST.
func bindCast(nd *node) error {
	from, to := nd.e.Args[0].Type, nd.e.Type
	if ok, _ := CastRule(from, to); !ok {
		return fmt.Errorf("%s cannot be cast to %s", from, to)
	}
	switch {
	case from.Same(to), from.Kind == Null:
		nd.run = runSame
	case to.Kind == String && from.Kind != TimestampLTZ && from.Kind != Bytes:
		nd.run = runText
	case readsZone(nd.e), from.Kind == Bytes, to.Kind == Bytes:
		return bindFurtherCast(nd)
	case from.Kind == Float && to.Kind == Double, from.narrow() && from.Whole() && to.narrow() && to.Whole() && from.Bits() < to.Bits():
		nd.run = runSame
	case from.Kind.Storage() == Int && to.Kind == BigInt:
		nd.run = widen(func(v *vec) []int32 { return v.i32 }, func(v *vec) []int64 { return v.i64 })
	case from.Kind.Storage() == Int && to.Kind == Double:
		nd.run = widen(func(v *vec) []int32 { return v.i32 }, func(v *vec) []float64 { return v.f64 })
	case from.Kind == BigInt && to.Kind == Double:
		nd.run = widen(func(v *vec) []int64 { return v.i64 }, func(v *vec) []float64 { return v.f64 })
	case from.Kind == Timestamp && to.Kind == Date:
		nd.run = runDateOf
	default:
		f := converter(from, to)
		if f == nil {
			return fmt.Errorf("%s cannot be cast to %s", from, to)
		}
		fast := bulk(from, to)
		if saturates(nd.e) {
			f, fast = saturating(f), nil
		}
		nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) { return nd.cast(c, sel, f, fast) }
	}
	return nil
}

// A convert writes one row's value, or says why it cannot.
type convert func(in, out *vec, i int) Status

// converter is the conversion of one row; nil where there is none.
func converter(from, to Type) convert {
	switch {
	case from.Kind == String:
		return fromText(to)
	case to.Kind == Boolean:
		return toBoolean(from)
	case from.Kind == Boolean:
		return fromBoolean(to)
	case to.Whole():
		return toWhole(from, to)
	case to.Kind == Decimal:
		return toDecimal(from, to)
	case to.Kind == Float:
		return toFloat(from)
	case to.Kind == Double && from.Kind == Decimal:
		return decimalToDouble(from)
	case to.Kind == Timestamp && from.Kind == Date:
		return func(in, out *vec, i int) Status {
			v, ok := microsAt(int64(in.i32[i&in.m]), 0)
			out.i64[i] = v
			return status(ok)
		}
	case to.Kind == Time && from.Kind != Time:
		step := microsOf(to.Precision)
		return func(in, out *vec, i int) Status {
			_, t := in.instant(i)
			out.i64[i] = t - t%step
			return OK
		}
	case isTime(to) && isTime(from): // TIME is at 1970-01-01
		step := microsOf(to.Precision)
		return func(in, out *vec, i int) Status {
			out.i64[i] = floorDiv(in.i64[i&in.m], step) * step
			return OK
		}
	}
	return nil
}

// cast converts row by row. A value that does not fit raises, or is NULL under TRY_CAST.
func (nd *node) cast(c *ctx, sel []int32, f convert, fast func(in, out *vec, n int) bool) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	in, out := nd.in[0], &nd.out
	if fast != nil && dense(sel, c.n) && fast(in, out, c.n) {
		return out, nil
	}
	if out.t.Kind == Boolean {
		clear(out.bits)
	}
	var err error
	own := false
	each(c.n, sel, out.valid, func(i int) bool {
		s := f(in, out, i)
		if s == OK {
			return true
		}
		if nd.e.Op == OpCast {
			err = nd.cannotCast(i, s)
			return false
		}
		c.missed(nd, i, s)
		if !own {
			own = true
			nd.ownValidity(c.n)
		}
		out.valid[i>>6] &^= 1 << (i & 63)
		return true
	})
	return out, err
}

// ownValidity makes the result's validity one that may be written to.
func (nd *node) ownValidity(n int) {
	v := sized(nd.scratch, words(n))
	nd.scratch = v
	if nd.out.valid != nil {
		copy(v, nd.out.valid)
	} else {
		for i := range v {
			v[i] = ^uint64(0)
		}
	}
	nd.out.valid = v
}

func (nd *node) cannotCast(row int, s Status) error {
	to := nd.e.Type.Nullable(true)
	in := nd.in[0]
	shown := clip(in.appendText(nil, row), mostShown)
	if in.t.Kind == String {
		shown = "'" + shown + "'"
	}
	return nd.fail(castError, row, 0, fmt.Sprintf("cannot cast %s to %s: %s", shown, to, s.Cause(to)))
}

// runSame is a cast that changes nothing but whether NULL is allowed.
func runSame(c *ctx, nd *node, sel []int32) (*vec, error) {
	v, err := nd.args[0].eval(c, sel)
	if err != nil {
		return nil, err
	}
	if v.t.Kind == Null {
		nd.out.reset(nd.e.Type)
		return allNull(nd, c.n), nil
	}
	nd.view = *v
	nd.view.t = nd.e.Type
	return &nd.view, nil
}

// widen converts numbers that always fit, for all rows.
func widen[A int32 | int64, B int64 | float64](from func(*vec) []A, to func(*vec) []B) func(c *ctx, nd *node, sel []int32) (*vec, error) {
	return func(c *ctx, nd *node, sel []int32) (*vec, error) {
		if done, err := nd.strict(c, sel); done != nil || err != nil {
			return done, err
		}
		in := nd.in[0]
		x, out := from(in), to(&nd.out)[:c.n]
		for i := range out {
			out[i] = B(x[i&in.m])
		}
		return &nd.out, nil
	}
}

func runDateOf(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	in, out := nd.in[0], nd.out.i32[:c.n]
	for i := range out {
		t := in.i64[i&in.m]
		d := t / microsPerDay
		out[i] = int32(d + (t-d*microsPerDay)>>63)
	}
	return &nd.out, nil
}

// runText writes any value as text.
func runText(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	in := nd.in[0]
	return nd.texts(c, sel, func(dst []byte, i int) []byte { return in.appendText(dst, i) })
}

// texts builds a STRING result row by row; other rows are empty.
func (nd *node) texts(c *ctx, sel []int32, f func(dst []byte, i int) []byte) (*vec, error) {
	out := &nd.out
	out.offs = sized(out.offs, c.n+1)
	data, next := out.data[:0], 0
	var err error
	each(c.n, sel, out.valid, func(i int) bool {
		for ; next <= i; next++ {
			out.offs[next] = int32(len(data))
		}
		data = f(data, i)
		if len(data) > math.MaxInt32 {
			err = nd.fail(evaluation, i, -1, "the texts of one batch exceed 2 GiB")
		}
		return err == nil
	})
	for ; next <= c.n; next++ {
		out.offs[next] = int32(len(data))
	}
	out.data, out.whole = data, true
	return out, err
}

// fromText reads texts as the readers do.
func fromText(to Type) convert {
	switch to.Kind {
	case Boolean:
		return func(in, out *vec, i int) Status {
			v, s := ParseBoolean(in.str(i))
			out.bits[i>>6] |= b2u(v) << (i & 63)
			return s
		}
	case TinyInt, SmallInt:
		bits := to.Bits()
		return func(in, out *vec, i int) (s Status) { out.i32[i], s = ParseSmall(in.str(i), bits); return s }
	case Int:
		return func(in, out *vec, i int) (s Status) { out.i32[i], s = ParseInt32(in.str(i)); return s }
	case Float:
		return func(in, out *vec, i int) (s Status) { out.f64[i], s = ParseFloat(in.str(i)); return s }
	case BigInt:
		return func(in, out *vec, i int) (s Status) { out.i64[i], s = ParseInt64(in.str(i)); return s }
	case Double:
		return func(in, out *vec, i int) (s Status) { out.f64[i], s = ParseDouble(in.str(i)); return s }
	case Date:
		return func(in, out *vec, i int) (s Status) { out.i32[i], s = ParseDate(in.str(i)); return s }
	case Time:
		return func(in, out *vec, i int) (s Status) {
			out.i64[i], s = ParseTime(in.str(i), to.Precision)
			return s
		}
	case Timestamp:
		return func(in, out *vec, i int) (s Status) {
			out.i64[i], s = ParseTimestamp(in.str(i), to.Precision)
			return s
		}
	case Decimal:
		if to.wide() {
			return func(in, out *vec, i int) (s Status) {
				out.dec[i], s = ParseDecimal128(in.str(i), to.Precision, to.Scale)
				return s
			}
		}
		return func(in, out *vec, i int) (s Status) {
			out.i64[i], s = ParseDecimal64(in.str(i), to.Precision, to.Scale)
			return s
		}
	}
	return nil
}

func toBoolean(from Type) convert {
	switch {
	case from.Kind.Storage() == Double:
		return func(in, out *vec, i int) Status {
			out.bits[i>>6] |= b2u(in.f64[i&in.m] != 0) << (i & 63)
			return OK
		}
	case from.Numeric():
		return func(in, out *vec, i int) Status {
			out.bits[i>>6] |= b2u(in.dec128(i) != decimal128.Num{}) << (i & 63)
			return OK
		}
	}
	return nil
}

func fromBoolean(to Type) convert {
	switch to.Kind.Storage() {
	case Int:
		return func(in, out *vec, i int) Status { out.i32[i] = int32(b2u(in.bool(i))); return OK }
	case BigInt:
		return func(in, out *vec, i int) Status { out.i64[i] = int64(b2u(in.bool(i))); return OK }
	case Double:
		return func(in, out *vec, i int) Status { out.f64[i] = float64(b2u(in.bool(i))); return OK }
	case Decimal:
		k := newRescaler(0, to)
		return func(in, out *vec, i int) Status { return k.set(out, i, decimal128.FromU64(b2u(in.bool(i)))) }
	}
	return nil
}
