package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// A chunk is a column of a row group, being decoded page by page.
type chunk struct {
	doc      *document
	group    int
	name     string
	leaf     int
	rows     int64 // of the row group
	at       int64 // rows decoded
	nullable bool
	nest     *nest // of a leaf of a nested column: what its levels mean; nil for others
	size     int   // of a fixed-length type
	codec    compress.Compression
	room     *room

	rest   []byte  // pages to come
	dict   any     // []T of the dictionary page, nil before it
	left   int     // rows left of the page
	levels []int16 // definition levels of the rows left; nil where none is NULL
	values any     // values[T] of the page

	plan *pagePlan // which pages were read; nil: all
	next int64     // the row at which the next page begins, where there is a plan

	count    int64   // values that the footer says there are: one a row, unless it is nested
	rep, def []int16 // of a leaf of a nested column: all levels of the page that was opened last
}

// values gives values that are not NULL, exactly as many as out takes.
type values[T any] func(out []T) error

// maxGroupRows bounds what the footer can ask for in memory.
const (
	maxGroupRows   = 1 << 27
	maxGroupValues = 1 << 31 // of a nested column
	maxPageValues  = 1 << 26 // of a nested column
)

// openChunk reads a column's bytes into a room, checks its pages and makes a decoder of them. The
// chunk that had the room before is at its end.
func openChunk(d *document, group int, name string, leaf int, r *room) (*chunk, error) {
	return openChunkOf(d, group, name, leaf, r, nil)
}

// openChunkOf is openChunk, also for a leaf of a nested column.
func openChunkOf(d *document, group int, name string, leaf int, r *room, nest *nest) (*chunk, error) {
	c := &chunk{doc: d, group: group, name: name, leaf: leaf, room: r, nest: nest}
	err := c.guard(func() error {
		g := d.meta.RowGroup(group)
		c.rows = g.NumRows()
		m, err := g.ColumnChunk(leaf)
		if err != nil {
			return err
		}
		data, err := c.load(m)
		if err != nil {
			return err
		}
		descr := d.meta.Schema.Column(leaf)
		c.rest, c.codec, c.size, c.nullable = data, m.Compression(), descr.TypeLength(), descr.MaxDefinitionLevel() > 0
		if c.plan != nil {
			return c.plan.check(data)
		}
		return checkPages(data, c.count)
	})
	return c, err
}

// load checks what the footer says of the chunk and reads its bytes.
func (c *chunk) load(m *metadata.ColumnChunkMetaData) ([]byte, error) {
	if m.CryptoMetadata() != nil {
		return nil, &connectors.DataError{Kind: "NotSupported", File: c.doc.path, Field: c.name,
			Message: fmt.Sprintf("column %s is encrypted, which cannot be read yet", c.name)}
	}
	if !canDecompress(m.Compression()) {
		return nil, &connectors.DataError{Kind: "NotSupported", File: c.doc.path, Field: c.name,
			Message: fmt.Sprintf("column %s is compressed with %s, which cannot be read yet: write it with SNAPPY, ZSTD or GZIP", c.name, m.Compression())}
	}
	if c.rows > maxGroupRows {
		return nil, &connectors.DataError{Kind: "NotSupported", File: c.doc.path, Field: c.name,
			Message: fmt.Sprintf("row group %d has %d rows; more than %d in one cannot be read yet", c.group, c.rows, maxGroupRows)}
	}
	if c.count = m.NumValues(); c.count < c.rows || c.count != c.rows && (c.nest == nil || c.rows == 0) {
		return nil, fmt.Errorf("the footer says %d values in %d rows", m.NumValues(), c.rows)
	}
	if c.count > maxGroupValues {
		return nil, &connectors.DataError{Kind: "NotSupported", File: c.doc.path, Field: c.name,
			Message: fmt.Sprintf("row group %d has %d values of column %s; more than %d cannot be read yet", c.group, c.count, c.name, maxGroupValues)}
	}
	start, size := chunkStart(m), m.TotalCompressedSize()
	if c.rows == 0 {
		return nil, nil
	}
	if start < int64(len(magic)) || size <= 0 || start > c.doc.Size()-tailSize || size > c.doc.Size()-tailSize-start {
		return nil, fmt.Errorf("the footer says %d bytes from byte %d on, and the file has %d", size, start, c.doc.Size())
	}
	// Old writers left the dictionary's header out of the size.
	if c.doc.meta.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		size += min(maxDictionaryHeader, c.doc.Size()-tailSize-start-size)
	}
	if c.nest == nil && c.room.plan != nil {
		var read int64
		var err error
		c.plan = c.room.plan
		c.room.raw, read, err = c.plan.load(c.doc, c.room.raw)
		c.room.loaded.count(c, m.TotalCompressedSize(), read)
		return c.room.raw, err
	}
	c.room.loaded.count(c, m.TotalCompressedSize(), size)
	c.room.raw = grown(c.room.raw, int(size))
	return c.room.raw, c.doc.readAt(c.room.raw, start)
}

const maxDictionaryHeader = 100

// guard makes damage, and panics, errors that name row group and column.
func (c *chunk) guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = c.doc.chunkDamaged(c.group, c.name, "its bytes cannot be decoded")
		}
	}()
	err = f()
	if err == nil || isOurs(err) {
		return err
	}
	var large *tooLarge
	if errors.As(err, &large) {
		return &connectors.DataError{Kind: "NotSupported", File: c.doc.path, Field: c.name,
			Message: fmt.Sprintf("row group %d, column %s: %s", c.group, c.name, large)}
	}
	return c.doc.chunkDamaged(c.group, c.name, err.Error())
}

// decode reads the next len(dst) rows: the values that are not NULL go to the front of dst, and how
// many they are is given with the definition levels (nil where no row is NULL). What the values point
// to, and the levels, hold until the next call.
func decode[T any](c *chunk, dst []T, o ops[T]) (valid int, levels []int16, err error) {
	n := len(dst)
	c.room.turn()
	given := c.room.given[:0]
	nulls := false
	for rows := 0; rows < n; {
		if c.left == 0 {
			if err := openPage(c, o); err != nil {
				return 0, nil, err
			}
			continue
		}
		get, ok := c.values.(values[T])
		if !ok {
			return 0, nil, errPhysical
		}
		k := min(c.left, n-rows)
		some := k
		if c.levels != nil && !nulls { // rows before had none
			nulls = true
			given = appendOnes(given, rows)
		}
		switch {
		case c.levels != nil:
			some = countValid(c.levels[:k])
			given = append(given, c.levels[:k]...)
			c.levels = c.levels[k:]
		case nulls:
			given = appendOnes(given, k)
		}
		if err := get(dst[valid : valid+some]); err != nil {
			return 0, nil, err
		}
		valid += some
		c.left -= k
		rows += k
	}
	c.room.given = given
	if nulls && valid < n {
		levels = given
	}
	c.at += int64(n)
	return valid, levels, nil
}

func appendOnes(levels []int16, n int) []int16 {
	for range n {
		levels = append(levels, 1)
	}
	return levels
}

// skip passes over n rows. Pages that lie in them as a whole are not decompressed.
func skip[T any](c *chunk, n int64, scratch []T, o ops[T]) error {
	for n > 0 {
		if c.left > 0 {
			k := min(int64(c.left), n, int64(len(scratch)))
			if _, _, err := decode(c, scratch[:k], o); err != nil {
				return err
			}
			n -= k
			continue
		}
		if k := c.hole(); k > 0 {
			if k > n {
				return errHole
			}
			c.next, c.at, n = c.next+k, c.at+k, n-k
			continue
		}
		h, _, rest, err := nextPage(c.rest)
		if err != nil {
			return err
		}
		if h.kind != dictionaryPage && int64(h.values) <= n {
			if err := c.passed(h); err != nil {
				return err
			}
			c.rest = rest
			c.at += int64(h.values)
			n -= int64(h.values)
			continue
		}
		if err := openPage(c, o); err != nil {
			return err
		}
	}
	return nil
}

func countValid(levels []int16) int {
	n := 0
	for _, l := range levels {
		n += int(l)
	}
	return n
}

// openPage opens the next data page, and the dictionary before it.
func openPage[T any](c *chunk, o ops[T]) error {
	h, body, rest, err := nextPage(c.rest)
	if err == nil {
		err = c.passed(h)
	}
	if err != nil {
		return err
	}
	c.rest = rest
	if h.kind == dictionaryPage {
		return openDictionary(c, h, body, o)
	}
	data, err := c.openLevels(h, body, pointsInto[T]())
	if err != nil {
		return err
	}
	if c.nest == nil {
		c.left = int(h.values)
	}
	valid := c.left
	if c.levels != nil {
		valid = countValid(c.levels)
	}
	c.values, err = valuesOf(c, h.encoding, data, valid, o)
	return err
}

func openDictionary[T any](c *chunk, h pageHeader, body []byte, o ops[T]) error {
	if h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
		return fmt.Errorf("its dictionary has encoding %d", h.encoding)
	}
	data, err := c.room.unpack(c.codec, body, int(h.uncompressed), pointsInto[T]())
	if err != nil {
		return err
	}
	if int(h.values) > len(data)*8 {
		return errPlain
	}
	list := dictionaryOf[T](c.room, int(h.values))
	if _, err := o.plain(data, c.size, list); err != nil {
		return err
	}
	c.dict = list
	return nil
}

// openLevels decompresses a data page and reads its definition levels; what it gives is the values.
// The bytes of a page to be kept hold until the next call of decode, others until the next page.
func (c *chunk) openLevels(h pageHeader, body []byte, keep bool) ([]byte, error) {
	c.levels = nil
	if c.nest != nil {
		return c.openNested(h, body, keep)
	}
	n := int(h.values)
	if h.kind == dataPageV2 {
		before := int(h.repBytes) + int(h.defBytes)
		if before > len(body) || before > int(h.uncompressed) {
			return nil, errHybrid
		}
		data, err := body[before:], error(nil)
		if !c.isStored(h) {
			data, err = c.room.page(c.codec, data, int(h.uncompressed)-before, keep)
		}
		if err != nil || !c.nullable {
			return data, err
		}
		return data, c.readLevels(hybrid{rest: body[h.repBytes:before], width: 1}, n)
	}
	data, err := c.room.page(c.codec, body, int(h.uncompressed), keep)
	if err != nil || !c.nullable {
		return data, err
	}
	if h.levels == encodingBitPacked {
		size := (n + 7) / 8
		if len(data) < size {
			return nil, errHybrid
		}
		c.unpackOld(data[:size], n)
		return data[size:], nil
	}
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, errHybrid
	}
	end := 4 + int(binary.LittleEndian.Uint32(data))
	return data[end:], c.readLevels(hybrid{rest: data[4:end], width: 1}, n)
}

func (c *chunk) readLevels(h hybrid, n int) error {
	if n == 0 {
		return nil
	}
	if level, ok := h.oneRun(n); ok && level == 1 {
		return nil
	}
	c.levels = c.room.levelsOf(n)
	if err := fill(&h, c.levels); err != nil {
		return err
	}
	all := int16(0)
	for _, l := range c.levels {
		all |= l
	}
	if all&^1 != 0 {
		return fmt.Errorf("it has a definition level of %d", slices.Max(c.levels))
	}
	return nil
}

// unpackOld reads levels in the old form: bits from the top of each byte.
func (c *chunk) unpackOld(b []byte, n int) {
	c.levels = c.room.levelsOf(n)
	for i := range c.levels {
		c.levels[i] = int16(b[i>>3] >> (7 - i&7) & 1)
	}
}

// valuesOf is the way to the n values of a page.
func valuesOf[T any](c *chunk, encoding int32, b []byte, n int, o ops[T]) (values[T], error) {
	switch encoding {
	case encodingPlain:
		if _, truth := any(o).(ops[bool]); truth {
			break // eight a byte
		}
		return func(out []T) (err error) {
			b, err = o.plain(b, c.size, out)
			return err
		}, nil
	case encodingPlainDictionary, encodingRLEDictionary:
		return coded[T](c, b, n)
	}
	var all []T
	var err error
	if encoding == encodingPlain {
		all = make([]T, n)
		_, err = o.plain(b, c.size, all)
	} else {
		all, err = o.other(encoding, b, c.size, n)
	}
	if err != nil {
		return nil, err
	}
	if len(all) != n {
		return nil, fmt.Errorf("a page packs %d values, and %d rows are not NULL", len(all), n)
	}
	return func(out []T) error {
		all = all[copy(out, all):]
		return nil
	}, nil
}

// coded reads codes and looks them up in the dictionary.
func coded[T any](c *chunk, b []byte, n int) (values[T], error) {
	dict, ok := c.dict.([]T)
	if !ok {
		return nil, errors.New("a page needs a dictionary, and there is none")
	}
	if n == 0 {
		return func([]T) error { return nil }, nil
	}
	if len(b) == 0 || b[0] > 32 {
		return nil, errHybrid
	}
	h := hybrid{rest: b[1:], width: int(b[0])}
	return func(out []T) error {
		codes := c.room.codesOf(len(out))
		if err := fill(&h, codes); err != nil {
			return err
		}
		return lookUp(out, codes, dict)
	}, nil
}

// lookUp puts the dictionary's values for codes.
func lookUp[T any](out []T, codes []int32, dict []T) error {
	out = out[:len(codes)]
	for i, code := range codes {
		if uint(uint32(code)) >= uint(len(dict)) {
			return fmt.Errorf("it has code %d of %d in the dictionary", uint32(code), len(dict))
		}
		out[i] = dict[uint32(code)]
	}
	return nil
}

// int96 is the old form of a timestamp.
type int96 = parquet.Int96
