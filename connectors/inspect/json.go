package inspect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/json"
)

// deepest is how many objects deep members become columns.
const deepest = 4

// isJSON tells by the name and, where that says nothing, by the first byte that is no blank: a brace begins
// an object a line, and with one of the names a bracket an array.
func isJSON(fs files.FS, f files.File) (bool, error) {
	name := strings.ToLower(f.Abs)
	for _, packed := range []string{".gz", ".gzip", ".zst", ".zstd", ".bz2", ".lz4", ".xz"} {
		name = strings.TrimSuffix(name, packed)
	}
	if slices.Contains([]string{".json", ".jsonl", ".ndjson", ".jsonlines"}, filepath.Ext(name)) {
		return true, nil
	}
	if slices.Contains([]string{".csv", ".tsv", ".txt"}, filepath.Ext(name)) {
		return false, nil
	}
	s, err := take(fs, f)
	if err != nil || len(s.parts) == 0 {
		return false, err
	}
	head := strings.TrimLeft(string(s.parts[0][:min(len(s.parts[0]), 4096)]), " \t\r\n")
	// A quoted key has to follow, which no line of CSV has there.
	return strings.HasPrefix(head, "{") && strings.HasPrefix(strings.TrimLeft(head[1:], " \t\r\n"), `"`), nil
}

// A document is what was found out about a JSON file.
type document struct {
	*json.Sample
	options json.Options
	text    *sample
}

// readJSON surveys a file: a sample of it, or all.
func readJSON(fs files.FS, f files.File, all bool) (*document, error) {
	s, err := take(fs, f)
	if err != nil {
		return nil, err
	}
	d := &document{text: s}
	d.options.Encoding = s.encoding
	if strings.HasPrefix(strings.TrimLeft(string(s.parts[0][:min(len(s.parts[0]), 4096)]), " \t\r\n"), "[") {
		d.options.Format = "array"
	}
	d.Sample, err = json.Look(context.Background(), fs, d.options, []files.File{f}, deepest, all)
	return d, err
}

// lookJSON finds out how a JSON file is to be read.
func lookJSON(fs files.FS, f files.File) (*Found, error) {
	d, err := readJSON(fs, f, false)
	if err != nil {
		return nil, err
	}
	out := &Found{File: f.Path, Kind: "json", Bytes: f.Bytes, Form: d.form(), Sample: "types: from " + d.Inference.Sample()}
	if !d.Whole {
		out.Sample += "; a later row may need another type or more digits"
	}
	if d.options.Format != "" {
		out.Options = append(out.Options, Option{"format", d.options.Format})
	}
	if d.options.Encoding != "" {
		out.Options = append(out.Options, Option{"encoding", d.options.Encoding})
	}
	taken := map[string]bool{}
	for _, m := range d.Root.Kids {
		taken[m.Name] = true
	}
	d.columns(out, &d.Root, taken)
	if len(out.Columns) == 0 {
		return nil, &files.Error{Kind: files.InvalidOption, Path: f.Path, Message: f.Path + ": no column is to be found: " + d.without()}
	}
	if d.Faults > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%s no object of JSON, the first%s: %s", count(int(d.Faults), "record is", "records are"), atLine(d.FaultAt), d.Fault))
	}
	if d.Doubled != "" {
		out.Notes = append(out.Notes, fmt.Sprintf("%s stands twice in an object%s, which the source refuses where a plan reads it; `duplicate_keys: last` takes the last one", d.Doubled, atLine(d.DoubleAt)))
	}
	if d.Root.Others != nil {
		out.Notes = append(out.Notes, "the records have more members of different names than are listed")
	}
	return out, nil
}

// form describes the text.
// without says why there are no columns.
func (d *document) without() string {
	if d.Faults == 0 {
		return "the records have no members"
	}
	return fmt.Sprintf("a source reads an object a line, or a file that is one array of objects, and the first fault is%s: %s", atLine(d.FaultAt), d.Fault)
}

func (d *document) form() string {
	form := "JSON, an object a line"
	if d.options.Format == "array" {
		form = "JSON, one array of objects"
	}
	encoding := d.text.encoding
	if encoding == "" {
		encoding = "utf-8"
	}
	form += ", " + encoding
	if d.text.mark {
		form += " with a byte-order mark"
	}
	if d.text.packed != "" {
		form += ", compressed (" + d.text.packed + ")"
	}
	return form
}

// columns lists the members of an object as a source without columns has them; what stands in objects
// follows as further columns to choose from.
func (d *document) columns(out *Found, m *json.Member, taken map[string]bool) {
	for _, k := range m.Kids {
		opens := k.Objects > 0 && k.Objects == k.Seen-k.Nulls && len(k.Kids) > 0 && k.Others == nil
		if m == &d.Root || !opens {
			t, note := k.Judge(d.Whole)
			if at := k.Instant(d.Whole); at != nil {
				t, note = *at, instants
			}
			c := Column{Name: k.Name, Type: t.String(), Note: note}
			if m != &d.Root {
				c.Path, c.Name, c.Inside = k.Path, strings.Map(plainLetter, k.Path), true
				for n, first := 2, c.Name; taken[c.Name]; n++ {
					c.Name = fmt.Sprintf("%s_%d", first, n)
				}
				taken[c.Name] = true
			}
			out.Columns = append(out.Columns, c)
		}
		if opens {
			d.columns(out, k, taken)
		}
	}
}

// plainLetter makes a path a name.
func plainLetter(c rune) rune {
	switch {
	case c == '`':
		return -1
	case c == '.' || c == '[' || c == ']' || c == ' ':
		return '_'
	}
	return c
}

// json looks for hazards in a JSON file.
func (d *Diagnosis) json(fs files.FS, f files.File) error {
	x, err := readJSON(fs, f, true)
	if err != nil {
		return err
	}
	d.Form = x.form()
	if x.Faults > 0 {
		d.add(Hazard{
			Rule: "not-json", Severity: SeverityError, Line: x.FaultAt, Count: x.Faults, Message: x.Fault,
			Cure: []string{"on_error: skip"}, Advice: "on_error stands beside the json block; it leaves such records out and counts them",
		})
	}
	if x.Doubled != "" {
		d.add(Hazard{
			Rule: "duplicate-keys", Severity: SeverityWarning, Line: x.DoubleAt, Message: x.Doubled + " stands twice in an object: a source that reads it refuses the record",
			Cure: []string{"duplicate_keys: last"},
		})
	}
	if x.options.Format == "array" {
		d.add(Hazard{
			Rule: "one-array", Severity: SeverityInfo, Message: "the file is one array: it is read in order by one subtask, and cannot be cut",
			Cure: []string{"format: array"}, Advice: "an object a line (.jsonl) can be read by several",
		})
	}
	if x.text.packed != "" {
		d.add(Hazard{Rule: "unsplittable", Severity: SeverityInfo, Message: "the file is compressed (" + x.text.packed + ") as a whole: it is read in order by one subtask"})
	}
	if x.text.mark {
		d.add(Hazard{Rule: "bom", Severity: SeverityInfo, Message: "the file begins with a byte-order mark, which is no part of the data"})
	}
	if x.options.Encoding != "" {
		d.add(Hazard{
			Rule: "encoding", Severity: SeverityWarning, Line: x.text.badLine, Message: "the text is not UTF-8; " + x.options.Encoding + " is the likely encoding",
			Cure: []string{"encoding: " + x.options.Encoding},
		})
	}
	d.members(&x.Root)
	return nil
}

// members looks for hazards in the values of members.
func (d *Diagnosis) members(m *json.Member) {
	for _, k := range m.Kids {
		kinds := 0
		scalars := k.Seen - k.Nulls - k.Objects - k.Arrays
		for _, n := range []int64{k.Objects, k.Arrays, k.Numbers, k.Strings, scalars - k.Numbers - k.Strings} {
			if n > 0 {
				kinds++
			}
		}
		if kinds > 1 {
			d.add(Hazard{
				Rule: "mixed-types", Severity: SeverityWarning, Column: k.Path, Count: k.Seen - k.Nulls,
				Message: fmt.Sprintf("values of several kinds: %d numbers, %d strings, %d booleans, %d objects, %d arrays; STRING takes them all", k.Numbers, k.Strings, scalars-k.Numbers-k.Strings, k.Objects, k.Arrays),
				Cure:    []string{declared(k.Path, "STRING")},
			})
		}
		if k.Big > 0 {
			d.add(Hazard{
				Rule: "large-integers", Severity: SeverityInfo, Column: k.Path, Line: k.BigAt, Count: k.Big,
				Message: "whole numbers that a DOUBLE does not hold exactly: here they are read with all their digits, and other readers may change them",
				Cure:    []string{declared(k.Path, "DECIMAL(38, 0)")},
			})
		}
		if k.Quoted > 0 && k.Quoted == k.Strings && k.Numbers == 0 {
			d.add(Hazard{
				Rule: "quoted-numbers", Severity: SeverityInfo, Column: k.Path, Count: k.Quoted,
				Message: "strings that are numbers: a column of a number type reads them, where they are no codes",
			})
		}
		d.members(k)
	}
}

// declared is the line of a source that declares what stands at a path.
func declared(path, typ string) string {
	if strings.ContainsAny(path, ".[`") {
		return "columns: {value: {type: " + yaml(typ) + ", path: " + yaml(path) + "}}"
	}
	return "columns: {" + yaml(path) + ": " + yaml(typ) + "}"
}
