package failure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestParse runs failure texts of our own making through the parser: `parse` prints the answer.
// With `escaped`, \x1b, \r and \t in the text stand for the characters. Each text is dressed in other
// ways too, and must give the same answer.
func TestParse(t *testing.T) {
	datadriven.Walk(t, "testdata/parse", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "parse" {
				t.Fatalf("unknown command %q", d.Cmd)
			}
			text := d.Input + "\n"
			if d.HasArg("escaped") {
				text = strings.NewReplacer(`\x1b`, "\x1b", `\r`, "\r", `\t`, "\t").Replace(text)
			}
			r, err := Parse(strings.NewReader(text))
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			if !d.HasArg("undressed") {
				checkDressings(t, text)
			}
			return show(r)
		})
	})
}

// show prints a result for a script.
func show(r Result) string {
	if r.Failure == nil {
		return "nothing failed, form " + r.Form + "\n"
	}
	var b strings.Builder
	f := r.Failure
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-9s %s\n", label, strings.ReplaceAll(text, "\n", `\n`))
		}
	}
	line("headline", f.Headline)
	for i, c := range f.Chain {
		mark := fmt.Sprintf("  %d", i)
		if i == f.RootIndex {
			mark += " root"
		}
		line(mark, oneText(c))
	}
	if f.RootIndex < 0 {
		line("root", oneText(*f.RootCause))
	}
	line("frame", f.RootCause.Frame)
	line("place", PlaceText(*f.RootCause))
	if f.RecoverySuppressed || f.RestartStrategy != "" {
		line("restart", restartText(*f))
	}
	line("task", f.Task)
	line("manager", f.TaskManager)
	line("is", fmt.Sprintf("%s, %s, %s, %v", f.Category, r.Form, f.Rule, f.Confidence))
	for _, c := range f.Concurrent {
		line("beside", strings.TrimSpace(c.Task+" "+oneText(*c.RootCause)))
	}
	for _, o := range r.Others {
		line("also", strings.TrimSpace(o.Task+" "+oneText(*o.RootCause)))
	}
	return b.String()
}
