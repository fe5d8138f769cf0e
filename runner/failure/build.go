package failure

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

// Errors say what kind they are and where they arose by having methods of these shapes, so that
// operators and connectors import nothing of this package.
type (
	classed    interface{ Class() string }
	positioned interface {
		Position() (file string, line, column int64)
	}
	datumed interface {
		Datum() (field, value, expression string)
	}
	placed interface{ Operator() string }
)

// A Where says around what a failure of ours happened. Empty fields are not known.
type Where struct {
	Operator    string // plan node or operator name
	Task        string // vertex name with the subtask, "Source: orders[1] (1/2)"
	TaskManager string // its id
}

// maxLevels bounds the walk along Unwrap, so that an error that unwraps to itself cannot hang a run.
const maxLevels = 100

// FromError builds the chain of causes of err, outermost first, from its wrapped errors; nil gives nil.
//
// Each level of wrapping that has a text of its own becomes an element. Its class is what the nearest
// error at or below it says by `Class() string`; without one it comes from well-known errors, else it
// is [Internal]. What stands below the innermost classed error is detail of its message and no element,
// except where it is a well-known error of another class (a SinkError because the disk is full).
// `Position()` and `Datum()` fill the element's place; the last element, which is the one to fix,
// takes over from further out what it lacks. Of errors joined, the first is the chain.
func FromError(err error) []Cause {
	levels := unwrapLevels(err)
	if len(levels) == 0 {
		return nil
	}
	levels = levels[:chainEnd(levels)]
	var chain []Cause
	var pending Cause // place told by a level without text of its own
	for i, level := range levels {
		text := level.Error()
		if i+1 < len(levels) {
			text = ownText(level)
		}
		c := Cause{Class: classOf(level), Message: text}
		describe(&c, level)
		takeOver(&c, pending)
		pending = Cause{}
		if text == "" && i+1 < len(levels) {
			pending = c
			continue
		}
		chain = append(chain, c)
	}
	root := &chain[len(chain)-1]
	for i := len(chain) - 2; i >= 0; i-- {
		takeOver(root, chain[i])
	}
	return chain
}

// New makes a failure of ours from its causes, outermost first: the last one is the root, the
// outermost one's message is the headline.
func New(causes []Cause, where Where) Failure {
	f := Failure{
		Chain: append([]Cause{}, causes...), RootIndex: -1, Concurrent: []Failure{},
		Task: where.Task, TaskManager: where.TaskManager, Rule: ruleLast, Confidence: 1,
	}
	if len(f.Chain) == 0 {
		return f
	}
	f.RootIndex = len(f.Chain) - 1
	root := &f.Chain[f.RootIndex]
	takeOver(root, Cause{Operator: where.Operator, Task: where.Task, TaskManager: where.TaskManager})
	if f.Task == "" {
		f.Task = root.Task
	}
	if f.TaskManager == "" {
		f.TaskManager = root.TaskManager
	}
	copied := *root
	f.RootCause = &copied
	f.Category = Class(root.Class).Category()
	f.Headline = firstLine(f.Chain[0].Message)
	if f.Headline == "" {
		f.Headline = f.Chain[0].Class
	}
	return f
}

// FromErr is [New] of [FromError], with the further errors of a joined error as concurrent failures.
func FromErr(err error, where Where) Failure {
	f := New(FromError(err), where)
	for _, other := range joinedBeside(err) {
		f.Concurrent = append(f.Concurrent, New(FromError(other), where))
	}
	return f
}

// Refused records that strategy s allowed no further attempt after `attempts` restarts.
func (f *Failure) Refused(s Strategy, attempts int) {
	f.RestartStrategy = s.Name()
	f.RecoverySuppressed = true
	f.Restart = Restart{Attempts: attempts, Text: s.Suppressed()}
}

// Restarted records that strategy s let the run go on after this failure, for the attempts-th time.
func (f *Failure) Restarted(s Strategy, attempts int) {
	f.RestartStrategy = s.Name()
	f.RecoverySuppressed = false
	f.Restart = Restart{Attempts: attempts, Recovered: true, Text: s.Describe()}
}

// unwrapLevels lists err and what it wraps, outermost first.
func unwrapLevels(err error) []error {
	var levels []error
	for err != nil && len(levels) < maxLevels {
		branches, many := err.(interface{ Unwrap() []error }) //nolint:errorlint // this level is asked, not what it wraps
		if !many {
			levels = append(levels, err)
			err = errors.Unwrap(err)
			continue
		}
		all := branches.Unwrap()
		if !isJoin(err, all) {
			levels = append(levels, err)
		}
		err = mainBranch(all, isJoin(err, all))
	}
	return levels
}

// isJoin reports whether err is nothing but its parts, one a line, as errors.Join makes it.
func isJoin(err error, parts []error) bool {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != nil {
			texts = append(texts, p.Error())
		}
	}
	return err.Error() == strings.Join(texts, "\n")
}

// mainBranch picks the error to follow: of a join the first; of a text that wraps several, such as
// a sentinel and its cause, the first that says what kind it is.
func mainBranch(parts []error, join bool) error {
	var first error
	for _, p := range parts {
		if p == nil {
			continue
		}
		if first == nil {
			first = p
		}
		if _, known := knownClass(p); join || known {
			return p
		}
	}
	return first
}

// joinedBeside returns the parts of the outermost joined error that [FromError] does not follow.
func joinedBeside(err error) []error {
	for range maxLevels {
		branches, many := err.(interface{ Unwrap() []error }) //nolint:errorlint // this level is asked, not what it wraps
		if many {
			var beside []error
			all := branches.Unwrap()
			followed := false
			for _, p := range all {
				if p == nil {
					continue
				}
				if followed {
					beside = append(beside, p)
				}
				followed = true
			}
			if !isJoin(err, all) {
				return nil
			}
			return beside
		}
		if err = errors.Unwrap(err); err == nil {
			return nil
		}
	}
	return nil
}

// chainEnd returns how many of the levels are elements of the chain: see [FromError].
func chainEnd(levels []error) int {
	innermost := -1
	for i, level := range levels {
		if saysClass(level) != "" {
			innermost = i
		}
	}
	if innermost < 0 {
		return withoutSentinels(levels, 1)
	}
	below := innermost + 1
	if below == len(levels) {
		return below
	}
	class, ok := wellKnown(levels[below])
	if !ok || class == Cancelled || string(class) == saysClass(levels[innermost]) {
		return below
	}
	return withoutSentinels(levels, below+1)
}

// withoutSentinels drops fixed texts such as "EOF" from the end of the levels, because their parent says
// more and its text has theirs in it; at least `least` levels stay.
func withoutSentinels(levels []error, least int) int {
	n := len(levels)
	for n > least && isSentinel(levels[n-1]) {
		n--
	}
	return n
}

func isSentinel(err error) bool {
	if _, errno := err.(syscall.Errno); errno { //nolint:errorlint // this level is asked, not what it wraps
		return true
	}
	switch err { //nolint:errorlint // this level is asked, not what it wraps
	case io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, strconv.ErrSyntax, strconv.ErrRange,
		fs.ErrNotExist, fs.ErrPermission, fs.ErrExist, fs.ErrClosed, fs.ErrInvalid,
		context.Canceled, context.DeadlineExceeded:
		return true
	}
	return false
}

// ownText returns what level adds to the text of the error it wraps. Where it wraps several, they are
// not a part of its text that could be told from the rest, except for the last one.
func ownText(level error) string {
	inner := errors.Unwrap(level)
	if branches, many := level.(interface{ Unwrap() []error }); many { //nolint:errorlint // this level is asked, not what it wraps
		for _, p := range branches.Unwrap() {
			if p != nil {
				inner = p
			}
		}
	}
	if inner == nil {
		return level.Error()
	}
	text, rest := level.Error(), inner.Error()
	if text == rest {
		return ""
	}
	own, found := strings.CutSuffix(text, rest)
	if !found || rest == "" {
		return text
	}
	return strings.TrimRight(own, ": \n\t")
}

func saysClass(err error) string {
	if c, ok := err.(classed); ok { //nolint:errorlint // this level is asked, not what it wraps
		return c.Class()
	}
	return ""
}

// classOf returns the class of a level: its own, else that of the nearest error below it.
func classOf(err error) string {
	class, _ := knownClass(err)
	return class
}

func knownClass(err error) (string, bool) {
	var c classed
	for e := err; errors.As(e, &c); {
		if class := c.Class(); class != "" {
			return class, true
		}
		below, ok := c.(error)
		if !ok {
			break
		}
		if e = errors.Unwrap(below); e == nil {
			break
		}
	}
	if class, ok := wellKnown(err); ok {
		return string(class), true
	}
	return string(Internal), false
}

// wellKnown returns the class of errors that other packages define.
func wellKnown(err error) (Class, bool) {
	for _, known := range []struct {
		class  Class
		errors []error
	}{
		{DiskFull, []error{syscall.ENOSPC, syscall.EFBIG, syscall.EDQUOT}},
		{MissingFile, []error{fs.ErrNotExist}},
		{PermissionDenied, []error{fs.ErrPermission, syscall.EROFS}},
		{TargetExists, []error{fs.ErrExist}},
		{ConnectionError, []error{
			syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
			syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ETIMEDOUT,
		}},
		{OutOfMemory, []error{syscall.ENOMEM}},
		{Cancelled, []error{context.Canceled}},
	} {
		for _, target := range known.errors {
			if errors.Is(err, target) {
				return known.class, true
			}
		}
	}
	return "", false
}

// describe fills in what the level itself tells about the place of the failure.
func describe(c *Cause, level error) {
	if p, ok := level.(positioned); ok { //nolint:errorlint // this level is asked, not what it wraps
		c.File, c.Line, c.Column = p.Position()
	}
	if d, ok := level.(datumed); ok { //nolint:errorlint // this level is asked, not what it wraps
		c.Field, c.Value, c.Expression = d.Datum()
	}
	if o, ok := level.(placed); ok { //nolint:errorlint // this level is asked, not what it wraps
		c.Operator = o.Operator()
	}
	if p, ok := level.(*fs.PathError); ok && c.File == "" { //nolint:errorlint // this level is asked, not what it wraps
		c.File = p.Path
	}
}

// takeOver fills what c does not say from outer. A place and a datum are taken whole or not at all,
// so that a line never meets the file of another error.
func takeOver(c *Cause, outer Cause) {
	if c.File == "" && c.Line == 0 && c.Column == 0 {
		c.File, c.Line, c.Column = outer.File, outer.Line, outer.Column
	}
	if c.Field == "" && c.Value == "" && c.Expression == "" {
		c.Field, c.Value, c.Expression = outer.Field, outer.Value, outer.Expression
	}
	if c.Operator == "" {
		c.Operator = outer.Operator
	}
	if c.Task == "" {
		c.Task = outer.Task
	}
	if c.TaskManager == "" {
		c.TaskManager = outer.TaskManager
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimRight(line, " \t\r")
}
