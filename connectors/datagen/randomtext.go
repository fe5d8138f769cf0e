package datagen

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

const (
	defaultLength = 100
	longest       = 65536 // of a STRING
)

func randomText(t expr.Type, f Field, s uint64) (m maker, err error) {
	if f.Min != "" || f.Max != "" {
		return m, errors.New("min and max: a STRING has length, var_len and values instead")
	}
	if len(f.Values) > 0 {
		if f.Length != nil || f.VarLen {
			return m, wrong("values", "length and var_len do nothing beside it")
		}
		draw, err := ranks(uint64(len(f.Values)), f.Skew)
		if err != nil {
			return m, err
		}
		for _, v := range f.Values {
			m.width = max(m.width, int64(len(v)))
		}
		m.make = func(b array.Builder, row int64) { b.(*array.StringBuilder).Append(f.Values[draw(at(s, row))]) }
		return m, nil
	}
	if f.Skew > 0 {
		return m, wrong("skew", "it orders whole numbers, and values of a STRING; %s has no values", t)
	}
	length, err := f.length()
	if err != nil {
		return m, err
	}
	m.width = length
	buf := make([]byte, 0, length+16)
	m.make = func(b array.Builder, row int64) {
		d, n := at(s, row), length
		if f.VarLen {
			n = 1 + int64(d.below(0, uint64(length)))
		}
		buf = buf[:0]
		for k := uint64(1); int64(len(buf)) < n; k++ {
			buf = appendHex(buf, d.word(k))
		}
		b.(*array.StringBuilder).BinaryBuilder.Append(buf[:n])
	}
	return m, nil
}

// length is how long texts and bytes are, at most.
func (f Field) length() (int64, error) {
	length := int64(defaultLength)
	if f.Length != nil {
		length = *f.Length
	}
	switch {
	case length < 0 || length > longest:
		return 0, wrong("length", "%d: expected 0 to %d", length, longest)
	case f.VarLen && length == 0:
		return 0, wrong("length", "0 with var_len: expected at least 1")
	}
	return length, nil
}

func randomBytes(t expr.Type, f Field, s uint64) (m maker, err error) {
	if f.Min != "" || f.Max != "" || f.Skew > 0 {
		return m, fmt.Errorf("min, max and skew: %s has length and var_len instead", t)
	}
	length, err := f.length()
	if err != nil {
		return m, err
	}
	m.width = length
	buf := make([]byte, 0, length+8)
	m.make = func(b array.Builder, row int64) {
		d, n := at(s, row), length
		if f.VarLen {
			n = 1 + int64(d.below(0, uint64(length)))
		}
		buf = buf[:0]
		for k := uint64(1); int64(len(buf)) < n; k++ {
			buf = binary.LittleEndian.AppendUint64(buf, d.word(k))
		}
		b.(*array.BinaryBuilder).Append(buf[:n])
	}
	return m, nil
}

// appendHex writes 16 hexadecimal digits.
func appendHex(dst []byte, w uint64) []byte {
	for range 16 {
		dst = append(dst, "0123456789abcdef"[w>>60])
		w <<= 4
	}
	return dst
}
