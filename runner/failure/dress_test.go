package failure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A dressing changes how a text looks and not what it says.
type dressing struct {
	name  string
	apply func(text string) string
}

func eachLine(f func(i int, line string) string) func(string) string {
	return func(text string) string {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, line := range lines {
			lines[i] = f(i, strings.TrimSuffix(line, "\r"))
		}
		return strings.Join(lines, "\n") + "\n"
	}
}

func prefixed(prefix string) func(string) string {
	return eachLine(func(_ int, line string) string { return prefix + line })
}

// dressings are what happens to texts on their way to a person.
func dressings() []dressing {
	return []dressing{
		{"crlf", eachLine(func(_ int, line string) string { return line + "\r" })},
		{"colours", eachLine(func(i int, line string) string { return fmt.Sprintf("\x1b[1;3%dm%s\x1b[0m", i%8, line) })},
		{"colour words", func(text string) string { return strings.ReplaceAll(text, "at ", "\x1b[31mat\x1b[0m ") }},
		{"compose", prefixed("taskmanager-1  | ")},
		{"compose in colours", prefixed("\x1b[36mtaskmanager-1  |\x1b[0m ")},
		{"container runtime", prefixed("2026-04-22T12:00:00.100000Z ")},
		{"cri", prefixed("2026-04-22T12:00:00.100000001Z stdout F ")},
		{"stamp in brackets", prefixed("[2026-04-22 12:00:00] ")},
		{"pod", prefixed("[pod/flink-taskmanager-0/main] ")},
		{"syslog", prefixed("Apr 22 12:00:00 node-4 flink[812]: ")},
		{"log4j on each line", prefixed("2026-04-22 12:00:00,000 ERROR net.example.Main                             [] - ")},
		{"logback on each line", prefixed("12:00:00.123 [main] ERROR n.e.Main - ")},
		{"quoted", prefixed("> ")},
		{"indented", prefixed("    ")},
		{"indented by a tab", prefixed("\t")},
		{"tabs are blanks", func(text string) string { return strings.ReplaceAll(text, "\t", "        ") }},
		{"blank lines around", func(text string) string { return "\n\n" + text + "\n\n" }},
		{"log line behind", func(text string) string {
			return strings.TrimSuffix(text, "\n") + "\n2026-04-22 12:00:09,000 INFO  net.example.Main [] - stopped\n"
		}},
	}
}

// unfit names the dressings that change more than the look of a text: a whole logger's header in front
// of what is no trace, or of lines that have one.
func unfit(d, form string) bool {
	logger := strings.HasPrefix(d, "log4j") || strings.HasPrefix(d, "logback")
	switch form {
	case formStack:
		return false
	case formREST, formJSONLog, formK8s:
		return logger || d == "log line behind"
	}
	return logger
}

// checkDressings holds that no dressing changes the answer. The form may change: a prefix makes a log
// of a stack.
func checkDressings(t *testing.T, text string) {
	t.Helper()
	plain, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := answer(plain)
	form := plain.Form
	want.Form = nil
	for _, d := range dressings() {
		if unfit(d.name, form) {
			continue
		}
		if d.name == "tabs are blanks" && tabInMessages(plain) {
			continue
		}
		dressed := d.apply(text)
		r, err := Parse(strings.NewReader(dressed))
		if err != nil {
			t.Fatal(err)
		}
		got := answer(r)
		got.Form = nil
		for _, diff := range differences(got, want) {
			t.Errorf("%s: %s", d.name, diff)
		}
	}
}

func tabInMessages(r Result) bool {
	if r.Failure == nil {
		return false
	}
	for _, c := range r.Failure.Chain {
		if strings.Contains(c.Message, "\t") {
			return true
		}
	}
	return false
}

func TestDressingsOfCorpus(t *testing.T) {
	for path := range corpus(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkDressings(t, string(bytes.ReplaceAll(raw, []byte("\r"), nil)))
		})
	}
}
