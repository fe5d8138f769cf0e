package failure

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

const (
	maxFindings  = 2000
	maxKeptBytes = 12 << 20 // of all findings
	maxLineKept  = 64 << 10 // of a log line that may be the context of a trace
	maxTextLines = 400      // of a message that nothing confirms
)

// A scanner reads lines and collects findings. It holds one trace, the log line above it and what has
// been found; nothing grows with the input beyond the bounds.
type scanner struct {
	findings []*finding
	kept     int      // bytes the findings hold
	own      *Failure // a report of ours, or our console's text
	ownForm  string
	noneSeen bool // a document that says that nothing failed

	trace   *trace
	current *finding
	dress   []garment
	waiting int // lines fed to a trace that nothing has confirmed

	context    []byte // the last log line, undressed
	contextMs  int64
	contextH   header
	hasContext bool
	previous   []byte // the last line, undressed, where a trace may have begun unseen
	previousMs int64

	banner     string // form announced by a banner: cli, sql-client
	headline   string
	ranOn      map[string]string // TaskManagers by task, as the log tells where each was deployed
	suppressed string            // a log line that says that recovery is suppressed
	sawLog     bool
	sawSQL     bool
	sawJSON    bool
	inJSONLog  bool

	doc     docReader
	k8s     k8sReader
	console consoleReader
	colours []byte
	depth   int // texts inside texts
}

// scan reads the whole input.
func (s *scanner) scan(r io.Reader) error {
	l, err := newLines(r)
	if err != nil {
		return err
	}
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		s.line(line)
	}
	s.end()
	return nil
}

func (s *scanner) end() {
	if s.doc.open {
		s.document(s.doc.take())
	}
	s.closeTrace()
	s.k8s.end(s)
	s.console.end(s)
}

// line takes one line of the input.
func (s *scanner) line(line []byte) {
	if bytes.IndexByte(line, 0x1b) >= 0 {
		s.colours = withoutColours(line, s.colours)
		line = s.colours
	}
	if bytes.HasPrefix(line, []byte(`{"log":"`)) && !s.doc.open {
		line = s.dockerLine(line)
	}
	if s.doc.open {
		_, _, _, bare := undressAll(line)
		if s.doc.feed(bare) {
			s.document(s.doc.take())
		}
		return
	}
	if s.trace != nil && s.feedTrace(line) {
		return
	}
	s.idle(line)
}

// dockerLine takes a line out of the object in which docker's log files keep each.
func (s *scanner) dockerLine(line []byte) []byte {
	v, whole := parseJSON(string(line))
	if !whole || !v.has("stream") {
		return line
	}
	s.inJSONLog = true
	return bytes.TrimRight([]byte(v.get("log").text), "\r\n")
}

// feedTrace offers a line to the open trace.
func (s *scanner) feedTrace(line []byte) bool {
	if h, ok := parseHeader(line); ok && !s.wears(loggerHeader) {
		if s.trace.state != inCircular || h.level != "" {
			s.closeTrace()
			return false
		}
	}
	bare := undress(line, s.dress)
	if s.ends(line, bare) {
		s.closeTrace()
		return false
	}
	if s.trace.feed(bare) {
		if !s.trace.confirmed {
			s.waiting++
		}
		return true
	}
	s.closeTrace()
	return false
}

// ends reports whether a line ends the trace by its dress: a log line of its own below the layers the
// trace wears, or output of a test runner that is not about the error.
func (s *scanner) ends(line, bare []byte) bool {
	if s.wears(testRunner) && len(bare) == len(line) && !bytes.Equal(line, []byte("E")) {
		return true
	}
	if !s.wears(loggerHeader) {
		if h, ok := parseHeader(bare); len(s.dress) > 0 && ok && h.level != "" {
			return true
		}
		return s.waiting > maxTextLines
	}
	_, _, _, outer := undressAll(line)
	h, ok := parseHeader(outer)
	if !ok {
		return s.waiting > maxTextLines
	}
	if isStructural(bare) || s.trace.confirmed && s.trace.state == inFrames {
		return false
	}
	return s.waiting > 50 || !sameHeader(outer[:h.messageAt], s.context[:min(s.contextH.messageAt, len(s.context))])
}

// isStructural reports whether a line can only be part of a trace.
func isStructural(line []byte) bool {
	if _, frame := isFrame(line); frame || isMore(line) {
		return true
	}
	kind, _, rest := captionOf(line)
	if kind == noCaption || kind == circular || kind == circularBare {
		return kind != noCaption
	}
	_, _, ok := splitClass(rest)
	return ok
}

// sameHeader reports whether two headers differ in nothing but their digits.
func sameHeader(a, b []byte) bool {
	a, b = bytes.TrimRight(a, " "), bytes.TrimRight(b, " ")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		digitA, digitB := a[i] >= '0' && a[i] <= '9', b[i] >= '0' && b[i] <= '9'
		if digitA != digitB || !digitA && a[i] != b[i] {
			return false
		}
	}
	return true
}

func (s *scanner) wears(g garment) bool {
	for _, worn := range s.dress {
		if worn == g {
			return true
		}
	}
	return false
}

// idle takes a line outside of any trace.
func (s *scanner) idle(line []byte) {
	worn, n, stampMs, bare := undressAll(line)
	if s.k8s.open {
		s.k8s.goOn(s, bare)
		return
	}
	if (len(bare) > 0 && bare[0] == labelFailed[0] || s.console.failure != nil) && s.console.line(s, bare) {
		return
	}
	if opensJSON(bare, n) && s.openJSON(bare, n) {
		return
	}
	if h, ok := parseHeader(bare); ok && !isBanner(bare) {
		if h.timeMs == 0 {
			h.timeMs = stampMs
		}
		s.logLine(bare, h, worn[:n])
		return
	}
	if mayMatter(bare) {
		s.interesting(bare, worn[:n], stampMs)
	}
	s.previous = append(s.previous[:0], bare[:min(len(bare), maxLineKept)]...)
	s.previousMs = stampMs
}

// opensJSON reports whether a line may open a JSON document; below other layers a bracket is more
// likely part of a text.
func opensJSON(bare []byte, layers int) bool {
	n := indentOf(bare)
	return n < len(bare) && (bare[n] == '{' || bare[n] == '[' && layers == 0)
}

// mayMatter is the quick test that lets most lines of a log pass unread.
func mayMatter(line []byte) bool {
	n := indentOf(line)
	if n == len(line) {
		return false
	}
	switch line[n] {
	case 'a':
		if bytes.HasPrefix(line[n:], []byte("at ")) {
			return true
		}
	case '.', '{', '-', ':', 'C', 'R', 'W', 'N', 'e', 'E', 'F', 'T', 'r', '[', 'm', 'M', 's', '|':
		return true
	}
	return bytes.Contains(line, []byte("rror")) || bytes.Contains(line, []byte("xception")) || bytes.Contains(line, []byte("hrowable")) ||
		bytes.Contains(line, []byte("Warning")) || bytes.Contains(line, []byte("Traceback")) || bytes.Contains(line, []byte("Killed")) ||
		bytes.Contains(line, []byte("(message:"))
}

// logLine remembers a log line as the context of what follows, and looks for an exception in it.
func (s *scanner) logLine(bare []byte, h header, worn []garment) {
	s.sawLog = true
	s.banner, s.headline = "", ""
	s.context = append(s.context[:0], bare[:min(len(bare), maxLineKept)]...)
	s.contextH, s.contextMs, s.hasContext = h, h.timeMs, true
	s.previous, s.previousMs = append(s.previous[:0], s.context...), h.timeMs
	message := bare[min(h.messageAt, len(bare)):]
	if i := bytes.Index(message, []byte(suppressedBy)); i >= 0 && s.suppressed == "" {
		s.suppressed = string(message[i:])
	}
	s.noteDeployment(message)
	if !mayMatter(message) {
		return
	}
	if len(message) > 0 && message[0] == '{' && s.openJSON(message, 1) {
		return
	}
	if _, opens := opensTraceback(string(message[:min(len(message), 200)])); opens {
		s.open(newPythonTrace(0), append(append([]garment{}, worn...), loggerHeader), h.timeMs)
		return
	}
	if class, text, ok := headerIn(message); ok {
		s.open(newTrace(class, text, 0), append(append([]garment{}, worn...), loggerHeader), h.timeMs)
	}
}

// maxDeployments bounds how many tasks are remembered with their TaskManager.
const maxDeployments = 4096

// noteDeployment remembers where a task runs, from the JobManager's "Deploying … to tm-1 @ host" and
// from the line in which it fails.
func (s *scanner) noteDeployment(message []byte) {
	var m [][]byte
	switch {
	case bytes.HasPrefix(message, []byte("Deploying ")):
		m = deployed.FindSubmatch(message)
	case bytes.Contains(message, []byte(" to FAIL")):
		m = failedOn.FindSubmatch(message)
	}
	if m == nil || len(s.ranOn) >= maxDeployments {
		return
	}
	if s.ranOn == nil {
		s.ranOn = map[string]string{}
	}
	if id := managerOf(string(m[2])); id != "" {
		s.ranOn[string(m[1])] = id
	}
}

// headerIn finds an exception in the message of a log line: at its start, or behind a colon.
func headerIn(message []byte) (class, text string, ok bool) {
	rest := message[indentOf(message):]
	for range 20 {
		if class, text, ok = isHeader(rest); ok {
			return class, text, true
		}
		i := bytes.Index(rest, []byte(": "))
		if i < 0 {
			return "", "", false
		}
		rest = rest[i+2:]
	}
	return "", "", false
}

// interesting looks closer at a line outside of any trace.
func (s *scanner) interesting(bare []byte, worn []garment, stampMs int64) {
	if s.announces(bare, worn, stampMs) {
		return
	}
	indent := indentOf(bare)
	body := bare[indent:]
	if _, opens := opensTraceback(string(body[:min(len(body), 400)])); opens {
		s.open(newPythonTrace(indent), worn, stampMs)
		return
	}
	if rest, ok := bytes.CutPrefix(body, []byte("Exception in thread ")); ok {
		if i := bytes.Index(rest, []byte(`" `)); i >= 0 {
			body = rest[i+2:]
		}
	}
	if class, message, ok := splitClass(body); ok && strings.HasPrefix(simpleName(class), "Py4J") {
		s.openPy4J(class, message, indent, worn, stampMs)
		return
	}
	if class, message, ok := isHeader(body); ok {
		s.open(newTrace(class, message, indent), worn, stampMs)
		return
	}
	s.lookBack(bare, worn, stampMs)
	if s.trace == nil {
		s.k8s.line(s, bare)
	}
}

// openPy4J opens a trace at "Py4JJavaError: An error occurred …", which may stand without its traceback.
func (s *scanner) openPy4J(class, message string, indent int, worn []garment, stampMs int64) {
	t := newPythonTrace(indent)
	t.py.done = true
	t.head.class, t.head.snake = class, true
	t.head.push(message)
	s.open(t, worn, stampMs)
}

// lookBack opens a trace whose first line did not look like one, when a frame or a cause follows it.
func (s *scanner) lookBack(bare []byte, worn []garment, stampMs int64) {
	_, frame := isFrame(bare)
	if !frame {
		kind, _, rest := captionOf(bare)
		if kind != causedBy && kind != wrappedBy {
			return
		}
		if _, _, ok := splitClass(rest); !ok {
			return
		}
	}
	indent := indentOf(s.previous)
	rest := s.previous[indent:]
	class, message, ok := splitClass(rest)
	for !ok {
		i := bytes.IndexByte(rest, ' ')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		class, message, ok = splitClass(rest)
	}
	if !ok && frame || class == "java.lang.Thread.State" {
		return
	}
	var t *trace
	if ok {
		t = newTrace(class, message, indent)
	} else {
		// The text starts below its first exception: the cause is all there is.
		_, at, caused := captionOf(bare)
		if class, message, ok = splitClass(caused); !ok {
			return
		}
		t = newTrace(class, message, at)
		s.open(t, worn, stampMs)
		t.confirmed = true
		return
	}
	s.open(t, worn, stampMs)
	s.trace.feed(bare)
}

// announces recognises the banners that clients print above an exception.
func (s *scanner) announces(bare []byte, worn []garment, stampMs int64) bool {
	switch {
	case bytes.Contains(bare, []byte("The program finished with the following exception:")):
		s.banner, s.headline, s.hasContext = formCLI, "", false
		return true
	case isBanner(bare):
		text := string(bytes.TrimPrefix(bytes.TrimLeft(bare, " \t"), []byte("[ERROR] ")))
		sentence, rest, _ := strings.Cut(text, "Reason:")
		s.banner, s.headline, s.hasContext = formSQLClient, strings.TrimSpace(sentence), false
		if class, message, ok := isHeader([]byte(strings.TrimSpace(rest))); ok {
			s.open(newTrace(class, message, 0), worn, stampMs)
		}
		return true
	case bytes.HasPrefix(bare, []byte("Flink SQL>")):
		s.sawSQL, s.banner = true, formSQLClient
		return true
	}
	return false
}

// isBanner reports whether a line is the SQL client's "[ERROR] Could not execute SQL statement. Reason:".
func isBanner(line []byte) bool {
	line = line[indentOf(line):]
	return bytes.HasPrefix(line, []byte("[ERROR] ")) && bytes.Contains(line, []byte(" Reason:"))
}

// open starts a trace in the context read so far.
func (s *scanner) open(t *trace, worn []garment, stampMs int64) {
	s.trace = t
	s.dress = append(s.dress[:0], worn...)
	s.waiting = 0
	f := &finding{attempt: -1, strong: true, timeMs: stampMs, headline: s.headline}
	if s.hasContext {
		message := s.context[min(s.contextH.messageAt, len(s.context)):]
		f.readContext(string(message), s.contextH.level)
		f.timeMs = s.contextMs
	}
	f.form = s.formOf(t)
	s.current = f
}

func (s *scanner) formOf(t *trace) string {
	python := t.state == inPython && t.py.target == t.head
	switch {
	case s.inJSONLog:
		return formJSONLog
	case s.banner != "":
		return s.banner
	case python, s.wears(testRunner):
		return formPython
	case s.hasContext, len(s.dress) > 0 && !s.wears(quoted):
		return formLog
	}
	return formStack
}

// closeTrace turns the open trace into a finding.
func (s *scanner) closeTrace() {
	t, f := s.trace, s.current
	s.trace, s.current = nil, nil
	if t == nil {
		return
	}
	t.finish()
	f.chain = t.chain()
	if len(f.chain) == 0 || f.chain[0].class == "" {
		return
	}
	f.bare = !t.confirmed && f.chain[0].python == nil && f.form != formPython && f.form != formSQLClient && f.form != formCLI
	if f.bare && s.wears(loggerHeader) {
		if !f.strong {
			return
		}
		// The lines below were log lines of their own.
		f.chain[0].message = firstLine(f.chain[0].message)
	}
	if f.form == formStack && t.byLogger {
		f.form = formLog
	}
	switch {
	case t.rootFirst:
		f.rule = ruleRootFirst
	case t.referred:
		f.rule = ruleReference
	}
	s.add(f)
	s.banner, s.headline, s.hasContext = "", "", false
}

// add keeps a finding, as long as there is room: the first ones matter.
func (s *scanner) add(f *finding) {
	const nodeBytes = 300
	for _, n := range f.chain {
		s.kept += nodeBytes + len(n.message) + len(n.class) + len(n.frame)
	}
	if len(s.findings) < maxFindings && (s.kept < maxKeptBytes || len(s.findings) == 0) {
		s.findings = append(s.findings, f)
	}
}
