package text

import (
	"errors"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// Opened is the one of a reader's files that is open for reading at offsets.
type Opened struct {
	File   files.ReadFile // nil: none is
	number int64
}

// Turn opens a file unless it is open, and fails where it is not the one that was bound; fresh says that it
// was opened now. number tells the files apart.
func (o *Opened) Turn(fs files.FS, number int64, abs, path string, bytes, modified int64) (fresh bool, err error) {
	if o.number == number {
		return false, nil
	}
	if err := o.Close(); err != nil {
		return false, files.ReadFailure(err, path, "cannot close the file before "+path)
	}
	h, err := fs.Open(abs)
	if err != nil {
		return false, files.ReadFailure(err, path, "cannot open "+path)
	}
	if err := errors.Join(Unchanged(h, path, bytes), files.Unchanged(fs, abs, path, bytes, modified)); err != nil {
		return false, errors.Join(err, h.Close())
	}
	o.File, o.number = h, number
	return true, nil
}

// Close closes the file that is open.
func (o *Opened) Close() error {
	if o.File == nil {
		return nil
	}
	h := o.File
	o.File, o.number = nil, 0
	return h.Close()
}
