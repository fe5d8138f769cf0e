package csv

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// unescape turns what a script cannot show into bytes: \r \n \t \xNN; ~ at the end of a line is "no line end here".
func unescape(s string) string {
	v, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(s, `"`, `\"`), "\n", `\n`) + `"`)
	if err != nil {
		return s
	}
	return v
}

// TestScripts runs testdata: `read` binds the files of its input (a line of --- begins the next one)
// and prints rows and books, or the error.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "read" && d.Cmd != "infer" {
				return "unknown command " + d.Cmd
			}
			var o Options
			h := how{split: 1 << 30}
			for _, a := range d.CmdArgs {
				switch v := a.Vals; a.Key {
				case "columns":
					o.Columns = columns(t, strings.Join(v, ","))
				case "delimiter":
					o.Delimiter = strings.Trim(v[0], "'")
				case "header":
					b := v[0] == "true"
					o.Header = &b
				case "nulls":
					o.NullValues = []string{}
					for _, s := range v {
						o.NullValues = append(o.NullValues, strings.Trim(s, "'"))
					}
				case "check":
					o.Check = v[0]
				case "quote":
					q := strings.ReplaceAll(strings.Trim(v[0], "'"), "single", "'")
					o.Quote = &q
				case "escape":
					o.Escape = v[0]
				case "comment":
					o.Comment = v[0]
				case "skip":
					o.SkipLines = int64(v[0][0] - '0')
				case "trim":
					o.Trim = true
				case "cr":
					o.LineEnding = "cr"
				case "encoding":
					o.Encoding = v[0]
				case "decimal":
					o.Decimal = strings.Trim(v[0], "'")
				case "thousands":
					o.Thousands = strings.ReplaceAll(strings.Trim(v[0], "'"), "single", "'")
				case "format":
					if err := o.Formats.SetEntry(v[0], strings.ReplaceAll(strings.Join(v[1:], ","), "_", " ")); err != nil {
						return "error: " + err.Error() + "\n"
					}
				case "ragged":
					o.Ragged = v[0]
				case "zone":
					o.Zone = v[0]
				case "rename":
					o.DuplicateNames = "rename"
				case "only":
					h.columns = []int{}
					for _, s := range v {
						i, err := strconv.Atoi(s)
						if err != nil {
							continue
						}
						h.columns = append(h.columns, i)
					}
				}
			}
			var texts []string
			for _, s := range strings.Split(d.Input, "---\n") {
				texts = append(texts, unescape(strings.ReplaceAll(s+"\n", "~\n", "")))
			}
			dir, state, err := bindText(t, o, texts...)
			if d.Cmd == "infer" && err == nil {
				return strings.ReplaceAll(inferredOf(t, state), dir+"/", "")
			}
			var rows []string
			var tally []connectors.Tally
			if err == nil {
				rows, tally, err = readAll(t, state, h)
			}
			out := strings.Join(append(rows, ""), "\n")
			if err != nil {
				return strings.ReplaceAll(out+explain(err), dir+"/", "")
			}
			for _, y := range tally {
				out += fmt.Sprintf("books %s rows=%d read=%d bytes=%d", y.File, y.Rows, y.Read, y.Bytes)
				if y.Rejected+y.Padded > 0 {
					out += fmt.Sprintf(" rejected=%d padded=%d", y.Rejected, y.Padded)
				}
				out += "\n"
			}
			return strings.ReplaceAll(out, dir+"/", "")
		})
	})
}

// inferredOf prints the columns that a bound source found.
func inferredOf(t *testing.T, state []byte) string {
	src, err := openIn(localFS(), state)
	if err != nil {
		t.Fatal(err)
	}
	v := src.Inventory().Inferred
	out := v.String() + "\n"
	for _, n := range v.Notes() {
		out += "  " + n + "\n"
	}
	if _, _, err := readAll(t, state, how{split: 5}); err != nil {
		out += "which does not read them: " + err.Error() + "\n"
	}
	return out
}

// explain prints an error with all it says about its place.
func explain(err error) string {
	s := "error: " + err.Error() + "\n"
	var e *connectors.DataError
	if errors.As(err, &e) {
		s += fmt.Sprintf("%s at %s:%d:%d field=%s value=%q wanted=%q order=%v\n", e.Kind, e.File, e.Line, e.Column, e.Field, e.Value, e.Wanted, e.Order)
	}
	return s
}
