package failure

import (
	"errors"
	"io"
	"regexp"
	"sort"
)

// A Result is what an input says about failures.
type Result struct {
	Form    string    // the kind of input: "stack", "log", "rest" …; "" where it was not recognised
	Failure *Failure  // the failure that leads; nil where nothing failed
	Others  []Failure // further failures of the input, in time order
	Own     bool      // it came from a report or the console of runner, not from Flink
}

// Parse reads a failure text in whatever form it comes: stack traces, the logs of any common logger,
// answers of Flink's REST interface, what its clients print, what Kubernetes says of pods and
// deployments, JSON logs, Python tracebacks, and the reports and texts of runner itself; compressed
// with gzip too, in UTF-16 too. Line ends, colours, indentation and what programs put in front of each
// line make no difference.
//
// The input is read once, line by line, in time linear in it and with memory that does not grow with
// it. An error means that it could not be read or is no text; a text in which nothing failed is a
// Result without a Failure. Which element of a chain is the root cause is decided by the rules that
// [Rules] lists; of several failures the first in time leads, in an exception history the newest.
func Parse(r io.Reader) (Result, error) {
	s := &scanner{}
	if err := s.scan(r); err != nil {
		return Result{}, err
	}
	return s.result(), nil
}

// FormEmpty is the form of an input without any text.
const FormEmpty = "empty"

// ErrNotReport is returned by [ParseReport] for an input that is not from runner.
var ErrNotReport = errors.New("the input is neither a report of runner nor what it prints")

// ParseReport reads a run report of ours, or what runner prints to the console, and nothing else: the
// Failure is the one the report has, field by field; a run that went well has none.
func ParseReport(r io.Reader) (Result, error) {
	result, err := Parse(r)
	if err == nil && !result.Own {
		return Result{}, ErrNotReport
	}
	return result, err
}

func (s *scanner) result() Result {
	if s.own != nil {
		f := s.own
		if f.RootCause == nil && len(f.Chain) == 0 {
			f = nil
		}
		return Result{Form: s.ownForm, Failure: f, Others: append([]Failure{}, s.ownOthers...), Own: true}
	}
	if len(s.findings) == 0 {
		return Result{Form: s.formWithout(), Others: []Failure{}, Own: s.ownForm != ""}
	}
	c := newClassifier()
	ordered := merge(s.findings)
	lead := s.build(ordered[0], c)
	result := Result{Form: lead.Form, Failure: &lead, Others: []Failure{}}
	for _, f := range ordered[1:] {
		result.Others = append(result.Others, s.build(f, c))
	}
	s.addStrategy(result.Failure, ordered)
	return result
}

// formWithout names the form of an input without a failure.
func (s *scanner) formWithout() string {
	switch {
	case !s.text:
		return FormEmpty
	case s.ownForm != "":
		return s.ownForm
	case s.noneSeen:
		return formREST
	case s.k8s.seen:
		return formK8s
	case s.sawSQL:
		return formSQLClient
	case s.sawLog:
		return formLog
	case s.sawJSON:
		return formJSONLog
	}
	return ""
}

// build applies the rules to a finding.
func (s *scanner) build(f *finding, c *classifier) Failure {
	index, root, rule, confidence := decide(f.chain, f.rule == ruleRootFirst)
	if f.rule != "" && index == len(f.chain)-1 {
		rule, confidence = f.rule, 0.85
	}
	if f.bare {
		confidence -= 0.2
	}
	if !f.strong {
		confidence -= 0.3
	}
	out := Failure{
		Headline: f.headline, Chain: []Cause{}, RootIndex: index, Task: f.task, TaskManager: f.taskManager,
		Form: f.form, Rule: rule, Confidence: round(confidence), Concurrent: []Failure{},
	}
	for _, n := range f.chain {
		out.Chain = append(out.Chain, Cause{Class: n.class, Message: n.message, Frame: n.frame})
	}
	if out.Headline == "" {
		out.Headline = firstLine(f.chain[0].message)
	}
	if out.Headline == "" {
		out.Headline = f.chain[0].class
	}
	if out.Task == "" {
		out.Task = taskInMessages(f.chain)
	}
	if out.TaskManager == "" {
		out.TaskManager = s.ranOn[out.Task]
	}
	if lost := lostManager(root.message); lost != "" {
		out.TaskManager = lost
	}
	out.Category = c.of(root)
	cause := Cause{Class: root.class, Message: root.message, Frame: root.frame, Task: out.Task, TaskManager: out.TaskManager}
	locate(&cause, f.chain)
	out.RootCause = &cause
	if index >= 0 {
		out.Chain[index] = cause
	}
	if f.attempt > 0 {
		out.Restart.Attempts = f.attempt
	}
	for _, other := range f.concurrent {
		out.Concurrent = append(out.Concurrent, s.build(other, c))
	}
	s.addStrategy(&out, []*finding{f})
	return out
}

func round(x float64) float64 { return float64(int(max(x, 0.1)*100+0.5)) / 100 }

// addStrategy notes the restart strategy, wherever in the findings its sentence stands.
func (s *scanner) addStrategy(f *Failure, findings []*finding) {
	if f.RecoverySuppressed {
		return
	}
	texts := []string{}
	for _, finding := range findings {
		for _, n := range finding.chain {
			texts = append(texts, n.message)
		}
		texts = append(texts, finding.headline)
	}
	texts = append(texts, s.suppressed)
	for _, text := range texts {
		if class, sentence, ok := strategyIn(text); ok {
			f.RestartStrategy, f.RecoverySuppressed = class, true
			f.Restart.Text = sentence
			return
		}
	}
}

// merge brings findings into the order of time, joins those that are one failure, and puts the one
// that leads first.
func merge(all []*finding) []*finding {
	if all[0].first || anyFirst(all) {
		return mergeHistory(all)
	}
	ordered := append([]*finding{}, all...)
	sort.SliceStable(ordered, func(i, j int) bool { return ordered[i].order < ordered[j].order })
	if sameClock(ordered) {
		sort.SliceStable(ordered, func(i, j int) bool { return ordered[i].timeMs < ordered[j].timeMs })
	}
	ordered = joinSame(ordered)
	ordered = withTraceback(ordered)
	ordered = onlyStrong(ordered)
	if peer := peerOf(ordered[0], ordered[1:]); peer != nil {
		rest := []*finding{peer}
		for _, f := range ordered {
			if f != peer {
				rest = append(rest, f)
			}
		}
		peer.rule = rulePeer
		return rest
	}
	return ordered
}

func anyFirst(all []*finding) bool {
	for _, f := range all {
		if f.first {
			return true
		}
	}
	return false
}

// sameClock reports whether the times can be compared: all are there, and all are dates or none is.
func sameClock(all []*finding) bool {
	const dayMs = 86_400_000
	for _, f := range all {
		if f.timeMs == 0 || (f.timeMs <= dayMs) != (all[0].timeMs <= dayMs) {
			return false
		}
	}
	return true
}

// mergeHistory orders the entries of an exception history: the newest leads, the others follow by time.
func mergeHistory(all []*finding) []*finding {
	var lead *finding
	var rest []*finding
	for _, f := range all {
		if f.first && lead == nil {
			lead = f
		} else {
			rest = append(rest, f)
		}
	}
	sort.SliceStable(rest, func(i, j int) bool { return rest[i].timeMs < rest[j].timeMs })
	var beside []*finding
	for _, c := range lead.concurrent {
		if same(lead, c) {
			absorb(lead, c)
		} else {
			beside = append(beside, c)
		}
	}
	lead.concurrent = beside
	if peer := peerOf(lead, beside); peer != nil {
		switched := *peer
		switched.headline = headlineOf(lead)
		switched.rule = rulePeer
		switched.concurrent = without(beside, peer)
		rest = append(rest, &finding{
			chain: lead.chain, form: lead.form, task: lead.task, taskManager: lead.taskManager,
			attempt: lead.attempt, timeMs: lead.timeMs, strong: true,
		})
		lead = &switched
	}
	return append([]*finding{lead}, rest...)
}

func without(all []*finding, one *finding) []*finding {
	var rest []*finding
	for _, f := range all {
		if f != one {
			rest = append(rest, f)
		}
	}
	return rest
}

func headlineOf(f *finding) string {
	if f.headline != "" {
		return f.headline
	}
	if line := firstLine(f.chain[0].message); line != "" {
		return line
	}
	return f.chain[0].class
}

// peerOf returns the failure of the very TaskManager that f only says is lost; nil where there is none.
func peerOf(f *finding, others []*finding) *finding {
	root := f.chain[len(f.chain)-1]
	if !isPeerLost(root) {
		return nil
	}
	lost := lostManager(root.message)
	for _, other := range others {
		if other.isAt(lost, root.message) && !isPeerLost(other.chain[len(other.chain)-1]) {
			return other
		}
	}
	return nil
}

// recent is how many findings back a repetition is looked for: a failure is printed again soon, and the
// work stays linear.
const recent = 20

// joinSame joins findings that are one failure printed more than once.
func joinSame(ordered []*finding) []*finding {
	var kept []*finding
	for _, f := range ordered {
		joined := false
		for i := max(0, len(kept)-recent); i < len(kept) && !joined; i++ {
			if same(kept[i], f) {
				absorb(kept[i], f)
				joined = true
			}
		}
		if !joined {
			kept = append(kept, f)
		}
	}
	return kept
}

// withTraceback drops failures that only say that a Python process ended, where the traceback that it
// printed before stands in the same log.
func withTraceback(ordered []*finding) []*finding {
	var kept []*finding
	var traceback *finding
	for _, f := range ordered {
		root := f.chain[len(f.chain)-1]
		if traceback != nil && pythonEnded.MatchString(root.message) {
			traceback.strong = true
			continue
		}
		if root.snake {
			traceback = f
		}
		kept = append(kept, f)
	}
	return kept
}

// pythonEnded matches what Flink says of a Python process that failed.
var pythonEnded = regexp.MustCompile(`^(?:Run p|P)ython process (?:failed|exits? with code)`)

// onlyStrong drops what stopped nothing, where something else stopped something.
func onlyStrong(all []*finding) []*finding {
	for _, keep := range []func(*finding) bool{
		func(f *finding) bool { return f.strong && !f.bare },
		func(f *finding) bool { return f.strong },
		func(f *finding) bool { return !f.bare },
	} {
		var kept []*finding
		for _, f := range all {
			if keep(f) {
				kept = append(kept, f)
			}
		}
		if len(kept) > 0 {
			return kept
		}
	}
	return all
}

// same reports whether two findings are one failure: the one's chain ends with the other's, and they
// are not of different tasks.
func same(a, b *finding) bool {
	if a.task != "" && b.task != "" && a.task != b.task {
		return false
	}
	long, short := a.chain, b.chain
	if len(long) < len(short) {
		long, short = short, long
	}
	suffix := true
	for i := range short {
		if printed(long[len(long)-len(short)+i]) != printed(short[i]) {
			suffix = false
			break
		}
	}
	if suffix {
		return true
	}
	x, y := long[len(long)-1], short[len(short)-1]
	return x.message != "" && printed(x) == printed(y) && (a.task == "" || b.task == "")
}

// printed is what an exception's toString gave before it was serialized.
func printed(n *node) string {
	if isSerialized(n.class) {
		return n.message
	}
	return n.text()
}

// absorb joins b into a: the longer chain, and whatever either knows.
func absorb(a, b *finding) {
	longer := len(b.chain) > len(a.chain) || len(b.chain) == len(a.chain) && a.chain[len(a.chain)-1].frame == ""
	if longer {
		a.chain, a.rule = b.chain, b.rule
		if b.headline != "" {
			a.headline, a.form = b.headline, b.form
		}
	}
	if a.task == "" {
		a.task = b.task
	}
	if a.taskManager == "" {
		a.taskManager = b.taskManager
	}
	if b.timeMs != 0 && (a.timeMs == 0 || b.timeMs < a.timeMs) {
		a.timeMs = b.timeMs
	}
	a.attempt = max(a.attempt, b.attempt)
	a.strong = a.strong || b.strong
	a.bare = a.bare && b.bare
}
