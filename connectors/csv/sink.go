package csv

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/rowtext"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A sinkState is a bound csv sink.
type sinkState struct {
	Target  files.Target       `json:"target"`
	Dialect rowtext.CSVDialect `json:"dialect"`
}

// bindSink checks options, target and schema without touching the target.
func bindSink(_ context.Context, o Options, in expr.Schema, e connectors.Env) (connectors.BoundSink, error) {
	var none connectors.BoundSink
	path, err := files.OneTarget(o.Path, len(o.Columns))
	if err != nil {
		return none, err
	}
	delimiter, err := o.delimiter()
	if err != nil {
		return none, err
	}
	s := sinkState{Dialect: rowtext.CSVDialect{Delimiter: delimiter, Header: o.hasHeader(), Nulls: o.nulls(), Wary: true}}
	if err := s.setNull(in); err != nil {
		return none, err
	}
	if err := rowtext.Flat(in); err != nil {
		return none, files.Refused("%v", err)
	}
	if s.Target, err = files.BindTarget(files.Local(), path, files.Mode(o.Mode), ".csv", e.Dir); err != nil {
		return none, err
	}
	state, err := json.Marshal(s)
	if err != nil {
		return none, fmt.Errorf("binding a csv sink: %w", err)
	}
	return s.Target.Bound(state), nil
}

// setNull takes the first of null_values. It must survive without quotes, which would make it a text.
func (s *sinkState) setNull(in expr.Schema) error {
	d := &s.Dialect
	if len(d.Nulls) > 0 {
		d.Null = d.Nulls[0]
		if strings.ContainsAny(d.Null, "\"\r\n"+string(rune(d.Delimiter))) {
			return files.Refused("null_values: a sink writes NULL as %q, and that cannot stand without quotes", d.Null)
		}
		return nil
	}
	for _, f := range in.Fields {
		if !f.Type.NotNull {
			return files.Refused("null_values: is empty, and column %s may be NULL: expected a text that stands for NULL", f.Name)
		}
	}
	return nil
}

// openSink makes the sink of a bound state.
func openSink(state []byte, in expr.Schema) (connectors.Sink, error) {
	var s sinkState
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, fmt.Errorf("reading the state of a csv sink: %w", err)
	}
	return files.NewSink(files.Local(), s.Target, func(_ *operators.Task, w io.Writer) (files.Encoder, error) {
		return rowtext.NewCSV(s.Dialect, in, w), nil
	}), nil
}
