package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/parquet"
)

// ops is how values of one physical type are decoded.
type ops[T any] struct {
	// plain reads PLAIN values and gives what follows; size is the length of a fixed-length type.
	plain func(b []byte, size int, out []T) ([]byte, error)
	// other decodes all n values of a page in another encoding than PLAIN and that of dictionaries.
	other func(encoding int32, b []byte, size, n int) ([]T, error)
}

var (
	errPlain    = errors.New("its values end early")
	errNotValid = errors.New("the encoding is none for the column's type")
)

// fixedWidth reads values that take size bytes each.
func fixedWidth[T any](b []byte, size int, out []T, get func([]byte) T) ([]byte, error) {
	if len(b)/size < len(out) {
		return nil, errPlain
	}
	for i := range out {
		out[i] = get(b[i*size:])
	}
	return b[len(out)*size:], nil
}

// fixedWords reads little-endian values of a size, which is that of T.
func fixedWords[T int32 | int64 | float32 | float64](b []byte, out []T, get func([]byte) T) ([]byte, error) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return fixedWidth(b, int(unsafe.Sizeof(out[0])), out, get)
	}
	if len(out) == 0 {
		return b, nil
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(out))), len(out)*int(unsafe.Sizeof(out[0])))
	if len(b) < len(raw) {
		return nil, errPlain
	}
	return b[copy(raw, b):], nil
}

func int32At(b []byte) int32     { return int32(binary.LittleEndian.Uint32(b)) }
func int64At(b []byte) int64     { return int64(binary.LittleEndian.Uint64(b)) }
func floatAt(b []byte) float32   { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
func doubleAt(b []byte) float64  { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
func int96At(b []byte) (v int96) { copy(v[:], b); return v }

func int32Ops() ops[int32] {
	return ops[int32]{
		plain: func(b []byte, _ int, out []int32) ([]byte, error) { return fixedWords(b, out, int32At) },
		other: func(encoding int32, b []byte, _, n int) ([]int32, error) {
			if encoding != encodingDeltaPacked {
				return split(encoding, b, 4, n, int32At)
			}
			wide, _, err := deltas(b, n)
			out := make([]int32, len(wide))
			for i, v := range wide {
				out[i] = int32(v)
			}
			return out, err
		},
	}
}

func int64Ops() ops[int64] {
	return ops[int64]{
		plain: func(b []byte, _ int, out []int64) ([]byte, error) { return fixedWords(b, out, int64At) },
		other: func(encoding int32, b []byte, _, n int) ([]int64, error) {
			if encoding != encodingDeltaPacked {
				return split(encoding, b, 8, n, int64At)
			}
			v, _, err := deltas(b, n)
			return v, err
		},
	}
}

func int96Ops() ops[int96] {
	return ops[int96]{
		plain: func(b []byte, _ int, out []int96) ([]byte, error) { return fixedWidth(b, 12, out, int96At) },
		other: func(int32, []byte, int, int) ([]int96, error) { return nil, errNotValid },
	}
}

func floatOps() ops[float32] {
	return ops[float32]{
		plain: func(b []byte, _ int, out []float32) ([]byte, error) { return fixedWords(b, out, floatAt) },
		other: func(encoding int32, b []byte, _, n int) ([]float32, error) { return split(encoding, b, 4, n, floatAt) },
	}
}

func doubleOps() ops[float64] {
	return ops[float64]{
		plain: func(b []byte, _ int, out []float64) ([]byte, error) { return fixedWords(b, out, doubleAt) },
		other: func(encoding int32, b []byte, _, n int) ([]float64, error) { return split(encoding, b, 8, n, doubleAt) },
	}
}

// split decodes BYTE_STREAM_SPLIT: the first bytes of all values, then their second bytes …
func split[T any](encoding int32, b []byte, size, n int, get func([]byte) T) ([]T, error) {
	if encoding != encodingStreamSplit || size <= 0 {
		return nil, errNotValid
	}
	if len(b) < n*size || len(b)%size != 0 {
		return nil, errPlain
	}
	stride := len(b) / size
	out := make([]T, n)
	one := make([]byte, size)
	for i := range out {
		for k := range one {
			one[k] = b[k*stride+i]
		}
		out[i] = get(one)
	}
	return out, nil
}

func boolOps() ops[bool] {
	return ops[bool]{
		// A page's truth values are eight a byte, and a page is read at once.
		plain: func(b []byte, _ int, out []bool) ([]byte, error) {
			if len(b) < (len(out)+7)/8 {
				return nil, errPlain
			}
			for i := range out {
				out[i] = b[i>>3]>>(i&7)&1 != 0
			}
			return nil, nil
		},
		other: func(encoding int32, b []byte, _, n int) ([]bool, error) {
			if encoding != encodingRLE || len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
				return nil, errNotValid
			}
			h := hybrid{rest: b[4 : 4+binary.LittleEndian.Uint32(b)], width: 1}
			bits := make([]int16, n)
			if err := fill(&h, bits); err != nil {
				return nil, err
			}
			out := make([]bool, n)
			for i, v := range bits {
				out[i] = v != 0
			}
			return out, nil
		},
	}
}

func bytesOps() ops[parquet.ByteArray] {
	return ops[parquet.ByteArray]{
		plain: func(b []byte, _ int, out []parquet.ByteArray) ([]byte, error) {
			for i := range out {
				if len(b) < 4 {
					return nil, errPlain
				}
				n := uint64(binary.LittleEndian.Uint32(b))
				b = b[4:]
				if n > uint64(len(b)) {
					return nil, errPlain
				}
				out[i], b = parquet.ByteArray(b[:n:n]), b[n:]
			}
			return b, nil
		},
		other: func(encoding int32, b []byte, _, n int) ([]parquet.ByteArray, error) {
			switch encoding {
			case encodingDeltaLength:
				return deltaLengths(b, n)
			case encodingDeltaBytes:
				return deltaBytes(b, n)
			}
			return nil, errNotValid
		},
	}
}

func fixedOps() ops[parquet.FixedLenByteArray] {
	return ops[parquet.FixedLenByteArray]{
		plain: func(b []byte, size int, out []parquet.FixedLenByteArray) ([]byte, error) {
			if size <= 0 {
				return nil, fmt.Errorf("its fixed length is %d", size)
			}
			return fixedWidth(b, size, out, func(b []byte) parquet.FixedLenByteArray { return b[:size:size] })
		},
		other: func(encoding int32, b []byte, size, n int) ([]parquet.FixedLenByteArray, error) {
			if encoding != encodingDeltaBytes {
				return split(encoding, b, size, n, func(b []byte) parquet.FixedLenByteArray { return append([]byte(nil), b...) })
			}
			list, err := deltaBytes(b, n)
			out := make([]parquet.FixedLenByteArray, len(list))
			for i, v := range list {
				if len(v) != size {
					return nil, errPlain
				}
				out[i] = parquet.FixedLenByteArray(v)
			}
			return out, err
		},
	}
}
