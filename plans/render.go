package plans

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Render writes findings for people: file:line:column: message, the line with a caret under the
// place, and what would be right.
func Render(w io.Writer, fs Findings) error {
	for _, f := range fs {
		if _, err := io.WriteString(w, f.render()); err != nil {
			return fmt.Errorf("writing the findings: %w", err)
		}
	}
	return nil
}

// mostLine is how many characters of a line are shown, around the place.
const mostLine = 120

func (f Finding) render() string {
	var b strings.Builder
	kind := ""
	if f.Severity == SeverityWarning {
		kind = "warning: "
	}
	fmt.Fprintf(&b, "%s:%d:%d: %s%s\n", f.File, f.Line, f.Column, kind, f.Message)
	if strings.TrimSpace(f.Source) != "" {
		number := fmt.Sprintf("%5d", f.Line)
		line, caret := window(f.Source, f.Column)
		fmt.Fprintf(&b, "%s | %s\n%s | %s^\n", number, line, strings.Repeat(" ", len(number)), caret)
	}
	for _, extra := range []struct{ name, text string }{{"expected", f.Expected}, {"did you mean", f.Near}, {"hint", f.Hint}} {
		if extra.text != "" {
			fmt.Fprintf(&b, "        %s: %s\n", extra.name, strings.ReplaceAll(extra.text, "\n", "\n        "))
		}
	}
	return b.String()
}

// window cuts a long line around a column and gives what stands before the caret; tabs stay tabs so
// that the caret is under its character.
func window(line string, column int) (shown, before string) {
	runes := []rune(line)
	start := 0
	if len(runes) > mostLine {
		start = min(max(column-mostLine/2, 0), len(runes)-mostLine)
		runes = runes[start : start+mostLine]
	}
	shown = string(runes)
	head := runes[:min(max(column-1-start, 0), len(runes))]
	var b strings.Builder
	for _, c := range head {
		if c == '\t' {
			b.WriteRune('\t')
			continue
		}
		b.WriteString(strings.Repeat(" ", max(width(c), 1)))
	}
	return shown, b.String()
}

// width is how many columns of a terminal a character takes: two for the wide ones of East Asia.
func width(c rune) int {
	if utf8.RuneLen(c) >= 3 && (c >= 0x1100 && c <= 0x115F || c >= 0x2E80 && c <= 0xA4CF || c >= 0xAC00 && c <= 0xD7A3 || c >= 0xF900 && c <= 0xFAFF || c >= 0xFF00 && c <= 0xFF60 || c >= 0x1F300) {
		return 2
	}
	return 1
}
