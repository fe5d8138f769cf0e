package parquet

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"
)

// A valueWriter holds the values of the page that is being filled and encodes them. NULLs are none of
// its values.
type valueWriter interface {
	// add appends the values of rows and says how many it took, at least one where the page is empty.
	// It takes fewer than all where the page should end before the next one.
	add(arr arrow.Array, dict uint64, rows picked) (int, error)
	// size is about how many bytes the page's values take.
	size() int
	// bounds are those of the page's values.
	bounds() bounds
	// encode appends the page's values to b, says by which encoding, and begins another page.
	encode(b []byte) (page []byte, encoding int32)
	// dictionary appends the values of the chunk's dictionary in PLAIN form and says how many they are.
	dictionary(b []byte) ([]byte, int)
	// reset begins another chunk.
	reset()
	// memory is how many bytes are held.
	memory() int
}

// picked is some rows of an array: from to to-1, or those listed.
type picked struct {
	from, to int
	list     []int32 // nil: from and to count
}

func (p picked) len() int {
	if p.list != nil {
		return len(p.list)
	}
	return p.to - p.from
}

// after is the rows without the first n.
func (p picked) after(n int) picked {
	if p.list != nil {
		p.list = p.list[n:]
	} else {
		p.from += n
	}
	return p
}

// bounds are the least and the most of some values in PLAIN form, without the length of texts. Text
// that was cut short is not exact. Values without order, as NaN, are left out.
type bounds struct {
	least, most           []byte
	exactLeast, exactMost bool
	has                   bool
}

// merge widens bounds by others.
func (b *bounds) merge(o bounds, compare func(x, y []byte) int) {
	if !o.has {
		return
	}
	if !b.has {
		*b = o
		return
	}
	if c := compare(o.least, b.least); c < 0 || c == 0 && o.exactLeast {
		b.least, b.exactLeast = o.least, o.exactLeast
	}
	if c := compare(o.most, b.most); c > 0 || c == 0 && o.exactMost {
		b.most, b.exactMost = o.most, o.exactMost
	}
}

// A form is how the values of a chunk's pages are encoded.
type form uint8

const (
	asUndecided form = iota // before the first page
	asCoded                 // by a dictionary
	asPacked                // by differences
	asPlain
)

var errColumn = errors.New("its array has another type than the schema says")
