package files

import (
	"errors"
	"os"
)

// A TempFile is a temporary file that ends with the process that opened it.
type TempFile struct {
	*os.File
	named bool // where an open file cannot be removed, it still has its name
}

// Temp opens a temporary file in dir, the system's folder for such files if that is empty. Its name is
// taken away at once where the system allows it, so that a process that is killed leaves nothing.
func Temp(dir, pattern string) (*TempFile, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &TempFile{f, os.Remove(f.Name()) != nil}, nil
}

// Close closes the file and gives its space back.
func (f *TempFile) Close() error {
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
