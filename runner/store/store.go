// Package store keeps durable bytes: a file is there whole or not at all, also after a crash.
package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// tempPrefix begins the name of a file that is being written. Its owner and random digits follow.
const tempPrefix = ".runner-tmp-"

// Sweep removes the files that processes were writing into dir when they died. What it cannot see or
// remove it leaves: such files are of no use, and do no harm.
func Sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), tempPrefix)
		if !ok {
			continue
		}
		if i := strings.LastIndexByte(rest, '-'); i >= 0 && files.ProcessEnded(rest[:i]) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// WriteFile puts b into the file at path: written beside it, flushed to disk, and renamed into place.
func WriteFile(path string, b []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Write is WriteFile for what is made on the way, and may be larger than memory. Where write fails, the file at
// path is as it was.
func Write(path string, write func(io.Writer) error) (err error) {
	if info, serr := os.Stat(path); serr == nil && !info.Mode().IsRegular() {
		return writeInPlace(path, write)
	}
	if real, lerr := filepath.EvalSymlinks(path); lerr == nil {
		path = real // what a link names is replaced, not the link
	}
	dir := filepath.Dir(path)
	Sweep(dir)
	f, err := os.CreateTemp(dir, tempPrefix+files.Process()+"-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			// The temporary file is of no use; why it failed is what counts.
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err = write(f); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err = f.Chmod(0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err = f.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err = f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return SyncDir(dir)
}

// writeInPlace writes to what is no regular file, a pipe or a device: it must not be replaced, and nothing
// of it survives a crash anyway.
func writeInPlace(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	err = write(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// Remove removes a file durably; one that is not there is no error.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes renames and removals in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("opening folder %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("flushing folder %s: %w", dir, err)
	}
	return nil
}
