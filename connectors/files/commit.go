package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"syscall"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// A committer publishes what was staged for one target. A file is renamed into its place, where several
// subtasks wrote it after their parts were put together. A folder is
// assembled, and swapped with the one before in one step; where the file system has no such step the
// old one is moved aside first, and a reader may find no folder for that moment. Parts appended to a
// folder become visible one by one.
type committer struct {
	fs     FS
	target Target
	join   Join // nil: a target that is one file has one part
}

// A part is a staged file on its way to its final name.
type part struct {
	connectors.Committable
	staged
	final string // name in a folder of parts
}

// Commit publishes and says which files it published. A commit that was broken off, by a failure or
// the end of the process, is completed by calling it again; one that is done is left as it is.
func (c *committer) Commit(ctx context.Context, run string, _ int64, all []connectors.Committable) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("publishing target %s: %w", c.target.Show, err)
	}
	s := newStage(c.fs, c.target, run)
	parts, err := c.parts(all, run)
	if err != nil {
		return nil, err
	}
	if exists, err := there(c.fs, s.root); err != nil {
		return nil, c.failed(err)
	} else if !exists {
		names, err := c.published(parts)
		if err != nil {
			return nil, err
		}
		return names, c.failed(c.cleanUp(s))
	}
	if err := touchFile(c.fs, filepath.Join(s.run, self().String())); err != nil {
		return nil, c.failed(err)
	}
	switch {
	case !c.target.Folder:
		err = c.publishFile(s, parts)
	case c.target.Mode == ModeAppend:
		err = c.publishParts(s, parts)
	default:
		err = c.publishFolder(s, parts)
	}
	if err != nil {
		return nil, c.failed(err)
	}
	names, err := c.published(parts)
	if err != nil {
		return nil, err
	}
	return names, c.failed(c.cleanUp(s))
}

// Check says whether a target stands in the way of publishing; what is published already does not.
func (c *committer) Check(_ context.Context, run string) error {
	staged, err := there(c.fs, newStage(c.fs, c.target, run).root)
	if err != nil {
		return c.failed(err)
	}
	if !staged {
		return nil
	}
	return c.target.check(c.fs)
}

// Abort removes what the run staged, and what dead runs left of the same target. What was published
// stays.
func (c *committer) Abort(_ context.Context, run string, _ []connectors.Committable) error {
	s := newStage(c.fs, c.target, run)
	if exists, err := there(c.fs, filepath.Dir(c.target.Path)); err != nil || !exists {
		return c.failed(err)
	}
	return c.failed(c.cleanUp(s))
}

// cleanUp removes the stage, and then the marker: while there is a stage, the marker tells a second
// commit that the folder was swapped in already. It also sweeps what dead runs left of this target;
// that their files cannot be removed does not fail this run.
func (c *committer) cleanUp(s stage) error {
	if err := s.clear(); err != nil {
		return err
	}
	if c.target.Folder {
		marker := filepath.Join(c.target.Path, markerOf(s))
		if err := c.fs.Remove(marker); err != nil && !absent(err) {
			return err
		}
	}
	_ = s.sweep()
	return nil
}

func (c *committer) failed(err error) error {
	return WriteFailure(err, c.target.Show, "cannot publish target "+c.target.Show)
}

// parts reads committables. Empty parts are left out where another has rows, so that the number of
// subtasks does not fill a folder with empty files; the first stays otherwise, for its schema.
func (c *committer) parts(all []connectors.Committable, run string) ([]part, error) {
	var list []part
	rows := int64(0)
	for _, m := range all {
		p := part{Committable: m}
		if err := json.Unmarshal(m.State, &p.staged); err != nil {
			return nil, fmt.Errorf("reading what was staged for target %s: %w", c.target.Show, err)
		}
		if p.Version != stagedVersion {
			return nil, fmt.Errorf("reading what was staged for target %s: version %d is not known here", c.target.Show, p.Version)
		}
		p.final = fmt.Sprintf("part-%d-%d%s", m.Subtask, p.Part, c.target.Ext)
		if c.target.Mode == ModeAppend {
			p.final = fmt.Sprintf("part-%s-%d-%d%s", fileName(run), m.Subtask, p.Part, c.target.Ext)
		}
		rows += m.Rows
		list = append(list, p)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		return a.Subtask < b.Subtask || a.Subtask == b.Subtask && a.Part < b.Part
	})
	if !c.target.Folder && len(list) != 1 && c.join == nil {
		return nil, fmt.Errorf("target %s is one file, and %d were staged", c.target.Show, len(list))
	}
	kept := list[:0]
	for i, p := range list {
		if p.Rows > 0 || rows == 0 && i == 0 {
			kept = append(kept, p)
		}
	}
	return kept, nil
}

// published names the files that stand at the target, and fails where one does not.
func (c *committer) published(parts []part) ([]string, error) {
	names := make([]string, 0, len(parts))
	for _, p := range parts {
		path := c.target.Path
		if c.target.Folder {
			path = filepath.Join(path, p.final)
		}
		info, err := c.fs.Stat(path)
		joined := !c.target.Folder && len(parts) > 1
		if absent(err) || err == nil && (info.Bytes != p.Bytes && !joined || info.Bytes < p.Bytes) {
			return nil, &Error{Kind: SinkError, Path: c.target.Show, Message: fmt.Sprintf(
				"cannot publish target %s: %s (%d bytes) is neither staged nor published; something removed it", c.target.Show, Display(path), p.Bytes)}
		}
		if err != nil {
			return nil, c.failed(err)
		}
		if n := len(names); n == 0 || names[n-1] != Display(path) {
			names = append(names, Display(path))
		}
	}
	return names, nil
}

func (c *committer) publishFile(s stage, parts []part) error {
	from := s.in(parts[0].Name)
	if len(parts) > 1 {
		var err error
		if from, err = c.joinParts(s, parts); err != nil {
			return err
		}
	}
	if exists, err := there(c.fs, from); err != nil || !exists {
		return err // not there: published before, which is looked at next
	}
	if err := c.target.check(c.fs); err != nil {
		return err
	}
	move := c.fs.Rename
	if c.target.Mode == ModeError {
		move = c.fs.RenameNew
	}
	if err := c.moved(move(from, c.target.Path)); err != nil {
		return err
	}
	return c.fs.SyncDir(filepath.Dir(c.target.Path))
}

// moved turns a name that was taken meanwhile into the error of one that was there before.
func (c *committer) moved(err error) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return c.target.exists()
	}
	return err
}

func (c *committer) publishParts(s stage, parts []part) error {
	if err := c.target.check(c.fs); err != nil {
		return err
	}
	if err := mkdir(c.fs, c.target.Path); err != nil {
		return err
	}
	for _, p := range parts {
		from := s.in(p.Name)
		exists, err := there(c.fs, from)
		if err != nil {
			return err
		}
		if !exists {
			continue // published before, which is looked at next
		}
		if err := c.fs.RenameNew(from, filepath.Join(c.target.Path, p.final)); err != nil {
			return err
		}
	}
	if err := c.fs.SyncDir(c.target.Path); err != nil {
		return err
	}
	return c.fs.SyncDir(filepath.Dir(c.target.Path))
}

// markerOf names a file inside a published folder that says which run's it is, until the commit is
// complete.
func markerOf(s stage) string { return filepath.Base(s.run) + ".commit" }

func (c *committer) publishFolder(s stage, parts []part) error {
	done, err := there(c.fs, filepath.Join(c.target.Path, markerOf(s)))
	if err != nil || done {
		return err
	}
	if err := c.assemble(s, parts); err != nil {
		return err
	}
	above := filepath.Dir(c.target.Path)
	aside, err := there(c.fs, s.old())
	if err != nil {
		return err
	}
	if !aside {
		if err := c.target.check(c.fs); err != nil {
			return err
		}
	}
	if err := c.swap(s); err != nil {
		return err
	}
	if err := c.fs.SyncDir(above); err != nil {
		return err
	}
	return c.fs.SyncDir(s.root)
}

// assemble moves the parts into one folder, durably.
func (c *committer) assemble(s stage, parts []part) error {
	if err := mkdir(c.fs, s.assembled()); err != nil {
		return err
	}
	for _, p := range parts {
		to := filepath.Join(s.assembled(), p.final)
		err := c.fs.Rename(s.in(p.Name), to)
		if !absent(err) {
			if err != nil {
				return err
			}
			continue
		}
		info, err := c.fs.Stat(to)
		if err != nil || info.Bytes != p.Bytes {
			return fmt.Errorf("%s (%d bytes) was staged and is gone", p.final, p.Bytes)
		}
	}
	if err := touchFile(c.fs, filepath.Join(s.assembled(), markerOf(s))); err != nil {
		return err
	}
	if err := c.fs.SyncDir(s.assembled()); err != nil {
		return err
	}
	return c.fs.SyncDir(s.root)
}

// swap puts the assembled folder in the target's place.
func (c *committer) swap(s stage) error {
	exists, err := there(c.fs, c.target.Path)
	if err != nil {
		return err
	}
	if exists {
		err := c.fs.Exchange(s.assembled(), c.target.Path)
		if !errors.Is(err, ErrNotSupported) {
			return err
		}
		if err := removeAll(c.fs, s.old()); err != nil {
			return err
		}
		if err := c.fs.Rename(c.target.Path, s.old()); err != nil {
			return err
		}
	}
	return c.moved(c.fs.RenameNew(s.assembled(), c.target.Path))
}
