package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// A Mode says what a sink does with a target that is there already.
type Mode string

// The modes. ModeError is the default.
const (
	ModeError     Mode = "error"
	ModeOverwrite Mode = "overwrite"
	ModeAppend    Mode = "append"
)

// A Target is where a file sink publishes: one file, or a folder of parts.
type Target struct {
	Path   string `json:"path"` // absolute and clean, links resolved
	Show   string `json:"show"` // as messages name it
	Folder bool   `json:"folder"`
	Mode   Mode   `json:"mode"`
	Ext    string `json:"ext"` // of parts, with its dot
}

// BindTarget checks a sink's path and mode without touching anything. A path with an extension is one
// file, without is a folder of parts named with ext. The target's folder need not exist yet, but it
// must be possible to make it.
func BindTarget(fsys FS, path string, mode Mode, ext, dir string) (Target, error) {
	if mode == "" {
		mode = ModeError
	}
	t := Target{Mode: mode, Ext: ext}
	if strings.TrimSpace(path) == "" || strings.ContainsRune(path, 0) {
		return t, t.invalid(fmt.Sprintf("path %q is none: expected a file, or a folder for parts", path))
	}
	if strings.HasPrefix(path, "~") {
		return t, t.invalid(tilde(path))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return t, fmt.Errorf("finding the folder that paths are relative to: %w", err)
	}
	t.Path = Absolute(path, dir)
	t.Show = Display(t.Path)
	base := filepath.Base(t.Path)
	t.Folder = filepath.Ext(base) == ""
	switch {
	case hidden(base) || t.Path == filepath.Dir(t.Path):
		return t, t.invalid(fmt.Sprintf("%s cannot be a target: names that start with . or _ are skipped by readers", t.Show))
	case mode != ModeError && mode != ModeOverwrite && mode != ModeAppend:
		return t, t.invalid(fmt.Sprintf("mode %q is unknown: expected error, overwrite or append", mode))
	case !t.Folder && compressed(base):
		return t, t.invalid(fmt.Sprintf("target %s: compressed files cannot be written yet: end the name in %s", t.Show, ext))
	case mode == ModeAppend && !t.Folder:
		return t, t.invalid(fmt.Sprintf("mode append needs a folder, and %s is one file: give a path without extension", t.Show))
	}
	if err := t.resolve(fsys); err != nil {
		return t, err
	}
	return t, t.check(fsys)
}

// OneTarget is the one path of a sink, whose options declare so many columns: none, which are those of its input.
func OneTarget(path []string, columns int) (string, error) {
	if len(path) != 1 {
		return "", Refused("path: a sink has one target, and %d are given", len(path))
	}
	if columns > 0 {
		return "", Refused("columns: belongs to sources; a sink writes the columns of its input")
	}
	return path[0], nil
}

// compressed reports whether a file name says that its contents are compressed as a whole.
func compressed(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz", ".gzip", ".zst", ".zstd", ".bz2", ".xz", ".lz4", ".zip", ".snappy":
		return true
	}
	return false
}

// JoinedBound is [Target.Bound] for a sink made by [NewJoinedSink].
func (t Target) JoinedBound(state []byte) connectors.BoundSink {
	return connectors.BoundSink{State: state, Targets: []string{t.Path}}
}

// Bound is what a connector's BindSink gives back for the target; state is the connector's own.
func (t Target) Bound(state []byte) connectors.BoundSink {
	return connectors.BoundSink{State: state, SingleFile: !t.Folder, Targets: []string{t.Path}}
}

func (t Target) invalid(message string) error {
	return &Error{Kind: InvalidOption, Message: message, Path: t.Show}
}

// resolve follows links, so that publishing replaces what a link names and not the link.
func (t *Target) resolve(fsys FS) error {
	real, err := fsys.Resolve(t.Path)
	if err == nil {
		t.Path = real
		return nil
	}
	if !absent(err) {
		return WriteFailure(err, t.Show, "cannot look at target "+t.Show)
	}
	if info, err := fsys.Lstat(t.Path); err == nil && info.Link {
		return t.invalid(fmt.Sprintf("target %s is a link to nothing", t.Show))
	}
	above, rest := filepath.Dir(t.Path), filepath.Base(t.Path)
	for {
		real, err := fsys.Resolve(above)
		if err == nil {
			t.Path = filepath.Join(real, rest)
			return t.checkAbove(fsys, real)
		}
		if !errors.Is(err, fs.ErrNotExist) || above == filepath.Dir(above) {
			return WriteFailure(err, t.Show, "cannot make target "+t.Show)
		}
		above, rest = filepath.Dir(above), filepath.Join(filepath.Base(above), rest)
	}
}

// checkAbove looks at the nearest folder that exists above a target that does not.
func (t Target) checkAbove(fsys FS, above string) error {
	info, err := fsys.Stat(above)
	if err != nil {
		return WriteFailure(err, t.Show, "cannot make target "+t.Show)
	}
	if !info.Dir {
		return t.invalid(fmt.Sprintf("target %s cannot be made: %s is a file", t.Show, Display(above)))
	}
	return WriteFailure(fsys.Writable(above), Display(above), fmt.Sprintf("cannot write target %s in folder %s", t.Show, Display(above)))
}

// check judges what stands at the target; it is asked when a plan is bound and again at the commit.
func (t Target) check(fsys FS) error {
	info, err := fsys.Lstat(t.Path)
	if absent(err) {
		return nil
	}
	if err != nil {
		return WriteFailure(err, t.Show, "cannot look at target "+t.Show)
	}
	switch {
	case t.Folder && !info.Dir:
		return t.invalid(fmt.Sprintf("target %s is a file, and a path without extension means a folder of parts", t.Show))
	case !t.Folder && info.Dir:
		return t.invalid(fmt.Sprintf("target %s is a folder, and a path with an extension means one file", t.Show))
	case t.Mode == ModeError:
		return t.exists()
	}
	if err := fsys.Writable(filepath.Dir(t.Path)); err != nil {
		above := Display(filepath.Dir(t.Path))
		return WriteFailure(err, above, fmt.Sprintf("cannot write target %s in folder %s", t.Show, above))
	}
	if !t.Folder {
		return nil
	}
	if err := fsys.Writable(t.Path); err != nil {
		return WriteFailure(err, t.Show, fmt.Sprintf("cannot write in target folder %s", t.Show))
	}
	if t.Mode == ModeOverwrite {
		return t.checkForeign(fsys)
	}
	return nil
}

func (t Target) exists() error {
	hint := "mode: overwrite to replace it"
	if t.Folder {
		hint = "mode: overwrite to replace it or mode: append to add parts"
	}
	return &Error{Kind: TargetExists, Path: t.Show, Message: fmt.Sprintf("target %s exists: remove it, or set %s", t.Show, hint)}
}

// checkForeign refuses to replace a folder that holds anything but parts and hidden files, since it
// is unlikely to be the output of a sink.
func (t Target) checkForeign(fsys FS) error {
	entries, err := fsys.ReadDir(t.Path)
	if err != nil {
		return WriteFailure(err, t.Show, "cannot look into target "+t.Show)
	}
	var foreign []string
	for _, e := range entries {
		ours := strings.HasPrefix(e.Name, stagingPrefix) ||
			e.Regular && (strings.HasPrefix(e.Name, "part-") || hidden(e.Name))
		if !ours {
			foreign = append(foreign, e.Name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	names := strings.Join(foreign[:min(len(foreign), 5)], ", ")
	if more := len(foreign) - 5; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return &Error{Kind: TargetExists, Path: t.Show, Message: fmt.Sprintf(
		"target folder %s is not replaced: it holds %s, and an output folder holds only part-* and hidden files; move them or choose another path",
		t.Show, names)}
}
