package text

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// A Listing is records to read again, in the order of their file. There may be millions of them, so that
// it travels packed.
type Listing []Listed

// MarshalJSON packs a listing.
func (l Listing) MarshalJSON() ([]byte, error) {
	var b []byte
	at := int64(0)
	for _, x := range l {
		b = x.Pack(b, at, false)
		at = x.At
	}
	return json.Marshal(b)
}

// UnmarshalJSON unpacks a listing.
func (l *Listing) UnmarshalJSON(packed []byte) error {
	*l = nil
	return Unpack(packed, func(x Listed, _ bool) { *l = append(*l, x) })
}

// Pack appends a record that stands behind one at an offset, with a mark of the caller's.
func (l Listed) Pack(b []byte, behind int64, mark bool) []byte {
	size := uint64(l.Len) << 1
	if mark {
		size |= 1
	}
	b = binary.AppendUvarint(b, uint64(l.At-behind))
	b = binary.AppendUvarint(b, size)
	return binary.LittleEndian.AppendUint64(b, l.Sum)
}

// Unpack calls with each record that Pack appended to bytes which json.Marshal then made a text of.
func Unpack(packed []byte, each func(l Listed, mark bool)) error {
	var b []byte
	if err := json.Unmarshal(packed, &b); err != nil {
		return err
	}
	at := int64(0)
	for len(b) > 0 {
		by, n := binary.Uvarint(b)
		size, m := uint64(0), 0
		if n > 0 {
			size, m = binary.Uvarint(b[n:])
		}
		if n <= 0 || m <= 0 || len(b) < n+m+8 {
			return errors.New("a list of records is cut")
		}
		at += int64(by)
		each(Listed{At: at, Len: int64(size >> 1), Sum: binary.LittleEndian.Uint64(b[n+m:])}, size&1 == 1)
		b = b[n+m+8:]
	}
	return nil
}
