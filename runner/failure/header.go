package failure

import "bytes"

// A header is what a logger puts in front of a message.
type header struct {
	level     string // "ERROR", "INFO", …
	timeMs    int64  // 0 where it has none; of the day where it has no date
	messageAt int    // where the message starts
	stamps    int    // how many timestamps it has; more than one means that another program added one
	plain     bool   // the level is a bare word
	loose     bool   // nothing but a level and a colon, "ERROR: …": inside of a message it may be text
}

// maxHeaderBytes bounds the part of a line in which a header is looked for.
const maxHeaderBytes = 256

// parseHeader recognises a logger's header: a level among the first words of a line, with nothing but
// times, numbers and brackets before it. This holds for the layouts of log4j, logback, Spring, Hadoop,
// java.util.logging, glog, logfmt and Maven alike.
func parseHeader(line []byte) (header, bool) {
	h, next, ok := parseLevel(line)
	if ok {
		h.messageAt = messageStart(line, next, min(len(line), maxHeaderBytes))
	}
	return h, ok
}

// parseLevel is parseHeader as far as the level; next is where the rest of the header starts.
func parseLevel(line []byte) (h header, next int, ok bool) {
	at := indentOf(line)
	if at == len(line) {
		return h, 0, false
	}
	if at > 0 {
		// Messages have indented lines of their own; only a date, or a time to the millisecond, settles
		// that this is a log line.
		if size, _ := stampAt(line[at:]); size == 0 {
			if _, end := clockAt(line, at); end < at+len("12:00:00.123") {
				return h, 0, false
			}
		}
	}
	limit := min(len(line), maxHeaderBytes)
	logger := false
	for range 10 {
		for at < limit && line[at] == ' ' {
			at++
		}
		if size, ms := stampAt(line[at:]); size > 0 {
			h.timeMs = ms
			h.stamps++
			at += size
			continue
		}
		word, next := wordAt(line[:limit], at)
		if len(word) == 0 {
			return h, 0, false
		}
		if level, bracketed := levelOf(word); level != "" {
			if at == 0 && !bracketed && !levelAlone(line, next) {
				return h, 0, false
			}
			h.level, h.plain = level, !bracketed
			h.loose = at == 0 && word[len(word)-1] == ':'
			return h, next, true
		}
		if !isHeaderWord(word) {
			// Some layouts name the logger before the level.
			if logger || h.timeMs == 0 || bytes.IndexByte(word, '.') <= 0 || word[len(word)-1] == ':' {
				return h, 0, false
			}
			logger = true
		}
		if ms, end := clockAt(word, 0); end > 0 && h.timeMs == 0 {
			h.timeMs = ms
		}
		at = next
	}
	return h, 0, false
}

// wordAt returns the word at an offset; a bracketed group is one word, whatever is in it, brackets of
// its own too, as the threads of Flink's tasks have in their names.
func wordAt(line []byte, at int) (word []byte, next int) {
	if at >= len(line) {
		return nil, at
	}
	if line[at] == '[' {
		if end := groupEnd(line[at:]); end > 0 {
			return line[at : at+end+1], at + end + 1
		}
	}
	end := bytes.IndexByte(line[at:], ' ')
	if end < 0 {
		return line[at:], len(line)
	}
	return line[at : at+end], at + end
}

// groupEnd returns where the bracket that opens a text is closed; the first closing bracket where they
// do not pair up.
func groupEnd(text []byte) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return bytes.IndexByte(text, ']')
}

// levelOf returns the level a word names, as "ERROR", "[ERROR]", "ERROR:" or "level=error".
func levelOf(word []byte) (level string, bracketed bool) {
	if len(word) > 16 {
		return "", false
	}
	if rest, ok := bytes.CutPrefix(word, []byte("level=")); ok {
		for _, l := range []string{"trace", "debug", "info", "warn", "warning", "error", "fatal"} {
			if string(bytes.ToLower(rest)) == l {
				return string(bytes.ToUpper(rest)), true
			}
		}
		return "", false
	}
	if len(word) > 2 && word[0] == '[' && word[len(word)-1] == ']' {
		word = bytes.TrimSpace(word[1 : len(word)-1])
		bracketed = true
	}
	if len(word) > 1 && word[len(word)-1] == ':' {
		word = word[:len(word)-1]
		bracketed = true
	}
	if len(word) < 4 || !isUpper(word[0]) {
		return "", false
	}
	for _, level := range [...]string{"INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL", "SEVERE", "WARNING"} {
		if string(word) == level {
			return level, bracketed
		}
	}
	return "", false
}

// levelAlone reports whether a line that starts with a bare level goes on as a header does, with a
// time, a thread or a logger; "ERROR in step 2" is a sentence.
func levelAlone(line []byte, next int) bool {
	for next < len(line) && line[next] == ' ' {
		next++
	}
	word, _ := wordAt(line[:min(len(line), maxHeaderBytes)], next)
	if len(word) < 2 {
		return false
	}
	return word[0] == '[' || word[0] >= '0' && word[0] <= '9' || bytes.IndexByte(word, '.') > 0 && word[len(word)-1] != '.'
}

// isHeaderWord reports whether a word may stand before the level: numbers, times, months, brackets.
func isHeaderWord(word []byte) bool {
	switch {
	case word[0] == '[', word[0] >= '0' && word[0] <= '9', isMonth(word) && len(word) <= 4:
		return true
	case string(word) == "AM", string(word) == "PM", string(word) == "---", string(word) == "-", string(word) == "|":
		return true
	case bytes.HasPrefix(word, []byte("time=")), bytes.HasPrefix(word, []byte("ts=")):
		return true
	}
	return false
}

// messageStart finds where the message starts behind the level: after " - ", after the colon that ends
// a logger's name, after msg=, or right behind the level. White space at the start of the message stays,
// because it may be the tab of a stack frame.
func messageStart(line []byte, next, limit int) int {
	rest := line[next:limit]
	for i := 0; i+2 < len(rest); i++ {
		c := rest[i]
		if c == '[' {
			if end := groupEnd(rest[i:]); end > 0 {
				i += end
			}
			continue
		}
		if c == '\t' || c == ':' && rest[i+1] == ' ' {
			break
		}
		if c == ' ' && rest[i+2] == ' ' && (rest[i+1] == '-' || rest[i+1] == ':') {
			return next + i + 3
		}
	}
	if i := bytes.Index(rest, []byte("msg=")); i >= 0 {
		return next + i + len("msg=")
	}
	// "ERROR yarn.Client: message"
	at := next
	for at < limit && line[at] == ' ' {
		at++
	}
	word, end := wordAt(line[:limit], at)
	if len(word) > 2 && word[len(word)-1] == ':' && !endsAsException(word[:len(word)-1]) && end < len(line) {
		return end + 1
	}
	if next < len(line) && line[next] == ' ' {
		return next + 1
	}
	return next
}
