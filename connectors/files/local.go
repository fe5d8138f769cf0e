package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Local is the file system of this machine.
func Local() FS { return local{} }

type local struct{}

func (local) Open(path string) (ReadFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &localFile{f, st.Size()}, nil
}

type localFile struct {
	*os.File
	size int64
}

func (f *localFile) Size() int64 { return f.size }

func (local) Stat(path string) (Info, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return infoOf(st), nil
}

func (local) Lstat(path string) (Info, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return Info{}, err
	}
	return infoOf(st), nil
}

func infoOf(st fs.FileInfo) Info {
	return Info{
		Name: st.Name(), Bytes: st.Size(), ModTime: st.ModTime(), Dir: st.IsDir(),
		Link: st.Mode()&fs.ModeSymlink != 0, Regular: st.Mode().IsRegular(),
	}
}

// ReadDir leaves out entries that vanish while it looks.
func (local) ReadDir(path string) ([]Info, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	infos := make([]Info, 0, len(entries))
	for _, e := range entries {
		st, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, infoOf(st))
	}
	return infos, nil
}

func (local) Create(path string) (WriteFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (local) Mkdir(path string) error             { return os.Mkdir(path, 0o777) }
func (local) Rename(from, to string) error        { return os.Rename(from, to) }
func (local) Remove(path string) error            { return os.Remove(path) }
func (local) Resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }

func (local) RenameNew(from, to string) error {
	err := renameNew(from, to)
	if !errors.Is(err, ErrNotSupported) {
		return err
	}
	// A link fails where the name is taken, so it is as good for files. Folders cannot be linked.
	if err = os.Link(from, to); err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err = os.Lstat(to); err == nil {
		return fmt.Errorf("renaming %s: %w", to, fs.ErrExist)
	}
	return os.Rename(from, to)
}

func (local) Writable(path string) error {
	if err := writable(path); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

func (local) Exchange(a, b string) error { return exchange(a, b) }

func (local) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
