package failure

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// What runner prints about a plan that it refuses: each finding with its place, the line of the plan,
// and hints below; in the end the count and "nothing was run".

// A planReader collects the findings until the line that closes them.
type planReader struct {
	found []Cause
}

// maxPlanFindings bounds how many findings are kept; the first ones matter.
const maxPlanFindings = 100

// runnerSays stands in front of what runner prints where not even a plan could be read.
const runnerSays = "runner: "

var (
	planFinding = regexp.MustCompile(`^([^\s:][^:]*):(\d+):(\d+): (.+)$`)
	planRefused = regexp.MustCompile(`^\d+ errors?; nothing was run$`)
)

// line takes a line outside of any trace and says whether it belongs to such a text.
func (p *planReader) line(s *scanner, line []byte) bool {
	if i := bytes.IndexByte(line, ':'); i > 0 && i+1 < len(line) && line[i+1] >= '0' && line[i+1] <= '9' && len(line) < 4096 {
		return p.finding(string(line))
	}
	if len(p.found) == 0 {
		return false
	}
	text := string(line)
	if hint, ok := strings.CutPrefix(text, "        "); ok && hint != "" && hint[0] != ' ' {
		last := &p.found[len(p.found)-1]
		last.Message += "; " + hint
		return true
	}
	if planRefused.MatchString(text) {
		p.refuse(s)
		return true
	}
	// The plan's own line and the mark below it.
	number, _, ok := strings.Cut(text, "|")
	return ok && strings.Trim(number, " 0123456789") == ""
}

func (p *planReader) finding(text string) bool {
	m := planFinding.FindStringSubmatch(text)
	if m == nil || strings.HasPrefix(m[4], "warning: ") || len(p.found) >= maxPlanFindings {
		return false
	}
	c := Cause{Class: string(InvalidPlan), Message: m[4], File: m[1]}
	c.Line, _ = strconv.ParseInt(m[2], 10, 64)
	c.Column, _ = strconv.ParseInt(m[3], 10, 64)
	p.found = append(p.found, c)
	return true
}

// refuse makes a failure of each finding: the first leads.
func (p *planReader) refuse(s *scanner) {
	found := p.found
	p.found = nil
	if s.own != nil {
		return
	}
	for i, c := range found {
		f := New([]Cause{c}, Where{})
		f.Rule = ruleSingle
		if i == 0 {
			s.own, s.ownForm = &f, formConsole
			continue
		}
		s.ownOthers = append(s.ownOthers, f)
	}
}

// complaint makes a failure of the one line that runner prints where it cannot even begin.
func complaint(text string) *Failure {
	text, ok := strings.CutPrefix(text, runnerSays)
	if !ok {
		return nil
	}
	class := InvalidOption
	switch lower := strings.ToLower(text); {
	case strings.Contains(lower, "no such file"):
		class = MissingFile
	case strings.Contains(lower, "permission denied"):
		class = PermissionDenied
	}
	f := New([]Cause{{Class: string(class), Message: text}}, Where{})
	f.Rule = ruleSingle
	return &f
}
