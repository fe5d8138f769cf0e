package failure

import (
	"bytes"
	"regexp"
	"strings"
)

const tracebackOpens = "Traceback (most recent call last):"

// opensTraceback reports whether a line opens a Python traceback, and returns what stands before it.
// Notebooks put the error's type before it and no colon behind.
func opensTraceback(line string) (before string, opens bool) {
	line = strings.TrimRight(line, " \t\r")
	if before, opens = strings.CutSuffix(line, tracebackOpens); opens {
		return before, true
	}
	kind, opens := strings.CutSuffix(line, "  "+strings.TrimSuffix(tracebackOpens, ":"))
	_, _, named := splitPython(strings.TrimRight(kind, " "))
	return "", opens && named
}

// A traceback reads a Python traceback line by line: places and source lines, indented, then the
// error, whose message may have many lines.
type traceback struct {
	base   int   // indentation of the line that opened it
	target *node // the error is put there
	alone  bool  // it is the text itself, not a part of a Java message
	done   bool  // the error's line has come
	blank  bool  // and a blank line after it
	frame  string

	file, function string // of a notebook's frame whose line is to come

	from bool // a second traceback is announced
}

// feed takes one line and says whether it belongs to the traceback.
func (p *traceback) feed(line []byte) bool {
	text := string(line[min(p.base, indentOf(line)):])
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.HasSuffix(trimmed, tracebackOpens):
		p.again()
		return true
	case strings.HasPrefix(trimmed, "The above exception was the direct cause"),
		strings.HasPrefix(trimmed, "During handling of the above exception"):
		p.from = true
		return true
	case p.from:
		return trimmed == ""
	case p.done:
		return p.goOn(line, text, trimmed)
	case trimmed == "" || text[0] == ' ' || text[0] == '\t':
		p.readPlace(trimmed)
		return true
	}
	class, message, ok := splitPython(text)
	if !ok {
		p.readPlace(trimmed)
		return !endsEmbedded(line)
	}
	p.done = true
	p.target.class, p.target.snake = class, true
	p.target.frame = p.frame
	p.target.push(message)
	return true
}

// goOn takes a further line of the error's message. Below a traceback that stands alone a blank line
// ends it, because other output follows there; inside a Java message the frames below will tell.
func (p *traceback) goOn(line []byte, text, trimmed string) bool {
	if isPrompt(line) || p.blank && p.alone && trimmed != "" {
		return false
	}
	p.blank = p.blank || trimmed == ""
	p.target.push(text)
	return true
}

// again starts over for a second traceback: the last one counts, whether it was raised from the first
// or came up while that was handled. Its message is what the program's author wanted to say.
func (p *traceback) again() {
	*p.target = node{}
	p.done, p.blank, p.from, p.frame = false, false, false, ""
}

func (p *traceback) finish() {
	if p.target == nil || p.target.lines == nil {
		return
	}
	p.target.message = strings.TrimRight(strings.Join(p.target.lines, "\n"), " \t\r\n")
	p.target.lines = nil
}

// readPlace takes the place of a frame from a line of a traceback. Notebooks name the function first
// and mark the line with an arrow below.
func (p *traceback) readPlace(text string) {
	if place := placeOf(text); place != "" {
		p.frame = place
		return
	}
	if m := notebookFrame.FindStringSubmatch(text); m != nil {
		p.frame = m[1] + ":" + m[2] + " in " + m[3]
	} else if m := olderNotebookFrame.FindStringSubmatch(text); m != nil {
		p.file, p.function = m[1], m[2]
	} else if m := notebookArrow.FindStringSubmatch(text); m != nil && p.file != "" {
		p.frame = p.file + ":" + m[1] + " in " + p.function
		p.file = ""
	}
}

var (
	notebookFrame      = regexp.MustCompile(`^File (\S+):(\d+), in ([\w.<>]+)`)
	olderNotebookFrame = regexp.MustCompile(`^(\S+) in ([\w.<>]+)(?:\(.*\))?$`)
	notebookArrow      = regexp.MustCompile(`^-+> (\d+)\b`)
)

// placeOf turns `File "a.py", line 7, in f` into "a.py:7 in f".
func placeOf(text string) string {
	rest, ok := strings.CutPrefix(text, `File "`)
	if !ok {
		return ""
	}
	file, rest, ok := strings.Cut(rest, `", line `)
	if !ok {
		return ""
	}
	number, function, ok := strings.Cut(rest, ", in ")
	if !ok {
		return file + ":" + number
	}
	return file + ":" + number + " in " + function
}

// splitPython splits "pkg.Type: message"; Python's types need no package and no ending.
func splitPython(text string) (class, message string, ok bool) {
	end := 0
	for end < len(text) && (isClassByte(text[end]) && text[end] != '-' && text[end] != '/' && text[end] != '$') {
		end++
	}
	if end == 0 || text[0] >= '0' && text[0] <= '9' || text[0] == '.' {
		return "", "", false
	}
	rest := text[end:]
	if rest == "" {
		return text, "", true
	}
	message, ok = strings.CutPrefix(rest, ": ")
	if !ok && rest != ":" {
		return "", "", false
	}
	return text[:end], message, true
}

// isPrompt reports whether a line is where an interactive program waits for the next input.
func isPrompt(line []byte) bool {
	line = line[indentOf(line):]
	return bytes.HasPrefix(line, []byte("Flink SQL>")) || bytes.HasPrefix(line, []byte(">>> "))
}
