package runner

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// scratch makes a folder in dir, the system's one for temporary files if that is empty, and removes those of its
// kind that processes left which have died.
func scratch(dir, prefix string) (string, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok {
			continue
		}
		if i := strings.LastIndexByte(rest, '-'); i >= 0 && files.ProcessEnded(rest[:i]) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // what cannot be removed does no harm
		}
	}
	return os.MkdirTemp(dir, prefix+files.Process()+"-*")
}
