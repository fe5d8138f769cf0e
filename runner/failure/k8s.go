package failure

import (
	"bytes"
	"regexp"
	"strings"
)

// A k8sEvent is one event, or the state of a container that ended.
type k8sEvent struct {
	reason, message, object, from string
	normal                        bool
}

// A k8sReader collects what Kubernetes prints: events in tables and documents, states of containers,
// the error that Flink's operator writes into the status of a deployment.
type k8sReader struct {
	events   []k8sEvent
	operator [][]*node // chains of the operator's errors, in the order of the text
	pod      string    // name of the pod that was killed
	owner    string    // name of the object the operator's error is about
	seen     bool

	open  bool // an error in JSON that goes over many lines
	quote byte
	text  []byte
	doc   docReader

	condition map[string]string // the condition being read; nil outside of conditions

	stated   bool // a line before was "Reason: OOMKilled", its message may follow
	statedAt int  // how far that line was indented
}

// maxEvents bounds the events kept.
const maxEvents = 1000

var (
	describedEvent = regexp.MustCompile(`^\s*(Normal|Warning)\s+([A-Z]\w+)\s+(?:<unknown>|<invalid>|\d[\dhmsd]*)(?: \(x\d+ over [^)]+\))?\s+(\S+)\s+(.*)$`)
	listedEvent    = regexp.MustCompile(`^\s*(?:<unknown>|\d[\dhmsd]*)(?: \(x\d+ over [^)]+\))?\s+(Normal|Warning)\s+([A-Z]\w+)\s+(\S+/\S+)\s+(.*)$`)
	spacedEvent    = regexp.MustCompile(`^\s*\S+\s+(?:<unknown>|\d[\dhmsd]*)(?: \(x\d+ over [^)]+\))?\s+(Normal|Warning)\s+([A-Z]\w+)\s+(\S+/\S+)\s+(.*)$`)
	stateReason    = regexp.MustCompile(`^\s*-?\s*[Rr]eason:\s+"?(OOMKilled|Evicted|ContainerCannotRun|ErrImagePull|ImagePullBackOff|CreateContainerConfigError|InvalidImageName|ContainerStatusUnknown)"?\s*$`)
	stateMessage   = regexp.MustCompile(`^\s*-?\s*[Mm]essage:\s+(.*)$`)
	statusError    = regexp.MustCompile(`^\s*"?[Ee]rror"?:\s+(.*)$`)
)

// line takes a line outside of any trace.
func (k *k8sReader) line(s *scanner, line []byte) {
	if k.open {
		k.goOn(s, line)
		return
	}
	text := string(line)
	if m := describedEvent.FindStringSubmatch(text); m != nil {
		k.event(s, k8sEvent{reason: m[2], from: m[3], message: m[4], normal: m[1] == "Normal"})
		return
	}
	m := listedEvent.FindStringSubmatch(text)
	if m == nil {
		m = spacedEvent.FindStringSubmatch(text)
	}
	if m != nil {
		k.event(s, k8sEvent{reason: m[2], object: m[3], message: m[4], normal: m[1] == "Normal"})
		return
	}
	if m := stateReason.FindStringSubmatch(text); m != nil {
		k.event(s, k8sEvent{reason: m[1]})
		k.stated, k.statedAt = true, indentOf(line)
		return
	}
	if m := stateMessage.FindStringSubmatch(text); m != nil && k.stated && indentOf(line) == k.statedAt && len(k.events) > 0 {
		k.events[len(k.events)-1].message = strings.Trim(m[1], `"'`)
	}
	k.stated = k.stated && indentOf(line) >= k.statedAt
	if k.conditions(s, text) {
		return
	}
	if m := statusError.FindStringSubmatch(text); m != nil {
		k.error(s, m[1])
	}
}

// conditions reads the conditions of an object's status: one that is False says why.
func (k *k8sReader) conditions(s *scanner, text string) bool {
	trimmed := strings.TrimLeft(text, " \t-")
	if strings.EqualFold(strings.TrimSpace(trimmed), "conditions:") {
		k.condition = map[string]string{}
		return true
	}
	name, value, ok := strings.Cut(trimmed, ":")
	name = strings.ToLower(name)
	if k.condition == nil || !ok {
		return false
	}
	if _, again := k.condition[name]; again || strings.HasPrefix(strings.TrimLeft(text, " \t"), "- ") {
		k.endCondition(s)
	}
	switch name {
	case "reason", "message", "status", "type":
		k.condition[name] = strings.Trim(strings.TrimSpace(value), `"'`)
		return true
	}
	return false
}

func (k *k8sReader) endCondition(s *scanner) {
	c := k.condition
	if c["status"] == "False" && c["message"] != "" && c["reason"] != "" && c["reason"] != "ContainersNotReady" {
		k.event(s, k8sEvent{reason: c["reason"], message: c["message"]})
	}
	k.condition = map[string]string{}
}

// error takes the value of a status's error: JSON, plain or quoted as YAML does.
func (k *k8sReader) error(s *scanner, text string) {
	k.quote = 0
	if text != "" && (text[0] == '\'' || text[0] == '"') && strings.HasPrefix(strings.TrimLeft(text[1:], ` `), "{") {
		k.quote = text[0]
		text = text[1:]
	}
	if !strings.HasPrefix(text, "{") {
		return
	}
	k.open = true
	k.text = append(k.text[:0], text...)
	if k.quote == '"' && endsQuoted(text) || k.quote != '"' && k.doc.start([]byte(text)) {
		k.close(s)
	}
}

// endsQuoted reports whether a line ends a string in double quotes.
func endsQuoted(line string) bool {
	line = strings.TrimRight(line, " \t")
	return strings.HasSuffix(line, `"`) && !strings.HasSuffix(line, `\"`)
}

// goOn takes a further line of a folded error.
func (k *k8sReader) goOn(s *scanner, line []byte) {
	if len(k.text) > maxMessageBytes {
		k.open = false
		return
	}
	line = bytes.TrimSpace(line)
	k.text = append(append(k.text, ' '), line...)
	if k.quote == '"' && endsQuoted(string(line)) || k.quote != '"' && k.doc.feed(line) {
		k.close(s)
	}
}

// close reads the error that is complete, or cut off.
func (k *k8sReader) close(s *scanner) {
	k.open = false
	if v, _ := parseJSON(k.unquoted()); v.kind == jsonObject {
		k.object(s, v)
	}
}

func (k *k8sReader) unquoted() string {
	text := strings.TrimRight(string(k.text), " \t")
	switch k.quote {
	case '\'':
		return strings.ReplaceAll(strings.TrimSuffix(text, "'"), "''", "'")
	case '"':
		p := jsonParser{in: `"` + text, whole: true}
		return p.str()
	}
	return text
}

// event takes an event. The message of one that Flink's operator wrote may be its error in JSON, or a
// trace of the job's own.
func (k *k8sReader) event(s *scanner, e k8sEvent) {
	k.seen = true
	if strings.HasPrefix(e.message, "{") {
		if v, _ := parseJSON(e.message); v.has("type") || v.has("throwableList") {
			k.object(s, v)
			k.owner = e.object
			return
		}
	}
	if class, message, ok := isHeader([]byte(e.message)); ok && !e.normal && len(k.operator) < maxEvents {
		k.operator = append(k.operator, []*node{{class: class, message: message}})
		k.owner = e.object
		return
	}
	if !e.normal && e.aboutJob() && !isConsequence(e) && len(k.operator) < maxEvents {
		k.operator = append(k.operator, []*node{{class: e.reason, message: e.message}})
		k.owner = e.object
		return
	}
	if len(k.events) < maxEvents {
		k.events = append(k.events, e)
	}
}

// kills reports whether an event says that something that ran was ended.
func (e k8sEvent) kills() bool {
	switch e.reason {
	case "OOMKilled", "OOMKilling", "Evicted", "Preempted":
		return true
	}
	return false
}

// aboutJob reports whether an event is about a job or its deployment as a whole, not about a pod.
func (e k8sEvent) aboutJob() bool {
	from, object := strings.ToLower(e.from), strings.ToLower(e.object)
	return strings.Contains(from, "flink") || from == "job" || from == "jobmanagerdeployment" || strings.HasPrefix(object, "flinkdeployment/") ||
		strings.HasPrefix(object, "flinksessionjob/")
}

// object reads a Kubernetes object, or the operator's error, from JSON.
func (k *k8sReader) object(s *scanner, v jsonValue) {
	k.seen = true
	if v.has("throwableList") || v.has("type") && v.has("message") && !v.has("apiVersion") && !v.has("lastTransitionTime") {
		if chain := operatorChain(v); len(chain) > 0 {
			k.operator = append(k.operator, chain)
			k.operator = k.operator[max(0, len(k.operator)-10):]
		}
		return
	}
	if v.get("kind").text == "Event" || v.has("involvedObject") {
		object := v.get("involvedObject", "kind").text + "/" + v.get("involvedObject", "name").text
		k.event(s, k8sEvent{
			reason: v.get("reason").text, message: strings.TrimRight(v.get("message").text, " \n"),
			object: strings.ToLower(object), from: v.get("source", "component").text, normal: v.get("type").text == "Normal",
		})
		return
	}
	for _, item := range v.get("items").items {
		k.object(s, item)
	}
	status := v.get("status")
	if text := status.get("error").text; text != "" {
		if inner, _ := parseJSON(text); inner.kind == jsonObject {
			k.object(s, inner)
			k.owner = v.get("metadata", "name").text
		}
	}
	for _, c := range status.get("containerStatuses").items {
		pod := "pod/" + v.get("metadata", "name").text
		k.container(pod, c.get("lastState", "terminated"))
		k.container(pod, c.get("state", "terminated"))
		k.container(pod, c.get("state", "waiting"))
	}
	for _, c := range status.get("conditions").items {
		if c.get("status").text == "False" && c.get("message").text != "" && c.get("reason").text != "ContainersNotReady" {
			k.event(s, k8sEvent{reason: c.get("reason").text, message: c.get("message").text})
		}
	}
}

// container takes the state of a container that ended or cannot start.
func (k *k8sReader) container(pod string, state jsonValue) {
	reason := state.get("reason").text
	if reason == "" || reason == "Completed" || len(k.events) >= maxEvents {
		return
	}
	k.events = append(k.events, k8sEvent{reason: reason, message: state.get("message").text, object: pod})
}

// operatorChain reads type, message and throwableList of the operator's error.
func operatorChain(v jsonValue) []*node {
	var chain []*node
	for _, e := range append([]jsonValue{v}, v.get("throwableList").items...) {
		class := e.get("type").text
		if class == "" {
			continue
		}
		n := &node{class: class, message: strings.TrimRight(e.get("message").text, " \t\r\n")}
		n.frame = firstFrame(e.get("stackTrace"))
		chain = append(chain, n)
	}
	return chain
}

// end makes one finding of everything Kubernetes said.
func (k *k8sReader) end(s *scanner) {
	if k.open {
		k.close(s)
	}
	if k.condition != nil {
		k.endCondition(s)
	}
	if len(k.operator) == 0 && len(k.events) == 0 {
		return
	}
	f := &finding{form: formK8s, attempt: -1, strong: true}
	if len(k.operator) > 0 {
		f.chain = k.operator[len(k.operator)-1]
	}
	cause := k.cause()
	if cause != nil && (len(f.chain) == 0 || isSymptom(f.chain[len(f.chain)-1])) {
		if len(f.chain) > 0 {
			f.taskManager = lostManager(f.chain[len(f.chain)-1].message)
		}
		if f.taskManager == "" && strings.Contains(k.pod, "-taskmanager-") {
			f.taskManager = k.pod // so Flink names them on Kubernetes
		}
		f.chain = append(append([]*node{}, f.chain...), cause)
		f.rule = ruleEvent
	}
	if len(f.chain) == 0 {
		return
	}
	s.add(f)
}

// cause returns the event that is a cause: the first warning that is not itself a consequence.
func (k *k8sReader) cause() *node {
	var fallback *node
	for _, e := range k.events {
		if e.normal || k.isForeign(e) {
			continue
		}
		n := &node{class: e.reason, message: e.message}
		if !isConsequence(e) {
			if e.kills() {
				_, k.pod, _ = strings.Cut(e.object, "/")
			}
			return n
		}
		if fallback == nil {
			fallback = n
		}
	}
	return fallback
}

// isForeign reports whether an event is about another object than the operator's error: names of pods
// start with the name of their deployment.
func (k *k8sReader) isForeign(e k8sEvent) bool {
	if k.owner == "" || e.object == "" || strings.HasPrefix(e.object, "node/") {
		return false
	}
	_, owner, ok := strings.Cut(k.owner, "/")
	if !ok {
		owner = k.owner
	}
	_, name, _ := strings.Cut(e.object, "/")
	return !strings.HasPrefix(name, owner)
}

// isConsequence reports whether an event only follows from another one.
func isConsequence(e k8sEvent) bool {
	switch e.reason {
	case "BackOff", "FailedSync", "Killing", "Unhealthy", "NodeNotReady", "ProbeWarning", "CrashLoopBackOff", "ImagePullBackOff", "Error", "SpecChanged", "Missing", "JobStatusChanged":
		return true
	}
	return strings.HasPrefix(e.message, "Error: ") || strings.HasPrefix(strings.ToLower(e.message), "back-off")
}

// isSymptom reports whether the operator's error only says that something does not come up or is gone.
func isSymptom(n *node) bool {
	switch simpleName(n.class) {
	case "DeploymentFailedException", "MissingJobManagerException", "TimeoutException":
		return true
	}
	if isPeerLost(n) {
		return true
	}
	lower := strings.ToLower(n.message)
	for _, word := range []string{"back-off", "crashloop", "is missing", "not ready", "unhealthy", "lost", "timed out", "exit code", "exited", "connection refused", "oomkilled"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
