// Package badrows keeps the records that a run leaves out on disk, sorted, in bounded memory: a [Spool] takes them
// as they come, in sorted runs, and [Merge] gives them in the order that a replay reads them in.
//
// A run of records is a row of blocks: the length of what follows, the length of it unpacked and an xxhash of it,
// 4, 4 and 8 bytes, and then the records, packed by S2. A record is its file (nothing where that is the file of
// the record before), line, byte and text.
package badrows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/s2"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

const (
	blockSize = 32 << 10 // about the bytes of a block, unpacked
	blockHead = 16
	// DefaultLimit is about how many bytes of records a spool holds in memory.
	DefaultLimit = 2 << 20
	// beside is what a record takes in memory beside its text.
	beside = 64
	// mostBlock bounds what a damaged head may ask for: a record may be as long as a reader takes.
	mostBlock = 1 << 30
)

// A Part is what a spool wrote: sorted runs one behind the other, each up to a byte of the file.
type Part struct {
	Path string  `json:"path"`
	Ends []int64 `json:"ends"`
	Rows int64   `json:"rows"`
}

// A Spool sorts records as far as its memory goes, and writes them.
type Spool struct {
	w     io.Writer
	limit int
	held  []connectors.Record
	bytes int
	part  Part
	out   blockWriter
}

// NewSpool makes a spool that writes to w and holds about limit bytes.
func NewSpool(w io.Writer, limit int) *Spool {
	return &Spool{w: w, limit: limit, out: blockWriter{w: w}}
}

// Add takes a record.
func (s *Spool) Add(r connectors.Record) error {
	s.held = append(s.held, r)
	s.bytes += len(r.Raw) + beside
	if s.bytes < s.limit {
		return nil
	}
	return s.flush()
}

// Finish writes what is left, and says what was written. Path is the caller's to set.
func (s *Spool) Finish() (Part, error) {
	err := s.flush()
	return s.part, err
}

// flush writes what is held as a run.
func (s *Spool) flush() error {
	if len(s.held) == 0 {
		return nil
	}
	slices.SortFunc(s.held, func(a, b connectors.Record) int { return a.Before(&b) })
	for i := range s.held {
		if err := s.out.add(&s.held[i]); err != nil {
			return err
		}
	}
	if err := s.out.end(); err != nil {
		return err
	}
	s.part.Rows += int64(len(s.held))
	s.part.Ends = append(s.part.Ends, s.out.written)
	clear(s.held)
	s.held, s.bytes = s.held[:0], 0
	return nil
}

// A blockWriter writes a run of records.
type blockWriter struct {
	w       io.Writer
	block   []byte
	packed  []byte
	last    connectors.Record // of the block
	written int64
}

func (b *blockWriter) add(r *connectors.Record) error {
	if len(b.block) == 0 {
		b.last = connectors.Record{}
	}
	file := r.File
	if len(b.block) > 0 && file == b.last.File {
		file = ""
	}
	b.block = appendText(b.block, file)
	b.block = binary.AppendVarint(b.block, r.Line-b.last.Line)
	b.block = binary.AppendVarint(b.block, r.Offset-b.last.Offset)
	b.block = appendText(b.block, r.Raw)
	b.last = *r
	if len(b.block) < blockSize {
		return nil
	}
	return b.end()
}

// end writes the block.
func (b *blockWriter) end() error {
	if len(b.block) == 0 {
		return nil
	}
	if need := blockHead + s2.MaxEncodedLen(len(b.block)); cap(b.packed) < need {
		b.packed = make([]byte, need)
	}
	packed := s2.Encode(b.packed[blockHead:cap(b.packed)], b.block)
	all := b.packed[:blockHead+len(packed)]
	binary.LittleEndian.PutUint32(all, uint32(len(packed)))
	binary.LittleEndian.PutUint32(all[4:], uint32(len(b.block)))
	binary.LittleEndian.PutUint64(all[8:], xxhash.Sum64(packed))
	n, err := b.w.Write(all)
	b.written += int64(n)
	b.block = b.block[:0]
	if err != nil {
		return fmt.Errorf("writing bad rows to disk: %w", err)
	}
	return nil
}

// Write writes sorted records to w as one run. It says how many bytes and rows it has.
func Write(w io.Writer, records iter.Seq2[connectors.Record, error]) (bytes, rows int64, err error) {
	b := blockWriter{w: w}
	for r, err := range records {
		if err != nil {
			return 0, 0, err
		}
		if err := b.add(&r); err != nil {
			return 0, 0, err
		}
		rows++
	}
	err = b.end()
	return b.written, rows, err
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// errDamaged is what the readers of damaged blocks say.
var errDamaged = errors.New("they are damaged")

// A runReader reads a run of records.
type runReader struct {
	r      io.ReaderAt
	at, to int64
	packed []byte
	block  []byte
	rest   []byte
	last   connectors.Record
}

// next gives the next record, false at the end.
func (x *runReader) next() (connectors.Record, bool, error) {
	if len(x.rest) == 0 {
		if x.at >= x.to {
			return connectors.Record{}, false, nil
		}
		if err := x.load(); err != nil {
			return connectors.Record{}, false, fmt.Errorf("reading bad rows from disk: %w", err)
		}
	}
	r, ok := x.record()
	if !ok {
		return connectors.Record{}, false, fmt.Errorf("reading bad rows from disk: %w", errDamaged)
	}
	return r, true, nil
}

func (x *runReader) load() error {
	var head [blockHead]byte
	if err := x.read(head[:]); err != nil {
		return err
	}
	packed, size := int64(binary.LittleEndian.Uint32(head[:])), int64(binary.LittleEndian.Uint32(head[4:]))
	if packed > x.to-x.at || size > mostBlock || size == 0 {
		return errDamaged
	}
	x.packed = slices.Grow(x.packed[:0], int(packed))[:packed]
	if err := x.read(x.packed); err != nil {
		return err
	}
	if n, err := s2.DecodedLen(x.packed); err != nil || int64(n) != size || xxhash.Sum64(x.packed) != binary.LittleEndian.Uint64(head[8:]) {
		return errDamaged
	}
	x.block = slices.Grow(x.block[:0], int(size))[:size]
	var err error
	if x.rest, err = s2.Decode(x.block, x.packed); err != nil {
		return errDamaged
	}
	x.last = connectors.Record{}
	return nil
}

// read fills b from where the run is.
func (x *runReader) read(b []byte) error {
	n, err := x.r.ReadAt(b, x.at)
	x.at += int64(n)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// record takes a record off the block.
func (x *runReader) record() (r connectors.Record, ok bool) {
	file, ok1 := x.text()
	line, ok2 := x.number()
	offset, ok3 := x.number()
	raw, ok4 := x.text()
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return r, false
	}
	r = connectors.Record{File: x.last.File, Line: x.last.Line + line, Offset: x.last.Offset + offset, Raw: string(raw)}
	if len(file) > 0 {
		r.File = string(file)
	}
	x.last = r
	return r, true
}

func (x *runReader) number() (int64, bool) {
	v, n := binary.Varint(x.rest)
	x.rest = x.rest[max(n, 0):]
	return v, n > 0
}

func (x *runReader) text() ([]byte, bool) {
	v, n := binary.Uvarint(x.rest)
	if n <= 0 || v > uint64(len(x.rest)-n) {
		return nil, false
	}
	s := x.rest[n : n+int(v)]
	x.rest = x.rest[n+int(v):]
	return s, true
}
