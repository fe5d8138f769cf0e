package plans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity tells findings that stop a run from those that do not.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// A Finding is something wrong, or doubtful, in a plan.
type Finding struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"` // stable id: unknown-key, duplicate-key, unknown-column, type-mismatch …
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Path     string   `json:"path"` // "sources.orders.csv.delimter"
	Message  string   `json:"message"`
	Expected string   `json:"expected,omitempty"`
	Near     string   `json:"near,omitempty"` // the nearest right name
	Hint     string   `json:"hint,omitempty"`
	Source   string   `json:"source,omitempty"` // the line itself
}

// Error is "file:line:column: message: expected …".
func (f Finding) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	if f.Expected != "" {
		s += ": expected " + f.Expected
	}
	if f.Near != "" {
		s += fmt.Sprintf(" (did you mean %s?)", f.Near)
	}
	if f.Hint != "" {
		s += "; " + f.Hint
	}
	return s
}

// Findings are all findings of a plan, in the order of the file.
type Findings []Finding

// Error lists the findings, one a line, so that a faulty plan can be handed on as an error.
func (fs Findings) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Sorted are the findings in the order of the file.
func (fs Findings) Sorted() Findings {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return fs
}

// Failed reports whether one of them is an error.
func (fs Findings) Failed() bool {
	for _, f := range fs {
		if f.Severity == SeverityError {
			return true
		}
	}
	return false
}
