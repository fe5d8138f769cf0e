package expr

import (
	"math/bits"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// A vec is the values of one node for the rows of a batch. Which slice is set follows from the type:
//
//	BOOLEAN bits · INT, DATE i32 · BIGINT, TIMESTAMP, DECIMAL to 18 digits i64 · DECIMAL above dec
//	ARRAY, MAP, ROW src alone
//	DOUBLE f64 · STRING, BYTES offs and data, and with a dictionary codes, which number the texts
//
// Slices may be shared with Arrow buffers and other vecs, so nobody writes to a vec that is not its
// own. Values of NULL rows and of rows outside the selection are unspecified.
type vec struct {
	t     Type
	m     int      // row mask: -1, or 0 where one value stands for all rows, which only constants give
	valid []uint64 // nil: no row is NULL
	bits  []uint64
	i32   []int32
	i64   []int64
	f64   []float64
	dec   []decimal128.Num
	offs  []int32
	data  []byte
	codes []int32
	dict  arrow.Array                      // the dictionary behind codes
	id    uint64                           // its identity, 0 for none
	src   arrow.Array                      // the column this is, unchanged
	from  arrow.Array                      // the column whose codes these are
	text  func(dst []byte, row int) []byte // writes values of a nested type, once it is needed
	whole bool                             // offs and data hold these rows' texts and nothing else
}

// reset empties the vec, keeping its slices for use.
func (v *vec) reset(t Type) {
	v.t, v.m, v.valid, v.codes, v.dict, v.id, v.src, v.from, v.whole, v.text = t, -1, nil, nil, nil, 0, nil, nil, false, nil
}

func (v *vec) isNull(i int) bool {
	i &= v.m
	return v.valid != nil && v.valid[i>>6]>>(i&63)&1 == 0
}

// one reports whether one value stands for all rows.
func (v *vec) one() bool { return v.m == 0 }

func (v *vec) bool(i int) bool {
	i &= v.m
	return v.bits[i>>6]>>(i&63)&1 != 0
}

// str is the text of a row that is not NULL.
func (v *vec) str(i int) []byte {
	i &= v.m
	if v.codes != nil {
		i = int(v.codes[i])
	}
	return v.data[v.offs[i]:v.offs[i+1]]
}

// num is a whole number of the types held in 32 or 64 bits.
func (v *vec) num(i int) int64 {
	i &= v.m
	if v.t.narrow() {
		return int64(v.i32[i])
	}
	return v.i64[i]
}

// wide reports whether values stand in dec.
func (t Type) wide() bool { return t.Kind == Decimal && t.Precision > MaxDecimal64 }

// dec128 is the unscaled value of any exact number.
func (v *vec) dec128(i int) decimal128.Num {
	if v.t.wide() {
		return v.dec[i&v.m]
	}
	return decimal128.FromI64(v.num(i))
}

// words is how many 64-bit words hold n bits.
func words(n int) int { return (n + 63) >> 6 }

// sized is a slice of n values, its old memory used where it suffices. The values are unspecified.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n>>2)
	}
	return s[:n]
}

// wordsOf are n bits of a bitmap from a bit offset as words. They are the bitmap's own memory
// where that is aligned and long enough, else a copy in scratch.
func wordsOf(b []byte, offset, n int, scratch *[]uint64) []uint64 {
	w := words(n)
	if w == 0 {
		return nil
	}
	p := unsafe.SliceData(b)
	if offset&63 == 0 && cap(b) >= offset>>3+w*8 && uintptr(unsafe.Pointer(p))&7 == 0 {
		return unsafe.Slice((*uint64)(unsafe.Pointer(p)), offset>>6+w)[offset>>6:]
	}
	out := sized(*scratch, w)
	*scratch = out
	clear(out)
	for i := range (n + 7) / 8 {
		at := offset + i*8
		x := uint64(b[at>>3]) >> (at & 7)
		if at&7 != 0 && at>>3+1 < len(b) {
			x |= uint64(b[at>>3+1]) << (8 - at&7)
		}
		out[i>>3] |= x & 0xff << (i & 7 * 8)
	}
	return out
}

// both are the rows where neither argument is NULL; nil where none is. The result may be one of the
// arguments' own bitmaps or scratch.
func both(a, b *vec, n int, scratch *[]uint64) []uint64 {
	x, y := spread(a, n), spread(b, n)
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	out := sized(*scratch, words(n))
	*scratch = out
	for i := range out {
		out[i] = x[i] & y[i]
	}
	return out
}

// spread is a vec's validity for n rows, also where one NULL stands for all.
func spread(v *vec, n int) []uint64 {
	if v.valid == nil || v.m != 0 {
		return v.valid
	}
	if v.valid[0]&1 != 0 {
		return nil
	}
	return make([]uint64, words(n))
}

// count is how many of the first n bits are set.
func count(b []uint64, n int) int {
	c := 0
	for i, w := range b[:words(n)] {
		if i == n>>6 {
			w &= 1<<(n&63) - 1
		}
		c += bits.OnesCount64(w)
	}
	return c
}

// dense reports whether it is better to work on all n rows than on the selected ones.
func dense(sel []int32, n int) bool { return sel == nil || len(sel)*3 >= n }

// b2u is 1 for true; the compiler makes it a flag, not a branch.
func b2u(b bool) uint64 {
	var u uint64
	if b {
		u = 1
	}
	return u
}

// each calls f for the selected rows (nil: all n) that are not NULL, in order, until it says false.
func each(n int, sel []int32, valid []uint64, f func(i int) bool) {
	if sel == nil {
		for i := range n {
			if (valid == nil || valid[i>>6]>>(i&63)&1 != 0) && !f(i) {
				return
			}
		}
		return
	}
	for _, r := range sel {
		i := int(r)
		if (valid == nil || valid[i>>6]>>(i&63)&1 != 0) && !f(i) {
			return
		}
	}
}
