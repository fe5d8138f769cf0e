// Package connectortest holds the tests that every connector passes: for sources that every row comes
// exactly once however the input is cut, for sinks that what was written is read back and that nothing
// is left of what was not committed.
package connectortest

import (
	"errors"
	"sync/atomic"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// ErrInjected is the error that a [Faulty] file system makes.
var ErrInjected = errors.New("input/output error, injected")

// Faulty is a file system whose n-th call fails, counting from 1. With n = 0 it only counts.
type Faulty struct {
	files.FS
	n     int64
	calls atomic.Int64
}

// NewFaulty makes one over another file system.
func NewFaulty(fs files.FS, n int64) *Faulty { return &Faulty{FS: fs, n: n} }

// Calls is how many calls there were.
func (f *Faulty) Calls() int64 { return f.calls.Load() }

func (f *Faulty) fail() error {
	if f.calls.Add(1) == f.n {
		return ErrInjected
	}
	return nil
}

// Open fails or gives a file whose calls may fail.
func (f *Faulty) Open(path string) (files.ReadFile, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	h, err := f.FS.Open(path)
	if err != nil {
		return nil, err
	}
	return &faultyRead{h, f}, nil
}

// Create fails or gives a file whose calls may fail.
func (f *Faulty) Create(path string) (files.WriteFile, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	h, err := f.FS.Create(path)
	if err != nil {
		return nil, err
	}
	return &faultyWrite{h, f}, nil
}

// Rename may fail.
func (f *Faulty) Rename(from, to string) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.FS.Rename(from, to)
}

// Mkdir may fail.
func (f *Faulty) Mkdir(path string) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.FS.Mkdir(path)
}

type faultyRead struct {
	files.ReadFile
	fs *Faulty
}

func (r *faultyRead) ReadAt(b []byte, at int64) (int, error) {
	if err := r.fs.fail(); err != nil {
		return 0, err
	}
	return r.ReadFile.ReadAt(b, at)
}

type faultyWrite struct {
	files.WriteFile
	fs *Faulty
}

func (w *faultyWrite) Write(b []byte) (int, error) {
	if err := w.fs.fail(); err != nil {
		return 0, err
	}
	return w.WriteFile.Write(b)
}

func (w *faultyWrite) Sync() error {
	if err := w.fs.fail(); err != nil {
		return err
	}
	return w.WriteFile.Sync()
}
