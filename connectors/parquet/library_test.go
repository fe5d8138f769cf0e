package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// An libraryEncoder writes a Parquet file. A row group is held in memory, encoded, until it is full.
type libraryEncoder struct {
	in        expr.Schema
	out       *sticky
	file      *file.Writer
	group     file.BufferedRowGroupWriter
	groupRows int64 // rows in the group
	mostRows  int64
	columns   []libraryColumnWriter
	rows      []int32 // scratch: the rows of a batch without selection
}

// libraryMostBytes is about where a row group ends, in encoded bytes.
const libraryMostBytes = 64 << 20

// guard turns panics of the library into errors, and finds errors of the output that it passed over.
func (e *libraryEncoder) guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil && err == nil {
			err = errors.New("the Parquet libraryEncoder broke off")
		}
		if e.out.err != nil {
			err = e.out.err
		}
	}()
	return f()
}

// Write appends the live rows.
func (e *libraryEncoder) Write(b operators.Batch) error {
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
func (e *libraryEncoder) room() error {
	if e.group != nil && (e.groupRows >= e.mostRows || e.group.TotalCompressedBytes() >= libraryMostBytes) {
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

func (e *libraryEncoder) closeGroup() error {
	g := e.group
	e.group = nil
	if g == nil {
		return nil
	}
	return g.Close()
}

func (e *libraryEncoder) append(b operators.Batch, rows []int32) error {
	for c, w := range e.columns {
		cw, err := e.group.Column(c)
		if err != nil {
			return err
		}
		if err := w.write(cw, b.Rec.Column(c), rows); err != nil {
			return fmt.Errorf("column %s: %w", e.in.Fields[c].Name, err)
		}
	}
	return nil
}

// Finish writes the last row group and the footer. A file without rows has no row group.
func (e *libraryEncoder) Finish() error {
	return e.guard(func() error {
		if err := e.closeGroup(); err != nil {
			return err
		}
		return e.file.FlushWithFooter()
	})
}

// Close lets go of the row group.
func (e *libraryEncoder) Close() error {
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

// A libraryColumnWriter hands rows of a column to the library: which of them are NULL, and the values of
// those that are not.
type libraryColumnWriter interface {
	write(cw file.ColumnChunkWriter, arr arrow.Array, rows []int32) error
}

// A libraryBatchWriter is a chunk writer of the library for one physical type.
type libraryBatchWriter[T any] interface {
	WriteBatch(values []T, def, rep []int16) (int64, error)
}

// A libraryTypedColumn writes columns of one physical type.
type libraryTypedColumn[T any] struct {
	nullable bool
	values   []T
	levels   []int16
	// get makes a way to the values of an array that are not NULL.
	get func(arr arrow.Array) (func(row int) T, error)
}

func (c *libraryTypedColumn[T]) write(cw file.ColumnChunkWriter, arr arrow.Array, rows []int32) error {
	w, ok := cw.(libraryBatchWriter[T])
	if !ok {
		return fmt.Errorf("its writer is a %T", cw)
	}
	get, err := c.get(arr)
	if err != nil {
		return err
	}
	c.values, c.levels = c.values[:0], c.levels[:0]
	nulls := arr.NullN() > 0
	for _, row := range rows {
		if nulls && arr.IsNull(int(row)) {
			if !c.nullable {
				return errors.New("it is NOT NULL and has a NULL")
			}
			c.levels = append(c.levels, 0)
			continue
		}
		c.levels = append(c.levels, 1)
		c.values = append(c.values, get(int(row)))
	}
	levels := c.levels
	if !c.nullable {
		levels = nil
	}
	_, err = w.WriteBatch(c.values, levels, nil)
	return err
}

// libraryDirect is the way to values of arrays of one kind.
func libraryDirect[A any, T any](get func(A) func(int) T) func(arrow.Array) (func(int) T, error) {
	return func(arr arrow.Array) (func(int) T, error) {
		a, ok := arr.(A)
		if !ok {
			return nil, errColumn
		}
		return get(a), nil
	}
}

func newLibraryColumnWriter(f expr.Field) libraryColumnWriter {
	nullable := !f.Type.NotNull
	switch f.Type.Kind {
	case expr.Boolean:
		return &libraryTypedColumn[bool]{nullable: nullable, get: libraryDirect(func(a *array.Boolean) func(int) bool { return a.Value })}
	case expr.TinyInt, expr.SmallInt, expr.Int:
		return &libraryTypedColumn[int32]{nullable: nullable, get: libraryDirect(func(a *array.Int32) func(int) int32 { return a.Value })}
	case expr.Date:
		return &libraryTypedColumn[int32]{nullable: nullable, get: libraryDirect(func(a *array.Date32) func(int) int32 {
			return func(i int) int32 { return int32(a.Value(i)) }
		})}
	case expr.Float:
		return &libraryTypedColumn[float32]{nullable: nullable, get: libraryDirect(func(a *array.Float64) func(int) float32 {
			return func(i int) float32 { return float32(a.Value(i)) }
		})}
	case expr.Double:
		return &libraryTypedColumn[float64]{nullable: nullable, get: libraryDirect(func(a *array.Float64) func(int) float64 { return a.Value })}
	case expr.Timestamp:
		unit := int64(1)
		if f.Type.Precision <= 3 {
			unit = 1000
		}
		return &libraryTypedColumn[int64]{nullable: nullable, get: libraryDirect(func(a *array.Timestamp) func(int) int64 {
			return func(i int) int64 { return floorDiv(int64(a.Value(i)), unit) }
		})}
	case expr.String:
		return &libraryTypedColumn[parquet.ByteArray]{nullable: nullable, get: libraryTexts}
	case expr.Decimal:
		if f.Type.Precision > expr.MaxDecimal64 {
			return &libraryTypedColumn[parquet.FixedLenByteArray]{nullable: nullable, get: libraryWide(decimalBytes(f.Type.Precision))}
		}
	}
	return &libraryTypedColumn[int64]{nullable: nullable, get: libraryDirect(func(a *array.Int64) func(int) int64 { return a.Value })}
}

// libraryTexts reads STRING columns, plain and dictionary-coded.
func libraryTexts(arr arrow.Array) (func(int) parquet.ByteArray, error) {
	code := func(i int) int { return i }
	if d, ok := arr.(*array.Dictionary); ok {
		arr, code = d.Dictionary(), d.GetValueIndex
	}
	s, ok := arr.(*array.String)
	if !ok {
		return nil, errColumn
	}
	return func(i int) parquet.ByteArray {
		v := s.Value(code(i))
		return unsafe.Slice(unsafe.StringData(v), len(v)) // the library copies
	}, nil
}

// libraryWide reads decimals of more than 64 bits, as big-endian two's complement of a size.
func libraryWide(size int) func(arrow.Array) (func(int) parquet.FixedLenByteArray, error) {
	return libraryDirect(func(a *array.Decimal128) func(int) parquet.FixedLenByteArray {
		return func(i int) parquet.FixedLenByteArray {
			v := a.Value(i)
			b := make([]byte, 16)
			binary.BigEndian.PutUint64(b, uint64(v.HighBits()))
			binary.BigEndian.PutUint64(b[8:], v.LowBits())
			return b[16-size:]
		}
	})
}
