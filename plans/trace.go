package plans

import (
	"strings"
	"unicode/utf8"
)

// style is how a scalar is written.
type style uint8

const (
	plain style = iota
	single
	double
	block // literal or folded; the place is that of its header
)

// trace maps byte offsets in a scalar's value to byte offsets in the file, through quotes, escapes,
// folding and the indent of blocks. It walks the file along the value it is known to give, so it
// needs no rules about where the scalar ends. Offsets it cannot follow map to the last it could.
func trace(t *text, start int, how style, value string) []int {
	w := &walk{src: t.all, at: start, value: value, offs: make([]int, len(value)+1)}
	for i := range w.offs {
		w.offs[i] = start
	}
	switch how {
	case block:
		w.block()
	case plain:
		w.flow(0)
	case single:
		w.at++
		w.flow('\'')
	case double:
		w.at++
		w.flow('"')
	}
	for i := w.done; i < len(w.offs); i++ {
		w.offs[i] = min(w.at, len(w.src))
	}
	return w.offs
}

// walk is one walk along the file and the value.
type walk struct {
	src   string
	at    int // in src
	value string
	done  int // bytes of value accounted for
	offs  []int
}

// take accounts for n bytes of the value that stand at the current place, which is m bytes long.
func (w *walk) take(n, m int) {
	for i := range n {
		w.offs[w.done+i] = w.at
		if n == m {
			w.offs[w.done+i] += i
		}
	}
	w.done += n
	w.at += m
}

// flow walks a plain or quoted scalar.
func (w *walk) flow(quote byte) {
	for w.done < len(w.value) && w.at < len(w.src) {
		c := w.src[w.at]
		switch {
		case w.fold():
		case quote == '"' && c == '\\':
			if !w.escape() {
				return
			}
		case quote == '\'' && strings.HasPrefix(w.src[w.at:], "''") && w.value[w.done] == '\'':
			w.take(1, 2)
		case c == w.value[w.done]:
			w.take(1, 1)
		default:
			return
		}
	}
}

// fold walks over a line end inside a flow scalar: one becomes a space, more become one less.
func (w *walk) fold() bool {
	end := w.at
	for end < len(w.src) && (w.src[end] == ' ' || w.src[end] == '\t') {
		end++
	}
	if end >= len(w.src) || w.src[end] != '\n' {
		return false
	}
	breaks, next := 0, end
	for i := end; i < len(w.src); i++ {
		if w.src[i] == '\n' {
			breaks++
		} else if w.src[i] != ' ' && w.src[i] != '\t' {
			break
		}
		next = i + 1
	}
	for range max(breaks-1, 1) {
		if w.done < len(w.value) && (w.value[w.done] == ' ' || w.value[w.done] == '\n') {
			w.offs[w.done] = w.at
			w.done++
		}
	}
	w.at = next
	return true
}

// escape walks over one escape of a double-quoted scalar; false where it cannot.
func (w *walk) escape() bool {
	if w.at+1 >= len(w.src) {
		return false
	}
	length := map[byte]int{'x': 4, 'u': 6, 'U': 10}[w.src[w.at+1]]
	if w.src[w.at+1] == '\n' {
		next := w.at + 2
		for next < len(w.src) && (w.src[next] == ' ' || w.src[next] == '\t') {
			next++
		}
		w.at = next
		return true
	}
	if length == 0 {
		length = 2
	}
	_, n := utf8.DecodeRuneInString(w.value[w.done:])
	w.take(n, min(length, len(w.src)-w.at))
	return true
}

// block walks a literal or folded block, from its header.
func (w *walk) block() {
	if !w.nextLine() {
		return
	}
	indent := w.indent()
	for w.done < len(w.value) && w.at < len(w.src) {
		line := w.src[w.at:]
		if end := strings.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		line = line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):]
		lineEnd := w.at + strings.IndexByte(w.src[w.at:]+"\n", '\n')
		w.at = lineEnd - len(line)
		n := min(len(line), len(w.value)-w.done)
		if line[:n] != w.value[w.done:w.done+n] {
			return
		}
		w.take(n, n)
		if w.done < len(w.value) && (w.value[w.done] == ' ' || w.value[w.done] == '\n') {
			w.take(1, 0)
			w.skipFolded()
		}
		if !w.nextLine() {
			return
		}
	}
}

// skipFolded steps over the first of several empty lines, which a folded block drops.
func (w *walk) skipFolded() {
	rest := w.src[min(w.at, len(w.src)):]
	if !strings.HasPrefix(rest, "\n") || w.done >= len(w.value) || w.value[w.done] == '\n' {
		return
	}
	for {
		line, after, more := strings.Cut(rest[1:], "\n")
		if !more || strings.Trim(line, " ") != "" {
			return
		}
		w.at += 1 + len(line)
		rest = "\n" + after
	}
}

// indent is how far a block's lines are moved to the right: the leading spaces of its first line
// with text, less those that its value has kept.
func (w *walk) indent() int {
	spaces := func(s string) int {
		for _, line := range strings.Split(s, "\n") {
			if kept := strings.TrimLeft(line, " "); kept != "" {
				return len(line) - len(kept)
			}
		}
		return 0
	}
	return max(spaces(w.src[w.at:])-spaces(w.value), 0)
}

// nextLine goes to the start of the next line.
func (w *walk) nextLine() bool {
	end := strings.IndexByte(w.src[min(w.at, len(w.src)):], '\n')
	if end < 0 {
		return false
	}
	w.at += end + 1
	return true
}
