// Package files is what connectors that read and write files share: listing with globs, staging and
// atomic publishing, and the file system seam below both.
package files

import (
	"errors"
	"io"
	"time"
)

// ErrNotSupported says that a file system cannot do what was asked, so that the caller takes its
// slower way.
var ErrNotSupported = errors.New("the file system cannot do this")

// An FS is a file system. Paths are absolute and clean. Errors are those of package os or wrap them,
// so that errors.Is finds fs.ErrNotExist, fs.ErrPermission, fs.ErrExist and syscall numbers.
type FS interface {
	// Open opens a file for reading at offsets; many goroutines may read at once.
	Open(path string) (ReadFile, error)
	// Stat follows links; Lstat does not.
	Stat(path string) (Info, error)
	Lstat(path string) (Info, error)
	// ReadDir lists a folder, sorted bytewise by name, without following links.
	ReadDir(path string) ([]Info, error)
	// Create makes a file for writing; one that exists is fs.ErrExist.
	Create(path string) (WriteFile, error)
	// Mkdir makes one folder; one that exists is fs.ErrExist.
	Mkdir(path string) error
	// Rename replaces a file at the new path; RenameNew fails with fs.ErrExist where one is there.
	Rename(from, to string) error
	RenameNew(from, to string) error
	// Exchange swaps two paths in one step, or says ErrNotSupported and changes nothing.
	Exchange(a, b string) error
	// Remove takes a file or an empty folder away.
	Remove(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(path string) error
	// Writable says why nothing can be made in a folder, nil where it can or nobody knows.
	Writable(path string) error
	// Resolve gives the path without symbolic links.
	Resolve(path string) (string, error)
}

// A ReadFile is an open file.
type ReadFile interface {
	io.ReaderAt
	io.Closer
	Size() int64 // in bytes, when it was opened
}

// A WriteFile is a file being written.
type WriteFile interface {
	io.Writer
	io.Closer
	Sync() error // makes what was written durable
}

// An Info describes an entry of a file system.
type Info struct {
	Name    string // last part of the path
	Bytes   int64
	ModTime time.Time
	Dir     bool
	Link    bool // a symbolic link
	Regular bool // a plain file: no folder, link, pipe or device
}
