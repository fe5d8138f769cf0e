package expr

import (
	"fmt"
	"unicode/utf8"
)

// readsZone reports whether what a node gives depends on the session's time zone.
func readsZone(e *Expr) bool {
	switch e.Op {
	case OpCast, OpTryCast:
		from := e.Args[0].Type.Kind
		return (from == TimestampLTZ) != (e.Type.Kind == TimestampLTZ) && from != Null
	case OpCall:
		return zoneCalls[e.Name] && (e.Type.Kind == TimestampLTZ || len(e.Args) > 0 && hasZoned(e.Args)) || zonedText[e.Name]
	}
	return false
}

func hasZoned(args []*Expr) bool {
	for _, a := range args {
		if a.Type.Kind == TimestampLTZ {
			return true
		}
	}
	return false
}

// zoneCalls read the zone where they have a TIMESTAMP_LTZ, zonedText always.
var (
	zoneCalls = map[string]bool{"EXTRACT": true, "FLOOR_TO": true, "CEIL_TO": true, "TIMESTAMPADD": true, "TIMESTAMPDIFF": true, "DATE_FORMAT": true}
	zonedText = map[string]bool{"TO_TIMESTAMP_LTZ": true, "UNIX_TIMESTAMP": true, "FROM_UNIXTIME": true}
)

// bindFurtherCast chooses the kernel of casts that read the zone, and of those between STRING and BYTES.
func bindFurtherCast(nd *node) error {
	from, to := nd.e.Args[0].Type, nd.e.Type
	z, err := LoadZone(nd.e.Zone)
	if err != nil {
		return err
	}
	switch {
	case from.Kind == TimestampLTZ && to.Kind == String:
		return textKernel(func(nd *node, dst []byte, i int) []byte {
			return appendLocal(dst, nd.in[0].num(i), from.Precision, z)
		})(nd)
	case from.Kind == Bytes && to.Kind == String:
		nd.run = runDecoded
		return nil
	case to.Kind == Bytes:
		return textKernel(func(nd *node, dst []byte, i int) []byte { return append(dst, nd.in[0].str(i)...) })(nd)
	}
	f := z.converter(from, to)
	if f == nil {
		return fmt.Errorf("%s cannot be cast to %s", from, to)
	}
	nd.run = func(c *ctx, nd *node, sel []int32) (*vec, error) { return nd.cast(c, sel, f, nil) }
	return nil
}

// converter is the conversion of one row to or from a TIMESTAMP_LTZ.
func (z *Zone) converter(from, to Type) convert {
	step := int64(1)
	if to.Kind != Date {
		step = microsOf(to.Precision)
	}
	switch {
	case from.Kind == String:
		return func(in, out *vec, i int) (s Status) {
			out.i64[i], s = ParseTimestampLTZ(in.str(i), to.Precision, z)
			return s
		}
	case to.Kind == Date:
		return func(in, out *vec, i int) Status {
			days, _ := z.clock(in.num(i))
			out.i32[i] = int32(days)
			return OK
		}
	case to.Kind == Time:
		return func(in, out *vec, i int) Status {
			_, t := z.clock(in.num(i))
			out.i64[i] = t - t%step
			return OK
		}
	case to.Kind == Timestamp:
		return func(in, out *vec, i int) Status {
			days, t := z.clock(in.num(i))
			v, ok := microsAt(days, t-t%step)
			out.i64[i] = v
			return status(ok)
		}
	}
	return func(in, out *vec, i int) Status {
		v, ok := in.local(i)
		if !ok {
			return OutOfRange
		}
		at, what := z.instant(v - modulo(v, step))
		out.i64[i] = at
		return status(what != localBeyond)
	}
}

// local is a DATE, TIME or TIMESTAMP as microseconds since 1970-01-01 00:00:00.
func (v *vec) local(i int) (int64, bool) {
	if v.t.Kind == Date {
		return microsAt(v.num(i), 0)
	}
	return v.num(i), true
}

// modulo is what is left of a whole division, never below 0.
func modulo(a, b int64) int64 { return a - floorDiv(a, b)*b }

// runDecoded is CAST of BYTES to STRING: the text whose UTF-8 they are.
func runDecoded(c *ctx, nd *node, sel []int32) (*vec, error) {
	if done, err := nd.strict(c, sel); done != nil || err != nil {
		return done, err
	}
	bad := -1
	v, err := nd.optionalTexts(c, sel, func(nd *node, dst []byte, i int) ([]byte, textOutcome) {
		b := nd.in[0].str(i)
		if utf8.Valid(b) {
			return append(dst, b...), someText
		}
		if bad < 0 {
			bad = i
		}
		if nd.e.Op == OpTryCast {
			c.missed(nd, i, NotUTF8)
		}
		return dst, noText
	})
	if err == nil && bad >= 0 && nd.e.Op == OpCast {
		return nil, nd.cannotCast(bad, NotUTF8)
	}
	return v, err
}
