package failure

import (
	"bytes"
	"strings"
)

// This file reads what stands around traces: log lines and the banners of clients.

// logLine remembers a log line as the context of what follows, and looks for an exception in it.
func (s *scanner) logLine(bare []byte, h header, worn []garment) {
	s.sawLog = true
	s.banner, s.headline = "", ""
	s.context = append(s.context[:0], bare[:min(len(bare), maxLineKept)]...)
	s.contextH, s.contextMs, s.hasContext = h, h.timeMs, true
	s.previousIsContext = true
	message := bare[min(h.messageAt, len(bare)):]
	if i := bytes.Index(message, []byte(suppressedBy)); i >= 0 && s.suppressed == "" {
		s.suppressed = string(message[i:])
	}
	s.noteDeployment(message)
	if !mayHoldException(message) {
		return
	}
	if len(message) > 0 && message[0] == '{' && s.openJSON(message, 1) {
		return
	}
	if class, text, ok := headerIn(withoutThread(message)); ok {
		t := newTrace(class, text, 0)
		t.midLine = !bytes.HasPrefix(bytes.TrimLeft(message, " \t"), []byte(class))
		s.open(t, append(append([]garment{}, worn...), loggerHeader), h.timeMs)
		return
	}
	if _, opens := opensTraceback(string(message[:min(len(message), 200)])); opens {
		s.open(newPythonTrace(0), append(append([]garment{}, worn...), loggerHeader), h.timeMs)
		return
	}
}

// maxDeployments bounds how many tasks are remembered with their TaskManager.
const maxDeployments = 4096

// startsManager is how a TaskManager says its id at the start of its log.
const startsManager = "Starting TaskManager with ResourceID: "

// noteDeployment remembers where a task runs, from the JobManager's "Deploying … to tm-1 @ host" and
// from the line in which it fails.
func (s *scanner) noteDeployment(message []byte) {
	var m [][]byte
	switch {
	case bytes.HasPrefix(message, []byte(startsManager)):
		id, _, _ := strings.Cut(string(message[len(startsManager):]), " ")
		s.managerID = strings.TrimRight(id, ".")
	case bytes.HasPrefix(message, []byte("Deploying ")):
		m = deployed.FindSubmatch(message)
	case bytes.Contains(message, []byte("FAILED on ")):
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

// headerIn finds an exception in a line: at its start, or behind a colon.
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

// announces recognises the banners that clients print above an exception.
func (s *scanner) announces(bare []byte, worn []garment, stampMs int64) bool {
	switch {
	case bytes.Contains(bare, []byte("The program finished with the following exception:")):
		s.banner, s.headline, s.hasContext = formCLI, "", false
		return true
	case isBanner(bare):
		_, text, _ := strings.Cut(string(bare), "[ERROR] ")
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
	line = bytes.TrimPrefix(line[indentOf(line):], []byte("Flink SQL> "))
	return bytes.HasPrefix(line, []byte("[ERROR] ")) &&
		(bytes.Contains(line, []byte(" Reason:")) || bytes.HasPrefix(line, []byte("[ERROR] Could not execute SQL statement")))
}

// escapedFrame opens a frame in a trace that was written on one line, with its line ends escaped.
const escapedFrame = `\n\tat `

// escaped reads a trace whose line ends are escaped, as in the field of a log line or in the rest of a
// JSON document whose beginning is missing.
func (s *scanner) escaped(line []byte) bool {
	_, _, stampMs, bare := undressAll(line)
	h, logged := parseHeader(bare)
	if opensJSON(bare, 0) || logged && opensJSON(bare[min(h.messageAt, len(bare)):], 0) {
		return false
	}
	before := line[:bytes.Index(line, []byte(escapedFrame))]
	from := bytes.LastIndexByte(before, '"') + 1
	p := jsonParser{in: `"` + string(line[from:]), whole: true}
	f := s.inText(p.str(), formLog)
	if f == nil {
		return false
	}
	switch {
	case bytes.Contains(line[:from], []byte(`"stacktrace"`)), bytes.Contains(line[:from], []byte(`"root-exception"`)), bytes.Contains(line[:from], []byte(`"exception"`)):
		f.form, f.strong = formREST, true
	case logged:
		f.readContext(string(bare[min(h.messageAt, len(bare)):]), h.level)
		f.timeMs = max(h.timeMs, stampMs)
	}
	s.add(f)
	return true
}
