package parquet

import (
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// A chunk is a column of a row group, being decoded.
type chunk struct {
	doc   *document
	group int
	name  string
	rows  int64 // of the row group
	at    int64 // rows decoded
	delta bool  // to be decoded as a whole

	reader file.ColumnChunkReader
	levels []int16 // scratch: definition levels, where the column may be NULL
}

// maxGroupRows bounds what the footer can ask for in memory.
const maxGroupRows = 1 << 27

// openChunk reads a column's bytes, checks its pages and makes a decoder of them.
func openChunk(d *document, group int, name string, leaf int) (*chunk, error) {
	c := &chunk{doc: d, group: group, name: name}
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
		if c.delta, err = checkPages(data, c.rows); err != nil {
			return err
		}
		descr := d.meta.Schema.Column(leaf)
		pages, err := file.NewPageReader(&chunkBytes{data}, c.rows, m.Compression(), memory.DefaultAllocator, nil)
		if err != nil {
			return err
		}
		if descr.MaxDefinitionLevel() > 0 {
			c.levels = []int16{}
		}
		pool := &sync.Pool{New: func() any { return memory.NewResizableBuffer(memory.DefaultAllocator) }}
		c.reader = file.NewColumnReader(descr, pages, memory.DefaultAllocator, pool)
		return nil
	})
	return c, err
}

// load checks what the footer says of the chunk and reads its bytes.
func (c *chunk) load(m *metadata.ColumnChunkMetaData) ([]byte, error) {
	if m.CryptoMetadata() != nil {
		return nil, &connectors.DataError{Kind: "NotSupported", File: c.doc.path, Field: c.name,
			Message: fmt.Sprintf("column %s of %s is encrypted, which cannot be read yet", c.name, c.doc.path)}
	}
	if !canDecompress(m.Compression()) {
		return nil, &connectors.DataError{Kind: "NotSupported", File: c.doc.path, Field: c.name,
			Message: fmt.Sprintf("column %s of %s is compressed with %s, which cannot be read yet: write it with SNAPPY, ZSTD or GZIP", c.name, c.doc.path, m.Compression())}
	}
	if c.rows > maxGroupRows {
		return nil, &connectors.DataError{Kind: "NotSupported", File: c.doc.path, Field: c.name,
			Message: fmt.Sprintf("row group %d of %s has %d rows; more than %d in one cannot be read yet", c.group, c.doc.path, c.rows, maxGroupRows)}
	}
	if m.NumValues() != c.rows {
		return nil, fmt.Errorf("the footer says %d values in %d rows", m.NumValues(), c.rows)
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
	data := make([]byte, size)
	return data, c.doc.readAt(data, start)
}

const maxDictionaryHeader = 100

func canDecompress(c compress.Compression) bool {
	switch c {
	case compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd:
		return true
	}
	return false
}

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
	e := c.doc.chunkDamaged(c.group, c.name, err.Error())
	if errors.Is(err, errEncoding) {
		e.Kind, e.Message = "NotSupported", fmt.Sprintf("column %s of %s: %v", c.name, c.doc.path, err)
	}
	return e
}

// A typedReader is a chunk reader of the library for one physical type.
type typedReader[T any] interface {
	ReadBatch(n int64, values []T, def, rep []int16) (total int64, read int, err error)
	Err() error
}

// decode reads the next n rows: the values that are not NULL, and the definition levels (nil where
// no row is NULL).
func decode[T any](c *chunk, n int, scratch []T) (values []T, levels []int16, err error) {
	r, ok := c.reader.(typedReader[T])
	if !ok {
		return nil, nil, errors.New("its physical type is another than the footer says")
	}
	if cap(scratch) < n {
		scratch = make([]T, n)
	}
	if c.levels != nil && cap(c.levels) < n {
		c.levels = make([]int16, n)
	}
	values = scratch[:n]
	if c.levels != nil {
		levels = c.levels[:n]
	}
	total, read, err := r.ReadBatch(int64(n), values, levels, nil)
	if err == nil {
		err = r.Err()
	}
	switch {
	case err != nil:
		return nil, nil, err
	case total != int64(n):
		return nil, nil, fmt.Errorf("it gives %d values of %d from row %d on", total, n, c.at)
	}
	c.at += int64(n)
	if levels == nil || read == n {
		if read != n {
			return nil, nil, fmt.Errorf("it gives %d values of %d", read, n)
		}
		return values, nil, nil
	}
	valid := 0
	for _, l := range levels {
		valid += int(l & 1)
	}
	if valid != read {
		return nil, nil, fmt.Errorf("it gives %d values, and %d rows are not NULL", read, valid)
	}
	return values[:read], levels, nil
}

// int96 is the old form of a timestamp.
type int96 = parquet.Int96
