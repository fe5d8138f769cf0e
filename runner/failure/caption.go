package failure

import (
	"bytes"
	"strings"
)

// This file tells apart the kinds of lines a Java stack trace has.

// indentOf returns the length of the white space a line starts with.
func indentOf(line []byte) int {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return n
}

// isFrame reports whether a line is a stack frame, and returns it without "at ". A tab before "at " settles it; with blanks, or nothing,
// in its place the rest must look like a method, because messages have lines such as " at [Source: …".
func isFrame(line []byte) ([]byte, bool) {
	n := indentOf(line)
	rest, ok := bytes.CutPrefix(line[n:], []byte("at "))
	if !ok || len(rest) == 0 {
		return nil, false
	}
	tabbed := n > 0 && line[n-1] == '\t'
	open := bytes.IndexByte(rest, '(')
	shaped := open > 0 && bytes.IndexByte(rest[:open], '.') > 0 && bytes.IndexByte(rest[:open], ' ') < 0 &&
		bytes.IndexByte(rest[open:], ')') > 0 && rest[0] != '['
	if n == 0 {
		shaped = shaped && looksLikePlace(rest[open:])
	}
	if !tabbed && !shaped {
		return nil, false
	}
	return rest, true
}

// looksLikePlace reports whether s starts with what a frame has in brackets.
func looksLikePlace(s []byte) bool {
	end := bytes.IndexByte(s, ')')
	if end < 0 {
		return false
	}
	in := s[1:end]
	return bytes.Equal(in, []byte("Native Method")) || bytes.Equal(in, []byte("Unknown Source")) ||
		bytes.Contains(in, []byte(".java")) || bytes.Contains(in, []byte(".scala")) || bytes.Contains(in, []byte(".kt")) ||
		bytes.Contains(in, []byte(".groovy")) || bytes.Contains(in, []byte(".py"))
}

// hasJar reports whether a frame carries a jar's name, "~[flink-dist-1.20.1.jar:1.20.1]": only loggers
// print it.
func hasJar(line []byte) bool {
	return bytes.HasSuffix(line, []byte("]")) &&
		(bytes.Contains(line, []byte(") ~[")) || bytes.Contains(line, []byte(") [")))
}

// withoutJar removes the name of the jar that a logger puts behind a frame.
func withoutJar(frame []byte) []byte {
	for _, mark := range []string{") ~[", ") ["} {
		if i := bytes.Index(frame, []byte(mark)); i >= 0 {
			return frame[:i+1]
		}
	}
	return bytes.TrimRight(frame, " \t")
}

// isMore reports whether a line stands for frames left out: "... 12 more" or "... 7 common frames omitted".
func isMore(line []byte) bool {
	rest, ok := bytes.CutPrefix(line[indentOf(line):], []byte("... "))
	if !ok {
		return false
	}
	if bytes.HasPrefix(rest, []byte("(same as")) {
		return true
	}
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return false
	}
	rest = rest[digits:]
	return bytes.HasPrefix(rest, []byte(" more")) || bytes.HasPrefix(rest, []byte(" common ")) ||
		bytes.HasPrefix(rest, []byte(" frames "))
}

type captionKind uint8

const (
	noCaption captionKind = iota
	causedBy
	suppressed
	wrappedBy
	circular     // "Caused by: [CIRCULAR REFERENCE: …": the rest is what follows the colon
	circularBare // the same without "Caused by:", as Java 8 prints it, always one tab deep
)

// captionOf splits a line such as "Caused by: java.io.IOException: gone" into its kind and what follows.
func captionOf(line []byte) (kind captionKind, indent int, rest []byte) {
	indent = indentOf(line)
	body := line[indent:]
	if len(body) < 11 {
		return noCaption, indent, nil
	}
	kind = noCaption
	switch body[0] {
	case 'C':
		if rest, ok := bytes.CutPrefix(body, []byte("Caused by: ")); ok {
			kind, body = causedBy, rest
		}
	case 'S':
		if rest, ok := bytes.CutPrefix(body, []byte("Suppressed: ")); ok {
			kind, body = suppressed, rest
		}
	case 'W':
		if rest, ok := bytes.CutPrefix(body, []byte("Wrapped by: ")); ok {
			kind, body = wrappedBy, rest
		}
	}
	if kind != suppressed && kind != wrappedBy {
		if rest, ok := bytes.CutPrefix(body, []byte("[CIRCULAR REFERENCE:")); ok {
			if kind == noCaption {
				return circularBare, indent, rest
			}
			return circular, indent, rest
		}
	}
	return kind, indent, body
}

// splitClass splits "class: message" as Throwable.toString prints it, and the forms of Thrift,
// "SomeException(message:…)", of Elasticsearch, "SomeException[…]", and of Hadoop,
// "RemoteException(inner.Class): …". The class must be one
// by its look: packages and a capital letter, or a simple name that ends as exceptions do.
func splitClass(text []byte) (class, message string, ok bool) {
	end := 0
	for end < len(text) && isClassByte(text[end]) {
		end++
	}
	name := text[:end]
	if !looksLikeClass(name) {
		return "", "", false
	}
	rest := text[end:]
	switch {
	case len(bytes.TrimSpace(rest)) == 0:
		return string(name), "", true
	case bytes.HasPrefix(rest, []byte(": ")):
		return string(name), string(rest[2:]), true
	case bytes.Equal(rest, []byte(":")):
		return string(name), "", true
	case bytes.HasPrefix(rest, []byte("(message:")) && endsAsException(name):
		inner := bytes.TrimRight(rest[len("(message:"):], " \t")
		return string(name), string(bytes.TrimSuffix(inner, []byte(")"))), true
	case rest[0] == '[' && endsAsException(name) && bytes.IndexByte(rest, ']') > 0:
		return string(name), string(withoutBrackets(rest)), true
	case rest[0] == '(' && endsAsException(name):
		if i := bytes.Index(rest, []byte("): ")); i > 0 && looksLikeClass(rest[1:i]) {
			return string(name), string(rest[i+3:]), true
		}
	}
	return "", "", false
}

// withoutBrackets returns what stands in the brackets that Elasticsearch puts around a message, and the
// text as it is where more follows them.
func withoutBrackets(text []byte) []byte {
	trimmed := bytes.TrimRight(text, " \t;")
	depth := 0
	for i, c := range trimmed {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			if i == len(trimmed)-1 {
				return trimmed[1:i]
			}
			break
		}
	}
	return text
}

func isClassByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '.' || c == '$' || c == '_' || c == '-' || c == '/' || c >= 0x80
}

func looksLikeClass(name []byte) bool {
	if len(name) < 4 || len(name) > 512 || name[0] == '.' || name[len(name)-1] == '.' || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	dot := bytes.LastIndexByte(name, '.')
	if dot < 0 {
		return endsAsException(name) && isUpper(name[0])
	}
	simple := name[dot+1:]
	if bytes.IndexByte(name[:dot], '/') >= 0 || bytes.Contains(name, []byte("..")) {
		return false
	}
	return isUpper(simple[0]) || simple[0] >= 0x80 || endsAsException(simple)
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// endsAsException reports whether a name ends the way classes of exceptions do.
func endsAsException(name []byte) bool {
	for _, suffix := range []string{"Exception", "Error", "Throwable", "Failure", "Fault", "Warning", "Interrupt", "Interrupted"} {
		if bytes.HasSuffix(name, []byte(suffix)) {
			return true
		}
	}
	return false
}

// isHeader reports whether a text starts a trace by itself: a class with its packages that ends as
// exceptions do. A simple name is not enough, sentences begin with "Error: " too.
func isHeader(text []byte) (class, message string, ok bool) {
	class, message, ok = splitClass(text)
	if !ok {
		return "", "", false
	}
	return class, message, strings.Contains(class, ".") && endsAsException([]byte(class)) ||
		bytes.HasPrefix(text[min(len(class), len(text)):], []byte("(message:"))
}

// withoutThread removes `Exception in thread "main" `, which stands before the class where a thread died.
func withoutThread(text []byte) []byte {
	if rest, ok := bytes.CutPrefix(text, []byte("Exception in thread ")); ok {
		if i := bytes.Index(rest, []byte(`" `)); i >= 0 {
			return rest[i+2:]
		}
	}
	return text
}

// simpleName returns the name of a class without its packages and outer classes.
func simpleName(class string) string {
	if i := strings.LastIndexAny(class, ".$"); i >= 0 {
		return class[i+1:]
	}
	return class
}
