package failure

import (
	"bytes"
	"strings"
)

const (
	maxMessageBytes = 256 << 10 // of one exception; what goes beyond is dropped
	maxTraceBytes   = 4 << 20   // of all messages of one trace
	maxNodes        = 1000      // exceptions of one trace
	lineOverhead    = 32        // what holding a line costs beside its bytes
)

// A node is one exception of a trace as it is printed.
type node struct {
	class   string
	message string
	frame   string
	cause   *node
	lines   []string // the message while it is read, then joined
	size    int
	python  *node // the Python error whose traceback stands in the message
	snake   bool  // it is a Python error
}

// text is what Throwable.toString gave.
func (n *node) text() string {
	if n.message == "" {
		return n.class
	}
	return n.class + ": " + n.message
}

// A block is a run of causes printed at one indentation: the trace itself, or a suppressed exception.
type block struct {
	indent int
	last   *node
}

type traceState uint8

const (
	inMessage traceState = iota
	inFrames
	inCircular
	inPython
)

// A trace reads one printed exception with its causes, line by line. Lines come undressed.
type trace struct {
	head, cur *node
	nodes     []*node
	blocks    []block // the outermost first
	state     traceState
	base      int  // indentation of the first line
	rootFirst bool // "Wrapped by:" was seen, so the first exception is the root
	quotesLog bool // the message quotes the end of a log, as YARN's diagnostics do
	mention   bool // the first exception was only mentioned, the trace itself follows
	midLine   bool // the first exception was found behind other text
	confirmed bool // a frame or a caption followed, so it is a trace indeed
	byLogger  bool // jar names or omitted common frames: a logger printed it
	size      int

	inner      *node    // an exception that may be embedded in the message of cur
	innerLines []string // its lines as they stood, to be given back to the message

	referred  bool     // a circular reference was followed
	reference []string // the text of a circular reference being read
	bare      bool     // it is Java 8's form

	py traceback
}

// newTrace starts a trace with its first exception.
func newTrace(class, message string, indent int) *trace {
	t := &trace{base: indent}
	t.head = t.add(class, message)
	t.blocks = []block{{indent: indent, last: t.head}}
	t.startMessage(message)
	return t
}

// newPythonTrace starts a trace at a line that opens a Python traceback.
func newPythonTrace(indent int) *trace {
	t := &trace{base: indent, state: inPython, py: traceback{base: indent}}
	t.head = &node{}
	t.cur = t.head
	t.nodes = []*node{t.head}
	t.blocks = []block{{indent: indent, last: t.head}}
	t.py.target, t.py.alone = t.head, true
	return t
}

func (t *trace) add(class, message string) *node {
	n := &node{class: class}
	n.push(message)
	t.nodes = append(t.nodes, n)
	t.cur = n
	t.state = inMessage
	return n
}

func (n *node) push(line string) {
	if n.size > maxMessageBytes {
		return
	}
	if n.size+len(line) > maxMessageBytes {
		line = line[:maxMessageBytes-n.size]
	}
	n.size += len(line) + lineOverhead
	n.lines = append(n.lines, line)
}

// startMessage looks at the first line of a message, which may open a Python traceback.
func (t *trace) startMessage(message string) {
	if before, opens := opensTraceback(message); opens {
		t.cur.lines[len(t.cur.lines)-1] = before
		t.startPython(t.base)
	}
}

func (t *trace) startPython(base int) {
	t.py.finish()
	t.cur.python = &node{}
	t.py = traceback{base: base, target: t.cur.python}
	t.state = inPython
}

// feed takes one line and says whether it belongs to the trace; the first that does not ends it.
func (t *trace) feed(line []byte) bool {
	if t.size > maxTraceBytes || len(t.nodes) >= maxNodes {
		return false
	}
	if t.state == inCircular {
		return t.feedReference(line)
	}
	if frame, ok := isFrame(line); ok {
		t.takeFrame(frame, line)
		return true
	}
	if isMore(line) {
		t.confirm()
		t.byLogger = t.byLogger || bytes.Contains(line, []byte(" common frames "))
		t.state = inFrames
		return true
	}
	if t.feedCaption(line) {
		return true
	}
	switch t.state {
	case inPython:
		return t.feedPython(line)
	case inFrames:
		return endsEmbedded(line)
	}
	if isPrompt(line) {
		return false
	}
	return t.feedText(line)
}

func (t *trace) takeFrame(frame, line []byte) {
	t.confirm()
	if t.cur.frame == "" {
		t.cur.frame = string(withoutJar(frame))
	}
	t.byLogger = t.byLogger || hasJar(line)
	t.state = inFrames
}

// endsEmbedded reports whether a line behind frames only closes a trace that stood inside a message,
// or is blank.
func endsEmbedded(line []byte) bool {
	rest := bytes.TrimSpace(line)
	return len(rest) == 0 || rest[0] == ']' || bytes.HasPrefix(rest, []byte(">]")) ||
		bytes.HasPrefix(rest, []byte("End of exception on server side"))
}

// feedText takes a further line of a message. A line that is an exception itself may open a whole
// trace inside the message; a frame below it will tell. It ends a trace whose first line only mentioned
// an exception, as loggers do that print the message and then the exception itself.
func (t *trace) feedText(line []byte) bool {
	text := string(line[min(t.base, indentOf(line)):])
	t.size += len(text) + lineOverhead
	if before, opens := opensTraceback(text); opens {
		t.giveBack()
		if before != "" {
			t.cur.push(before)
		}
		t.startPython(min(t.base, indentOf(line)))
		return true
	}
	if t.inner != nil {
		t.innerLines = append(t.innerLines, text)
		t.inner.push(text)
		return true
	}
	if class, message, ok := isHeader(withoutThread([]byte(text))); ok {
		if !t.confirmed && t.cur == t.head && t.isMention(class, message) {
			t.mention = true
			return false
		}
		t.inner = &node{class: class}
		t.inner.push(message)
		t.innerLines = append(t.innerLines[:0], text)
		return true
	}
	t.quotesLog = t.quotesLog || strings.HasPrefix(text, "Last ") && strings.Contains(text, " bytes of ")
	t.cur.push(text)
	return true
}

// isMention reports whether the first line of the trace only mentioned the exception that now comes.
func (t *trace) isMention(class, message string) bool {
	first := ""
	if len(t.head.lines) > 0 {
		first = t.head.lines[0]
	}
	return t.midLine && !strings.HasSuffix(first, ":") || t.head.class == class && strings.TrimSpace(first) == strings.TrimSpace(message)
}

// confirm settles what may have been an embedded exception: it is one.
func (t *trace) confirm() {
	t.confirmed = true
	if t.inner == nil {
		return
	}
	t.link(&t.blocks[len(t.blocks)-1], t.inner)
	t.nodes = append(t.nodes, t.inner)
	t.cur = t.inner
	t.inner = nil
}

// giveBack returns the lines of what is no embedded exception to the message.
func (t *trace) giveBack() {
	if t.inner == nil {
		return
	}
	for _, l := range t.innerLines {
		t.cur.push(l)
	}
	t.inner = nil
}

func (t *trace) link(b *block, n *node) {
	if t.rootFirst {
		n.cause = b.last
	} else {
		b.last.cause = n
	}
	b.last = n
}

// feedCaption takes a line such as "Caused by: …" and says whether it was one: without a class behind it
// such a line is text of a message, at whatever indentation.
func (t *trace) feedCaption(line []byte) bool {
	kind, indent, rest := captionOf(line)
	switch kind {
	case noCaption:
		return t.feedPy4J(line)
	case circular, circularBare:
		t.confirm()
		t.bare = kind == circularBare
		t.reference = t.reference[:0]
		t.blockFor(indent)
		t.state = inCircular
		return t.feedReference(rest)
	}
	class, message, ok := splitClass(rest)
	if !ok {
		return false
	}
	t.confirm()
	t.size += len(rest)
	if kind == suppressed {
		t.openBlock(indent, class, message)
		return true
	}
	b := t.blockFor(indent)
	if kind == wrappedBy && !t.rootFirst {
		t.rootFirst, t.byLogger = true, true
	}
	t.link(b, t.add(class, message))
	t.startMessage(message)
	return true
}

// blockFor returns the innermost block at an indentation and closes those deeper.
func (t *trace) blockFor(indent int) *block {
	for len(t.blocks) > 1 && (t.blocks[len(t.blocks)-1].indent > indent || indent <= t.base) {
		t.blocks = t.blocks[:len(t.blocks)-1]
	}
	return &t.blocks[len(t.blocks)-1]
}

func (t *trace) openBlock(indent int, class, message string) {
	for len(t.blocks) > 1 && t.blocks[len(t.blocks)-1].indent >= indent {
		t.blocks = t.blocks[:len(t.blocks)-1]
	}
	n := t.add(class, message)
	if len(t.blocks) < 100 {
		t.blocks = append(t.blocks, block{indent: indent, last: n})
	}
	t.startMessage(message)
}

// feedReference collects the text of a circular reference, which may have many lines, up to its bracket.
func (t *trace) feedReference(line []byte) bool {
	text := strings.TrimRight(string(line[min(t.base, indentOf(line)):]), " \t")
	t.size += len(text) + lineOverhead
	inner, ends := strings.CutSuffix(text, "]")
	if !ends {
		t.reference = append(t.reference, text)
		return true
	}
	t.reference = append(t.reference, inner)
	t.state = inFrames
	t.resolve(strings.TrimSpace(strings.Join(t.reference, "\n")))
	return true
}

// resolve follows a circular reference to the exception printed earlier. One that is in the chain
// already adds nothing; one printed inside a suppressed block brings its causes along.
func (t *trace) resolve(text string) {
	t.finishMessages()
	b := &t.blocks[len(t.blocks)-1]
	if t.bare {
		b = &t.blocks[0]
	}
	for _, n := range t.nodes {
		if n.text() != text {
			continue
		}
		if !t.rootFirst && b.last.cause == nil && !inChain(t.head, n) && !inChain(n, b.last) {
			b.last.cause = n
			t.referred = true
		}
		return
	}
}

func inChain(from, n *node) bool {
	for range maxNodes {
		if from == nil {
			return false
		}
		if from == n {
			return true
		}
		from = from.cause
	}
	return true
}

func (t *trace) feedPython(line []byte) bool {
	if t.py.feed(line) {
		t.size += len(line) + lineOverhead
		return true
	}
	t.state = inFrames
	return endsEmbedded(line)
}

// feedPy4J takes ": java.lang.RuntimeException: …", how Python shows the Java exception behind its own.
func (t *trace) feedPy4J(line []byte) bool {
	if t.state != inPython || !t.py.done {
		return false
	}
	rest, ok := bytes.CutPrefix(line[indentOf(line):], []byte(": "))
	if !ok {
		return false
	}
	class, message, ok := splitClass(rest)
	if !ok {
		return false
	}
	t.py.finish()
	t.confirmed = true
	t.link(&t.blocks[0], t.add(class, message))
	t.startMessage(message)
	return true
}

// finish ends the trace.
func (t *trace) finish() {
	if t.state == inCircular {
		t.resolve(strings.TrimSpace(strings.Join(t.reference, "\n")))
	}
	t.giveBack()
	t.py.finish()
	t.finishMessages()
	t.dropCut()
}

// dropCut removes a last cause whose class was cut off in the middle of its name.
func (t *trace) dropCut() {
	last := t.nodes[len(t.nodes)-1]
	if last == t.head || last.message != "" || last.frame != "" || last.python != nil || t.state != inMessage || endsAsException([]byte(last.class)) {
		return
	}
	for _, n := range t.nodes {
		if n.cause == last {
			n.cause = nil
		}
	}
}

func (t *trace) finishMessages() {
	for _, n := range t.nodes {
		if n.lines != nil {
			n.message = strings.TrimRight(strings.Join(n.lines, "\n"), " \t\r\n")
			if n.message == "null" {
				n.message = "" // so loggers print an exception without a message
			}
			n.lines = nil
			n.size = maxMessageBytes + 1
		}
	}
}

// chain lists the exceptions from the outermost to the root, with the Python errors quoted in their
// messages behind them. The same error quoted by a wrapper and by what it wraps stands once.
func (t *trace) chain() []*node {
	var out []*node
	seen := map[*node]bool{}
	start := t.head
	if t.rootFirst {
		start = t.blocks[0].last
	}
	for n := start; n != nil && !seen[n]; n = n.cause {
		seen[n] = true
		out = append(out, n)
		for p := n.python; p != nil && !quotedLater(n.cause, p, seen); p = p.cause {
			if p.class != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

func quotedLater(n, p *node, seen map[*node]bool) bool {
	for range maxNodes {
		if n == nil || seen[n] {
			return false
		}
		if n.python != nil && n.python.class == p.class && n.python.message == p.message {
			return true
		}
		n = n.cause
	}
	return false
}
