package parquet

import (
	"encoding/binary"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
)

// number is the values of a physical type of fixed width.
type number interface {
	int32 | int64 | float32 | float64
}

// A numberWriter writes numbers, and what is stored as numbers.
//
// How is decided by the first page of each row group: by a dictionary, by differences (whole numbers)
// or plainly, whichever takes the fewest bytes. A dictionary that stops to pay is left again.
type numberWriter[T number] struct {
	// load appends the values of rows of an array.
	load func(to []T, arr arrow.Array, rows picked) ([]T, error)
	// delta appends values by differences; nil where they are no whole numbers.
	delta func(b []byte, values []T) []byte
	*limits

	page  []T
	form  form
	dict  wordDict
	codes []uint32
	diffs []byte // scratch
}

func (w *numberWriter[T]) add(arr arrow.Array, _ uint64, rows picked) (n int, err error) {
	w.page, err = w.load(w.page, arr, rows)
	return rows.len(), err
}

func (w *numberWriter[T]) width() int { return int(unsafe.Sizeof(*new(T))) }

func (w *numberWriter[T]) size() int { return len(w.page) * w.width() }

func (w *numberWriter[T]) memory() int {
	return cap(w.page)*w.width() + 4*cap(w.codes) + cap(w.diffs) + 8*cap(w.dict.keys) + 4*len(w.dict.slots)
}

func (w *numberWriter[T]) reset() {
	w.page, w.form = w.page[:0], asUndecided
	w.dict.reset()
}

// encode appends the page.
func (w *numberWriter[T]) encode(b []byte) ([]byte, int32) {
	defer func() { w.page = w.page[:0] }()
	if len(w.page) == 0 {
		return b, encodingPlain
	}
	if w.form == asUndecided || w.form == asCoded {
		before := len(w.dict.keys)
		if cost, ok := w.code(); ok && w.pays(cost) {
			w.form = asCoded
			width := bitWidth(uint32(len(w.dict.keys) - 1))
			return appendHybrid(append(b, byte(width)), w.codes, width), encodingRLEDictionary
		}
		w.dict.keys = w.dict.keys[:before] // the dictionary is not looked into any more
		w.form = asPlain
		if w.delta != nil {
			w.form = asPacked
		}
	}
	if w.form == asPacked {
		if w.differences(); len(w.diffs) < w.size()*3/4 {
			return append(b, w.diffs...), encodingDeltaPacked
		}
	}
	return w.appendPlain(b), encodingPlain
}

// code finds the codes of the page's values and says how many bytes they and the new entries of the
// dictionary take; false where it becomes too large.
func (w *numberWriter[T]) code() (cost int, ok bool) {
	before := len(w.dict.keys)
	if cap(w.codes) < len(w.page) {
		w.codes = make([]uint32, len(w.page), max(len(w.page), w.pageRows))
	}
	w.codes = w.codes[:len(w.page)]
	var hashes [256]uint64
	for at := 0; at < len(w.page); at += len(hashes) {
		part := w.page[at:min(at+len(hashes), len(w.page))]
		codes := w.codes[at : at+len(part)]
		for i, v := range part {
			hashes[i] = bitsOf(v) * spread1
		}
		w.dict.guess(hashes[:len(part)], codes)
		keys := w.dict.keys
		for i, v := range part {
			k, c := bitsOf(v), codes[i]
			if c-1 < uint32(len(keys)) && keys[c-1] == k {
				codes[i] = c - 1
			} else {
				codes[i] = w.dict.code(k)
			}
		}
	}
	entries := len(w.dict.keys)
	cost = (entries-before)*w.width() + len(w.page)*bitWidth(uint32(entries-1))/8
	return cost, entries*w.width() <= w.limits.dictionary
}

// pays holds where a page by codes takes fewer bytes than in the other forms.
func (w *numberWriter[T]) pays(cost int) bool {
	if cost >= w.size() {
		return false
	}
	if w.form == asCoded || w.delta == nil {
		return true
	}
	w.differences()
	return cost < len(w.diffs)
}

func (w *numberWriter[T]) differences() { w.diffs = w.delta(w.diffs[:0], w.page) }

func (w *numberWriter[T]) appendPlain(b []byte) []byte {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return append(b, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w.page))), w.size())...)
	}
	for _, v := range w.page {
		b = appendWord(b, bitsOf(v), w.width())
	}
	return b
}

func (w *numberWriter[T]) dictionary(b []byte) ([]byte, int) {
	for _, k := range w.dict.keys {
		b = appendWord(b, k, w.width())
	}
	return b, len(w.dict.keys)
}

func appendWord(b []byte, v uint64, width int) []byte {
	if width == 4 {
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

func bitsOf[T number](v T) uint64 {
	if unsafe.Sizeof(v) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&v)))
	}
	return *(*uint64)(unsafe.Pointer(&v))
}

// bounds leaves NaN out, which has no place in the order of the format; zeros are -0.0 and 0.0, because
// readers may take them for different.
func (w *numberWriter[T]) bounds() bounds {
	values := w.page
	for len(values) > 0 && values[0] != values[0] {
		values = values[1:]
	}
	if len(values) == 0 {
		return bounds{}
	}
	least, most := values[0], values[0]
	for _, v := range values {
		if v < least {
			least = v
		}
		if v > most {
			most = v
		}
	}
	b := bounds{exactLeast: true, exactMost: true, has: true}
	low, high := bitsOf(least), bitsOf(most)
	if T(1)/2 != 0 { // a floating-point type
		if least == 0 {
			low = 1 << (8*w.width() - 1)
		}
		if most == 0 {
			high = 0
		}
	}
	b.least, b.most = appendWord(nil, low, w.width()), appendWord(nil, high, w.width())
	return b
}
