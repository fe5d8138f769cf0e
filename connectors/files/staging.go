package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// A run stages what it writes beside its target:
//
//	.runner-<run>/lock.…           one for each process that works in it
//	.runner-<run>/<target>/work    files being written, and those prepared
//	.runner-<run>/<target>/new     the complete folder, just before it is swapped in
//	.runner-<run>/<target>/old     the folder before, where two paths cannot be swapped in one step
//
// Readers skip it by its name. It lies on the target's file system, so that publishing is a rename.
const stagingPrefix = ".runner-"

// A stage is the staging folder of one target in one run.
type stage struct {
	fs     FS
	target Target
	run    string // the folder of the run
	root   string // the folder of this target in it
}

func newStage(fsys FS, t Target, run string) stage {
	r := filepath.Join(filepath.Dir(t.Path), stagingPrefix+fileName(run))
	return stage{fsys, t, r, filepath.Join(r, filepath.Base(t.Path))}
}

func (s stage) work() string          { return filepath.Join(s.root, "work") }
func (s stage) assembled() string     { return filepath.Join(s.root, "new") }
func (s stage) old() string           { return filepath.Join(s.root, "old") }
func (s stage) in(name string) string { return filepath.Join(s.work(), name) }

// retries bounds how often a stage is made again because another writer tidied it away meanwhile.
const retries = 10

// create makes the stage, if need be, and a new file in it.
func (s stage) create(subtask int) (name string, f WriteFile, err error) {
	for range retries {
		if err = s.open(); err == nil {
			name, f, err = s.createIn(subtask)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return "", nil, WriteFailure(err, s.target.Show, "cannot stage files for target "+s.target.Show)
	}
	return name, f, nil
}

func (s stage) open() error {
	if err := mkdirAll(s.fs, filepath.Dir(s.target.Path)); err != nil {
		return err
	}
	if err := mkdir(s.fs, s.run); err != nil {
		return err
	}
	if err := touchFile(s.fs, filepath.Join(s.run, self().String())); err != nil {
		return err
	}
	if err := mkdir(s.fs, s.root); err != nil {
		return err
	}
	return mkdir(s.fs, s.work())
}

// createIn numbers files upwards: a failed attempt of the subtask may have left some.
func (s stage) createIn(subtask int) (string, WriteFile, error) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("%d-%d", subtask, n)
		f, err := s.fs.Create(s.in(name))
		if !errors.Is(err, fs.ErrExist) {
			return name, f, err
		}
	}
}

// clear removes the stage and, where nothing else is in it, the folder of the run. A target that was
// moved away and not yet replaced comes back first.
func (s stage) clear() error {
	if exists, err := there(s.fs, s.old()); err != nil {
		return err
	} else if exists {
		if err := s.fs.RenameNew(s.old(), s.target.Path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := removeAll(s.fs, s.root); err != nil {
		return err
	}
	return s.tidy(func(string) bool { return true })
}

// tidy removes the folder of the run if no target is left in it and each lock may go.
func (s stage) tidy(mayGo func(lock string) bool) error {
	entries, err := s.fs.ReadDir(s.run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Dir || !mayGo(e.Name) {
			return nil
		}
	}
	for _, e := range entries {
		if err := s.fs.Remove(filepath.Join(s.run, e.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// Another writer may have come in: then the folder is not empty, and stays.
	_ = s.fs.Remove(s.run)
	return nil
}

// release is what a writer does that leaves without having prepared anything.
func (s stage) release(name string) error {
	if err := s.fs.Remove(s.in(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return WriteFailure(err, s.target.Show, "cannot remove what was staged for target "+s.target.Show)
	}
	// Folders go only when empty, that is, with the last writer.
	if s.fs.Remove(s.work()) != nil || s.fs.Remove(s.root) != nil {
		return nil
	}
	me := self().String()
	return s.tidy(func(lock string) bool { return lock == me })
}

// sweep removes what dead runs left of the same target, and folders of runs that died before they put
// anything of a target into them, or after they took it out.
func (s stage) sweep() error {
	above := filepath.Dir(s.target.Path)
	entries, err := s.fs.ReadDir(above)
	if err != nil {
		return err
	}
	me := self()
	for _, e := range entries {
		run := filepath.Join(above, e.Name)
		if !e.Dir || !strings.HasPrefix(e.Name, stagingPrefix) || run == s.run {
			continue
		}
		other := stage{s.fs, s.target, run, filepath.Join(run, filepath.Base(s.target.Path))}
		exists, err := there(s.fs, other.root)
		switch {
		case err != nil:
			continue
		case exists && other.isDead():
			err = other.clear()
		case !exists:
			// A living writer that has not left its lock yet makes the folder again.
			err = other.tidy(func(lock string) bool {
				o, ok := parseOwner(lock)
				return ok && o.dead(me)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isDead reports whether all processes of the run are known to be dead; in doubt they live.
func (s stage) isDead() bool {
	entries, err := s.fs.ReadDir(s.run)
	if err != nil {
		return false
	}
	me, locks := self(), 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name, lockPrefix) {
			continue
		}
		o, ok := parseOwner(e.Name)
		if !ok || !o.dead(me) {
			return false
		}
		locks++
	}
	return locks > 0
}

func there(fsys FS, path string) (bool, error) {
	_, err := fsys.Lstat(path)
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}

func mkdir(fsys FS, path string) error {
	if err := fsys.Mkdir(path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func mkdirAll(fsys FS, path string) error {
	err := fsys.Mkdir(path)
	if errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		if err := mkdirAll(fsys, filepath.Dir(path)); err != nil {
			return err
		}
		err = fsys.Mkdir(path)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if info, statErr := fsys.Stat(path); err != nil && statErr == nil && info.Dir {
		return nil // such as a read-only root that holds it
	}
	return err
}

func touchFile(fsys FS, path string) error {
	f, err := fsys.Create(path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// removeAll removes a path and all below it; links are removed and not followed.
func removeAll(fsys FS, path string) error {
	info, err := fsys.Lstat(path)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Dir {
		entries, err := fsys.ReadDir(path)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := removeAll(fsys, filepath.Join(path, e.Name)); err != nil {
				return err
			}
		}
	}
	if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
