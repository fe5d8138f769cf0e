package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// A pageHeader is what stands before a page. The library knows it too, but does not show it, and
// passes over damage in it.
type pageHeader struct {
	kind         int32 // data, index, dictionary, data v2
	uncompressed int32
	compressed   int32
	crc          int32
	hasCRC       bool
	values       int32 // of data pages, NULLs included
	encoding     int32
}

// Kinds of pages, and encodings, by their numbers in the format.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3

	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDeltaPacked     = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingRLEDictionary   = 8
	encodingStreamSplit     = 9
)

var errHeader = errors.New("a page header cannot be decoded")

// maxPage bounds what one page may ask for in memory.
const maxPage = 1 << 28

// checkPages walks the pages of a column chunk. It finds all damage that the library would pass over:
// headers that are none, pages past the end, values that do not add up, checksums that do not match.
// delta tells whether a page is packed in a way the library reads only as a whole.
func checkPages(chunk []byte, rows int64) (delta bool, err error) {
	seen := int64(0)
	for n := 0; seen < rows; n++ {
		h, size, err := readPageHeader(chunk)
		if err != nil {
			return delta, fmt.Errorf("%w (page %d)", err, n)
		}
		chunk = chunk[size:]
		if h.compressed < 0 || h.uncompressed < 0 || h.uncompressed > maxPage || int(h.compressed) > len(chunk) {
			return delta, fmt.Errorf("page %d says %d bytes (%d uncompressed), and %d are left", n, h.compressed, h.uncompressed, len(chunk))
		}
		body := chunk[:h.compressed]
		chunk = chunk[h.compressed:]
		if h.hasCRC && crc32.ChecksumIEEE(body) != uint32(h.crc) {
			return delta, fmt.Errorf("the checksum of page %d does not match", n)
		}
		switch h.kind {
		case dictionaryPage:
			if n > 0 {
				return delta, fmt.Errorf("page %d is a dictionary, which only the first can be", n)
			}
		case dataPage, dataPageV2:
			if h.values <= 0 {
				return delta, fmt.Errorf("page %d says %d values", n, h.values)
			}
			if err := knownEncoding(h.encoding); err != nil {
				return delta, fmt.Errorf("page %d: %w", n, err)
			}
			delta = delta || h.encoding >= encodingDeltaPacked && h.encoding <= encodingDeltaBytes
			seen += int64(h.values)
		default:
			return delta, fmt.Errorf("page %d is of kind %d, which is none of a column's", n, h.kind)
		}
	}
	if seen != rows {
		return delta, fmt.Errorf("its pages have %d values, and the row group %d rows", seen, rows)
	}
	return delta, nil
}

// errEncoding marks an encoding that is not damage.
var errEncoding = errors.New("encoding BYTE_STREAM_SPLIT cannot be read yet")

func knownEncoding(e int32) error {
	switch e {
	case encodingPlain, encodingPlainDictionary, encodingRLE, encodingDeltaPacked, encodingDeltaLength, encodingDeltaBytes, encodingRLEDictionary:
		return nil
	case encodingStreamSplit:
		return errEncoding
	}
	return fmt.Errorf("encoding %d is unknown", e)
}

// readPageHeader reads the header at the start of b and says how long it is. It is a structure in
// thrift's compact form.
func readPageHeader(b []byte) (h pageHeader, size int, err error) {
	t := thrift{rest: b}
	seen := 0
	t.structure(0, func(id int, kind byte) bool {
		if kind == thriftStruct && (id == 5 || id == 7 || id == 8) {
			t.structure(1, func(inner int, kind byte) bool { return t.counts(&h, id, inner, kind) })
			return true
		}
		if kind != thriftInt32 || id < 1 || id > 4 {
			return false
		}
		seen |= 1 << id
		v := t.int32()
		switch id {
		case 1:
			h.kind = v
		case 2:
			h.uncompressed = v
		case 3:
			h.compressed = v
		default:
			h.crc, h.hasCRC = v, true
		}
		return true
	})
	if t.bad || seen&0b1110 != 0b1110 {
		return h, 0, errHeader
	}
	return h, len(b) - len(t.rest), nil
}

// counts reads a field of the structure that belongs to the kind of page: 5 data, 7 dictionary, 8
// data v2, where the encoding has another number.
func (t *thrift) counts(h *pageHeader, structure, id int, kind byte) bool {
	encoding := 2
	if structure == 8 {
		encoding = 4
	}
	switch {
	case kind != thriftInt32:
		return false
	case id == 1:
		h.values = t.int32()
	case id == encoding:
		h.encoding = t.int32()
	default:
		return false
	}
	return true
}
