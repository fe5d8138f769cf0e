// Package json writes JSON lines.
package json

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/rowtext"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options is the YAML under `json:`.
type Options struct {
	Path string `json:"path" yaml:"path" validate:"required" doc:"The target: one file (a name with an extension) or a folder of parts; relative to the plan file."`
	Mode string `json:"mode,omitempty" yaml:"mode" validate:"omitempty,oneof=error overwrite append" doc:"What to do with a target that exists." default:"error"`
}

// Spec declares json.
var Spec = connectors.Spec[Options]{
	Name:     "json",
	Summary:  "JSON lines: one object a row, numbers with all their digits, dates and times as text.",
	BindSink: bindSink,
	OpenSink: openSink,
}

func bindSink(_ context.Context, o Options, in expr.Schema, e connectors.Env) (connectors.BoundSink, error) {
	if err := rowtext.Printable(in); err != nil {
		return connectors.BoundSink{}, err
	}
	t, err := files.BindTarget(files.Local(), o.Path, files.Mode(o.Mode), ".jsonl", e.Dir)
	if err != nil {
		return connectors.BoundSink{}, err
	}
	state, err := json.Marshal(t)
	if err != nil {
		return connectors.BoundSink{}, fmt.Errorf("binding a json sink: %w", err)
	}
	return t.Bound(state), nil
}

func openSink(state []byte, in expr.Schema) (connectors.Sink, error) {
	var t files.Target
	if err := json.Unmarshal(state, &t); err != nil {
		return nil, fmt.Errorf("reading the state of a json sink: %w", err)
	}
	return files.NewSink(files.Local(), t, func(_ *operators.Task, w io.Writer) (files.Encoder, error) {
		return rowtext.NewJSON(in, w), nil
	}), nil
}
