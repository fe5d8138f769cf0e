package column

import (
	"encoding/binary"
	"math/bits"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Digest identifies a set of rows whatever their order and however they were divided into batches
// and subtasks: the sum of 128-bit row hashes mod 2^128. A row's hash is made of the values' hashes
// as [Hasher] defines them and of the kinds of the columns, so that equal logical rows agree in any
// physical form and at any scale or precision. It belongs to one goroutine.
type Digest struct {
	types  []expr.Type
	vals   values
	tmp    []uint64
	a, b   []uint64
	seed   [2]uint64
	hi, lo uint64
}

// NewDigest is the digest of no rows of the schema.
func NewDigest(schema expr.Schema) *Digest {
	d := &Digest{vals: newValues(len(schema.Fields)), seed: [2]uint64{prime5, prime3}}
	for _, f := range schema.Fields {
		d.types = append(d.types, f.Type)
		k := uint64(family(f.Type))
		d.seed = [2]uint64{fold(d.seed[0], k), fold(d.seed[1], k+prime4)}
	}
	return d
}

// family makes all exact numbers one kind.
func family(t expr.Type) expr.Kind {
	switch t.Kind {
	case expr.TinyInt, expr.SmallInt, expr.Int, expr.Decimal:
		return expr.BigInt
	case expr.Float:
		return expr.Double
	}
	return t.Kind
}

// Add adds the batch's live rows. The caller keeps the batch.
func (d *Digest) Add(b operators.Batch) {
	n := b.Rows()
	d.tmp, d.a, d.b = grow(d.tmp, n), grow(d.a, n), grow(d.b, n)
	for i := range n {
		d.a[i], d.b[i] = d.seed[0], d.seed[1]
	}
	for c, t := range d.types {
		d.vals.hash(c, b.Rec.Column(c), t, idOf(b.Dict, c), b.Sel, d.tmp)
		x, y := d.a, d.b
		for i, v := range d.tmp {
			x[i] = x[i]*prime1 + v
			y[i] = (y[i] + bits.RotateLeft64(v, 32)) * prime3
		}
	}
	for i := range n {
		x, y := finish(d.a[i]), finish(d.b[i]+d.a[i])
		var carry uint64
		d.lo, carry = bits.Add64(d.lo, x, 0)
		d.hi, _ = bits.Add64(d.hi, y, carry)
	}
}

// Sum is the digest so far, most significant byte first.
func (d *Digest) Sum() [16]byte {
	var s [16]byte
	binary.BigEndian.PutUint64(s[:8], d.hi)
	binary.BigEndian.PutUint64(s[8:], d.lo)
	return s
}

// Merge adds the rows of another digest of the same schema, given by its Sum.
func (d *Digest) Merge(s [16]byte) {
	var carry uint64
	d.lo, carry = bits.Add64(d.lo, binary.BigEndian.Uint64(s[8:]), 0)
	d.hi, _ = bits.Add64(d.hi, binary.BigEndian.Uint64(s[:8]), carry)
}
