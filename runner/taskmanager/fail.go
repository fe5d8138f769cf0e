package taskmanager

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/failure"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// A rowError is an evaluation error with the place of its row in the input.
type rowError struct {
	eval  *expr.EvalError
	place connectors.Place
	order [3]int64
}

func (e *rowError) Error() string {
	s := e.eval.Error()
	switch p := e.place; {
	case p.File != "" && p.Column > 0:
		s += fmt.Sprintf(" (%s:%d:%d)", p.File, p.Line, p.Column)
	case p.File != "":
		s += fmt.Sprintf(" (%s:%d)", p.File, p.Line)
	}
	return s
}

// Class is the evaluation error's.
func (e *rowError) Class() string { return e.eval.Class() }

// Position is the place of the value in its file.
func (e *rowError) Position() (file string, line, column int64) {
	return e.place.File, e.place.Line, e.place.Column
}

// Datum is the value and the expression it failed in.
func (e *rowError) Datum() (field, value, expression string) { return e.eval.Datum() }

// A panicError is a panic inside a task. Its stack is kept for the report and never printed.
type panicError struct {
	value any
	frame string
}

func (e *panicError) Error() string { return fmt.Sprintf("the operator panicked: %v", e.value) }

// Class says that it is a fault of the program.
func (e *panicError) Class() string { return string(failure.Internal) }

// Frame is the function that panicked, "package.Func(file.go:12)".
func (e *panicError) Frame() string { return e.frame }

// recovered makes an error of a panic.
func recovered(v any) error {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	at := ""
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			at = fmt.Sprintf("%s(%s:%d)", f.Function, f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
			break
		}
		if !more {
			break
		}
	}
	return &panicError{value: v, frame: at}
}

// taskFailure describes why an attempt failed.
func (t *task) taskFailure(err error) *rpc.TaskFailure {
	wrapped := fmt.Errorf("task %s failed: %w", t.title(), err)
	f := &rpc.TaskFailure{Causes: failure.FromError(wrapped)}
	for i := range f.Causes {
		c := &f.Causes[i]
		c.Task, c.TaskManager = t.title(), t.tm.cfg.ID
	}
	var panicked *panicError
	if errors.As(err, &panicked) {
		f.Causes[len(f.Causes)-1].Frame = panicked.frame
	}
	var row *rowError
	var ordered interface{ InOrder() [2]int64 }
	var keyed interface{ Key() string }
	switch {
	case errors.As(err, &row):
		f.HasOrder, f.Order = true, row.order
	case errors.As(err, &ordered):
		o := ordered.InOrder()
		if o[0] > 0 {
			f.HasOrder, f.Order = true, [3]int64{o[0], o[1], 0}
		}
	}
	if errors.As(err, &keyed) {
		f.Key = keyed.Key()
	}
	var lost *exchange.LostError
	if errors.As(err, &lost) {
		f.Lost = &lost.ID
	}
	return f
}

// title names the subtask as Flink does: "Calc[2] (1/4)".
func (t *task) title() string {
	return fmt.Sprintf("%s (%d/%d)", t.d.Name, t.d.Task.Subtask+1, t.d.Parallelism)
}
