package failure

import (
	"regexp"
	"strconv"
	"strings"
)

// What a run prints when it failed: the headline, the causes in between, what the restart strategy
// did, and the root cause in the last line.
const (
	runFailed   = "FAILED: "
	runCausedBy = "  caused by "
	runRestart  = "  restart: "
	runRoot     = "root cause: "
)

var (
	runPlace = regexp.MustCompile(` ?\(([^()]+?):(\d+)(?::(\d+))?\)`)
	runValue = regexp.MustCompile(`, value ("(?:[^"\\]|\\.)*")$`)
	runTask  = regexp.MustCompile(`^task (.+ \(\d+/\d+\)) failed`)
)

func startRun(headline string) *Failure {
	f := &Failure{Headline: headline, RootIndex: -1, Chain: []Cause{{Message: headline}}, Concurrent: []Failure{}}
	if m := runTask.FindStringSubmatch(headline); m != nil {
		f.Task = m[1]
	}
	return f
}

// runLine takes a line below "FAILED: "; the root cause ends the text, and so does a line that has no
// place in it.
func (c *consoleReader) runLine(s *scanner, text string) bool {
	f := c.failure
	switch {
	case strings.HasPrefix(text, runCausedBy):
		f.Chain = append(f.Chain, causeOf(text[len(runCausedBy):]))
	case strings.HasPrefix(text, runRestart):
		f.Restart.Text = text[len(runRestart):]
		if class, _, ok := strategyIn(f.Restart.Text); ok {
			f.RestartStrategy, f.RecoverySuppressed = ownStrategy(class), true
		}
	case strings.HasPrefix(text, "  concurrent failures: "):
	case strings.HasPrefix(text, runRoot):
		c.endRun(text[len(runRoot):])
		c.end(s)
	default:
		c.end(s)
		return false
	}
	return true
}

// endRun takes the last line. The place and the value that it ends with are the root cause's.
func (c *consoleReader) endRun(text string) {
	f := c.failure
	root := causeOf(text)
	if m := runValue.FindStringSubmatchIndex(root.Message); m != nil {
		root.Value, _ = strconv.Unquote(root.Message[m[2]:m[3]])
		root.Message = root.Message[:m[0]]
	}
	if m := runPlace.FindStringSubmatch(root.Message); m != nil {
		root.File = m[1]
		root.Line, _ = strconv.ParseInt(m[2], 10, 64)
		root.Column, _ = strconv.ParseInt(m[3], 10, 64)
	}
	f.Chain[0].Class = root.Class
	if !strings.HasPrefix(root.Message, f.Headline) {
		f.Chain = append(f.Chain, root)
	}
	f.RootIndex = len(f.Chain) - 1
	f.RootCause = &root
	f.Category = Class(root.Class).Category()
	f.Rule, f.Confidence = ruleLast, 1
}

// ownStrategy returns our name of a strategy from Flink's class.
func ownStrategy(class string) string {
	switch strings.TrimSuffix(class, "RestartBackoffTimeStrategy") {
	case "No":
		return StrategyNone
	case "FixedDelay":
		return StrategyFixedDelay
	case "ExponentialDelay":
		return StrategyExponentialDelay
	case "FailureRate":
		return StrategyFailureRate
	}
	return class
}
