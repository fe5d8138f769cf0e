// Package print writes rows to the standard output.
package print

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/rowtext"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// Options is the YAML under `print:`.
type Options struct {
	Format string `json:"format,omitempty" yaml:"format" validate:"omitempty,oneof=table csv json" doc:"table: aligned columns. csv: RFC 4180 with a header line, NULL as an empty field. json: one object a row." default:"table"`
}

// Spec declares print over a writer, which is the standard output of the process. A result of up to a
// megabyte is printed when the run commits, so a run that fails prints nothing. A larger one is
// printed as it comes once that much is held: a pipe cannot take back what it was given. The rows of
// a run whose process died before it printed are not printed by a later one. In a stream, which may never
// end, rows are printed as they come.
func Spec(stdout io.Writer) connectors.Spec[Options] {
	p := &printer{out: stdout, runs: map[string]bool{}}
	return connectors.Spec[Options]{
		Name:     "print",
		Summary:  "Prints rows to the standard output, as a table, CSV or JSON lines.",
		BindSink: bindSink,
		OpenSink: func(state []byte, in expr.Schema) (connectors.Sink, error) {
			var b bound
			if err := json.Unmarshal(state, &b); err != nil {
				return nil, fmt.Errorf("reading the state of a print sink: %w", err)
			}
			return &sink{p, b, in}, nil
		},
	}
}

// A bound is a print sink as OpenSink takes it.
type bound struct {
	Options
	Streaming bool `json:"streaming,omitempty"`
}

func bindSink(_ context.Context, o Options, in expr.Schema, e connectors.Env) (connectors.BoundSink, error) {
	switch o.Format {
	case "", "table", "csv", "json":
	default:
		return connectors.BoundSink{}, files.Refused("format: %q is unknown: expected table, csv or json", o.Format)
	}
	state, err := json.Marshal(bound{o, e.Streaming})
	if err != nil {
		return connectors.BoundSink{}, fmt.Errorf("binding a print sink: %w", err)
	}
	return connectors.BoundSink{State: state, SingleFile: true, AsTheyCome: e.Streaming}, nil
}

// A printer is the one way to the output: several sinks and their committers share it.
type printer struct {
	mu   sync.Mutex
	out  io.Writer
	runs map[string]bool // writer opened here, not yet committed
}

func (p *printer) opened(run string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[run] = true
}

// Write hands bytes to the output.
func (p *printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := p.out.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		// No connection of the job broke: whoever read the output, head for example, has seen enough.
		return n, &files.Error{Kind: files.SinkError, Message: "cannot print: whoever read the output has gone (broken pipe)"}
	}
	return n, files.WriteFailure(err, "", "cannot print")
}

// knows reports whether the run's rows were made here.
func (p *printer) knows(run string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[run]
}

type sink struct {
	*printer
	bound bound
	in    expr.Schema
}

func (s *sink) Writer(t *operators.Task, run string, _ []connectors.Committable) (connectors.Writer, error) {
	w := &writer{printer: s.printer, subtask: t.Subtask, streamed: s.bound.Streaming}
	switch s.bound.Format {
	case "csv":
		w.encoder = rowtext.NewCSV(rowtext.CSVDialect{Delimiter: ',', Header: true}, s.in, text{w})
	case "json":
		w.encoder = rowtext.NewJSON(s.in, text{w})
	default:
		w.encoder = newTable(s.in, text{w}, s.bound.Streaming)
	}
	s.opened(run)
	return w, nil
}

func (s *sink) Committer() (connectors.Committer, error) {
	return &committer{printer: s.printer, done: map[string]bool{}}, nil
}

// most is how many bytes are held back until the commit.
const most = 1 << 20

// A writer holds the text until there is too much of it.
type writer struct {
	*printer
	encoder  files.Encoder
	subtask  int
	held     []byte
	streamed bool // every batch is printed at once
	rows     int64
	shown    int64 // of them, on the output already
	bytes    int64
}

// A text is what the encoder writes to.
type text struct{ w *writer }

func (t text) Write(b []byte) (int, error) {
	w := t.w
	w.bytes += int64(len(b))
	if !w.streamed && len(w.held)+len(b) <= most {
		w.held = append(w.held, b...)
		return len(b), nil
	}
	w.streamed = true
	if len(w.held) > 0 {
		if _, err := w.printer.Write(w.held); err != nil {
			return 0, err
		}
		w.held = nil
	}
	return w.printer.Write(b)
}

func (w *writer) Write(b operators.Batch) error {
	n := b.Rows()
	w.rows += int64(n)
	if err := w.encoder.Write(b); err != nil || !w.streamed || n == 0 {
		return err
	}
	if err := w.encoder.Finish(); err != nil { // hands on what the encoder holds, and may be called again
		return err
	}
	w.shown = w.rows
	return nil
}

// Shown is how many rows were printed before the run has ended.
func (w *writer) Shown() int64 { return w.shown }

// Prepare gives the text that was held back.
func (w *writer) Prepare(int64, bool) ([]connectors.Committable, error) {
	if err := w.encoder.Finish(); err != nil {
		return nil, err
	}
	c := connectors.Committable{State: w.held, Subtask: w.subtask, Rows: w.rows, Bytes: w.bytes}
	w.held, w.rows, w.bytes = nil, 0, 0
	return []connectors.Committable{c}, nil
}

func (w *writer) Snapshot() ([]byte, error) { return nil, nil }
func (w *writer) Close() error              { return w.encoder.Close() }

// A committer prints once what was held back.
type committer struct {
	*printer
	done map[string]bool
}

func (c *committer) Commit(_ context.Context, run string, checkpoint int64, all []connectors.Committable) ([]string, error) {
	key := fmt.Sprint(run, " ", checkpoint)
	if c.done[key] || !c.knows(run) {
		return nil, nil
	}
	for _, m := range all {
		if _, err := c.Write(m.State); err != nil {
			return nil, err
		}
	}
	c.done[key] = true
	return nil, nil
}

func (c *committer) Abort(context.Context, string, []connectors.Committable) error { return nil }
