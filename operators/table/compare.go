package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// sortBatch is a record taken apart for sorting.
type sortBatch struct {
	rec  arrow.Record
	cols []keyColumn
}

func newSortBatch(rec arrow.Record) (*sortBatch, error) {
	b := &sortBatch{rec: rec, cols: make([]keyColumn, rec.NumCols())}
	for i := range b.cols {
		if err := b.cols[i].load(rec.Column(i)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// compareRows orders two rows by the keys; 0 where they agree in all of them.
func compareRows(by []expr.SortKey, a *sortBatch, ra int, b *sortBatch, rb int) int {
	for i := range by {
		k := &by[i]
		ca, cb := &a.cols[k.Col], &b.cols[k.Col]
		na, nb := ca.nulls() && ca.null(ra), cb.nulls() && cb.null(rb)
		if na || nb {
			if na == nb {
				continue
			}
			if na == k.NullsFirst {
				return -1
			}
			return 1
		}
		c := compareValues(ca, ra, cb, rb)
		if c == 0 {
			continue
		}
		if k.Desc {
			return -c
		}
		return c
	}
	return 0
}

// compareValues orders two values that are not NULL: strings bytewise, NaN above all doubles,
// -0.0 as 0.0. Nested values have an order too, which means nothing but breaks ties the same way everywhere.
func compareValues(a *keyColumn, ra int, b *keyColumn, rb int) int {
	switch {
	case a.f64 != nil:
		return cmp.Compare(orderedDouble(a.f64[ra]), orderedDouble(b.f64[rb]))
	case a.d128 != nil:
		return a.d128[ra].Cmp(b.d128[rb])
	case a.isText():
		return bytes.Compare(a.textAt(ra), b.textAt(rb))
	case a.parts != nil:
		return bytes.Compare(a.appendKey(nil, ra), b.appendKey(nil, rb))
	}
	return cmp.Compare(a.int(ra), b.int(rb))
}

func (c *keyColumn) isText() bool { return c.codes != nil || c.text.offsets != nil }

func (c *keyColumn) textAt(row int) []byte {
	if c.codes != nil {
		return c.text.at(int(c.codes[row]))
	}
	return c.text.at(row)
}

// orderedDouble orders doubles as unsigned integers.
func orderedDouble(f float64) uint64 {
	x := uint64(doubleKey(f))
	if x&(1<<63) != 0 {
		return ^x
	}
	return x | 1<<63
}

// prefix is a number that orders rows by their first key as far as 64 bits go: rows with equal
// prefixes are compared in full.
func (b *sortBatch) prefix(k expr.SortKey, row int) uint64 {
	c := &b.cols[k.Col]
	if c.nulls() && c.null(row) {
		if k.NullsFirst {
			return 0
		}
		return math.MaxUint64
	}
	var p uint64
	switch {
	case c.f64 != nil:
		p = orderedDouble(c.f64[row])
	case c.d128 != nil:
		p = uint64(c.d128[row].HighBits()) ^ 1<<63
	case c.isText():
		var buf [8]byte
		copy(buf[:], c.textAt(row))
		p = binary.BigEndian.Uint64(buf[:])
	default:
		p = uint64(c.int(row)) ^ 1<<63
	}
	if k.Desc {
		return ^p
	}
	return p
}
