package filestest

import (
	"sync/atomic"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// Counting is a file system that counts the bytes that are read of its files.
type Counting struct {
	files.FS
	Read atomic.Int64
}

type countedFile struct {
	files.ReadFile
	read *atomic.Int64
}

// Open opens a file.
func (c *Counting) Open(path string) (files.ReadFile, error) {
	f, err := c.FS.Open(path)
	return countedFile{f, &c.Read}, err
}

func (c countedFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReadFile.ReadAt(b, at)
	c.read.Add(int64(n))
	return n, err
}
