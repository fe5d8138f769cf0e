package exchange

import (
	"bytes"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// spill appends a record to the result's file as a stream of its own, so that it can be read alone.
func (r *result) spill(l *Local, rec arrow.Record) (piece, error) {
	if r.file == nil {
		f, err := files.Temp(l.dir, "runner-result-*")
		if err != nil {
			return piece{}, err
		}
		r.file = f
	}
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(rec.Schema()), ipc.WithAllocator(l.alloc))
	if err := w.Write(rec); err != nil {
		return piece{}, err
	}
	if err := w.Close(); err != nil {
		return piece{}, err
	}
	if _, err := r.file.WriteAt(b.Bytes(), r.end); err != nil {
		return piece{}, err
	}
	p := piece{off: r.end, len: int64(b.Len())}
	r.end += p.len
	l.mu.Lock()
	l.spilled += p.len
	l.mu.Unlock()
	return p, nil
}

// load reads a spilled record.
func (r *result) load(alloc memory.Allocator, p piece) (rec arrow.Record, err error) {
	if r.file == nil {
		return nil, fmt.Errorf("a spilled result was dropped while it was read")
	}
	rd, err := ipc.NewReader(io.NewSectionReader(r.file, p.off, p.len), ipc.WithAllocator(alloc), ipc.WithDelayReadSchema(false))
	if err != nil {
		return nil, fmt.Errorf("reading a spilled result: %w", err)
	}
	defer rd.Release()
	if !rd.Next() {
		if err = rd.Err(); err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("reading a spilled result: %w", err)
	}
	rec = rd.Record()
	rec.Retain()
	return rec, nil
}
