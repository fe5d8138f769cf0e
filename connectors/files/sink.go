package files

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// An Encoder turns rows into the bytes of one file.
type Encoder interface {
	// Write encodes the live rows of a batch; it owns b.Rec's reference.
	Write(b operators.Batch) error
	// Finish writes what is still held, and the end of the file. A file without rows is complete too,
	// and carries the schema where the format has one.
	Finish() error
	// Close frees what is held; also after an error, and without Finish.
	Close() error
}

// A NewEncoder makes the encoder of one file. Errors of w name the target already.
type NewEncoder func(t *operators.Task, w io.Writer) (Encoder, error)

// NewSink makes a sink of files in one format: staged beside the target, published atomically.
func NewSink(fsys FS, t Target, encode NewEncoder) connectors.Sink {
	return &sink{fsys, t, encode, nil}
}

type sink struct {
	fs     FS
	target Target
	encode NewEncoder
	join   Join // nil: a target that is one file has one writer
}

// A staged file is the state of a committable.
type staged struct {
	Version int    `json:"version"`
	Name    string `json:"name"` // in the stage
	Part    int    `json:"part"` // number of the subtask's files, from 0
}

const stagedVersion = 1

// Writer opens a new staged file. Files recovered from a checkpoint are the committer's.
func (s *sink) Writer(t *operators.Task, run string, recovered []connectors.Committable) (connectors.Writer, error) {
	w := &writer{task: t, stage: newStage(s.fs, s.target, run), encode: s.encode, part: len(recovered)}
	if err := w.open(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (s *sink) Committer() (connectors.Committer, error) {
	return &committer{s.fs, s.target, s.join}, nil
}

// A writer writes the file of one subtask.
type writer struct {
	task   *operators.Task
	stage  stage
	encode NewEncoder
	part   int

	name    string
	file    WriteFile
	out     *bufio.Writer
	encoder Encoder
	rows    int64
	bytes   int64
}

// writeBuffer is how many bytes are gathered before the file system is asked.
const writeBuffer = 256 << 10

func (w *writer) open() error {
	var err error
	if w.name, w.file, err = w.stage.create(w.task.Subtask); err != nil {
		return err
	}
	w.out = bufio.NewWriterSize(fileWriter{w}, writeBuffer)
	w.encoder, err = w.encode(w.task, w.out)
	return err
}

// A fileWriter counts, and makes errors say which target and what kind.
type fileWriter struct{ w *writer }

func (f fileWriter) Write(p []byte) (int, error) {
	n, err := f.w.file.Write(p)
	f.w.bytes += int64(n)
	return n, f.w.failed(err, "cannot write")
}

func (w *writer) failed(err error, doing string) error {
	show := w.stage.target.Show
	return WriteFailure(err, show, doing+" target "+show)
}

func (w *writer) Write(b operators.Batch) error {
	if w.encoder == nil {
		b.Rec.Release()
		return fmt.Errorf("writing to target %s after its end", w.stage.target.Show)
	}
	rows := int64(b.Rows())
	if err := w.encoder.Write(b); err != nil {
		return w.failed(err, "cannot write")
	}
	w.rows += rows
	return nil
}

// Prepare completes the file and makes it durable. Files are published once, at the end.
func (w *writer) Prepare(_ int64, end bool) ([]connectors.Committable, error) {
	show := w.stage.target.Show
	if !end {
		return nil, &Error{Kind: SinkError, Path: show, Message: "target " + show + " is published at the end of its input, and cannot be at a checkpoint"}
	}
	if w.encoder == nil {
		return nil, fmt.Errorf("preparing target %s twice", show)
	}
	err := w.encoder.Finish()
	if err == nil {
		err = w.out.Flush()
	}
	err = errors.Join(err, w.closeEncoder())
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return nil, w.failed(err, "cannot complete")
	}
	file := w.file
	w.file = nil
	if err := file.Close(); err != nil {
		return nil, w.failed(err, "cannot complete")
	}
	if err := w.stage.fs.SyncDir(w.stage.work()); err != nil {
		return nil, w.failed(err, "cannot complete")
	}
	state, err := json.Marshal(staged{stagedVersion, w.name, w.part})
	if err != nil {
		return nil, fmt.Errorf("writing what was staged for target %s: %w", show, err)
	}
	w.name = ""
	return []connectors.Committable{{State: state, Subtask: w.task.Subtask, Rows: w.rows, Bytes: w.bytes}}, nil
}

// Snapshot is empty: a writer starts its file anew after a failure.
func (w *writer) Snapshot() ([]byte, error) { return nil, nil }

// Close removes the file unless it was prepared.
func (w *writer) Close() error {
	err := w.closeEncoder()
	if w.file != nil {
		err = errors.Join(err, w.failed(w.file.Close(), "cannot close"))
		w.file = nil
	}
	if w.name != "" {
		err = errors.Join(err, w.stage.release(w.name))
		w.name = ""
	}
	return err
}

func (w *writer) closeEncoder() error {
	if w.encoder == nil {
		return nil
	}
	e := w.encoder
	w.encoder = nil
	return e.Close()
}
