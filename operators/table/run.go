package table

import (
	"bufio"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Fanout is into how many partitions spilled rows are divided by their hash, and MaxDepth how often
// a partition that still does not fit is divided again.
const (
	Fanout     = 16
	fanoutBits = 4
	MaxDepth   = 8
)

// A Run is a sequence of records in a spill file: written first, then read from the start. All have
// one physical schema, without dictionaries.
type Run struct {
	task  *operators.Task
	name  string
	file  operators.SpillFile
	buf   *bufio.Writer
	write *ipc.Writer
	read  *ipc.Reader
	rows  int64
}

// NewRun makes an empty run; its file is opened by the first Write.
func NewRun(t *operators.Task, name string) *Run { return &Run{task: t, name: name} }

// Rows is how many rows were written.
func (r *Run) Rows() int64 { return r.rows }

// Write appends a record, which stays the caller's.
func (r *Run) Write(rec arrow.Record) error {
	if err := r.task.Ctx.Err(); err != nil {
		return err
	}
	if r.write == nil {
		f, err := r.task.Memory.Spill(r.name)
		if err != nil {
			return fmt.Errorf("opening spill file %s: %w", r.name, err)
		}
		r.file = f
		r.buf = bufio.NewWriterSize(f, 32<<10)
		r.write = ipc.NewWriter(r.buf, ipc.WithSchema(rec.Schema()), ipc.WithAllocator(r.task.Alloc))
	}
	if err := r.write.Write(rec); err != nil {
		return fmt.Errorf("writing spill file %s: %w", r.name, err)
	}
	r.rows += rec.NumRows()
	return nil
}

// Rewind ends writing and goes to the first record.
func (r *Run) Rewind() error {
	if r.write == nil {
		return nil
	}
	err := r.write.Close()
	if err == nil {
		err = r.buf.Flush()
	}
	if err == nil {
		_, err = r.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		r.read, err = ipc.NewReader(bufio.NewReaderSize(r.file, 32<<10), ipc.WithAllocator(r.task.Alloc))
	}
	if err != nil {
		return fmt.Errorf("reading spill file %s: %w", r.name, err)
	}
	return nil
}

// Next is the next record, which the caller releases; io.EOF after the last. Like Write it fails when the
// task is cancelled.
func (r *Run) Next() (arrow.Record, error) {
	if r.read == nil {
		return nil, io.EOF
	}
	if err := r.task.Ctx.Err(); err != nil {
		return nil, err
	}
	if r.read.Next() {
		rec := r.read.Record()
		rec.Retain()
		return rec, nil
	}
	if err := r.read.Err(); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading spill file %s: %w", r.name, err)
	}
	return nil, io.EOF
}

// Each reads the run from its beginning and gives each record, which is released behind do.
func (r *Run) Each(do func(arrow.Record) error) error {
	if err := r.Rewind(); err != nil {
		return err
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		err = do(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
}

// Close removes the file.
func (r *Run) Close() error {
	if r.read != nil {
		r.read.Release()
		r.read = nil
	}
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	if err != nil {
		return fmt.Errorf("removing spill file %s: %w", r.name, err)
	}
	return nil
}

// Scatter writes the rows of a record to partitions by the hash of the given columns, which are
// aligned to it. Depth says which bits of the hash decide; key groups use others.
func Scatter(t *operators.Task, rec arrow.Record, hashed []arrow.Array, fields []expr.Field, depth int, part func(i int) (*Run, error)) error {
	hashes := make([]uint64, rec.NumRows())
	column.NewHasher(schemaTypes(expr.Schema{Fields: fields})).Hash(hashed, nil, nil, hashes)
	var idx [Fanout][]int32
	shift := 64 - fanoutBits*(depth+1)
	for row, h := range hashes {
		p := h >> shift & (Fanout - 1)
		idx[p] = append(idx[p], int32(row))
	}
	for p, rows := range idx {
		if len(rows) == 0 {
			continue
		}
		run, err := part(p)
		if err != nil {
			return err
		}
		some := takeRecord(t, rec, rows)
		err = run.Write(some)
		some.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func takeRecord(t *operators.Task, rec arrow.Record, rows []int32) arrow.Record {
	cols := make([]arrow.Array, rec.NumCols())
	for i := range cols {
		cols[i] = column.Take(t.Alloc, rec.Column(i), rows)
	}
	out := array.NewRecord(rec.Schema(), cols, int64(len(rows)))
	for _, c := range cols {
		c.Release()
	}
	return out
}
