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
	levels       int32 // encoding of the definition levels, of data pages
	repetitions  int32 // encoding of the repetition levels, of data pages
	defBytes     int32 // length of the levels, of data v2 pages
	repBytes     int32
	stored       bool // a data v2 page that is not compressed
}

// Kinds of pages, and encodings, by their numbers in the format.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3

	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingBitPacked       = 4
	encodingDeltaPacked     = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingRLEDictionary   = 8
	encodingStreamSplit     = 9
)

var errHeader = errors.New("a page header cannot be decoded")

// maxPage bounds what one page may ask for in memory.
const maxPage = 1 << 28

// tooLarge says that a page is larger than one may be here, which is no damage.
type tooLarge struct{ bytes int }

func (e *tooLarge) Error() string {
	return fmt.Sprintf("a page has %d bytes uncompressed; more than %d in one cannot be read yet", e.bytes, maxPage)
}

// checkPages walks the pages of a column chunk before any is decoded: headers that are none, pages
// past the end, values that do not add up, checksums that do not match.
func checkPages(chunk []byte, rows int64) error {
	seen := int64(0)
	for n := 0; seen < rows; n++ {
		h, body, rest, err := nextPage(chunk)
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		chunk = rest
		if h.hasCRC && crc32.ChecksumIEEE(body) != uint32(h.crc) {
			return fmt.Errorf("page %d: its checksum does not match", n)
		}
		switch h.kind {
		case dictionaryPage:
			if n > 0 {
				return fmt.Errorf("page %d is a dictionary, which only the first can be", n)
			}
		case dataPage, dataPageV2:
			seen += int64(h.values)
		default:
			return fmt.Errorf("page %d is of kind %d, which is none of a column's", n, h.kind)
		}
	}
	if seen != rows {
		return fmt.Errorf("its pages have %d values, and the row group %d rows", seen, rows)
	}
	return nil
}

// nextPage cuts the first page off a chunk.
func nextPage(chunk []byte) (h pageHeader, body, rest []byte, err error) {
	h, size, err := readPageHeader(chunk)
	if err != nil {
		return h, nil, nil, err
	}
	chunk = chunk[size:]
	if h.uncompressed > maxPage && h.compressed >= 0 && int(h.compressed) <= len(chunk) {
		return h, nil, nil, &tooLarge{int(h.uncompressed)}
	}
	if h.compressed < 0 || h.uncompressed < 0 || h.uncompressed > maxPage || int(h.compressed) > len(chunk) {
		return h, nil, nil, fmt.Errorf("its header says %d bytes (%d uncompressed), and %d are left", h.compressed, h.uncompressed, len(chunk))
	}
	if h.values < 0 || h.defBytes < 0 || h.repBytes < 0 {
		return h, nil, nil, fmt.Errorf("its header says %d values", h.values)
	}
	return h, chunk[:h.compressed], chunk[h.compressed:], nil
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
// data v2.
func (t *thrift) counts(h *pageHeader, structure, id int, kind byte) bool {
	var field *int32
	switch {
	case structure == 8 && id == 7 && (kind == thriftTrue || kind == thriftFalse):
		h.stored = kind == thriftFalse
		return true
	case kind != thriftInt32:
		return false
	case id == 1:
		field = &h.values
	case structure != 8 && id == 2, structure == 8 && id == 4:
		field = &h.encoding
	case structure == 5 && id == 3:
		field = &h.levels
	case structure == 5 && id == 4:
		field = &h.repetitions
	case structure == 8 && id == 5:
		field = &h.defBytes
	case structure == 8 && id == 6:
		field = &h.repBytes
	default:
		return false
	}
	*field = t.int32()
	return true
}
