package plans

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// text is a plan file's text with its lines: LF only, without a byte order mark.
type text struct {
	file  string
	all   string
	lines []int       // offset at which each line begins
	wide  map[int]int // characters of the lines asked for so far; a line may be the whole file
	// secrets are values that findings do not show.
	secrets []string
}

func newText(file, all string) *text {
	t := &text{file: file, all: all, lines: []int{0}, wide: map[int]int{}}
	for i := range len(all) {
		if all[i] == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// line is the text of a line, from 1, without its end.
func (t *text) line(n int) string {
	if n < 1 || n > len(t.lines) {
		return ""
	}
	end := len(t.all)
	if n < len(t.lines) {
		end = t.lines[n] - 1
	}
	return t.all[t.lines[n-1]:end]
}

// width is how many characters a line has.
func (t *text) width(n int) int {
	w, known := t.wide[n]
	if !known {
		w = utf8.RuneCountInString(t.line(n))
		t.wide[n] = w
	}
	return w
}

// clamp brings a place into the file: a library's position is not trusted.
func (t *text) clamp(line, column int) (int, int) {
	line = min(max(line, 1), len(t.lines))
	if line == len(t.lines) && line > 1 && t.line(line) == "" {
		line--
		column = t.width(line) + 1
	}
	return line, min(max(column, 1), t.width(line)+1)
}

// offset is the byte offset of a place.
func (t *text) offset(line, column int) int {
	line, column = t.clamp(line, column)
	s, at := t.line(line), t.lines[line-1]
	for range column - 1 {
		_, n := utf8.DecodeRuneInString(s)
		s, at = s[n:], at+n
	}
	return at
}

// place is the line and column of a byte offset.
func (t *text) place(offset int) (line, column int) {
	offset = min(max(offset, 0), len(t.all))
	for offset > 0 && offset < len(t.all) && !utf8.RuneStart(t.all[offset]) {
		offset--
	}
	line = sort.SearchInts(t.lines, offset+1)
	return t.clamp(line, utf8.RuneCountInString(t.all[t.lines[line-1]:offset])+1)
}

// mostText is the size up to which a plan is read: far above any written by hand, and small enough
// that no input keeps the parser busy for long.
const mostText = 1 << 20

// clean prepares the bytes of a plan: it takes a byte order mark off and makes line ends LF, and
// refuses what is no text.
func clean(file string, b []byte) (*text, *Finding) {
	s := strings.TrimPrefix(string(b), "\uFEFF")
	refuse := func(offset int, message, hint string) (*text, *Finding) {
		t := newText(file, strings.ToValidUTF8(s, "\uFFFD"))
		line, column := t.place(offset)
		return t, &Finding{Severity: SeverityError, Rule: RuleNotText, Line: line, Column: column, Message: message, Hint: hint}
	}
	if len(b) > mostText {
		s = s[:0]
		t, f := refuse(0, fmt.Sprintf("the plan has %d bytes, and the most is %d", len(b), mostText), "")
		f.Rule = RuleTooLarge
		return t, f
	}
	if strings.HasPrefix(s, "\xff\xfe") || strings.HasPrefix(s, "\xfe\xff") {
		s = ""
		return refuse(0, "the plan is UTF-16", "save it as UTF-8")
	}
	if !utf8.ValidString(s) {
		bad := 0
		for r, n := utf8.DecodeRuneInString(s); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRuneInString(s[bad:]) {
			bad += n
		}
		return refuse(bad, "the plan is not UTF-8 here", "save it as UTF-8")
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	for i, r := range s {
		switch {
		case r == '\r':
			return refuse(i, "a carriage return stands alone", "end lines with a line feed")
		case r < ' ' && r != '\n' && r != '\t' || r == 0x7f:
			return refuse(i, fmt.Sprintf("the character U+%04X is not allowed in a plan", r), "")
		case r == 0xFEFF:
			return refuse(i, "a byte order mark stands inside the plan", "delete it; it belongs before everything else, if anywhere")
		}
	}
	return newText(file, s), nil
}
