package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
)

// limits are where pages, dictionaries and row groups end. Small pages let readers pass over what they do
// not need; each costs some 50 bytes and a call of the compressor. A row group that is ended for want of
// memory has leastBytes: smaller ones cost readers more than they save.
type limits struct {
	pageRows   int   // most rows of a page
	pageBytes  int   // about the most bytes of a page's values
	dictionary int   // most bytes of a dictionary page, which readers hold while they read the chunk
	mostBytes  int64 // about where a row group ends, in encoded bytes
	leastBytes int64
}

func usualLimits() *limits {
	return &limits{pageRows: 1 << 15, pageBytes: 1 << 20, dictionary: 1 << 20, mostBytes: 64 << 20, leastBytes: 4 << 20}
}

// A columnWriter encodes a column of a row group, page by page, and holds what is encoded until the row
// group is written.
type columnWriter struct {
	nullable bool
	values   valueWriter
	compare  func(x, y []byte) int // of bounds

	rows    int      // of the page
	nulls   int      // of them
	defined []uint64 // a bit for each row that is not NULL; used where the page has a NULL
	list    []int32  // scratch

	nested           bool // a part of a nested column, whose levels go up to these
	mostRep, mostDef uint32
	reps, defs       []uint32 // of the page

	pages []byte // encoded pages, one after the other
	index []pageEntry
	sizes chunkSizes
	out   *deflater // shared with the other columns
	*limits
}

// A pageEntry is what the page index says of a page.
type pageEntry struct {
	offset, size int // in the chunk's pages
	first        int64
	rows         int
	values       int // NULLs, and levels without a value, included
	nulls        int
	bounds       bounds
	encoding     int32
}

// chunkSizes are sums over a chunk's pages, dictionary included.
type chunkSizes struct{ plain, packed int64 }

// write appends n rows of an array: those of sel, or from a row on.
func (c *columnWriter) write(arr arrow.Array, dict uint64, sel []int32, from, n int) error {
	nulls := arr.NullN() > 0
	for n > 0 {
		k := min(n, c.pageRows-c.rows)
		p := picked{from: from, to: from + k}
		if sel != nil {
			p.list = sel[:k]
		}
		took := k
		var err error
		if nulls {
			took, err = c.writeSome(arr, dict, p)
		} else if took, err = c.values.add(arr, dict, p); err == nil {
			c.define(took)
		}
		if err != nil {
			return err
		}
		if took < k || c.rows == c.pageRows || c.values.size() >= c.pageBytes {
			if err := c.endPage(); err != nil {
				return err
			}
		}
		n, from = n-took, from+took
		if sel != nil {
			sel = sel[took:]
		}
	}
	return nil
}

var errNull = errors.New("it is NOT NULL and has a NULL")

// writeSome appends rows of which some are NULL.
func (c *columnWriter) writeSome(arr arrow.Array, dict uint64, p picked) (took int, err error) {
	n := p.len()
	if cap(c.list) < n {
		c.list = make([]int32, max(n, c.pageRows))[:n]
	}
	list, valid := c.list[:n], 0
	for k := range n {
		row := p.from + k
		if p.list != nil {
			row = int(p.list[k])
		}
		list[valid] = int32(row)
		if arr.IsValid(row) {
			valid++
		}
	}
	if valid == n {
		took, err = c.values.add(arr, dict, p)
		if err == nil {
			c.define(took)
		}
		return took, err
	}
	if !c.nullable {
		return 0, errNull
	}
	list = list[:valid]
	got, err := c.values.add(arr, dict, picked{list: list})
	if err != nil {
		return 0, err
	}
	c.startLevels()
	took = 0
	for next := 0; took < n; took++ { // up to the first value that was not taken
		row := p.from + took
		if p.list != nil {
			row = int(p.list[took])
		}
		if next < valid && list[next] == int32(row) {
			if next == got {
				break
			}
			c.defined[c.rows>>6] |= 1 << (c.rows & 63)
			next++
		} else {
			c.nulls++
		}
		c.rows++
	}
	return took, nil
}

// startLevels makes bits for the rows of the page, where there were none yet.
func (c *columnWriter) startLevels() {
	if c.nulls > 0 {
		return
	}
	if c.defined == nil {
		c.defined = make([]uint64, (c.pageRows+63)/64)
	}
	clear(c.defined)
	rows := c.rows
	c.rows = 0
	c.setDefined(rows)
}

// define counts n rows that are not NULL.
func (c *columnWriter) define(n int) {
	if c.nulls > 0 {
		c.setDefined(n)
		return
	}
	c.rows += n
}

func (c *columnWriter) setDefined(n int) {
	for ; n > 0 && c.rows&63 != 0; n-- {
		c.defined[c.rows>>6] |= 1 << (c.rows & 63)
		c.rows++
	}
	for ; n >= 64; n -= 64 {
		c.defined[c.rows>>6] = ^uint64(0)
		c.rows += 64
	}
	for ; n > 0; n-- {
		c.defined[c.rows>>6] |= 1 << (c.rows & 63)
		c.rows++
	}
}

// endPage encodes the page.
func (c *columnWriter) endPage() error {
	if c.rows == 0 {
		return nil
	}
	e := pageEntry{offset: len(c.pages), rows: c.rows, values: c.rows, nulls: c.nulls, bounds: c.values.bounds()}
	if n := len(c.index); n > 0 {
		e.first = c.index[n-1].first + int64(c.index[n-1].rows)
	}
	raw := c.out.raw[:0]
	switch {
	case c.nested:
		e.values = len(c.defs)
		raw = c.appendNestedLevels(raw)
	case c.nullable:
		defined := c.defined
		if c.nulls == 0 {
			defined = nil
		}
		raw = appendLevels(raw, defined, c.rows)
	}
	raw, e.encoding = c.values.encode(raw)
	c.out.raw = raw
	c.rows, c.nulls = 0, 0
	h := pageHeader{kind: dataPage, values: int32(e.values), encoding: e.encoding}
	var err error
	c.pages, err = c.appendPage(c.pages, h, raw)
	e.size = len(c.pages) - e.offset
	c.index = append(c.index, e)
	return err
}

// appendPage compresses a page and appends it with its header.
func (c *columnWriter) appendPage(to []byte, h pageHeader, raw []byte) ([]byte, error) {
	if len(raw) > maxPage {
		return to, fmt.Errorf("a value of about %d bytes is too long: at most %d are written", len(raw), maxPage)
	}
	body, err := c.out.compress(raw)
	if err != nil {
		return to, err
	}
	h.uncompressed, h.compressed = int32(len(raw)), int32(len(body))
	h.crc, h.hasCRC = int32(crc32.ChecksumIEEE(body)), true
	head := c.out.header(h)
	c.sizes.plain += int64(len(head) + len(raw))
	c.sizes.packed += int64(len(head) + len(body))
	if need := len(to) + len(head) + len(body); need > cap(to) {
		// What is encoded grows to the size of a row group once, and is used again.
		grown := make([]byte, len(to), need+need/4)
		copy(grown, to)
		to = grown
	}
	return append(append(to, head...), body...), nil
}

// memory is how many bytes are held.
func (c *columnWriter) memory() int {
	return c.values.memory() + cap(c.pages) + 8*cap(c.defined) + 4*(cap(c.list)+cap(c.reps)+cap(c.defs)) + len(c.index)*(96+2*maxBytesBound)
}

// reset begins another row group.
func (c *columnWriter) reset() {
	c.pages, c.index, c.sizes = c.pages[:0], c.index[:0], chunkSizes{}
	c.values.reset()
}

// release frees what is held beside the column itself.
func (c *columnWriter) release() { c.pages, c.index = nil, nil }

// bytesOf is the bytes of a text, without a copy; they are only read.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
