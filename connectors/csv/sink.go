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
	if len(o.Path) != 1 {
		return none, refused("path: a sink has one target, and %d are given", len(o.Path))
	}
	if len(o.Columns) > 0 {
		return none, refused("columns: belongs to sources; a sink writes the columns of its input")
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
		return none, refused("%v", err)
	}
	if s.Target, err = files.BindTarget(files.Local(), o.Path[0], files.Mode(o.Mode), ".csv", e.Dir); err != nil {
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
			return refused("null_values: a sink writes NULL as %q, and that cannot stand without quotes", d.Null)
		}
		return nil
	}
	for _, f := range in.Fields {
		if !f.Type.NotNull {
			return refused("null_values: is empty, and column %s may be NULL: expected a text that stands for NULL", f.Name)
		}
	}
	return nil
}

// refused is a fault of the plan, at the option it begins with.
func refused(format string, args ...any) error {
	return &files.Error{Kind: files.InvalidOption, Message: fmt.Sprintf(format, args...)}
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
