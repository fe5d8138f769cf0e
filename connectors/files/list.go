package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

// A File is an input file that was found.
type File struct {
	Path    string // to show: relative to the working directory where below it, else absolute
	Name    string // as the pattern writes it: relative to the folder that patterns are relative to, or absolute; with slashes
	Abs     string // to open: absolute and clean
	Bytes   int64
	ModTime time.Time
}

// List finds the files that patterns mean on the local file system; see [ListIn].
func List(ctx context.Context, patterns []string, dir string) ([]File, error) {
	return ListIn(ctx, Local(), patterns, dir)
}

// ListIn finds the files that patterns mean: each is a file, a folder (the files directly in it) or
// a glob (*, ?, [a-z], {a,b}, and ** for any depth), relative to dir. A path that exists as it is
// written is no glob. Names that start with "." or "_" are skipped, by folders and globs alike: only a
// path that writes them out, letter for letter, means them. The files come sorted bytewise by absolute path, each once. A pattern that matches nothing is
// an error that says what is there.
func ListIn(ctx context.Context, fsys FS, patterns []string, dir string) ([]File, error) {
	l := lister{ctx: ctx, fs: fsys, found: map[string]File{}}
	return l.list(patterns, dir)
}

// Inputs is ListIn for the source of a plan. A pattern that matches nothing is an error unless
// allowEmpty; so are files of several kinds where no pattern says which kind is meant.
func Inputs(ctx context.Context, fsys FS, patterns []string, dir string, allowEmpty bool) ([]File, error) {
	l := lister{ctx: ctx, fs: fsys, found: map[string]File{}, source: true, allowEmpty: allowEmpty}
	return l.list(patterns, dir)
}

func (l *lister) list(patterns []string, dir string) ([]File, error) {
	if len(patterns) == 0 {
		return nil, Refused("no path is given: expected a file, a folder or a glob")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder that paths are relative to: %w", err)
	}
	for _, p := range patterns {
		l.base = ""
		if !filepath.IsAbs(p) {
			l.base = dir
		}
		l.new = l.new[:0]
		if err := l.pattern(p, dir); err != nil {
			return nil, err
		}
		if err := l.oneKind(p); err != nil {
			return nil, err
		}
	}
	list := make([]File, 0, len(l.found))
	for _, f := range l.found {
		list = append(list, f)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Abs < list[j].Abs })
	return list, nil
}

// Display is the path to show for an absolute one: relative to the working directory where it is
// below it.
func Display(abs string) string {
	wd, err := os.Getwd()
	if err != nil {
		return abs
	}
	rel, err := filepath.Rel(wd, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return abs
	}
	return rel
}

type lister struct {
	ctx        context.Context
	fs         FS
	found      map[string]File
	source     bool     // the list is for a source, which reads files of one kind
	allowEmpty bool     // a pattern may match nothing
	base       string   // what names are relative to; "" where the pattern is absolute
	new        []string // absolute paths that the pattern at hand gave
}

func (l *lister) pattern(pattern, dir string) error {
	if strings.TrimSpace(pattern) == "" {
		return Refused("a path is empty: expected a file, a folder or a glob")
	}
	if strings.ContainsRune(pattern, 0) {
		return Refused("path %q holds a NUL byte", pattern)
	}
	if strings.HasPrefix(pattern, "~") {
		return &Error{Kind: InvalidOption, Message: tilde(pattern)}
	}
	abs := Absolute(pattern, dir)
	info, err := l.fs.Stat(abs)
	switch {
	case err == nil && info.Dir:
		return l.folder(pattern, abs)
	case err == nil:
		return l.add(abs, info)
	case !absent(err) && !hasMeta(pattern):
		return ReadFailure(err, Display(abs), "cannot look at "+Display(abs))
	}
	if !hasMeta(pattern) {
		return l.missing(pattern, abs, dir)
	}
	n := 0
	for _, p := range expandBraces(pattern) {
		k, err := l.glob(anchored(p, dir))
		if err != nil {
			return err
		}
		n += k
	}
	if n == 0 {
		return l.missing(pattern, abs, dir)
	}
	return nil
}

// anchored takes a pattern apart: the folder it starts from, whose name means itself whatever
// characters are in it, and what is to be matched below that.
func anchored(pattern, dir string) (base, below string) {
	below = filepath.Clean(pattern)
	if filepath.IsAbs(below) {
		base = filepath.VolumeName(below) + string(filepath.Separator)
		return base, strings.TrimPrefix(below, base)
	}
	base = filepath.Clean(dir)
	for up := ".." + string(filepath.Separator); strings.HasPrefix(below, up); {
		base, below = filepath.Dir(base), strings.TrimPrefix(below, up)
	}
	return base, below
}

// Absolute is path as an absolute, clean one; a relative path starts at dir.
func Absolute(path, dir string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// absent also holds where a part of the path is a file, or too long to exist.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

func (l *lister) add(abs string, info Info) error {
	if !info.Regular {
		return &Error{
			Kind: InvalidOption, Path: Display(abs),
			Message: Display(abs) + " is no regular file: pipes and devices cannot be read at offsets; write it to a file first",
		}
	}
	if l.new = append(l.new, abs); l.found[abs].Abs != "" {
		return nil
	}
	name := abs
	if l.base != "" {
		if rel, err := filepath.Rel(l.base, abs); err == nil {
			name = rel
		}
	}
	l.found[abs] = File{Path: Display(abs), Name: filepath.ToSlash(name), Abs: abs, Bytes: info.Bytes, ModTime: info.ModTime}
	return nil
}

func (l *lister) folder(pattern, abs string) error {
	entries, err := l.readDir(abs)
	if err != nil {
		return err
	}
	n := 0
	for _, e := range entries {
		if hidden(e.Name) {
			continue
		}
		ok, err := l.candidate(filepath.Join(abs, e.Name), e)
		if err != nil {
			return err
		}
		if ok {
			n++
		}
	}
	if n > 0 || l.allowEmpty {
		return nil
	}
	return &Error{
		Kind: MissingFile, Path: Display(abs),
		Message: fmt.Sprintf("folder %s (path %q) has no files to read: %s%s", Display(abs), pattern, inventory(entries), l.unless()),
	}
}

// unless ends the message about a pattern that matches nothing.
func (l *lister) unless() string {
	if !l.source {
		return ""
	}
	return "; where that may be so, `allow_empty: true` reads no rows"
}

// tilde refuses a path that a shell would have expanded.
func tilde(path string) string {
	return fmt.Sprintf("path %q begins with ~, which only shells expand: write the folder out (a file whose own name begins with ~ is ./%s)", path, path)
}

// candidate adds a file that a folder or glob gave; folders, pipes and devices are passed over. A link that
// leads to nothing is an error: somebody meant a file by it, which is gone, or on a volume that is not there.
func (l *lister) candidate(abs string, e Info) (bool, error) {
	if e.Link {
		t, err := l.fs.Stat(abs)
		if absent(err) {
			return false, &Error{
				Kind: MissingFile, Path: Display(abs),
				Message: Display(abs) + " is a link to a file that is not there: bring the file back, remove the link, or name the files that are to be read",
			}
		}
		if err != nil {
			return false, ReadFailure(err, Display(abs), "cannot look at "+Display(abs))
		}
		e = t
	}
	if !e.Regular {
		return false, nil
	}
	return true, l.add(abs, e)
}

func (l *lister) readDir(abs string) ([]Info, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, fmt.Errorf("listing %s: %w", Display(abs), err)
	}
	entries, err := l.fs.ReadDir(abs)
	if err != nil {
		return nil, ReadFailure(err, Display(abs), "cannot list folder "+Display(abs))
	}
	return entries, nil
}

// hidden names are staging folders, checksums and markers of this and other engines.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }
