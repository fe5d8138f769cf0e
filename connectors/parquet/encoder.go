package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// An encoder writes a Parquet file. A row group is held in memory, encoded, until it is full.
type encoder struct {
	schema    expr.Schema
	out       *sticky
	file      *file.Writer
	group     file.BufferedRowGroupWriter
	groupRows int64 // rows in the group
	mostRows  int64
	columns   []columnWriter
	rows      []int32 // scratch: the rows of a batch without selection
}

// mostBytes is about where a row group ends, in encoded bytes.
const mostBytes = 64 << 20

func newEncoder(in expr.Schema, w io.Writer, codec compress.Compression, mostRows int64) (*encoder, error) {
	e := &encoder{schema: in, out: &sticky{w: w}, mostRows: mostRows}
	fields, err := nodes(in)
	if err != nil {
		return nil, err
	}
	for _, f := range in.Fields {
		e.columns = append(e.columns, newColumnWriter(f))
	}
	err = e.guard(func() error {
		root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
		if err != nil {
			return err
		}
		e.file = file.NewParquetWriter(e.out, root, file.WithWriterProps(properties(in, codec)))
		return nil
	})
	return e, err
}

// guard turns panics of the library into errors, and finds errors of the output that it passed over.
func (e *encoder) guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil && err == nil {
			err = errors.New("the Parquet encoder broke off")
		}
		if e.out.err != nil {
			err = e.out.err
		}
	}()
	return f()
}

// Write appends the live rows.
func (e *encoder) Write(b operators.Batch) error {
	defer b.Rec.Release()
	rows := b.Sel
	if rows == nil {
		for n := int(b.Rec.NumRows()); len(e.rows) < n; {
			e.rows = append(e.rows, int32(len(e.rows)))
		}
		rows = e.rows[:b.Rec.NumRows()]
	}
	return e.guard(func() error {
		for len(rows) > 0 {
			if err := e.room(); err != nil {
				return err
			}
			n := min(int64(len(rows)), e.mostRows-e.groupRows)
			if err := e.append(b, rows[:n]); err != nil {
				return err
			}
			e.groupRows += n
			rows = rows[n:]
		}
		return nil
	})
}

// room begins a row group where there is none, or the last one is full.
func (e *encoder) room() error {
	if e.group != nil && (e.groupRows >= e.mostRows || e.group.TotalCompressedBytes() >= mostBytes) {
		if err := e.closeGroup(); err != nil {
			return err
		}
	}
	if e.group == nil {
		e.group = e.file.AppendBufferedRowGroup()
		e.groupRows = 0
	}
	return nil
}

func (e *encoder) closeGroup() error {
	g := e.group
	e.group = nil
	if g == nil {
		return nil
	}
	return g.Close()
}

func (e *encoder) append(b operators.Batch, rows []int32) error {
	for c, w := range e.columns {
		cw, err := e.group.Column(c)
		if err != nil {
			return err
		}
		if err := w.write(cw, b.Rec.Column(c), rows); err != nil {
			return fmt.Errorf("column %s: %w", e.schema.Fields[c].Name, err)
		}
	}
	return nil
}

// Finish writes the last row group and the footer. A file without rows has no row group.
func (e *encoder) Finish() error {
	return e.guard(func() error {
		if err := e.closeGroup(); err != nil {
			return err
		}
		return e.file.FlushWithFooter()
	})
}

// Close lets go of the row group.
func (e *encoder) Close() error {
	e.group, e.file = nil, nil
	return nil
}

// A sticky remembers the first error of a writer, because the library does not hand all of them on.
type sticky struct {
	w   io.Writer
	err error
}

func (s *sticky) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(b)
	s.err = err
	return n, err
}
