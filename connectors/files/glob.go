package files

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/bmatcuk/doublestar/v4"
)

func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, "*?[{") }

// expandBraces writes out the alternatives of {a,b}, which may span folders; the pattern itself
// where braces do not match.
func expandBraces(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	depth, start := 0, open+1
	var parts []string
	for i := open; i < len(pattern); i++ {
		switch pattern[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 1 {
				parts = append(parts, pattern[start:i])
				start = i + 1
			}
		}
		if depth > 0 {
			continue
		}
		parts = append(parts, pattern[start:i])
		var all []string
		for _, p := range parts {
			all = append(all, expandBraces(pattern[:open]+p+pattern[i+1:])...)
		}
		return all
	}
	return []string{pattern}
}

// glob adds what a pattern matches below a folder, folder by folder, so that only folders the pattern
// names are opened.
func (l *lister) glob(base, pattern string) (int, error) {
	parts := strings.Split(filepath.ToSlash(pattern), "/")
	for _, p := range parts {
		if !doublestar.ValidatePattern(p) {
			return 0, Refused("%q is not a glob: %q does not close what it opens", filepath.Join(base, pattern), p)
		}
	}
	return l.walk(base, parts)
}

// walk matches parts below a folder that may not exist.
func (l *lister) walk(dir string, parts []string) (int, error) {
	for len(parts) > 1 && !hasMeta(parts[0]) {
		dir, parts = filepath.Join(dir, parts[0]), parts[1:]
	}
	last := len(parts) == 1
	if last && !hasMeta(parts[0]) {
		return l.literal(filepath.Join(dir, parts[0]))
	}
	if info, err := l.fs.Stat(dir); absent(err) || err == nil && !info.Dir {
		return 0, nil
	}
	entries, err := l.readDir(dir)
	if err != nil {
		return 0, err
	}
	n := 0
	if parts[0] == "**" && !last {
		if n, err = l.walk(dir, parts[1:]); err != nil {
			return n, err
		}
	}
	for _, e := range entries {
		k, err := l.entry(filepath.Join(dir, e.Name), e, parts)
		if err != nil {
			return n, err
		}
		n += k
	}
	return n, nil
}

// entry matches one entry of a folder against the first of parts.
func (l *lister) entry(path string, e Info, parts []string) (int, error) {
	ok, err := doublestar.Match(parts[0], e.Name)
	if err != nil || !ok || hidden(e.Name) && parts[0] != e.Name {
		return 0, nil // the pattern was checked before
	}
	if len(parts) == 1 {
		return l.found1(path, e, parts)
	}
	if parts[0] == "**" {
		if !e.Dir { // links are not followed here, as they may lead in a circle
			return 0, nil
		}
		return l.walk(path, parts)
	}
	if e.Dir || e.Link {
		return l.walk(path, parts[1:])
	}
	return 0, nil
}

// found1 takes an entry that matches the whole pattern; ** at the end means all files below.
func (l *lister) found1(path string, e Info, parts []string) (int, error) {
	if e.Dir && parts[0] == "**" {
		return l.walk(path, parts)
	}
	ok, err := l.candidate(path, e)
	if !ok {
		return 0, err
	}
	return 1, err
}

func (l *lister) literal(path string) (int, error) {
	info, err := l.fs.Stat(path)
	if absent(err) || err == nil && !info.Regular {
		return 0, nil
	}
	if err != nil {
		return 0, ReadFailure(err, Display(path), "cannot look at "+Display(path))
	}
	return 1, l.add(path, info)
}

// missing says what stands where a pattern matches nothing.
func (l *lister) missing(pattern, abs, base string) error {
	if l.allowEmpty {
		return nil
	}
	base, _ = anchored(pattern, base)
	e := &Error{Kind: MissingFile, Path: Display(abs)}
	dir := abs
	var wanted string
	for {
		parent := filepath.Dir(dir)
		wanted, dir = filepath.Base(dir), parent
		if below, ok := strings.CutPrefix(dir, base); ok && hasMeta(below) {
			continue
		}
		info, err := l.fs.Stat(dir)
		if err == nil && info.Dir || parent == filepath.Dir(parent) {
			break
		}
		if err != nil && !absent(err) {
			return ReadFailure(err, Display(dir), "cannot look at folder "+Display(dir))
		}
	}
	entries, err := l.readDir(dir)
	if err != nil {
		return err
	}
	what := "there is no file or folder"
	if hasMeta(pattern) {
		what = "no file matches"
	}
	e.Message = fmt.Sprintf("%s %s (path %q); in %s there is %s", what, Display(abs), pattern, Display(dir), inventory(entries))
	if near := nearest(wanted, entries); near != "" {
		e.Message += fmt.Sprintf(" (did you mean %s?)", near)
	}
	if last := filepath.Base(pattern); hasMeta(last) && hidden(last) {
		e.Message += "; names that begin with . or _ are read only where the path writes them out"
	}
	e.Message += l.unless()
	return e
}

// inventory names the first entries of a folder.
func inventory(entries []Info) string {
	var names []string
	for _, e := range entries {
		if hidden(e.Name) {
			continue
		}
		n := e.Name
		if e.Dir {
			n += "/"
		}
		names = append(names, n)
	}
	const most = 8
	switch {
	case len(entries) == 0:
		return "nothing"
	case len(names) == 0:
		return fmt.Sprintf("nothing but %d entries whose names start with . or _", len(entries))
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// nearest is the entry whose name is at most a third away, "" where none is.
func nearest(name string, entries []Info) string {
	best, least := "", len(name)/3+1
	for _, e := range entries {
		d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(e.Name))
		if d < least {
			best, least = e.Name, d
		}
	}
	return best
}
