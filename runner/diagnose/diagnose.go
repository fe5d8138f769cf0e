// Package diagnose says what a failure text means: the root cause, where it is, and what to do next.
// The reading is done by [failure.Parse]; this package words it, for people and as JSON.
package diagnose

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-4b0e9f7c/runner/runner/failure"
)

// Print writes what a result says for people. Name is the input's, for the first line; it may be empty.
// Someone who has never seen Flink must be able to tell what to fix.
func Print(w io.Writer, name string, r failure.Result) error {
	var b strings.Builder
	if name != "" {
		b.WriteString(name + ": ")
	}
	if r.Form == failure.FormEmpty {
		_, err := io.WriteString(w, b.String()+"empty input: there is no text to find a failure in\n")
		return err
	}
	if r.Failure == nil {
		b.WriteString("no failure found" + ofForm(r.Form) + "\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	f := *r.Failure
	b.WriteString(Sentence(f) + "\n\n")
	b.WriteString("What to do:   " + indented(Advice(f)) + "\n")
	if note := headlineNote(f); note != "" {
		b.WriteString("Note:         " + indented(note) + "\n")
	}
	b.WriteString("\n" + failure.Text(f))
	if means := failure.Rules()[f.Rule]; means != "" {
		b.WriteString("(" + f.Rule + ": " + means + ")\n")
	}
	list(&b, "Other tasks failed at the same time; these are not the cause:", f.Concurrent)
	list(&b, "Further failures in this input, in order of time:", r.Others)
	_, err := io.WriteString(w, b.String())
	return err
}

func ofForm(form string) string {
	if form == "" {
		return ""
	}
	return " (read as " + form + ")"
}

// width is where advice is wrapped.
const width = 84

// indented wraps a text below a label of 14 letters.
func indented(text string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			b.WriteString("\n              ")
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

func list(b *strings.Builder, title string, all []failure.Failure) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	const most = 20
	for i, f := range all {
		if i == most {
			fmt.Fprintf(b, "  - and %d more\n", len(all)-most)
			break
		}
		b.WriteString("  - ")
		if f.Task != "" {
			b.WriteString(f.Task + ": ")
		}
		b.WriteString(short(*f.RootCause))
		if place := failure.PlaceText(unsaid(*f.RootCause)); place != "" {
			b.WriteString(" [" + place + "]")
		}
		b.WriteString("\n")
	}
}

// Sentence says in one plain sentence what failed and where.
func Sentence(f failure.Failure) string {
	if f.RootCause == nil {
		return "Nothing failed."
	}
	var b strings.Builder
	b.WriteString(kindOf(f) + ": " + strings.TrimRight(short(*f.RootCause), ".… "))
	var where []string
	if place := failure.PlaceText(unsaid(*f.RootCause)); place != "" {
		where = append(where, place)
	}
	if f.Task != "" {
		where = append(where, "task "+f.Task)
	}
	if f.TaskManager != "" {
		where = append(where, "TaskManager "+f.TaskManager)
	}
	if len(where) == 0 && f.RootCause.Frame != "" {
		where = append(where, "at "+f.RootCause.Frame)
	}
	if len(where) > 0 {
		b.WriteString(" [" + strings.Join(where, "; ") + "]")
	}
	if said := b.String(); strings.HasSuffix(said, "?") || strings.HasSuffix(said, "!") {
		return said
	}
	return b.String() + "."
}

// unsaid drops from a cause's place what the first line of its message says already.
func unsaid(c failure.Cause) failure.Cause {
	said := short(c)
	place := c.File
	if c.Line > 0 {
		place = fmt.Sprintf("%s:%d", c.File, c.Line)
	}
	if strings.Contains(said, place) {
		c.File, c.Line, c.Column = "", 0, 0
	}
	for _, part := range []*string{&c.Field, &c.Value, &c.Expression} {
		if strings.Contains(said, *part) {
			*part = ""
		}
	}
	return c
}

// kindOf says in plain words what happened: of our classes what they mean, of Flink's what their category
// does.
func kindOf(f failure.Failure) string {
	if d, ok := failure.Class(f.RootCause.Class).Doc(); ok {
		means, _, _ := strings.Cut(strings.TrimSuffix(d.Means, "."), ": ")
		return means
	}
	switch f.Category {
	case failure.CategoryData:
		return "The job met a value it cannot process, or a bug in a function of its own"
	case failure.CategoryConfig:
		return "Something the job needs is missing, misnamed or not permitted"
	case failure.CategoryResources:
		return "There are too few free task slots or other resources to run the job"
	case failure.CategoryConnectivity:
		return "A connection was refused, broke or timed out"
	case failure.CategoryState:
		return "A checkpoint, a savepoint or a table's metadata could not be used"
	case failure.CategoryClasspath:
		return "A class, a connector or a library is missing or there in the wrong version"
	case failure.CategoryMemory:
		return "A process ran out of memory"
	case failure.CategorySQL:
		return "A SQL statement was refused"
	}
	return "The machine or a process under the job failed"
}

// short is a cause on one line: the simple name of its class and the first line of its message.
func short(c failure.Cause) string {
	class := c.Class
	if i := strings.LastIndexAny(class, ".$"); i >= 0 {
		class = class[i+1:]
	}
	line, _, more := strings.Cut(c.Message, "\n")
	line = strings.TrimSpace(line)
	if len(line) > 300 {
		cut := 300
		for cut > 0 && line[cut]&0xc0 == 0x80 {
			cut--
		}
		line, more = line[:cut], true
	}
	if more && line != "" {
		line += " …"
	}
	if line == "" {
		return class
	}
	return class + ": " + line
}

// headlineNote explains a headline that people take for the cause.
func headlineNote(f failure.Failure) string {
	if f.Headline == f.RootCause.Message {
		return ""
	}
	switch {
	case f.RecoverySuppressed && f.RestartStrategy == "NoRestartBackoffTimeStrategy":
		return "\"Recovery is suppressed by NoRestartBackoffTimeStrategy\" is not the cause. It only says that the job has no restart strategy, so its first failure ended it."
	case f.RecoverySuppressed && strings.HasSuffix(f.RestartStrategy, "BackoffTimeStrategy"):
		return "\"Recovery is suppressed by " + f.RestartStrategy + "\" is not the cause. It only says that the restarts allowed were used up."
	case f.Headline == "Job execution failed.", f.Headline == "Could not execute SQL statement.":
		return "\"" + f.Headline + "\" is only the outermost message; it stands above every failure."
	}
	return ""
}
