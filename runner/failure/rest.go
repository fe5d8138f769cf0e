package failure

import (
	"bytes"
	"encoding/json"
	"strings"
)

// openJSON begins a JSON document at a line that looks like one, and says whether it took the line.
// A document on one line is read at once.
func (s *scanner) openJSON(bare []byte, layers int) bool {
	bare = bytes.TrimLeft(bare, " \t")
	rest := bytes.TrimLeft(bare[1:], " \t")
	switch {
	case len(rest) == 0, rest[0] == '"', bare[0] == '{' && rest[0] == '}', bare[0] == '[' && (rest[0] == '{' || rest[0] == ']'):
	default:
		return false
	}
	if len(rest) == 0 && layers > 0 && bare[0] == '[' {
		return false
	}
	if !s.doc.start(bare) {
		return true
	}
	broken := s.doc.broken
	s.doc.open = false
	if broken {
		return false
	}
	s.sawJSON = s.sawJSON || bare[0] == '{'
	if mayMatterJSON(bare) {
		s.document(s.doc.take())
	}
	return true
}

// mayMatterJSON is the quick test that lets most lines of a JSON log pass unread.
func mayMatterJSON(line []byte) bool {
	for _, needle := range []string{"xception", "rror", "hrow", "FAIL", "Kill", `"log"`, "failure", "stack", "Warning", "Traceback"} {
		if bytes.Contains(line, []byte(needle)) {
			return true
		}
	}
	return false
}

// document reads a JSON document for whatever it is.
func (s *scanner) document(text string) {
	v, _ := parseJSON(text)
	if v.has("failure") && (v.has("schemaVersion") || v.has("runId")) || v.has("rootCause") && v.has("chain") && v.has("headline") {
		if s.ownReport(text) {
			return
		}
	}
	s.interpret(v, 0)
}

// ownReport reads a run report of ours, or a failure as `diagnose --format json` prints it.
func (s *scanner) ownReport(text string) bool {
	var report struct {
		Failure *json.RawMessage `json:"failure"`
	}
	raw := []byte(strings.TrimSpace(text))
	if err := json.Unmarshal(raw, &report); err != nil {
		return false
	}
	if report.Failure != nil {
		raw = *report.Failure
	} else if !bytes.Contains(raw, []byte(`"rootCause"`)) {
		s.noneSeen, s.ownForm = true, formReport
		return true
	}
	if f, ok := unmarshalFailure(raw); ok {
		if s.own == nil {
			s.own, s.ownForm = &f, formReport
		}
		return true
	}
	return false
}

// unmarshalFailure reads a Failure from JSON in which absent strings may be null.
func unmarshalFailure(raw []byte) (Failure, bool) {
	var f Failure
	var index struct {
		RootIndex *int   `json:"rootIndex"`
		RootCause *Cause `json:"rootCause"`
	}
	if json.Unmarshal(raw, &f) != nil || json.Unmarshal(raw, &index) != nil {
		return f, false
	}
	if index.RootIndex == nil {
		f.RootIndex = -1
	}
	if f.Chain == nil {
		f.Chain = []Cause{}
	}
	if f.Concurrent == nil {
		f.Concurrent = []Failure{}
	}
	return f, true
}

// interpret finds failures in a JSON value by its shape.
func (s *scanner) interpret(v jsonValue, depth int) {
	if depth > 20 {
		return
	}
	if v.kind == jsonArray {
		for _, item := range v.items {
			s.interpret(item, depth+1)
		}
		return
	}
	switch {
	case v.kind != jsonObject:
	case v.has("exceptionHistory"), v.has("root-exception"), v.has("all-exceptions"):
		s.restExceptions(v)
	case v.has("entries") && v.has("truncated"):
		s.restHistory(v)
	case v.has("exceptionName") && v.has("stacktrace"):
		s.addREST([]jsonValue{v})
	case v.has("errors") && v.get("errors").kind == jsonArray:
		s.restErrors(v.get("errors"))
	case failureCause(v).kind != jsonNull:
		s.restCause(failureCause(v))
	case v.has("throwableList") && v.has("type"), v.has("apiVersion"), v.has("kind") && v.has("metadata"):
		s.k8s.object(s, v)
	default:
		s.jsonEvent(v)
	}
}

// restExceptions reads the body of GET /jobs/<jid>/exceptions, of 2.x or older.
func (s *scanner) restExceptions(v jsonValue) {
	s.noneSeen = true
	before := len(s.findings)
	s.restHistory(v.get("exceptionHistory"))
	if len(s.findings) > before {
		return
	}
	root := v.get("root-exception")
	all := v.get("all-exceptions").items
	var entries []jsonValue
	if root.text != "" {
		entry := jsonValue{kind: jsonObject, members: []jsonMember{{"stacktrace", root}, {"timestamp", v.get("timestamp")}}}
		for i, e := range all {
			// The task's own entry repeats the text; it knows the task.
			if e.get("exception").text == root.text {
				entry = e
				all = append(append([]jsonValue{}, all[:i]...), all[i+1:]...)
				break
			}
		}
		entry.members = append(entry.members, jsonMember{"concurrentExceptions", jsonValue{kind: jsonArray, items: all}})
		entries = append(entries, entry)
	} else {
		entries = all
	}
	s.addREST(entries)
}

func (s *scanner) restHistory(v jsonValue) {
	s.noneSeen = true
	s.addREST(v.get("entries").items)
}

// addREST adds the entries of an exception history, newest first: the newest leads.
func (s *scanner) addREST(entries []jsonValue) {
	for i, e := range entries {
		f := s.restEntry(e)
		if f == nil {
			continue
		}
		for _, c := range e.get("concurrentExceptions").items {
			if other := s.restEntry(c); other != nil {
				f.concurrent = append(f.concurrent, other)
			}
		}
		f.first = i == 0
		s.add(f)
	}
}

// restEntry reads one entry of an exception history; nil where it says nothing.
func (s *scanner) restEntry(e jsonValue) *finding {
	text := e.get("stacktrace").text
	if text == "" {
		text = e.get("exception").text
	}
	f := s.inText(text, formREST)
	if f == nil {
		name := e.get("exceptionName").text
		if !endsAsException([]byte(name)) {
			return nil
		}
		f = &finding{chain: []*node{{class: name}}, attempt: -1}
	}
	f.form, f.strong = formREST, true
	task := e.get("taskName").text
	if task == "" {
		task = e.get("task").text
	}
	if task != "" {
		f.task = stripAttempt(task)
		f.attempt = attemptOf(task)
	}
	if id := e.get("taskManagerId").text; id != "" {
		f.taskManager = managerOf(id)
	}
	if f.location = e.get("location").text; f.location == "" {
		f.location = e.get("endpoint").text
	}
	f.timeMs = e.get("timestamp").integer()
	return f
}

// restErrors reads the body of an answer that says only what went wrong.
func (s *scanner) restErrors(errors jsonValue) {
	var texts []string
	for _, item := range errors.items {
		texts = append(texts, item.text)
	}
	text := strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" {
		s.noneSeen = true
		return
	}
	f := s.inText(text, formREST)
	if f == nil {
		f = &finding{chain: []*node{{class: "RestError", message: strings.TrimSpace(text)}}, attempt: -1}
	}
	f.form, f.strong = formREST, true
	s.add(f)
}

// failureCause finds {"class": …, "stack-trace": …} in the answers about savepoints and results.
func failureCause(v jsonValue) jsonValue {
	for _, path := range [][]string{
		{"failure-cause"},
		{"operation", "failure-cause"},
		{"job-execution-result", "failure-cause"},
	} {
		if found := v.get(path...); found.kind == jsonObject {
			return found
		}
	}
	if v.has("stack-trace") && v.has("class") {
		return v
	}
	return jsonValue{}
}

func (s *scanner) restCause(v jsonValue) {
	f := s.inText(v.get("stack-trace").text, formREST)
	if f == nil {
		if v.get("class").text == "" {
			return
		}
		f = &finding{chain: []*node{{class: v.get("class").text}}, attempt: -1}
	}
	f.form, f.strong = formREST, true
	s.add(f)
}

// maxTextDepth bounds texts inside texts.
const maxTextDepth = 3

// inText reads a text that stands inside a document and returns its leading failure.
func (s *scanner) inText(text, form string) *finding {
	if strings.TrimSpace(text) == "" || s.depth >= maxTextDepth {
		return nil
	}
	inner := &scanner{depth: s.depth + 1}
	for line := range strings.SplitSeq(text, "\n") {
		inner.line(bytes.TrimRight([]byte(line), "\r"))
	}
	inner.end()
	if len(inner.findings) == 0 {
		return nil
	}
	f := merge(inner.findings)[0]
	f.form = form
	return f
}
