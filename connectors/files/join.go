package files

import (
	"bufio"
	"errors"
	"io"
	"path/filepath"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// A Join writes the complete files of several subtasks, in their order, as one file. Errors of w name the
// target already.
type Join func(parts []ReadFile, w io.Writer) error

// NewJoinedSink is [NewSink] for a format whose files can be put together to one, so that a target that is
// one file may have many writers too.
func NewJoinedSink(fsys FS, t Target, encode NewEncoder, join Join) connectors.Sink {
	return &sink{fsys, t, encode, join}
}

// joined is where the files of several subtasks are put together.
func (s stage) joined() string { return filepath.Join(s.root, "joined") }

// join puts the parts together to one durable file and says where it is. The first part is removed then:
// while it is there, a commit that is called again joins them anew, and once it is not, the joined file
// is complete, or published already.
func (c *committer) joinParts(s stage, parts []part) (string, error) {
	first := s.in(parts[0].Name)
	if exists, err := there(c.fs, first); err != nil || !exists {
		return s.joined(), err
	}
	if err := c.fs.Remove(s.joined()); err != nil && !absent(err) {
		return "", err
	}
	if err := c.writeJoined(s, parts); err != nil {
		return "", err
	}
	if err := c.fs.SyncDir(s.root); err != nil {
		return "", err
	}
	if err := c.fs.Remove(first); err != nil {
		return "", err
	}
	return s.joined(), c.fs.SyncDir(s.work())
}

func (c *committer) writeJoined(s stage, parts []part) (err error) {
	var open []ReadFile
	defer func() {
		for _, f := range open {
			err = errors.Join(err, f.Close())
		}
	}()
	for _, p := range parts {
		f, err := c.fs.Open(s.in(p.Name))
		if err != nil {
			return err
		}
		open = append(open, f)
	}
	to, err := c.fs.Create(s.joined())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	w := bufio.NewWriterSize(to, writeBuffer)
	if err := c.join(open, w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return to.Sync()
}
