// Package text is what connectors that read text files share: reading them at offsets or as a stream that
// is unpacked and decoded, counting their lines, and cutting them into splits.
package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/unpack"
)

// MaxRecord is the longest record that is read, in bytes.
const MaxRecord = 64 << 20

// ReadFull reads len(b) bytes at an offset of a file that was size bytes long when it was bound.
func ReadFull(f files.ReadFile, path string, size int64, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return &connectors.DataError{
			Kind: "DamagedFile", File: path, Wanted: fmt.Sprintf("%d bytes", size),
			Message: fmt.Sprintf("the file ends at byte %d, and had %d bytes when the job began: it was changed while it was read", at+int64(n), size),
		}
	}
	return files.ReadFailure(err, path, fmt.Sprintf("cannot read %s at byte %d", path, at))
}

// Unchanged is an error where an open file has not the size it had when it was bound.
func Unchanged(f files.ReadFile, path string, size int64) error {
	if f.Size() == size {
		return nil
	}
	return &connectors.DataError{
		Kind: "DamagedFile", File: path, Wanted: fmt.Sprintf("%d bytes", size),
		Message: fmt.Sprintf("the file has %d bytes now and had %d when the job began: it was changed meanwhile", f.Size(), size),
	}
}

// LineAt is the number of the line that an offset is in, from 1.
func LineAt(f files.ReadFile, path string, size, at int64) (int64, error) {
	buf := make([]byte, 256<<10)
	line := int64(1)
	for pos := int64(0); pos < at; {
		n := min(int64(len(buf)), at-pos)
		if err := ReadFull(f, path, size, buf[:n], pos); err != nil {
			return 0, err
		}
		line += int64(bytes.Count(buf[:n], []byte{'\n'}))
		pos += n
	}
	return line, nil
}

// Compression tells how a file is compressed as a whole, by its first bytes.
func Compression(fs files.FS, f files.File) (string, error) {
	h, err := fs.Open(f.Abs)
	if err != nil {
		return "", files.ReadFailure(err, f.Path, "cannot open "+f.Path)
	}
	defer h.Close()
	head := make([]byte, min(unpack.Head, h.Size()))
	if err := ReadFull(h, f.Path, h.Size(), head, 0); err != nil {
		return "", err
	}
	kind, err := unpack.Kind(f.Abs, head)
	if err != nil {
		err = &files.Error{Kind: files.ReadError, Path: f.Path, Message: f.Path + ": " + err.Error()}
	}
	return kind, err
}
