package parquet

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// createdBy is the writer's name in footers, in the form in which readers look for a version.
const createdBy = "runner version 1.0.0 (build 1)"

// A writtenChunk is a column chunk as it lies in the file.
type writtenChunk struct {
	values, nulls    int64
	plain, packed    int64 // bytes before compression, and after it
	dictionary, data int64 // where its pages are; dictionary 0: none
	encodings        []pageEncoding
	bounds           bounds
	columnIndex      []byte // nil where there is none
	offsetIndex      []byte
}

// A pageEncoding counts the pages of a kind and encoding.
type pageEncoding struct{ kind, encoding, pages int32 }

// A writtenGroup is a row group as it lies in the file.
type writtenGroup struct {
	rows, at int64
	chunks   []writtenChunk
}

// written sums up the chunk that lies at a place of the file.
func (c *columnWriter) written(at int64, dictionary int) writtenChunk {
	k := writtenChunk{plain: c.sizes.plain, packed: c.sizes.packed, data: at}
	if dictionary > 0 {
		k.dictionary, k.data = at, at+int64(dictionary)
		k.encodings = append(k.encodings, pageEncoding{dictionaryPage, encodingPlain, 1})
	}
	whole := true // all pages with values have bounds
	for _, p := range c.index {
		k.values += int64(p.values)
		k.nulls += int64(p.nulls)
		k.bounds.merge(p.bounds, c.compare)
		whole = whole && (p.bounds.has || p.nulls == p.values)
		same := func(e pageEncoding) bool { return e.kind == dataPage && e.encoding == p.encoding }
		if i := slices.IndexFunc(k.encodings, same); i >= 0 {
			k.encodings[i].pages++
		} else {
			k.encodings = append(k.encodings, pageEncoding{dataPage, p.encoding, 1})
		}
	}
	var w thriftWriter
	if whole {
		c.columnIndex(&w)
		k.columnIndex = w.b
	}
	w = thriftWriter{}
	w.reset()
	w.list(1, thriftStruct, len(c.index))
	for _, p := range c.index {
		w.element()
		w.int64(1, k.data+int64(p.offset))
		w.int32(2, int32(p.size))
		w.int64(3, p.first)
		w.end()
	}
	w.end()
	k.offsetIndex = w.b
	return k
}

// columnIndex writes bounds and NULL counts of the chunk's pages.
func (c *columnWriter) columnIndex(w *thriftWriter) {
	n := len(c.index)
	w.reset()
	w.list(1, thriftTrue, n)
	for _, p := range c.index {
		b := byte(thriftFalse)
		if !p.bounds.has {
			b = thriftTrue
		}
		w.b = append(w.b, b)
	}
	w.list(2, thriftBinary, n)
	for _, p := range c.index {
		w.bytes(p.bounds.least)
	}
	w.list(3, thriftBinary, n)
	for _, p := range c.index {
		w.bytes(p.bounds.most)
	}
	w.int32(4, c.order())
	w.list(5, thriftInt64, n)
	for _, p := range c.index {
		w.zigzag(int64(p.nulls))
	}
	w.end()
}

// Orders of a chunk's pages.
const (
	unordered  = 0
	ascending  = 1
	descending = 2
)

// order is how the bounds of the pages follow each other; pages of NULLs do not count.
func (c *columnWriter) order() int32 {
	var last *bounds
	up, down := true, true
	for i := range c.index {
		b := &c.index[i].bounds
		if !b.has {
			continue
		}
		if last != nil {
			least, most := c.compare(last.least, b.least), c.compare(last.most, b.most)
			up = up && least <= 0 && most <= 0
			down = down && least >= 0 && most >= 0
		}
		last = b
	}
	switch {
	case up:
		return ascending
	case down:
		return descending
	}
	return unordered
}

// footer encodes the footer of a file, which begins with the page indexes. at is where it will lie.
func footer(at int64, in *schema.Schema, codec compress.Compression, groups []writtenGroup) []byte {
	type place struct{ at, size int64 }
	var b []byte
	put := func(index []byte) place {
		b = append(b, index...)
		return place{at + int64(len(b)-len(index)), int64(len(index))}
	}
	var columns, offsets []place
	for _, g := range groups {
		for _, c := range g.chunks {
			columns = append(columns, put(c.columnIndex))
		}
	}
	for _, g := range groups {
		for _, c := range g.chunks {
			offsets = append(offsets, put(c.offsetIndex))
		}
	}
	w := thriftWriter{b: b}
	start := len(w.b)
	w.last = []int{0}
	w.int32(1, 2)
	w.schema(in.Root())
	rows := int64(0)
	for _, g := range groups {
		rows += g.rows
	}
	w.int64(3, rows)
	w.list(4, thriftStruct, len(groups))
	for i, g := range groups {
		w.element()
		w.list(1, thriftStruct, len(g.chunks))
		for k, c := range g.chunks {
			w.element()
			w.int64(2, 0) // of a copy of the metadata, which is in no file
			w.open(3)
			w.chunk(&c, in.Column(k), codec)
			w.end()
			n := i*len(g.chunks) + k
			w.int64(4, offsets[n].at)
			w.int32(5, int32(offsets[n].size))
			if columns[n].size > 0 {
				w.int64(6, columns[n].at)
				w.int32(7, int32(columns[n].size))
			}
			w.end()
		}
		w.group(i, g)
		w.end()
	}
	w.text(6, createdBy)
	w.list(7, thriftStruct, in.NumColumns())
	for range in.NumColumns() {
		w.element()
		w.empty(1) // the order of the type
		w.end()
	}
	w.b = append(w.b, thriftStop)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(w.b)-start))
	return append(w.b, magic...)
}

func (w *thriftWriter) group(ordinal int, g writtenGroup) {
	plain, packed := int64(0), int64(0)
	for _, c := range g.chunks {
		plain, packed = plain+c.plain, packed+c.packed
	}
	w.int64(2, plain)
	w.int64(3, g.rows)
	w.int64(5, g.at)
	w.int64(6, packed)
	w.ordinal(ordinal)
}

// ordinal numbers a row group, as far as the field's type goes.
func (w *thriftWriter) ordinal(n int) {
	if n <= 1<<15-1 {
		w.field(7, thriftInt16)
		w.zigzag(int64(n))
	}
}

func (w *thriftWriter) chunk(c *writtenChunk, n *schema.Column, codec compress.Compression) {
	w.int32(1, int32(n.PhysicalType()))
	var encodings []int32
	for _, e := range append(c.encodings, pageEncoding{encoding: encodingRLE}) {
		if !slices.Contains(encodings, e.encoding) {
			encodings = append(encodings, e.encoding)
		}
	}
	w.list(2, thriftInt32, len(encodings))
	for _, e := range encodings {
		w.zigzag(int64(e))
	}
	path := n.ColumnPath()
	w.list(3, thriftBinary, len(path))
	for _, name := range path {
		w.bytes([]byte(name))
	}
	w.int32(4, int32(codec))
	w.int64(5, c.values)
	w.int64(6, c.plain)
	w.int64(7, c.packed)
	w.int64(9, c.data)
	if c.dictionary > 0 {
		w.int64(11, c.dictionary)
	}
	w.open(12)
	w.int64(3, c.nulls)
	if c.bounds.has {
		w.binary(5, c.bounds.most)
		w.binary(6, c.bounds.least)
		w.boolean(7, c.bounds.exactMost)
		w.boolean(8, c.bounds.exactLeast)
	}
	w.end()
	w.list(13, thriftStruct, len(c.encodings))
	for _, e := range c.encodings {
		w.element()
		w.int32(1, e.kind)
		w.int32(2, e.encoding)
		w.int32(3, e.pages)
		w.end()
	}
}

// schema writes the root and what is in it.
func (w *thriftWriter) schema(root *schema.GroupNode) {
	var nodes []schema.Node
	var walk func(n schema.Node)
	walk = func(n schema.Node) {
		nodes = append(nodes, n)
		if g, ok := n.(*schema.GroupNode); ok {
			for i := range g.NumFields() {
				walk(g.Field(i))
			}
		}
	}
	walk(root)
	w.list(2, thriftStruct, len(nodes))
	for _, n := range nodes {
		w.element()
		if p, ok := n.(*schema.PrimitiveNode); ok {
			w.int32(1, int32(p.PhysicalType()))
			if p.PhysicalType() == parquet.Types.FixedLenByteArray {
				w.int32(2, int32(p.TypeLength()))
			}
		}
		if n != schema.Node(root) {
			w.int32(3, int32(n.RepetitionType()))
		}
		w.text(4, n.Name())
		if g, ok := n.(*schema.GroupNode); ok {
			w.int32(5, int32(g.NumFields()))
		}
		w.logical(n)
		w.end()
	}
}

// logical writes the older and the newer form of a column's logical type.
func (w *thriftWriter) logical(n schema.Node) {
	l := n.LogicalType()
	if isNone(l) {
		return
	}
	if c := n.ConvertedType(); c != schema.ConvertedTypes.None {
		w.int32(6, int32(c))
	}
	if d, ok := l.(*schema.DecimalLogicalType); ok {
		w.int32(7, d.Scale())
		w.int32(8, d.Precision())
	}
	w.open(10)
	switch l := l.(type) {
	case schema.StringLogicalType:
		w.empty(1)
	case schema.MapLogicalType:
		w.empty(2)
	case schema.ListLogicalType:
		w.empty(3)
	case *schema.DecimalLogicalType:
		w.open(5)
		w.int32(1, l.Scale())
		w.int32(2, l.Precision())
		w.end()
	case schema.DateLogicalType:
		w.empty(6)
	case *schema.TimeLogicalType:
		w.open(7)
		w.time(l.IsAdjustedToUTC(), l.TimeUnit())
		w.end()
	case *schema.TimestampLogicalType:
		w.open(8)
		w.time(l.IsAdjustedToUTC(), l.TimeUnit())
		w.end()
	case *schema.IntLogicalType:
		w.open(10)
		w.byte(1, byte(l.BitWidth()))
		w.boolean(2, l.IsSigned())
		w.end()
	}
	w.end()
}

func (w *thriftWriter) time(utc bool, unit schema.TimeUnitType) {
	w.boolean(1, utc)
	w.open(2)
	switch unit {
	case schema.TimeUnitMillis:
		w.empty(1)
	case schema.TimeUnitMicros:
		w.empty(2)
	default:
		w.empty(3)
	}
	w.end()
}
