package failure

import (
	"fmt"
	"strconv"
	"strings"
)

// The labels of the text of a failure; [Parse] reads them back.
const (
	labelFailed   = "Failed:       "
	labelRoot     = "Root cause:   "
	labelPlace    = "Place:        "
	labelTask     = "Task:         "
	labelManager  = "TaskManager:  "
	labelCategory = "Category:     "
	labelRestart  = "Restart:      "
	labelRule     = "Decided by:   "
	labelFrame    = "First frame:  "
	labelChain    = "Chain, outermost first:"
	moreText      = "    | " // opens further lines of a message
)

// Text writes f as lines for people, without advice: what failed, the root cause, its place, and the
// chain. [Parse] reads it back.
func Text(f Failure) string {
	var b strings.Builder
	put := func(label, text string) {
		if text != "" {
			b.WriteString(label + strings.ReplaceAll(text, "\n", "\n"+moreText) + "\n")
		}
	}
	put(labelFailed, f.Headline)
	if f.RootCause == nil {
		return b.String()
	}
	put(labelRoot, oneText(*f.RootCause))
	put(labelPlace, PlaceText(*f.RootCause))
	put(labelFrame, f.RootCause.Frame)
	put(labelTask, f.Task)
	put(labelManager, f.TaskManager)
	put(labelCategory, f.Category)
	put(labelRestart, restartText(f))
	if f.Rule != "" {
		put(labelRule, fmt.Sprintf("%s (confidence %s)", f.Rule, strconv.FormatFloat(f.Confidence, 'f', -1, 64)))
	}
	b.WriteString(labelChain + "\n")
	for i, c := range f.Chain {
		mark := "  "
		if i == f.RootIndex {
			mark = "* "
		}
		put(mark+strconv.Itoa(i+1)+". ", oneText(c))
	}
	return b.String()
}

func oneText(c Cause) string {
	if c.Message == "" {
		return c.Class
	}
	return c.Class + ": " + c.Message
}

// restartText tells strategy, attempts and whether a further one was refused.
func restartText(f Failure) string {
	var parts []string
	if f.RestartStrategy != "" {
		parts = append(parts, f.RestartStrategy)
	}
	if f.Restart.Attempts > 0 {
		parts = append(parts, fmt.Sprintf("%d restarts before", f.Restart.Attempts))
	}
	switch {
	case f.RecoverySuppressed:
		parts = append(parts, "no further attempt")
	case f.Restart.Recovered:
		parts = append(parts, "the run went on")
	}
	return strings.Join(parts, ", ")
}

// PlaceText says where the datum at fault stands: "orders.csv, line 4, column 3; field qty; value 'two';
// expression CAST(qty AS INT)"; empty where nothing is known.
func PlaceText(c Cause) string {
	var parts []string
	where := c.File
	if c.Line > 0 {
		where = join(where, ", ", "line "+strconv.FormatInt(c.Line, 10))
		if c.Column > 0 {
			where += ", column " + strconv.FormatInt(c.Column, 10)
		}
	}
	if where != "" {
		parts = append(parts, where)
	}
	if c.Operator != "" {
		parts = append(parts, "operator "+c.Operator)
	}
	if c.Field != "" {
		parts = append(parts, "field "+c.Field)
	}
	if c.Value != "" {
		parts = append(parts, "value '"+c.Value+"'")
	}
	if c.Expression != "" {
		parts = append(parts, "expression "+c.Expression)
	}
	return strings.Join(parts, "; ")
}

func join(a, between, b string) string {
	if a == "" {
		return b
	}
	return a + between + b
}
