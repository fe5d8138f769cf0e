package plans

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/config/spec"
)

// A yamlCase is one case of yaml-test-suite.
type yamlCase struct {
	name, yaml, tree string
	fail             bool
}

// yamlCases takes a file of the suite apart: a list of mappings whose values are block literals. What a later
// case of a file leaves out is that of the one before it.
func yamlCases(t *testing.T, path string) (out []yamlCase) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c yamlCase
	lines := strings.Split(string(data), "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if strings.HasPrefix(l, "- ") {
			if i > 1 {
				out = append(out, c)
			}
			c.fail = false
			l = "  " + l[2:]
		}
		key, value, _ := strings.Cut(strings.TrimPrefix(l, "  "), ":")
		if strings.HasPrefix(value, " |") {
			var block strings.Builder
			for ; i+1 < len(lines) && (strings.HasPrefix(lines[i+1], "    ") || lines[i+1] == ""); i++ {
				block.WriteString(strings.TrimPrefix(lines[i+1], "    ") + "\n")
			}
			value = strings.TrimRight(block.String(), "\n") + "\n"
		}
		switch key {
		case "yaml":
			c.yaml = visible.Replace(value)
			c.yaml = strings.TrimSuffix(c.yaml, "∎\n")
		case "tree":
			c.tree = strings.ReplaceAll(value, "␣", " ")
		case "fail":
			c.fail = true
		}
	}
	out = append(out, c)
	for i := range out {
		out[i].name = fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(path), ".yaml"), i)
	}
	return out
}

// visible are the characters that the suite writes for what cannot be seen.
var visible = strings.NewReplacer("␣", " ", "————»", "\t", "———»", "\t", "——»", "\t", "—»", "\t", "»", "\t", "↵", "", "←", "\r", "⇔", "\uFEFF")

// An eventTree builds the same text from the suite's events as written from a node.
type eventTree struct {
	lines   []string
	anchors map[string]string
	docs    int
	odd     string // what a plan does not have
}

// next reads one value.
func (e *eventTree) next() string {
	l := strings.TrimLeft(e.lines[0], " ")
	e.lines = e.lines[1:]
	word, rest, _ := strings.Cut(l, " ")
	anchor := ""
	for _, bracket := range []string{"{}", "[]"} {
		if r, ok := strings.CutPrefix(rest, bracket); ok {
			rest = strings.TrimPrefix(r, " ")
		}
	}
	for strings.HasPrefix(rest, "&") || strings.HasPrefix(rest, "<") {
		var part string
		part, rest, _ = strings.Cut(rest, " ")
		if part[0] == '&' {
			anchor = part[1:]
		}
	}
	out := ""
	switch word {
	case "=VAL":
		out = fmt.Sprintf("%q", unescaped.Replace(rest[1:]))
	case "=ALI":
		out = e.anchors[strings.TrimPrefix(rest, "*")]
	case "+SEQ":
		for !strings.HasPrefix(strings.TrimSpace(e.lines[0]), "-SEQ") {
			out += e.next() + ","
		}
		e.lines, out = e.lines[1:], "["+out+"]"
	case "+MAP":
		for !strings.HasPrefix(strings.TrimSpace(e.lines[0]), "-MAP") {
			k := e.next()
			if k[0] != '"' {
				e.odd = "a key that is no text"
			}
			out += k + ":" + e.next() + ","
		}
		e.lines, out = e.lines[1:], "{"+out+"}"
	}
	if anchor != "" {
		e.anchors[anchor] = out
	}
	return out
}

var unescaped = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\b`, "\b", `\\`, `\`)

// wanted is the one document of a case as text; documents says how many there are.
func (c yamlCase) wanted() (text string, documents int) {
	e := eventTree{lines: strings.Split(strings.Trim(c.tree, "\n"), "\n"), anchors: map[string]string{}}
	for len(e.lines) > 0 {
		if l := strings.TrimSpace(e.lines[0]); strings.HasPrefix(l, "+STR") || strings.HasPrefix(l, "-") || strings.HasPrefix(l, "+DOC") {
			if strings.HasPrefix(l, "+DOC") {
				documents++
			}
			e.lines = e.lines[1:]
			continue
		}
		text = e.next()
	}
	return text, documents
}

// written is a node as wanted has it.
func written(n *spec.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Null:
		return fmt.Sprintf("%q", n.Text)
	case n.Kind == spec.Sequence:
		out := ""
		for _, k := range n.Items {
			out += written(k) + ","
		}
		return "[" + out + "]"
	case n.Kind == spec.Mapping:
		out := ""
		for _, k := range n.Keys {
			out += fmt.Sprintf("%q:%s,", k.Key, written(k.Value))
		}
		return "{" + out + "}"
	}
	return fmt.Sprintf("%q", n.Text)
}

// TestYAMLTestSuite: a case of yaml-test-suite is read as the suite says or refused by a finding with a place. What is
// no YAML is refused.
func TestYAMLTestSuite(t *testing.T) {
	dir := os.Getenv("RUNNER_SHARED")
	if dir == "" {
		t.Skip("RUNNER_SHARED is not set: no shared data")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "data", "suites", "yaml-test-suite", "src", "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	read, refused := 0, 0
	for _, p := range paths {
		for _, c := range yamlCases(t, p) {
			t.Run(c.name, func(t *testing.T) {
				text, found := clean("case.yaml", []byte(c.yaml))
				if found != nil {
					refused++
					return
				}
				root, fs := readTree(text)
				if fs.Failed() {
					refused++
					for _, f := range fs {
						if f.Line < 1 || f.Column < 1 || f.Message == "" {
							t.Errorf("a finding without a place: %+v", f)
						}
					}
					return
				}
				read++
				got := written(root)
				if c.fail {
					t.Errorf("%q is read as %s, and is no YAML", c.yaml, got)
					return
				}
				want, documents := c.wanted()
				switch {
				case documents > 1 && root != nil:
					t.Errorf("%q has %d documents and is read as %s", c.yaml, documents, got)
				case got != want && !(got == "" && want == `""`):
					t.Errorf("%q is read as\n%s, expected\n%s", c.yaml, got, want)
				}
			})
		}
	}
	t.Logf("%d read, %d refused", read, refused)
}
