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
	findings  []*finding
	kept      int      // bytes the findings hold
	own       *Failure // a report of ours, or our console's text
	ownForm   string
	ownOthers []Failure // further findings of a plan that was refused
	noneSeen  bool      // a document that says that nothing failed

	trace   *trace
	current *finding
	dress   []garment
	text    bool // there was a line that is not blank
	waiting int  // lines fed to a trace that nothing has confirmed

	context           []byte // the last log line, undressed
	contextMs         int64
	contextH          header
	hasContext        bool
	previous          []byte // the last line, undressed, where a trace may have begun unseen
	previousIsContext bool

	banner     string // form announced by a banner: cli, sql-client
	headline   string
	ranOn      map[string]string // TaskManagers by task, as the log tells where each was deployed
	managerID  string            // of the TaskManager whose log this is
	suppressed string            // a log line that says that recovery is suppressed
	sawLog     bool
	sawSQL     bool
	sawJSON    bool
	inJSONLog  bool
	splitEvent bool  // the trace is spread over the messages of events, a line each
	lastEvent  event // the last event of a JSON log that may be the context of a trace

	doc     docReader
	k8s     k8sReader
	console consoleReader
	plan    planReader
	colours []byte
	depth   int // texts inside texts

	lanes     map[string]*scanner // by the name in front of the lines
	laneNames []string            // in the order they came
	within    *scanner            // the scanner that this one is a lane of
	order     int                 // counts the findings in the order of the text
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
	s.endLanes()
	if s.own == nil && s.within == nil && s.depth == 0 && len(s.findings) == 0 {
		if f := complaint(string(s.previous)); f != nil {
			s.own, s.ownForm = f, formConsole
		}
	}
}

// line takes one line of the input.
func (s *scanner) line(line []byte) {
	if bytes.IndexByte(line, 0x1b) >= 0 {
		s.colours = withoutColours(line, s.colours)
		line = s.colours
	}
	s.text = s.text || len(bytes.TrimSpace(line)) > 0
	if !s.doc.open && len(line) > 2 && line[0] == '{' && line[1] == '"' && bytes.Contains(line, []byte(`"log":`)) {
		line = s.dockerLine(line)
	}
	if l := s.lane(line); l != nil {
		l.line(line)
		return
	}
	if s.doc.open {
		_, _, _, bare := undressAll(line)
		if s.doc.feed(bare) {
			s.document(s.doc.take())
		}
		return
	}
	if s.trace != nil && s.splitEvent && s.feedEvent(line) {
		return
	}
	if s.trace != nil && s.feedTrace(line) {
		return
	}
	if bytes.Contains(line, []byte(escapedFrame)) && s.escaped(line) {
		return
	}
	s.idle(line)
}

// dockerLine takes a line out of the object in which docker's log files keep each.
func (s *scanner) dockerLine(line []byte) []byte {
	v, whole := parseJSON(string(line))
	log := v.get("log")
	if !whole || log.kind != jsonText || !v.has("stream") && !v.has("time") && !v.has("kubernetes") {
		return line
	}
	s.inJSONLog = true
	return bytes.TrimRight([]byte(log.text), "\r\n")
}

// feedTrace offers a line to the open trace.
func (s *scanner) feedTrace(line []byte) bool {
	if h, ok := parseHeader(line); ok && len(s.dress) == 0 && !s.mayBeText(h) {
		s.closeTrace()
		return false
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
		if h, ok := parseHeader(bare); len(s.dress) > 0 && ok && !s.mayBeText(h) {
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

// mayBeText reports whether a header may be text of the message that is being read, such as a
// database's "ERROR: …", or a line of a log that the message quotes.
func (s *scanner) mayBeText(h header) bool {
	return s.trace.state != inFrames && (h.loose || s.trace.quotesLog)
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
	if len(line) > 0 && line[0] >= '0' && line[0] <= '9' && !s.k8s.open && s.console.failure == nil {
		// The short way for most lines of a log: one timestamp, one level, nothing in front.
		if h, ok := parseHeader(line); ok && h.stamps == 1 && h.plain {
			s.logLine(line, h, nil)
			return
		}
	}
	worn, n, stampMs, bare := undressAll(line)
	if s.k8s.open {
		s.k8s.goOn(s, bare)
		return
	}
	if (len(bare) > 0 && bare[0] == 'F' || s.console.failure != nil) && s.console.line(s, bare) {
		return
	}
	if s.plan.line(s, bare) {
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
	if mayMatter(bare) || s.k8s.stated {
		s.interesting(bare, worn[:n], stampMs)
	}
	s.previous = append(s.previous[:0], bare[:min(len(bare), maxLineKept)]...)
	s.previousIsContext = false
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
	case '.', '{', '-', ':', 'C', 'R', 'W', 'N', 'e', 'E', 'F', 'T', 'r', '[', 'm', 'M', 's', 'S', 't', 'c', 'l', '|':
		return true
	}
	return mayHoldException(line) || bytes.Contains(line, []byte("Warning")) || bytes.Contains(line, []byte("Killed"))
}

// mayHoldException reports whether the name of an exception or a traceback may be in a text.
func mayHoldException(line []byte) bool {
	return len(line) > 0 && line[0] == '{' || bytes.Contains(line, []byte("rror")) || bytes.Contains(line, []byte("xception")) || bytes.Contains(line, []byte("hrowable")) ||
		bytes.Contains(line, []byte("Traceback")) || bytes.Contains(line, []byte("(message:")) || bytes.Contains(line, []byte("Failure")) || bytes.Contains(line, []byte("Interrupt"))
}

// interesting looks closer at a line outside of any trace.
func (s *scanner) interesting(bare []byte, worn []garment, stampMs int64) {
	if s.announces(bare, worn, stampMs) {
		return
	}
	indent := indentOf(bare)
	body := bare[indent:]
	body = withoutThread(body)
	if class, message, ok := splitClass(body); ok && strings.HasPrefix(simpleName(class), "Py4J") {
		s.openPy4J(class, message, indent, worn, stampMs)
		return
	}
	if class, message, ok := isHeader(body); ok {
		s.open(newTrace(class, message, indent), worn, stampMs)
		return
	}
	if _, opens := opensTraceback(string(body[:min(len(body), 400)])); opens {
		s.open(newPythonTrace(indent), worn, stampMs)
		return
	}
	s.lookBack(bare, worn, stampMs)
	if s.trace != nil {
		return
	}
	s.k8s.line(s, bare)
	if s.k8s.open || s.k8s.condition != nil || !mayHoldException(body) {
		return
	}
	if class, message, ok := headerIn(body); ok {
		t := newTrace(class, message, indent)
		t.midLine = true
		s.open(t, worn, stampMs)
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
	previous := s.previous
	if s.previousIsContext {
		previous = s.context
	}
	indent := indentOf(previous)
	rest := previous[indent:]
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

// open starts a trace in the context read so far.
func (s *scanner) open(t *trace, worn []garment, stampMs int64) {
	s.trace = t
	s.dress = append(s.dress[:0], worn...)
	s.waiting = 0
	f := &finding{attempt: -1, strong: true, timeMs: stampMs, headline: s.headline, order: s.nextOrder()}
	if s.hasContext {
		message := s.context[min(s.contextH.messageAt, len(s.context)):]
		f.readContext(string(message), s.contextH.level)
		f.readThread(string(s.context[:len(s.context)-len(message)]))
		f.timeMs = s.contextMs
	}
	if f.taskManager == "" {
		f.taskManager = s.managerID
	}
	f.form = s.formOf(t)
	s.current = f
}

func (s *scanner) formOf(t *trace) string {
	python := t.state == inPython && t.py.target == t.head
	dressed := len(s.dress) > 0 && !s.wears(quoted) && !s.wears(testRunner)
	switch {
	case s.inJSONLog:
		return formJSONLog
	case s.banner != "":
		return s.banner
	case s.hasContext, dressed:
		return formLog
	case python, s.wears(testRunner):
		return formPython
	}
	return formStack
}

// closeTrace turns the open trace into a finding.
func (s *scanner) closeTrace() {
	t, f := s.trace, s.current
	s.trace, s.current = nil, nil
	if t == nil || t.mention {
		return
	}
	t.finish()
	f.chain = t.chain()
	if len(f.chain) == 0 || f.chain[0].class == "" {
		return
	}
	f.bare = !t.confirmed && f.chain[0].python == nil && !f.chain[0].snake && f.form != formSQLClient && f.form != formCLI
	if f.bare && t.midLine && !s.wears(loggerHeader) {
		return
	}
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

// add keeps a finding, as long as there is room: the first ones matter. One that repeats a recent one,
// as a job that restarts again and again does, is joined with it at once.
func (s *scanner) add(f *finding) {
	const nodeBytes = 300
	if f.form != formREST {
		for i := max(0, len(s.findings)-recent); i < len(s.findings); i++ {
			if same(s.findings[i], f) {
				absorb(s.findings[i], f)
				return
			}
		}
	}
	root := s.root()
	for _, n := range f.chain {
		root.kept += nodeBytes + len(n.message) + len(n.class) + len(n.frame)
	}
	if len(s.findings) < maxFindings && (root.kept < maxKeptBytes || len(s.findings) == 0) {
		s.findings = append(s.findings, f)
	}
}
