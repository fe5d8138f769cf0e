// Package blackhole takes rows and forgets them: to time a plan without its output.
package blackhole

import (
	"context"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options is the YAML under `blackhole:`; there are none.
type Options struct{}

// Spec declares blackhole.
var Spec = connectors.Spec[Options]{
	Name:    "blackhole",
	Summary: "Takes rows and forgets them; they are still counted and digested.",
	BindSink: func(context.Context, Options, expr.Schema, connectors.Env) (connectors.BoundSink, error) {
		return connectors.BoundSink{AsTheyCome: true}, nil
	},
	OpenSink: func([]byte, expr.Schema) (connectors.Sink, error) { return sink{}, nil },
}

type sink struct{}

func (sink) Writer(t *operators.Task, _ string, _ []connectors.Committable) (connectors.Writer, error) {
	return &writer{subtask: t.Subtask}, nil
}

func (sink) Committer() (connectors.Committer, error) { return committer{}, nil }

type writer struct {
	subtask int
	rows    int64
}

func (w *writer) Write(b operators.Batch) error {
	w.rows += int64(b.Rows())
	b.Rec.Release()
	return nil
}

// Prepare gives the rows since the last time, so that the report has them.
func (w *writer) Prepare(int64, bool) ([]connectors.Committable, error) {
	rows := w.rows
	w.rows = 0
	return []connectors.Committable{{Subtask: w.subtask, Rows: rows}}, nil
}

func (w *writer) Snapshot() ([]byte, error) { return nil, nil }
func (w *writer) Close() error              { return nil }

type committer struct{}

func (committer) Commit(context.Context, string, int64, []connectors.Committable) ([]string, error) {
	return nil, nil
}

func (committer) Abort(context.Context, string, []connectors.Committable) error { return nil }
