package failure

import (
	"bytes"
	"strings"
)

const tracebackOpens = "Traceback (most recent call last):"

// opensTraceback reports whether a line opens a Python traceback, and returns what stands before it.
func opensTraceback(line string) (before string, opens bool) {
	before, opens = strings.CutSuffix(strings.TrimRight(line, " \t\r"), tracebackOpens)
	return before, opens
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

	earlier *node // the error this one was raised from
	from    bool  // a second traceback is announced
	because bool  // as the direct cause, not merely while handling
}

// feed takes one line and says whether it belongs to the traceback.
func (p *traceback) feed(line []byte) bool {
	text := string(line[min(p.base, indentOf(line)):])
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.HasSuffix(trimmed, tracebackOpens):
		p.again()
		return true
	case strings.HasPrefix(trimmed, "The above exception was the direct cause"):
		p.from, p.because = true, true
		return true
	case strings.HasPrefix(trimmed, "During handling of the above exception"):
		p.from, p.because = true, false
		return true
	case p.from:
		return trimmed == ""
	case p.done:
		return p.goOn(line, text, trimmed)
	case trimmed == "" || text[0] == ' ' || text[0] == '\t':
		if place := placeOf(trimmed); place != "" {
			p.frame = place
		}
		return true
	}
	class, message, ok := splitPython(text)
	if !ok {
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

// again starts over for a second traceback. Where it was raised from the first, the first is its
// cause; an error that came up while the first was handled stands alone.
func (p *traceback) again() {
	if p.from && p.because && p.done {
		first := *p.target
		first.message = strings.TrimSpace(strings.Join(first.lines, "\n"))
		first.lines = nil
		p.earlier = &first
	} else {
		p.earlier = nil
	}
	*p.target = node{cause: p.earlier}
	p.done, p.blank, p.from, p.frame = false, false, false, ""
}

func (p *traceback) finish() {
	if p.target == nil || p.target.lines == nil {
		return
	}
	p.target.message = strings.TrimRight(strings.Join(p.target.lines, "\n"), " \t\r\n")
	p.target.lines = nil
}

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
	return bytes.HasPrefix(line, []byte("Flink SQL>")) || bytes.HasPrefix(line, []byte(">>> ")) ||
		bytes.HasPrefix(line, []byte("scala> ")) || bytes.HasPrefix(line, []byte("$ "))
}
