package columntext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// The loops below read the common shapes of numbers and times eight bytes at a time, and leave every
// other text to the functions of package expr, which give the same values for the common shapes.

// word is the eight bytes at p, the first one lowest.
func word(p unsafe.Pointer) uint64 { return binary.LittleEndian.Uint64((*[8]byte)(p)[:]) }

const (
	zeros   = 0x3030303030303030
	sixes   = 0x0606060606060606
	nibbles = 0xF0F0F0F0F0F0F0F0
	ones    = 0x0101010101010101
	highs   = 0x8080808080808080
)

// eight reads eight digits whose values are the bytes of w, the first one lowest; leading zeros stand
// for digits that are not there. Neighbours are put together three times: to 2, to 4, to 8 digits.
func eight(w uint64) uint64 {
	w = w*10 + w>>8
	return ((w&0x000000FF000000FF)*(100+1000000<<32) + (w>>16&0x000000FF000000FF)*(1+10000<<32)) >> 32
}

// number reads up to eight bytes that end at an address: digits with at most one point. frac is the
// number of digits after the point.
func number(end unsafe.Pointer, n uint32) (v uint64, frac uint, ok bool) {
	if n-1 > 7 {
		return 0, 0, false
	}
	away := (8 - n) * 8 & 63
	w := word(unsafe.Add(end, -8)) >> away << away
	x := w ^ '.'*ones
	if at := (x - ones) &^ x & highs; at != 0 {
		if n == 1 {
			return 0, 0, false
		}
		k := uint(bits.TrailingZeros64(at)) &^ 7
		frac = 7 - k/8
		w = w&(1<<k-1)<<8 | w&^(1<<(k+8)-1) // close the gap
		away += 8
	}
	w ^= zeros >> (away & 63) << (away & 63)
	return eight(w), frac, ((w+sixes)|w)&nibbles == 0
}

// integers parses an INT or BIGINT column.
func integers[T int32 | int64](c *Column, rows int, sel []int32, parse func([]byte) (T, expr.Status)) (arrow.Array, uint64, *Flaw) {
	var t T
	data := buffer(c.alloc, rows*int(unsafe.Sizeof(t)))
	dst := view[T](data)
	f := &c.Fields
	for _, r := range sel {
		s, e := f.bounds(r)
		if n := e - s; n-1 < 8 && f.nulls.lengths>>n&1 == 0 {
			away := (8 - n) * 8 & 63
			w := word(unsafe.Add(f.base, int(e)-8))>>away<<away ^ zeros>>away<<away
			if ((w+sixes)|w)&nibbles == 0 {
				dst[r] = T(eight(w))
				continue
			}
		}
		if bad := oneValue(c, rows, r, dst, parse); bad != nil {
			return c.finish(rows, data), 0, bad
		}
	}
	return c.finish(rows, data), 0, nil
}

// oneValue parses one field the complete way.
func oneValue[T any](c *Column, rows int, r int32, dst []T, parse func([]byte) (T, expr.Status)) *Flaw {
	b, null := c.Fields.Get(r)
	if null {
		if c.Field.Type.NotNull {
			return &Flaw{Row: r, Null: true, Value: bytes.Clone(b)}
		}
		c.valid.null(c.alloc, rows, r)
		var t T
		dst[r] = t
		return nil
	}
	v, s := parse(b)
	if s != expr.OK {
		return &Flaw{Row: r, Status: s, Value: bytes.Clone(b)}
	}
	dst[r] = v
	return nil
}

// decimals parses a DECIMAL of at most 18 digits into unscaled values.
func (c *Column) decimals(rows int, sel []int32) (arrow.Array, uint64, *Flaw) {
	t := c.Field.Type
	parse := func(b []byte) (int64, expr.Status) { return expr.ParseDecimal64(b, t.Precision, t.Scale) }
	// Eight digits times ten to at most ten fit 64 bits.
	if t.Scale > 10 {
		return fixed(c, rows, sel, parse)
	}
	var up [8]int64 // by digits after the point; 0: more than the scale
	for i, p := t.Scale, int64(1); i >= 0; i, p = i-1, p*10 {
		if i < len(up) {
			up[i] = p
		}
	}
	limit := int64(1)
	for range t.Precision {
		limit *= 10
	}
	data := buffer(c.alloc, rows*8)
	dst := view[int64](data)
	f := &c.Fields
	for _, r := range sel {
		s, e := f.bounds(r)
		if n := e - s; n-1 < 8 && f.nulls.lengths>>n&1 == 0 {
			if v, frac, ok := number(unsafe.Add(f.base, int(e)), n); ok {
				if x := int64(v) * up[frac&7]; up[frac&7] != 0 && x < limit {
					dst[r] = x
					continue
				}
			}
		}
		if bad := oneValue(c, rows, r, dst, parse); bad != nil {
			return c.finish(rows, data), 0, bad
		}
	}
	return c.finish(rows, data), 0, nil
}

// doubles parses a DOUBLE column. A short number's digits and its power of ten are exact doubles, so
// that one division rounds once.
func (c *Column) doubles(rows int, sel []int32) (arrow.Array, uint64, *Flaw) {
	down := [8]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}
	data := buffer(c.alloc, rows*8)
	dst := view[float64](data)
	f := &c.Fields
	for _, r := range sel {
		s, e := f.bounds(r)
		if n := e - s; n-1 < 8 && f.nulls.lengths>>n&1 == 0 {
			if v, frac, ok := number(unsafe.Add(f.base, int(e)), n); ok {
				dst[r] = float64(v) / down[frac&7]
				continue
			}
		}
		if bad := oneValue(c, rows, r, dst, expr.ParseDouble); bad != nil {
			return c.finish(rows, data), 0, bad
		}
	}
	return c.finish(rows, data), 0, nil
}

// A clock remembers the date of the row before: in files of events most rows have the same one.
type clock struct {
	a, b uint64 // bytes 0 to 7 and 2 to 9 of the date's text
	days int64
}

// stopped is a clock that no text agrees with: its bytes 2 to 7 contradict each other.
func stopped() clock { return clock{a: ^uint64(0)} }

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

// dates parses a DATE column.
func (c *Column) dates(rows int, sel []int32) (arrow.Array, uint64, *Flaw) {
	data := buffer(c.alloc, rows*4)
	dst := view[int32](data)
	f, k := &c.Fields, &c.clock
	for _, r := range sel {
		s, e := f.bounds(r)
		plain := e-s == 10 && f.nulls.lengths>>10&1 == 0
		var a, b uint64
		if plain {
			p := unsafe.Add(f.base, int(s))
			a, b = word(p), word(unsafe.Add(p, 2))
			if a == k.a && b == k.b {
				dst[r] = int32(k.days)
				continue
			}
		}
		nulls := c.valid.nulls
		if bad := oneValue(c, rows, r, dst, expr.ParseDate); bad != nil {
			return c.finish(rows, data), 0, bad
		}
		if plain && nulls == c.valid.nulls {
			k.a, k.b, k.days = a, b, int64(dst[r])
		}
	}
	return c.finish(rows, data), 0, nil
}

// timeOfDay reads hh:mm:ss at p, in microseconds.
func timeOfDay(p unsafe.Pointer) (int64, bool) {
	w := word(p) ^ 0x30303A30303A3030
	h := w&0xff*10 + w>>8&0xff
	m := w>>24&0xff*10 + w>>32&0xff
	s := w>>48&0xff*10 + w>>56
	ok := ((w+sixes)|w)&nibbles == 0 && w&0x0000FF0000FF0000 == 0 && h < 24 && m < 60 && s < 60
	return int64(h*3600+m*60+s) * microsPerSecond, ok
}

// fraction reads the digits after the point at p, up to six, in microseconds.
func fraction(p unsafe.Pointer, n uint32) (int64, bool) {
	if *(*byte)(p) != '.' || n-2 > 5 {
		return 0, false
	}
	v := int64(0)
	for i := uint32(1); i < 7; i++ {
		d := byte(0)
		if i < n {
			if d = *(*byte)(unsafe.Add(p, int(i))) - '0'; d > 9 {
				return 0, false
			}
		}
		v = v*10 + int64(d)
	}
	return v, true
}

// separates reports whether a byte may stand between date and time.
func separates(c byte) bool { return c == ' ' || c == 'T' }

// timestamps parses a TIMESTAMP column.
func (c *Column) timestamps(rows int, sel []int32) (arrow.Array, uint64, *Flaw) {
	precision := c.Field.Type.Precision
	parse := func(b []byte) (int64, expr.Status) { return expr.ParseTimestamp(b, precision) }
	step := int64(1)
	for range 6 - precision {
		step *= 10
	}
	data := buffer(c.alloc, rows*8)
	dst := view[int64](data)
	f, k := &c.Fields, &c.clock
	for _, r := range sel {
		s, e := f.bounds(r)
		n := e - s
		p := unsafe.Add(f.base, int(s))
		var a, b uint64
		var t int64
		plain := n-19 < 8 && f.nulls.lengths>>n&1 == 0 && separates(*(*byte)(unsafe.Add(p, 10)))
		if plain {
			a, b = word(p), word(unsafe.Add(p, 2))
			t, plain = timeOfDay(unsafe.Add(p, 11))
			if plain && n > 19 {
				var x int64
				x, plain = fraction(unsafe.Add(p, 19), n-19)
				t += x - x%step
			}
		}
		if plain && a == k.a && b == k.b {
			dst[r] = k.days*microsPerDay + t
			continue
		}
		nulls := c.valid.nulls
		if bad := oneValue(c, rows, r, dst, parse); bad != nil {
			return c.finish(rows, data), 0, bad
		}
		if plain && nulls == c.valid.nulls {
			k.a, k.b, k.days = a, b, (dst[r]-t)/microsPerDay
		}
	}
	return c.finish(rows, data), 0, nil
}
