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

func bindSink(_ context.Context, o Options, in expr.Schema, e connectors.Env) (connectors.BoundSink, error) {
	path, err := files.OneTarget(o.Path, len(o.Columns))
	if err != nil {
		return connectors.BoundSink{}, err
	}
	t, err := files.BindTarget(files.Local(), path, files.Mode(o.Mode), ".jsonl", e.Dir)
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
