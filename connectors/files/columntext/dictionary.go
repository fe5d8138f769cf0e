package columntext

import (
	"math/bits"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/cespare/xxhash/v2"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A dictionary stops paying at so many entries, or where after some rows most values were new.
const (
	maxEntries  = 64 << 10
	trialRows   = 8 << 10
	trialDivide = 4 // entries per rows
)

// codesType is the physical type of dictionary-coded STRINGs.
func codesType() *arrow.DictionaryType {
	return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
}

// A dictionary gives codes to texts. It only grows: a code never changes its meaning, and arrays
// handed out are views of its memory as it was, which later entries do not touch.
type dictionary struct {
	id    uint64
	typ   *arrow.DictionaryType
	slots []slot
	shift uint
	text  []byte  // of all entries, one after the other
	offs  []int32 // where each begins, and the end
	rows  int     // coded so far
	made  *array.Data
	count int // entries of made
}

// A slot holds an entry's key: up to 16 bytes it is the text itself, as its first and last eight
// bytes; longer texts have their hash, and are compared.
type slot struct {
	a, b uint64
	n    uint32
	code int32 // -1: free
}

func newDictionary() *dictionary {
	d := &dictionary{id: expr.NewDictID(), typ: codesType(), offs: make([]int32, 1, 64)}
	d.resize(256)
	return d
}

func (d *dictionary) resize(n int) {
	old := d.slots
	d.slots = make([]slot, n)
	for i := range d.slots {
		d.slots[i].code = -1
	}
	d.shift = uint(64 - bits.TrailingZeros(uint(n)))
	for _, s := range old {
		if s.code < 0 {
			continue
		}
		i := mix(s.a, s.b, s.n) >> d.shift
		for d.slots[i].code >= 0 {
			i = (i + 1) & uint64(n-1)
		}
		d.slots[i] = s
	}
}

func (d *dictionary) len() int { return len(d.offs) - 1 }

// mix spreads a key over the slots.
func mix(a, b uint64, n uint32) uint64 {
	const m1, m2 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	return (a*m1 ^ bits.RotateLeft64(b*m2, 29) ^ uint64(n)) * m1
}

// code is the code of the n bytes at p, around which a word may be read on both sides. It is -1 for
// bytes that are not UTF-8.
func (d *dictionary) code(p unsafe.Pointer, n uint32) int32 {
	var a, b uint64
	switch {
	case n <= 8:
		a = word(p) & (1<<(n*8) - 1)
	case n <= 16:
		a, b = word(p), word(unsafe.Add(p, int(n)-8))
	default:
		return d.long(unsafe.Slice((*byte)(p), int(n)))
	}
	i := mix(a, b, n) >> d.shift
	for {
		s := &d.slots[i]
		if s.a == a && s.b == b && s.n == n && s.code >= 0 {
			return s.code
		}
		if s.code < 0 {
			return d.insert(unsafe.Slice((*byte)(p), int(n)), a, b, i)
		}
		i = (i + 1) & uint64(len(d.slots)-1)
	}
}

func (d *dictionary) long(v []byte) int32 {
	a, n := xxhash.Sum64(v), uint32(len(v))
	i := mix(a, 0, n) >> d.shift
	for {
		s := &d.slots[i]
		if s.code < 0 {
			return d.insert(v, a, 0, i)
		}
		if s.a == a && s.n == n && string(d.entry(s.code)) == string(v) {
			return s.code
		}
		i = (i + 1) & uint64(len(d.slots)-1)
	}
}

func (d *dictionary) entry(code int32) []byte { return d.text[d.offs[code]:d.offs[code+1]] }

func (d *dictionary) insert(v []byte, a, b, i uint64) int32 {
	if !utf8.Valid(v) {
		return -1
	}
	c := int32(d.len())
	d.text = append(d.text, v...)
	d.offs = append(d.offs, int32(len(d.text)))
	d.slots[i] = slot{a, b, uint32(len(v)), c}
	if d.len()*4 > len(d.slots) {
		d.resize(len(d.slots) * 2)
	}
	return c
}

// array is the entries as a utf8 array, made anew only where there are more of them.
func (d *dictionary) array() *array.Data {
	if d.made != nil && d.count == d.len() {
		return d.made
	}
	d.release()
	n := d.len()
	offs := memory.NewBufferBytes(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(d.offs))), (n+1)*4))
	text := memory.NewBufferBytes(d.text[:len(d.text):len(d.text)])
	d.made = array.NewData(arrow.BinaryTypes.String, n, []*memory.Buffer{nil, offs, text}, nil, 0, 0)
	d.count = n
	return d.made
}

func (d *dictionary) release() {
	if d.made != nil {
		d.made.Release()
		d.made = nil
	}
}

// pays reports whether the dictionary is worth keeping.
func (d *dictionary) pays() bool {
	return d.len() <= maxEntries && len(d.text) < 16<<20 && (d.rows < trialRows || d.len() < d.rows/trialDivide)
}

// quoteIn reports whether a quote is among up to 16 bytes.
func quoteIn(p unsafe.Pointer, n uint32) bool {
	a := word(p)
	b := a
	if n <= 8 {
		a &= 1<<(n*8) - 1
		b = a
	} else {
		b = word(unsafe.Add(p, int(n)-8))
	}
	a, b = a^quote*ones, b^quote*ones
	return ((a-ones)&^a|(b-ones)&^b)&highs != 0
}

// codes parses a STRING column into codes; arr is nil where the dictionary no longer pays.
func (c *Column) codes(rows int, sel []int32) (arr arrow.Array, bad *Flaw) {
	d, f := c.dict, &c.Fields
	if d.len() == 0 {
		d.code(unsafe.Pointer(&d.slots[0]), 0) // so that code 0, which NULLs have, means something
	}
	data := buffer(c.alloc, rows*4)
	dst := view[int32](data)
	if len(sel) < rows {
		clear(dst)
	}
	whole := true // every row has its code
	for i, r := range sel {
		start, end := f.bounds(r)
		p, n := unsafe.Add(f.base, int(start)), end-start
		if f.bare && n > 0 && *(*byte)(p) != quote {
			// It is a value as it stands.
		} else if f.quotes && !f.cr && n-2 <= 16 && *(*byte)(p) == quote && !quoteIn(unsafe.Add(p, 1), n-2) {
			p, n = unsafe.Add(p, 1), n-2
		} else if f.odd || f.nulls.lengths>>min(n, 63)&1 != 0 {
			b, null := f.Get(r)
			if null {
				if c.Field.Type.NotNull {
					bad = &Flaw{Row: r, Null: true, Value: append([]byte(nil), b...)}
					clear(dst[r:])
					break
				}
				c.valid.null(c.alloc, rows, r)
				dst[r] = 0
				continue
			}
			p, n = unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b))
		}
		k := d.code(p, n)
		if k < 0 {
			bad = InvalidText(r, unsafe.Slice((*byte)(p), int(n)))
			clear(dst[r:])
			break
		}
		dst[r] = k
		if i&1023 == 1023 && !d.pays() {
			whole = false
			break
		}
	}
	d.rows += len(sel)
	if bad == nil && !(whole && d.pays()) {
		data.Release()
		if c.valid.buf != nil {
			c.valid.buf.Release()
		}
		return nil, nil
	}
	return makeArray(d.typ, rows, c.valid, d.array(), data), bad
}
