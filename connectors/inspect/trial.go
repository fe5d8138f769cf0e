package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// try reads a file to its end as a source does that says nothing but its path; the error is what a run
// that uses all columns would fail with. Nothing is left to guess about whether it would.
func try(ctx context.Context, c connectors.Component, f files.File) error {
	return tryWith(ctx, c, f, map[string]any{})
}

// tryWith is try for a source with options.
func tryWith(ctx context.Context, c connectors.Component, f files.File, o map[string]any) (err error) {
	defer func() {
		if v := recover(); v != nil { // no library is trusted with a damaged file
			err = fmt.Errorf("reading %s: the reader panicked: %v", f.Path, v)
		}
	}()
	o["path"] = []string{f.Abs}
	options, err := json.Marshal(o)
	if err != nil {
		return err
	}
	state, err := c.Bind(ctx, options, connectors.Env{Node: "source", Dir: "."})
	if err != nil {
		return err
	}
	src, err := c.Open(state)
	if err != nil {
		return err
	}
	en, err := src.Enumerator(ctx, connectors.SplitOptions{}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, en.Close()) }()
	r, err := src.Reader(&operators.Task{Ctx: ctx, UID: "doctor", Parallelism: 1, MaxParallelism: 1, Alloc: memory.DefaultAllocator})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		splits, done, err := en.Discover(ctx)
		if err != nil {
			return err
		}
		r.Add(splits)
		if err := drain(ctx, r); err != nil || done {
			return err
		}
	}
}

// drain reads all splits that a reader has.
func drain(ctx context.Context, r connectors.Reader) error {
	for {
		b, status, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if b.Rec != nil {
			b.Rec.Release()
		}
		if status != connectors.More {
			return nil
		}
	}
}

// settle makes the hazards agree with what reading the file came to: where it failed, the one that says why
// is an error, and where it did not, none is.
func (d *Diagnosis) settle(err error) {
	if err == nil {
		for i := range d.Hazards {
			if d.Hazards[i].Severity == SeverityError {
				d.Hazards[i].Severity = SeverityWarning
			}
		}
		return
	}
	rule, message, line, field := "refused", err.Error(), int64(0), ""
	var data *connectors.DataError
	var file *files.Error
	switch {
	case errors.As(err, &data):
		message, line, field = data.Message, data.Line, data.Field
		if data.Kind == "DamagedFile" {
			rule = "damaged"
		}
	case errors.As(err, &file):
		message = file.Error()
	}
	for i := range d.Hazards {
		h := &d.Hazards[i]
		if h.explains(line, field) {
			h.Severity = SeverityError
			return
		}
	}
	d.add(Hazard{Rule: rule, Severity: SeverityError, Line: line, Column: field, Message: message})
}

// explains reports whether a hazard is the reason for a failure at a line.
func (h *Hazard) explains(line int64, field string) bool {
	switch h.Rule {
	case "damaged", "encrypted", "unreadable", "one-array":
		return true
	case "encoding", "not-json":
		return line == 0 || h.Line == line
	case "delimiter", "ragged", "quotes", "duplicate-names", "preamble", "comments", "mixed-types", "duplicate-keys":
		return h.Line == line || h.Line == 0 && h.Column == field
	case "line-ends":
		return len(h.Cure) > 0
	}
	return false
}
