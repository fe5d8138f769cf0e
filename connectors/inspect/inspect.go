// Package inspect looks into files of unknown form: it writes the source block of a plan that reads
// them, and names what may go wrong with them.
package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// A Found is what was found out about a file.
type Found struct {
	File    string   `json:"file"`
	Kind    string   `json:"kind"` // csv, json or parquet: the connector
	Bytes   int64    `json:"bytes"`
	Sample  string   `json:"sample"` // what was looked at: "all 27 rows"
	Form    string   `json:"form"`   // "utf-8, lines end with LF"
	Options []Option `json:"options,omitempty"`
	Columns []Column `json:"columns"`
	Notes   []string `json:"notes,omitempty"`
}

// An Option is one line of the source block; Value is as YAML has it.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Column is a column with the type it should have.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Path string `json:"path,omitempty"` // where it stands in a record, if that is not its name
	Note string `json:"note,omitempty"` // why this type, where that is not plain
	// Inside says that the column before it holds it as part of a text, and that it is one to choose.
	Inside bool `json:"inside,omitempty"`
}

// Look finds out how a file is to be read.
func Look(fs files.FS, f files.File) (*Found, error) {
	parquet, err := isParquet(fs, f)
	switch {
	case err != nil:
		return nil, err
	case parquet:
		return lookParquet(fs, f)
	case f.Bytes == 0:
		return nil, &files.Error{Kind: files.InvalidOption, Path: f.Path, Message: f.Path + " is empty: there is nothing to find out"}
	}
	if is, err := isJSON(fs, f); is || err != nil {
		if err != nil {
			return nil, err
		}
		return lookJSON(fs, f)
	}
	return lookCSV(fs, f)
}

// isParquet tells by the first bytes.
func isParquet(fs files.FS, f files.File) (_ bool, err error) {
	h, err := fs.Open(f.Abs)
	if err != nil {
		return false, files.ReadFailure(err, f.Path, "cannot open "+f.Path)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	head := make([]byte, min(4, h.Size()))
	if n, err := h.ReadAt(head, 0); n < len(head) {
		return false, files.ReadFailure(err, f.Path, "cannot read "+f.Path)
	}
	return string(head) == "PAR1" || string(head) == "PARE", nil
}

// NodeName is a name for a file's source, from the file's own.
func NodeName(path string, taken map[string]bool) string {
	base, _, _ := strings.Cut(filepath.Base(path), ".")
	name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_]+`).ReplaceAllString(base, "_"), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "input_" + name
		name = strings.TrimSuffix(name, "_")
	}
	for k, first := 2, name; taken[name]; k++ {
		name = fmt.Sprintf("%s_%d", first, k)
	}
	taken[name] = true
	return name
}

// Block is the source's part of a plan, to stand under `sources:`.
func (f *Found) Block(node string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  # %s: %s\n  # %s\n", oneLine(f.File), f.Form, oneLine(f.Sample))
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "  # %s\n", oneLine(n))
	}
	fmt.Fprintf(&b, "  %s:\n    %s:\n      path: %s\n", node, f.Kind, yaml(f.File))
	for _, o := range f.Options {
		fmt.Fprintf(&b, "      %s: %s\n", o.Name, o.Value)
	}
	if len(f.Columns) > 0 || f.Kind != "parquet" { // else a plan that says so is refused with the reason
		b.WriteString("      columns:\n")
	}
	for _, c := range f.Columns {
		line := fmt.Sprintf("        %s: %s", yaml(c.Name), c.Type)
		if c.Path != "" {
			line = fmt.Sprintf("        %s: {type: %s, path: %s}", yaml(c.Name), flow(c.Type), yaml(c.Path))
		}
		if c.Inside {
			line = "        # " + strings.TrimSpace(line)
		}
		if c.Note != "" {
			line += "  # " + oneLine(c.Note)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// oneLine is a text as a comment can have it: names of files and columns may hold line breaks, and other
// characters that YAML does not take.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == 0xFEFF {
			return '\uFFFD'
		}
		return r
	}, s)
}

// yaml writes a text so that it stays that text: bare where nothing can be meant by it but itself.
func yaml(s string) string {
	if regexp.MustCompile(`^[A-Za-z_./][A-Za-z0-9_./-]*$`).MatchString(s) {
		switch strings.ToLower(s) {
		case "true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan":
		default:
			return s
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return hidden.ReplaceAllStringFunc(strings.TrimSuffix(b.String(), "\n"), func(c string) string {
		r, _ := utf8.DecodeRuneInString(c)
		return fmt.Sprintf("\\u%04X", r)
	})
}

// hidden are characters that a plan may not have, or that nobody sees; JSON writes them as they are.
var hidden = regexp.MustCompile(`[\x{7F}-\x{A0}\x{AD}\x{200B}-\x{200F}\x{2028}-\x{202E}\x{2060}-\x{2069}\x{FEFF}\x{FFFE}\x{FFFF}]`)

// flow writes a type so that it can stand inside braces.
func flow(t string) string {
	if strings.Contains(t, ",") {
		return `"` + t + `"`
	}
	return t
}

// yamlList writes texts as a list in one line.
func yamlList(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = yaml(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
