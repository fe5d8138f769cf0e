package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// narrow gives a check that an unscaled value has no more digits than the column's precision.
func (d *decoder) narrow() func(v int64) (int64, *badValue) {
	limit := int64(1)
	for range d.typ.Precision {
		limit *= 10
	}
	return func(v int64) (int64, *badValue) {
		if v >= limit || v <= -limit {
			return 0, overflow(string(expr.AppendDecimal(nil, v, d.typ.Scale)), d.typ)
		}
		return v, nil
	}
}

// decimals reads unscaled values in big-endian two's complement of any length.
func decimals[T ~[]byte](d *decoder, c *chunk, memory *[]T, n int, o ops[T]) (piece, error) {
	limit := decimal128.GetScaleMultiplier(d.typ.Precision)
	wide := func(b T) (decimal128.Num, *badValue) {
		num, ok := bigEndian(b)
		if !ok && len(b) == 0 {
			return num, &badValue{kind: "CastError", value: "0x", why: "a value without bytes is no DECIMAL"}
		}
		if !ok {
			text := fmt.Sprintf("0x%x", []byte(b))
			return num, &badValue{kind: "Overflow", value: text, why: text + " does not fit " + d.typ.Nullable(true).String()}
		}
		if !num.Less(limit) || !limit.Negate().Less(num) {
			return decimal128.Num{}, overflow(string(expr.AppendDecimal128(nil, num, d.typ.Scale)), d.typ)
		}
		return num, nil
	}
	if d.typ.Precision > expr.MaxDecimal64 {
		return converted(d, c, memory, n, o, wide)
	}
	return converted(d, c, memory, n, o, func(b T) (int64, *badValue) {
		num, bad := wide(b)
		return int64(num.LowBits()), bad
	})
}

// bigEndian reads a number of any length that fits 128 bits.
func bigEndian(b []byte) (decimal128.Num, bool) {
	if len(b) == 0 {
		return decimal128.Num{}, false
	}
	fill := byte(int8(b[0]) >> 7)
	for len(b) > 16 {
		if b[0] != fill || (b[1]^fill)&0x80 != 0 {
			return decimal128.Num{}, false
		}
		b = b[1:]
	}
	var full [16]byte
	for i := range full {
		full[i] = fill
	}
	copy(full[16-len(b):], b)
	return decimal128.New(int64(binary.BigEndian.Uint64(full[:8])), binary.BigEndian.Uint64(full[8:])), true
}
