package failure

import (
	"bytes"
	"strconv"
	"strings"
)

// A consoleReader reads what runner prints to the console: the text of [Text], and the shorter one at
// the end of a run.
type consoleReader struct {
	failure *Failure // being read
	run     bool     // it is the text at the end of a run
	inChain bool
	last    *string // the text that a further line belongs to
}

// line takes a line outside of any trace and says whether it belongs to a text of ours.
func (c *consoleReader) line(s *scanner, line []byte) bool {
	if c.failure == nil {
		if rest, ok := bytes.CutPrefix(line, []byte(labelFailed)); ok {
			c.failure = &Failure{Headline: string(rest), RootIndex: -1, Chain: []Cause{}, Concurrent: []Failure{}}
			c.last, c.run = &c.failure.Headline, false
			return true
		}
		if rest, ok := bytes.CutPrefix(line, []byte(runFailed)); ok {
			c.failure = startRun(string(rest))
			c.run = true
			return true
		}
		return false
	}
	text := string(line)
	if c.run {
		return c.runLine(s, text)
	}
	if more, ok := strings.CutPrefix(text, moreText); ok && c.last != nil {
		*c.last += "\n" + more
		return true
	}
	if c.inChain {
		if c.element(text) {
			return true
		}
		c.end(s)
		return false
	}
	c.label(text)
	return true
}

// label takes a line with a label; lines in between, such as advice, are passed over.
func (c *consoleReader) label(text string) {
	f := c.failure
	for _, l := range []struct {
		label string
		put   func(string) *string
	}{
		{labelRoot, func(t string) *string {
			cause := causeOf(t)
			f.RootCause = &cause
			return &f.RootCause.Message
		}},
		{labelPlace, func(t string) *string { c.place(t); return nil }},
		{labelFrame, func(t string) *string { c.root().Frame = t; return nil }},
		{labelTask, func(t string) *string { f.Task = t; return &f.Task }},
		{labelManager, func(t string) *string { f.TaskManager = t; return &f.TaskManager }},
		{labelCategory, func(t string) *string { f.Category = t; return &f.Category }},
		{labelRestart, func(t string) *string { c.restart(t); return nil }},
		{labelRule, func(t string) *string { c.rule(t); return nil }},
	} {
		if rest, ok := strings.CutPrefix(text, l.label); ok {
			c.last = l.put(rest)
			return
		}
	}
	if text == labelChain {
		c.inChain = true
	}
}

func (c *consoleReader) root() *Cause {
	if c.failure.RootCause == nil {
		c.failure.RootCause = &Cause{}
	}
	return c.failure.RootCause
}

// causeOf splits "class: message"; our own classes have no packages.
func causeOf(text string) Cause {
	class, message, _ := strings.Cut(text, ": ")
	return Cause{Class: class, Message: message}
}

// place takes the parts of [PlaceText] apart from the last to the first, because a value may hold what
// separates them.
func (c *consoleReader) place(text string) {
	root := c.root()
	for _, part := range []struct {
		label string
		put   *string
	}{
		{"expression ", &root.Expression},
		{"value '", &root.Value},
		{"field ", &root.Field},
		{"operator ", &root.Operator},
	} {
		if rest, ok := strings.CutPrefix(text, part.label); ok {
			*part.put, text = rest, ""
		} else if before, after, ok := strings.Cut(text, "; "+part.label); ok {
			*part.put, text = after, before
		}
	}
	root.Value = strings.TrimSuffix(root.Value, "'")
	root.File, root.Line, root.Column = splitPlace(text)
}

// splitPlace takes "orders.csv, line 4, column 3" apart.
func splitPlace(text string) (file string, line, column int64) {
	if before, after, ok := cutLast(text, "column "); ok {
		column, _ = strconv.ParseInt(after, 10, 64)
		text = before
	}
	if before, after, ok := cutLast(text, "line "); ok {
		line, _ = strconv.ParseInt(after, 10, 64)
		text = before
	}
	return text, line, column
}

// cutLast cuts off a last part such as ", line 4".
func cutLast(text, word string) (before, after string, ok bool) {
	i := strings.LastIndex(text, word)
	if i < 0 {
		return text, "", false
	}
	return strings.TrimSuffix(text[:i], ", "), text[i+len(word):], true
}

func (c *consoleReader) restart(text string) {
	f := c.failure
	for _, part := range strings.Split(text, ", ") {
		attempts, counted := strings.CutSuffix(part, " restarts before")
		switch {
		case part == "no further attempt":
			f.RecoverySuppressed = true
		case part == "the run went on":
			f.Restart.Recovered = true
		case counted:
			f.Restart.Attempts, _ = strconv.Atoi(attempts)
		default:
			f.RestartStrategy = part
		}
	}
}

func (c *consoleReader) rule(text string) {
	name, rest, _ := strings.Cut(text, " (confidence ")
	c.failure.Rule = name
	c.failure.Confidence, _ = strconv.ParseFloat(strings.TrimSuffix(rest, ")"), 64)
}

// element takes a line of the chain: "* 3. class: message", the star at the root cause.
func (c *consoleReader) element(text string) bool {
	f := c.failure
	number := strconv.Itoa(len(f.Chain)+1) + ". "
	for _, mark := range []string{"  ", "* "} {
		if rest, ok := strings.CutPrefix(text, mark+number); ok {
			f.Chain = append(f.Chain, causeOf(rest))
			c.last = &f.Chain[len(f.Chain)-1].Message
			if mark == "* " {
				f.RootIndex = len(f.Chain) - 1
			}
			return true
		}
	}
	return false
}

// end keeps the failure that was read.
func (c *consoleReader) end(s *scanner) {
	f := c.failure
	c.failure, c.inChain, c.last = nil, false, nil
	if f == nil || f.RootCause == nil || s.own != nil {
		return
	}
	f.RootCause.Task, f.RootCause.TaskManager = f.Task, f.TaskManager
	if f.RootIndex >= 0 {
		f.Chain[f.RootIndex] = *f.RootCause
	}
	s.own, s.ownForm = f, formConsole
}
