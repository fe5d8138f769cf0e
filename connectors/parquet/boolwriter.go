package parquet

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// A boolWriter writes truth values, eight a byte.
type boolWriter struct {
	bits []byte
	n    int
	some [2]bool // there is a FALSE, a TRUE
}

func (w *boolWriter) add(arr arrow.Array, _ uint64, rows picked) (int, error) {
	a, ok := arr.(*array.Boolean)
	if !ok {
		return 0, errColumn
	}
	n := rows.len()
	for k := range n {
		row := rows.from + k
		if rows.list != nil {
			row = int(rows.list[k])
		}
		if w.n&7 == 0 {
			w.bits = append(w.bits, 0)
		}
		if a.Value(row) {
			w.bits[w.n>>3] |= 1 << (w.n & 7)
			w.some[1] = true
		} else {
			w.some[0] = true
		}
		w.n++
	}
	return n, nil
}

func (w *boolWriter) size() int { return len(w.bits) }

func (w *boolWriter) memory() int { return cap(w.bits) }

func (w *boolWriter) reset() { w.bits, w.n, w.some = w.bits[:0], 0, [2]bool{} }

func (w *boolWriter) encode(b []byte) ([]byte, int32) {
	b = append(b, w.bits...)
	w.reset()
	return b, encodingPlain
}

func (w *boolWriter) dictionary(b []byte) ([]byte, int) { return b, 0 }

func (w *boolWriter) bounds() bounds {
	if w.n == 0 {
		return bounds{}
	}
	b := bounds{least: []byte{0}, most: []byte{0}, exactLeast: true, exactMost: true, has: true}
	if !w.some[0] {
		b.least[0] = 1
	}
	if w.some[1] {
		b.most[0] = 1
	}
	return b
}
