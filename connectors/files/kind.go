package files

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// oneKind refuses files of several kinds that a folder gave, or a glob that does not say which kind is
// meant: read as one kind, the others are rubbish.
func (l *lister) oneKind(pattern string) error {
	last := filepath.Base(filepath.ToSlash(pattern))
	if !l.source || len(l.new) < 2 || hasMeta(pattern) && strings.Contains(last, ".") {
		return nil
	}
	kinds := map[string][]string{}
	for _, abs := range l.new {
		k := kindOf(abs)
		kinds[k] = append(kinds[k], abs)
	}
	if len(kinds) < 2 {
		return nil
	}
	var names []string
	for k, list := range kinds {
		names = append(names, k)
		sort.Strings(list)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := len(kinds[names[i]]), len(kinds[names[j]])
		return a > b || a == b && names[i] > names[j]
	})
	most := names[0]
	stranger := Display(kinds[names[len(names)-1]][0])
	others, how := "names without an extension", ""
	if most != "" {
		glob := "*" + most
		if !hasMeta(pattern) {
			glob = strings.TrimSuffix(filepath.ToSlash(pattern), "/") + "/" + glob
		}
		others, how = "*"+most, fmt.Sprintf(", as in %q", glob)
	}
	return &Error{
		Kind: InvalidOption, Path: stranger,
		Message: fmt.Sprintf("path %q has files of several kinds: %s is none of the %d %s there; name those that are to be read%s", pattern, stranger, len(kinds[most]), others, how),
	}
}

// kindOf is the extension of a file, but for one that only says how it is compressed.
func kindOf(path string) string {
	base := strings.ToLower(filepath.Base(path))
	if compressed(base) {
		base = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return filepath.Ext(base)
}

// Covers reports whether a pattern of a source would find a file at an absolute path, were it there.
func Covers(pattern, dir, path string) bool {
	abs := Absolute(pattern, dir)
	if hidden(filepath.Base(path)) {
		return false
	}
	if !hasMeta(pattern) {
		return abs == path || abs == filepath.Dir(path)
	}
	for _, p := range expandBraces(pattern) {
		base, below := anchored(p, dir)
		rel, err := filepath.Rel(base, path)
		if err != nil {
			continue
		}
		if ok, err := doublestar.Match(filepath.ToSlash(below), filepath.ToSlash(rel)); err == nil && ok {
			return true
		}
	}
	return false
}
