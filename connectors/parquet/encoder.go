package parquet

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// An encoder writes a Parquet file. A row group is held in memory, encoded, until it is full.
type encoder struct {
	schema  expr.Schema
	form    *schema.Schema
	fields  []fieldWriter
	out     io.Writer
	at      int64           // bytes of the file that are written
	columns []*columnWriter // of all fields
	deflate deflater
	*limits
	groups   []writtenGroup
	rows     int64 // rows in the group
	mostRows int64
	ledger   ledger
	failed   error // of a row group that was written when memory was asked for
}

func newEncoder(in expr.Schema, w io.Writer, codec compress.Compression, l *limits, mostRows int64, m operators.Memory) (*encoder, error) {
	fields, err := nodes(in)
	if err != nil {
		return nil, err
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, fmt.Errorf("making the schema of a Parquet file: %w", err)
	}
	e := &encoder{schema: in, form: schema.NewSchema(root), out: w, limits: l, mostRows: mostRows, ledger: ledger{memory: m}}
	e.deflate.codec = codec
	for _, f := range in.Fields {
		e.add(f)
	}
	if m != nil {
		m.OnPressure(e.yield)
	}
	return e, e.put([]byte(magic))
}

// A fieldWriter writes a field of the rows: a column, or a nested one with all its columns.
type fieldWriter interface {
	write(arr arrow.Array, dict uint64, sel []int32, from, n int) error
}

func (e *encoder) add(f expr.Field) {
	if !f.Type.Nested() {
		c := newColumnWriter(f, &e.deflate, e.limits)
		e.columns, e.fields = append(e.columns, c), append(e.fields, c)
		return
	}
	w := newNestedWriter(f, &e.deflate, e.limits)
	for _, l := range w.leaves {
		e.columns = append(e.columns, l.column)
	}
	e.fields = append(e.fields, w)
}

func (e *encoder) put(b []byte) error {
	n, err := e.out.Write(b)
	e.at += int64(n)
	return err
}

// Write appends the live rows.
func (e *encoder) Write(b operators.Batch) error {
	defer b.Rec.Release()
	rows := b.Rows()
	for from := 0; from < rows; {
		n := int(min(int64(rows-from), e.mostRows-e.rows))
		if err := e.append(b, from, n); err != nil {
			return err
		}
		e.rows += int64(n)
		from += n
		if err := e.endIfFull(); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) append(b operators.Batch, from, n int) error {
	sel := b.Sel
	if sel != nil {
		sel = sel[from : from+n]
	}
	for i, c := range e.fields {
		id := uint64(0)
		if b.Dict != nil {
			id = b.Dict[i]
		}
		if err := c.write(b.Rec.Column(i), id, sel, from, n); err != nil {
			return fmt.Errorf("column %s: %w", e.schema.Fields[i].Name, err)
		}
	}
	return nil
}

// endIfFull ends the row group where it has its rows or bytes, or the memory for more is refused.
func (e *encoder) endIfFull() error {
	held, encoded := e.held()
	refused := !e.ledger.settle(held)
	if e.failed != nil {
		return e.failed
	}
	if e.rows >= e.mostRows || encoded >= e.mostBytes || refused && encoded >= e.leastBytes {
		if err := e.endGroup(); err != nil {
			return err
		}
		if refused {
			e.shrink()
		}
	}
	return nil
}

// held is how many bytes of memory are held, and how many of them are encoded pages.
func (e *encoder) held() (held, encoded int64) {
	held = int64(e.deflate.memory())
	for _, c := range e.columns {
		held += int64(c.memory())
		encoded += int64(len(c.pages))
	}
	return held, encoded
}

// yield frees memory that another operator of the slot asks for. It is called between batches.
func (e *encoder) yield(int64) int64 {
	before := e.ledger.reserved
	if _, encoded := e.held(); encoded >= e.leastBytes && e.failed == nil {
		e.failed = e.endGroup()
	}
	if e.rows > 0 {
		return 0
	}
	e.shrink()
	return before - e.ledger.reserved
}

// shrink gives the memory of encoded pages back.
func (e *encoder) shrink() {
	for _, c := range e.columns {
		c.release()
	}
	held, _ := e.held()
	e.ledger.lower(held)
}

// endGroup writes the row group, if it has rows.
func (e *encoder) endGroup() error {
	if e.rows == 0 {
		return nil
	}
	return e.writeGroup()
}

func (e *encoder) writeGroup() error {
	g := writtenGroup{rows: e.rows, at: e.at}
	for i, c := range e.columns {
		chunk, err := e.endChunk(c)
		if err != nil {
			return fmt.Errorf("column %s: %w", e.form.Column(i).Path(), err)
		}
		g.chunks = append(g.chunks, chunk)
		c.reset()
	}
	e.groups = append(e.groups, g)
	e.rows = 0
	return nil
}

// endChunk writes a column of the row group: its dictionary, and its pages.
func (e *encoder) endChunk(c *columnWriter) (writtenChunk, error) {
	var none writtenChunk
	if err := c.endPage(); err != nil {
		return none, err
	}
	start := e.at
	raw, entries := c.values.dictionary(e.deflate.raw[:0])
	e.deflate.raw = raw
	if entries > 0 {
		page, err := c.appendPage(nil, pageHeader{kind: dictionaryPage, values: int32(entries), encoding: encodingPlain}, raw)
		if err != nil {
			return none, err
		}
		if err := e.put(page); err != nil {
			return none, err
		}
	}
	chunk := c.written(start, int(e.at-start))
	return chunk, e.put(c.pages)
}

// Finish writes the last row group, the page indexes and the footer. A file without rows has no row group.
func (e *encoder) Finish() error {
	if e.failed != nil {
		return e.failed
	}
	if err := e.endGroup(); err != nil {
		return err
	}
	return e.put(footer(e.at, e.form, e.deflate.codec, e.groups))
}

// Close lets go of what is held.
func (e *encoder) Close() error {
	e.columns, e.fields, e.groups = nil, nil, nil
	e.deflate = deflater{}
	e.ledger.lower(0)
	return nil
}

// A ledger keeps account of memory with the slot, in steps, so that it is not asked for every batch.
type ledger struct {
	memory   operators.Memory // nil: nobody counts
	reserved int64
}

const memoryStep = 1 << 20

func steps(held int64) int64 { return (held + memoryStep - 1) / memoryStep * memoryStep }

// lower gives back what is reserved beyond what is held. It asks for nothing: it may be called because
// somebody asks for memory, and that may be the encoder itself.
func (l *ledger) lower(held int64) {
	if want := steps(held); l.memory != nil && want < l.reserved {
		l.memory.Release(l.reserved - want)
		l.reserved = want
	}
}

// settle makes the reservation fit what is held, false where more was refused.
func (l *ledger) settle(held int64) bool {
	more := steps(held) - l.reserved
	if l.memory == nil || more <= 0 {
		l.lower(held)
		return true
	}
	if !l.memory.Reserve(more) {
		return false
	}
	l.reserved += more // being asked for memory meanwhile, less than before may be reserved
	return true
}
