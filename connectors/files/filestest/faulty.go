// Package filestest has file systems for tests.
package filestest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// ErrInjected is the failure that a [Faulty] file system makes.
var ErrInjected = errors.New("injected failure")

// Faulty is a file system whose n-th call fails, and with Stop all calls after it too, as if the
// process had died there. The zero Fail means no failure; Calls counts.
type Faulty struct {
	files.FS
	Fail  int   // number of the call that fails, from 1
	Stop  bool  // later calls fail too
	Err   error // what it fails with; nil = ErrInjected
	Plain bool  // Exchange is not supported
	Loose bool  // nothing is made durable, which is quicker

	mu    sync.Mutex
	calls int
	names []string
}

// Calls is how many calls there were.
func (f *Faulty) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Last names the call that failed, or the last one.
func (f *Faulty) Last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.names) == 0 {
		return ""
	}
	return f.names[len(f.names)-1]
}

func (f *Faulty) step(name, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.Fail == 0 || f.calls < f.Fail || f.calls > f.Fail && !f.Stop {
		return nil
	}
	if f.calls == f.Fail {
		f.names = append(f.names, name+" "+path)
	}
	err := f.Err
	if err == nil {
		err = ErrInjected
	}
	return fmt.Errorf("%s %s: %w", name, path, err)
}

// Open may fail.
func (f *Faulty) Open(path string) (files.ReadFile, error) {
	if err := f.step("open", path); err != nil {
		return nil, err
	}
	r, err := f.FS.Open(path)
	if err != nil {
		return nil, err
	}
	return &readFile{r, f, path}, nil
}

type readFile struct {
	files.ReadFile
	f    *Faulty
	path string
}

func (r *readFile) ReadAt(b []byte, offset int64) (int, error) {
	if err := r.f.step("read", r.path); err != nil {
		return 0, err
	}
	return r.ReadFile.ReadAt(b, offset)
}

// Stat may fail.
func (f *Faulty) Stat(path string) (files.Info, error) {
	if err := f.step("stat", path); err != nil {
		return files.Info{}, err
	}
	return f.FS.Stat(path)
}

// Lstat may fail.
func (f *Faulty) Lstat(path string) (files.Info, error) {
	if err := f.step("lstat", path); err != nil {
		return files.Info{}, err
	}
	return f.FS.Lstat(path)
}

// ReadDir may fail.
func (f *Faulty) ReadDir(path string) ([]files.Info, error) {
	if err := f.step("readdir", path); err != nil {
		return nil, err
	}
	return f.FS.ReadDir(path)
}

// Create may fail, and so may what is done with the file.
func (f *Faulty) Create(path string) (files.WriteFile, error) {
	if err := f.step("create", path); err != nil {
		return nil, err
	}
	w, err := f.FS.Create(path)
	if err != nil {
		return nil, err
	}
	return &writeFile{w, f, path}, nil
}

type writeFile struct {
	files.WriteFile
	f    *Faulty
	path string
}

// Write puts down half of what it is given where it fails.
func (w *writeFile) Write(b []byte) (int, error) {
	if err := w.f.step("write", w.path); err != nil {
		n, _ := w.WriteFile.Write(b[:len(b)/2])
		return n, err
	}
	return w.WriteFile.Write(b)
}

func (w *writeFile) Sync() error {
	if err := w.f.step("sync", w.path); err != nil {
		return err
	}
	if w.f.Loose {
		return nil
	}
	return w.WriteFile.Sync()
}

func (w *writeFile) Close() error {
	if err := w.f.step("close", w.path); err != nil {
		return errors.Join(err, w.WriteFile.Close())
	}
	return w.WriteFile.Close()
}

// Mkdir may fail.
func (f *Faulty) Mkdir(path string) error { return f.path("mkdir", path, f.FS.Mkdir) }

// Remove may fail.
func (f *Faulty) Remove(path string) error { return f.path("remove", path, f.FS.Remove) }

// SyncDir may fail.
func (f *Faulty) SyncDir(path string) error {
	if f.Loose {
		return f.step("syncdir", path)
	}
	return f.path("syncdir", path, f.FS.SyncDir)
}

// Writable may fail.
func (f *Faulty) Writable(path string) error { return f.path("writable", path, f.FS.Writable) }

func (f *Faulty) path(name, path string, do func(string) error) error {
	if err := f.step(name, path); err != nil {
		return err
	}
	return do(path)
}

// Rename may fail.
func (f *Faulty) Rename(from, to string) error { return f.paths("rename", from, to, f.FS.Rename) }

// RenameNew may fail.
func (f *Faulty) RenameNew(from, to string) error {
	return f.paths("renamenew", from, to, f.FS.RenameNew)
}

// Exchange may fail, or be unknown.
func (f *Faulty) Exchange(a, b string) error {
	if f.Plain {
		return files.ErrNotSupported
	}
	return f.paths("exchange", a, b, f.FS.Exchange)
}

func (f *Faulty) paths(name, a, b string, do func(a, b string) error) error {
	if err := f.step(name, b); err != nil {
		return err
	}
	return do(a, b)
}

// Resolve may fail.
func (f *Faulty) Resolve(path string) (string, error) {
	if err := f.step("resolve", path); err != nil {
		return "", err
	}
	return f.FS.Resolve(path)
}
