package table

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// scanRows is how many slots Scan hands out at a time.
const scanRows = 16 << 10

// Scan visits the slots of the key groups from..to-1 in the order of the slots, at most 16,384 at
// a time. The keys have one row per slot, STRING columns plain; they are released after each, so
// each retains what it keeps.
func (t *Table) Scan(from, to int, each func(keys arrow.Record, slots []uint32) error) error {
	all := from <= 0 && to >= t.groups
	var hasher *column.Hasher
	if !all {
		hasher = column.NewHasher(schemaTypes(t.key))
	}
	return t.pieces(func(slots []uint32) error {
		if !all {
			slots = t.inGroups(hasher, slots, from, to)
		}
		if len(slots) == 0 {
			return nil
		}
		return t.visit(t.keyColumns(slots), slots, each)
	})
}

// pieces hands out the slots, in order.
func (t *Table) pieces(each func(slots []uint32) error) error {
	buf := make([]uint32, min(t.n, scanRows))
	for lo := 0; lo < t.n; lo += scanRows {
		slots := buf[:min(t.n-lo, scanRows)]
		for i := range slots {
			slots[i] = uint32(lo + i)
		}
		if err := each(slots); err != nil {
			return err
		}
	}
	return nil
}

// visit hands out the keys of slots, which it takes over.
func (t *Table) visit(cols []arrow.Array, slots []uint32, each func(keys arrow.Record, slots []uint32) error) error {
	rec := column.NewRecord(t.key.Fields, cols, int64(len(slots)))
	for _, c := range cols {
		c.Release()
	}
	defer rec.Release()
	return each(rec, slots)
}

func (t *Table) keyColumns(slots []uint32) []arrow.Array {
	if len(t.key.Fields) == 0 {
		return nil
	}
	return t.index.columns(t.key, t.alloc, slots)
}

// inGroups keeps the slots whose key is of the groups from..to-1.
func (t *Table) inGroups(h *column.Hasher, slots []uint32, from, to int) []uint32 {
	cols := t.keyColumns(slots)
	hashes := make([]uint64, len(slots))
	h.Hash(cols, nil, nil, hashes)
	for _, c := range cols {
		c.Release()
	}
	left := slots[:0]
	for i, s := range slots {
		if g := column.KeyGroup(hashes[i], t.groups); g >= from && g < to {
			left = append(left, s)
		}
	}
	return left
}

func schemaTypes(s expr.Schema) []expr.Type {
	t := make([]expr.Type, len(s.Fields))
	for i, f := range s.Fields {
		t[i] = f.Type
	}
	return t
}

func newKeyBuilder(t expr.Type, alloc memory.Allocator) array.Builder {
	return array.NewBuilder(alloc, t.Arrow())
}

// appendInt appends a value that is kept as a 64-bit integer.
func appendInt(b array.Builder, v int64) {
	switch b := b.(type) {
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Int64Builder:
		b.Append(v)
	case *array.Date32Builder:
		b.Append(arrow.Date32(v))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v))
	case *array.Float64Builder:
		b.Append(math.Float64frombits(uint64(v)))
	case *array.BooleanBuilder:
		b.Append(v != 0)
	default:
		b.AppendNull()
	}
}

// appendDecoded appends the first value of a key's canonical bytes and returns the others.
func appendDecoded(b array.Builder, key []byte) []byte {
	if key[0] == 0 {
		b.AppendNull()
		return key[1:]
	}
	key = key[1:]
	switch b := b.(type) {
	case *array.StringBuilder:
		n := binary.LittleEndian.Uint32(key)
		b.BinaryBuilder.Append(key[4 : 4+n])
		return key[4+n:]
	case *array.BinaryBuilder:
		n := binary.LittleEndian.Uint32(key)
		b.Append(key[4 : 4+n])
		return key[4+n:]
	case *array.Decimal128Builder:
		lo, hi := binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[8:])
		b.Append(decimal128.New(int64(hi), lo))
		return key[16:]
	}
	appendInt(b, int64(binary.LittleEndian.Uint64(key)))
	return key[8:]
}
