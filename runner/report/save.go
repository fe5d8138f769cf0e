package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/store"
)

// Save writes a report: to file where it is given, else to `<dir>/<plan>/<run id>.json`. It gives the
// path it wrote.
func Save(r Report, file, dir string) (string, error) {
	file = Path(r.Plan.Name, r.RunID, file, dir)
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		return "", fmt.Errorf("writing report %s: %w", file, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", fmt.Errorf("writing report %s: %w", file, err)
	}
	return file, store.WriteFile(file, b.Bytes())
}

// Path is where [Save] writes the report of a run.
func Path(plan, run, file, dir string) string {
	if file != "" {
		return file
	}
	return filepath.Join(dir, folderName(plan), run+".json")
}

// Write writes a report as JSON for people and programs: indented, and with < and > as they are.
func Write(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// folderName replaces what is no good in a folder's name.
func folderName(s string) string {
	if s == "" {
		return "unnamed"
	}
	return strings.Map(func(c rune) rune {
		if c == '/' || c == '\\' || c == 0 || c == ':' {
			return '-'
		}
		return c
	}, strings.TrimLeft(s, "."))
}
