package failure

import (
	"bytes"
	"strings"
)

// maxFlatFields bounds how many fields of a log event are looked at.
const maxFlatFields = 500

// flatten lists the strings of a JSON object by dotted names; an array of strings becomes lines.
func flatten(v jsonValue, prefix string, depth int, put func(name, text string)) {
	for _, m := range v.members {
		name := m.name
		if prefix != "" {
			name = prefix + "." + name
		}
		switch m.value.kind {
		case jsonText, jsonBare:
			put(name, m.value.text)
		case jsonObject:
			if depth < 5 {
				flatten(m.value, name, depth+1, put)
			}
		case jsonArray:
			var texts []string
			for _, item := range m.value.items {
				if item.kind == jsonText {
					texts = append(texts, strings.TrimRight(item.text, "\n"))
				}
			}
			if len(texts) > 0 {
				put(name, strings.Join(texts, "\n"))
			}
		}
	}
}

// plainName drops what layouts differ in: case, dots, dashes, underscores, the at sign.
func plainName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// An event is one line of a JSON log: ECS, logstash, log4j's JSON layouts and relatives.
type event struct {
	stack, class, text, message, level, thread string
	timeMs                                     int64
	named                                      bool // a field for stack traces or exceptions is there
}

// jsonEvent reads one JSON log event.
func (s *scanner) jsonEvent(v jsonValue) {
	e := readEvent(v)
	if s.depth == 0 && s.openEvent(e) {
		return
	}
	f := s.thrown(v, e)
	if f == nil {
		return
	}
	f.form = formJSONLog
	f.readContext(firstLine(e.message), e.level)
	f.readThread("[" + e.thread + "]")
	if e.timeMs != 0 {
		f.timeMs = e.timeMs
	}
	s.add(f)
}

// openEvent opens a trace at an event whose message is nothing but the first line of one: shippers that
// know no traces make an event of every line.
func (s *scanner) openEvent(e event) bool {
	class, text, ok := isHeader([]byte(e.message))
	if !ok || e.named || strings.Contains(e.message, "\n") {
		s.lastEvent = event{message: e.message[:min(len(e.message), maxLineKept)], level: e.level, thread: e.thread}
		return false
	}
	s.inJSONLog, s.splitEvent = true, true
	s.open(newTrace(class, text, 0), []garment{loggerHeader}, e.timeMs)
	f, before := s.current, s.lastEvent
	f.form = formJSONLog
	f.readContext(before.message, e.level)
	f.readThread("[" + e.thread + "]")
	s.lastEvent = event{}
	return true
}

// feedEvent offers the message of an event to the trace that such events make up, and says whether it
// belongs to it.
func (s *scanner) feedEvent(line []byte) bool {
	s.splitEvent = false
	_, _, _, bare := undressAll(line)
	bare = bytes.TrimLeft(bare, " \t")
	if len(bare) == 0 || bare[0] != '{' {
		return false
	}
	v, whole := parseJSON(string(bare))
	if e := readEvent(v); whole && isStructural([]byte(e.message)) && s.trace.feed([]byte(e.message)) {
		s.splitEvent = true
		return true
	}
	s.closeTrace()
	return false
}

// thrown returns the failure in an event: from its stack text, from log4j's structure, from type and
// message alone, or from a message that holds a whole trace.
func (s *scanner) thrown(v jsonValue, e event) *finding {
	if thrown := v.get("thrown"); thrown.kind == jsonObject && thrown.get("name").text != "" {
		return &finding{chain: thrownChain(thrown), attempt: -1}
	}
	if e.stack != "" {
		if f := s.inText(e.stack, formJSONLog); f != nil {
			return f
		}
	}
	if e.class != "" && e.named {
		n := &node{class: e.class, message: strings.TrimSpace(e.text)}
		if frame, ok := isFrame([]byte(firstLine(e.stack))); ok {
			n.frame = string(withoutJar(frame))
		}
		return &finding{chain: []*node{n}, attempt: -1, bare: e.stack == ""}
	}
	if strings.Contains(e.message, "\n") || strings.Contains(e.message, "xception") || strings.Contains(e.message, "Error") {
		f := s.inText(e.message, formJSONLog)
		if f != nil && f.bare && e.level != "ERROR" && e.level != "FATAL" {
			return nil
		}
		return f
	}
	return nil
}

// readEvent picks the fields of a log event whatever the layout calls them.
func readEvent(v jsonValue) event {
	var e event
	n := 0
	flatten(v, "", 0, func(name, text string) {
		if n++; n > maxFlatFields || text == "" {
			return
		}
		plain := plainName(name)
		last := plainName(name[strings.LastIndexByte(name, '.')+1:])
		switch {
		case isStackName(plain, last):
			e.named = true
			if len(text) > len(e.stack) {
				e.stack = text
			}
		case strings.HasSuffix(plain, "errortype"), strings.HasSuffix(plain, "exceptionclass"), strings.HasSuffix(plain, "exceptiontype"), strings.HasSuffix(plain, "throwableclassname"), plain == "exceptionname":
			e.class, e.named = text, true
		case strings.HasSuffix(plain, "errormessage"), strings.HasSuffix(plain, "exceptionmessage"), plain == "throwablemessage":
			e.text = text
		case plain == "fullmessage" && looksLikeTrace(text):
			e.named = true
			e.stack = text
		case plain == "shortmessage":
			if e.message == "" {
				e.message = text
			}
		case plain == "message", plain == "msg", plain == "fullmessage", plain == "formattedmessage", plain == "textpayload", plain == "fieldsmessage", plain == "body", plain == "log":
			e.message = text
		case (last == "message" || last == "msg") && e.message == "":
			e.message = text
		case plain == "level", plain == "loglevel", plain == "severity", plain == "levelname", plain == "severitytext", plain == "messagetype":
			e.level = levelName(text)
		case strings.HasPrefix(last, "thread"), plain == "processthreadname":
			e.thread = text
		case e.timeMs == 0 && (plain == "timestamp" || plain == "time" || plain == "ts" || plain == "timemillis" || plain == "datetime"):
			e.timeMs = eventTime(text)
		case plain == "instantepochsecond":
			e.timeMs = jsonValue{text: text}.integer() * 1000
		}
	})
	e.message = strings.TrimRight(e.message, "\r\n")
	if looksLikeTrace(e.text) && e.stack == "" {
		e.stack = e.text
	}
	return e
}

func isStackName(plain, last string) bool {
	switch last {
	case "stacktrace", "stack", "throwable", "throwableinformation", "exception", "thrown", "exceptionstacktrace",
		"errorstacktrace", "exc", "excinfo", "backtrace", "extendedstacktrace", "stackhash", "trace", "error", "err", "cause", "throwableproxy":
		return last != "stackhash"
	}
	return strings.HasSuffix(plain, "stacktrace")
}

func looksLikeTrace(text string) bool { return strings.Contains(text, "\n\tat ") }

// levelName turns a level of any layout into the loggers' names.
func levelName(text string) string {
	switch upper := strings.ToUpper(text); upper {
	case "WARNING":
		return "WARN"
	case "CRITICAL", "EMERGENCY", "ALERT":
		return "FATAL"
	default:
		return upper
	}
}

// eventTime reads a time given as text or as a number of seconds or milliseconds.
func eventTime(text string) int64 {
	if _, ms := stampAt([]byte(text)); ms != 0 {
		return ms
	}
	n := jsonValue{text: text}.integer()
	if n > 0 && n < 100_000_000_000 {
		return n * 1000
	}
	return n
}

// thrownChain reads log4j's structure of an exception and its causes.
func thrownChain(v jsonValue) []*node {
	var chain []*node
	for range 100 {
		name := v.get("name").text
		if name == "" {
			break
		}
		message := v.get("message").text
		if message == "" {
			message = v.get("localizedMessage").text
		}
		n := &node{class: name, message: strings.TrimRight(message, " \t\r\n")}
		n.frame = firstFrame(v.get("extendedStackTrace"))
		chain = append(chain, n)
		v = v.get("cause")
	}
	return chain
}

// firstFrame returns the first frame of a stack given as text or as a list of objects.
func firstFrame(v jsonValue) string {
	if v.kind == jsonText {
		for line := range strings.SplitSeq(v.text, "\n") {
			if frame, ok := isFrame([]byte(line)); ok {
				return string(withoutJar(frame))
			}
		}
		return ""
	}
	if len(v.items) == 0 {
		return ""
	}
	top := v.items[0]
	file := top.get("file").text
	switch line := top.get("line").integer(); {
	case file == "":
		file = "Unknown Source"
	case line == -2:
		file = "Native Method"
	case line > 0:
		file += ":" + top.get("line").text
	}
	return top.get("class").text + "." + top.get("method").text + "(" + file + ")"
}
