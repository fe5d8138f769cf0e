package parquet

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// maxBytesBound is about how many bytes of a text go into bounds.
const maxBytesBound = 64

// A bytesWriter writes texts and byte strings, of their own lengths or of a fixed one.
//
// Values go by a dictionary at first. One that does not pay for its first page, or any more later, or that
// becomes too large, is left until the end of the row group. Codes of the engine are translated, so
// that a value is looked up once and not in every row.
type bytesWriter struct {
	fixed  bool // all values have one length, which is not stored
	bytes  int  // and it is this
	signed bool // they are two's complement
	text   bool // they are UTF-8
	whole  bool // all values that are added go to one page
	*limits

	form    form
	leaving bool // the dictionary is full: plain after this page
	dict    bytesDict
	known   int // entries of the dictionary before this page
	codes   []uint32
	maps    map[uint64][]uint32 // by id of the engine's dictionary: code + 1 by code of the engine, 0 = unknown
	seen    []bool              // scratch

	raw         []byte // the page, plain
	n           int    // its values, plain
	least, most []byte // their bounds
}

// each is what a plain value takes beside its bytes.
func (w *bytesWriter) each() int {
	if w.fixed {
		return 0
	}
	return 4
}

func (w *bytesWriter) size() int { return len(w.raw) + 4*len(w.codes) }

func (w *bytesWriter) memory() int {
	n := cap(w.raw) + 4*cap(w.codes) + cap(w.dict.data) + 4*cap(w.dict.ends) + 8*len(w.dict.slots)
	for _, m := range w.maps {
		n += 4 * len(m)
	}
	return n
}

func (w *bytesWriter) reset() {
	w.form, w.leaving, w.known = asUndecided, false, 0
	w.dict.reset()
	w.codes, w.raw, w.n = w.codes[:0], w.raw[:0], 0
	clear(w.maps)
}

func (w *bytesWriter) add(arr arrow.Array, dict uint64, rows picked) (int, error) {
	switch a := arr.(type) {
	case *array.Dictionary:
		return w.addCoded(a, dict, rows)
	case *array.String:
		return w.addEach(rows, func(i int) []byte { return bytesOf(a.Value(i)) }), nil
	case *array.Binary:
		return w.addEach(rows, a.Value), nil
	case *array.Decimal128:
		return w.addEach(rows, twosComplement(a, w.bytes)), nil
	}
	return 0, errColumn
}

func (w *bytesWriter) addEach(rows picked, value func(int) []byte) int {
	n := rows.len()
	for k := range n {
		row := rows.from + k
		if rows.list != nil {
			row = int(rows.list[k])
		}
		if !w.put(value(row)) {
			return k
		}
	}
	return n
}

// put appends a value, false where the page should end before it.
func (w *bytesWriter) put(v []byte) bool {
	if w.form != asPlain {
		code, ok := w.dict.code(v, w.each(), w.limits.dictionary)
		if ok {
			w.codes = append(w.codes, code)
			return true
		}
		if len(w.codes) > 0 && !w.whole {
			w.leaving = true
			return false
		}
		w.expand()
	}
	if w.n > 0 && len(w.raw)+len(v) > w.pageBytes && !w.whole {
		return false
	}
	w.appendPlain(v)
	switch {
	case w.n == 0:
		w.least, w.most = append(w.least[:0], v...), append(w.most[:0], v...)
	case w.compare(v, w.least) < 0:
		w.least = append(w.least[:0], v...)
	case w.compare(v, w.most) > 0:
		w.most = append(w.most[:0], v...)
	}
	w.n++
	return true
}

func (w *bytesWriter) appendPlain(v []byte) {
	if !w.fixed {
		w.raw = binary.LittleEndian.AppendUint32(w.raw, uint32(len(v)))
	}
	w.raw = append(w.raw, v...)
}

// expand makes the page plain.
func (w *bytesWriter) expand() {
	codes, first := w.codes, w.form == asUndecided
	w.codes, w.form = w.codes[:0], asPlain
	for _, c := range codes {
		w.put(w.dict.at(c))
	}
	if first { // no page has codes
		w.dict.reset()
	}
}

// addCoded appends values that have codes of the engine.
func (w *bytesWriter) addCoded(a *array.Dictionary, id uint64, rows picked) (int, error) {
	values, ok := a.Dictionary().(*array.String)
	indices, coded := a.Indices().(*array.Int32)
	if !ok || !coded {
		return 0, errColumn
	}
	codes := indices.Int32Values()
	if w.form == asPlain {
		return w.addEach(rows, func(i int) []byte { return bytesOf(values.Value(int(codes[i]))) }), nil
	}
	known := w.mapOf(id, values.Len())
	n := rows.len()
	for k := range n {
		row := rows.from + k
		if rows.list != nil {
			row = int(rows.list[k])
		}
		code := codes[row]
		to := known[code]
		if to == 0 {
			if !w.put(bytesOf(values.Value(int(code)))) {
				return k, nil
			}
			if w.form == asPlain { // it left the dictionary at the page's first value
				more, err := w.addCoded(a, id, rows.after(k+1))
				return k + 1 + more, err
			}
			known[code] = w.codes[len(w.codes)-1] + 1
			continue
		}
		w.codes = append(w.codes, to-1)
	}
	return n, nil
}

// maxMaps is how many of the engine's dictionaries are remembered at a time.
const maxMaps = 8

// mapOf is what is known of the codes of a dictionary of the engine; of one without id nothing is.
func (w *bytesWriter) mapOf(id uint64, entries int) []uint32 {
	m := w.maps[id]
	if w.maps == nil || m == nil && len(w.maps) >= maxMaps {
		w.maps = map[uint64][]uint32{}
	}
	if id == 0 {
		clear(m)
	}
	if len(m) < entries {
		m = append(m, make([]uint32, entries-len(m))...)
		w.maps[id] = m
	}
	return m
}

func (w *bytesWriter) encode(b []byte) ([]byte, int32) {
	defer func() {
		w.codes, w.raw, w.n, w.known = w.codes[:0], w.raw[:0], 0, w.dict.len()
		if w.leaving {
			w.form = asPlain
		}
	}()
	if len(w.codes) == 0 {
		return append(b, w.raw...), encodingPlain
	}
	width := bitWidth(uint32(w.dict.len() - 1))
	pays := w.known == w.dict.len() || w.pays(width)
	if !pays && w.form == asUndecided {
		for _, c := range w.codes {
			w.appendPlain(w.dict.at(c))
		}
		w.dict.reset()
		w.form = asPlain
		return append(b, w.raw...), encodingPlain
	}
	w.form = asCoded
	w.leaving = w.leaving || !pays
	return appendHybrid(append(b, byte(width)), w.codes, width), encodingRLEDictionary
}

// pays holds where the page's codes and the entries that are new take fewer bytes than its values.
func (w *bytesWriter) pays(width int) bool {
	from := 0
	if w.known > 0 {
		from = int(w.dict.ends[w.known-1])
	}
	cost := len(w.dict.data) - from + w.each()*(w.dict.len()-w.known) + len(w.codes)*width/8
	values := w.each() * len(w.codes)
	for _, c := range w.codes {
		if values += len(w.dict.at(c)); values > cost {
			return true
		}
	}
	return false
}

func (w *bytesWriter) dictionary(b []byte) ([]byte, int) {
	raw := w.raw
	w.raw = b
	for c := range w.dict.len() {
		w.appendPlain(w.dict.at(uint32(c)))
	}
	b, w.raw = w.raw, raw
	return b, w.dict.len()
}

func (w *bytesWriter) bounds() bounds {
	least, most := w.least, w.most
	switch {
	case len(w.codes) > 0:
		least, most = w.codedBounds()
	case w.n == 0:
		return bounds{}
	}
	b := bounds{exactLeast: true, exactMost: true, has: true}
	b.least, b.most = bytes.Clone(cutLeast(least, w.text && !w.fixed)), bytes.Clone(most)
	if b.least == nil {
		b.least = []byte{}
	}
	if b.most == nil {
		b.most = []byte{}
	}
	b.exactLeast = len(b.least) == len(least)
	if cut := cutMost(most, w.text); cut != nil {
		b.most, b.exactMost = cut, false
	}
	return b
}

// codedBounds looks at each entry of the dictionary once that the page uses.
func (w *bytesWriter) codedBounds() (least, most []byte) {
	if n := w.dict.len(); len(w.seen) < n {
		w.seen = make([]bool, 2*n)
	}
	seen := w.seen[:w.dict.len()]
	clear(seen)
	for _, c := range w.codes {
		seen[c] = true
	}
	least = w.dict.at(w.codes[0])
	most = least
	for c, used := range seen {
		if !used {
			continue
		}
		v := w.dict.at(uint32(c))
		if w.compare(v, least) < 0 {
			least = v
		}
		if w.compare(v, most) > 0 {
			most = v
		}
	}
	return least, most
}

func (w *bytesWriter) compare(x, y []byte) int {
	if w.signed {
		return compareSigned(x, y)
	}
	return bytes.Compare(x, y)
}

// compareSigned compares two's complement of one length, big-endian.
func compareSigned(x, y []byte) int {
	if len(x) > 0 && len(y) > 0 && (x[0]^y[0])&0x80 != 0 {
		return int(y[0]>>7) - int(x[0]>>7)
	}
	return bytes.Compare(x, y)
}
