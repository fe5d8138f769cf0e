package runner_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A phase is where a run is when it is cancelled.
type phase string

const (
	atBind     phase = "bind"
	atBindSink phase = "bind sink"
	atDiscover phase = "discover"
	atOpen     phase = "open a reader"
	atRead     phase = "read"
	atWriter   phase = "open a writer"
	atWrite    phase = "write"
	atPrepare  phase = "prepare"
	atCheck    phase = "check"
	atCommit   phase = "commit"
	atAbort    phase = "abort"
)

// A phased component calls when a phase is reached.
type phased struct {
	connectors.Component
	reached func(phase)
}

func (c phased) Bind(ctx context.Context, o json.RawMessage, e connectors.Env) ([]byte, error) {
	c.reached(atBind)
	return c.Component.Bind(ctx, o, e)
}

func (c phased) BindSink(ctx context.Context, o json.RawMessage, in expr.Schema, e connectors.Env) (connectors.BoundSink, error) {
	c.reached(atBindSink)
	return c.Component.BindSink(ctx, o, in, e)
}

func (c phased) Open(state []byte) (connectors.Source, error) {
	s, err := c.Component.Open(state)
	return phasedSource{s, c}, err
}

func (c phased) OpenSink(state []byte, in expr.Schema) (connectors.Sink, error) {
	s, err := c.Component.OpenSink(state, in)
	return phasedSink{s, c}, err
}

type phasedSource struct {
	connectors.Source
	c phased
}

func (s phasedSource) Enumerator(ctx context.Context, o connectors.SplitOptions, restored []byte) (connectors.Enumerator, error) {
	s.c.reached(atDiscover)
	return s.Source.Enumerator(ctx, o, restored)
}

func (s phasedSource) Reader(t *operators.Task) (connectors.Reader, error) {
	s.c.reached(atOpen)
	r, err := s.Source.Reader(t)
	return phasedReader{r, s.c}, err
}

func (s phasedSource) SkipsBadRows() bool {
	x, ok := s.Source.(connectors.Skipping)
	return ok && x.SkipsBadRows()
}

func (r phasedReader) Rejects() []connectors.Reject {
	return r.Reader.(connectors.Rejecting).Rejects()
}

type phasedReader struct {
	connectors.Reader
	c phased
}

func (r phasedReader) Next(ctx context.Context) (operators.Batch, connectors.Status, error) {
	b, st, err := r.Reader.Next(ctx)
	if st == connectors.More {
		r.c.reached(atRead)
	}
	return b, st, err
}

type phasedSink struct {
	connectors.Sink
	c phased
}

func (s phasedSink) Writer(t *operators.Task, run string, recovered []connectors.Committable) (connectors.Writer, error) {
	s.c.reached(atWriter)
	w, err := s.Sink.Writer(t, run, recovered)
	return phasedWriter{w, s.c}, err
}

func (s phasedSink) Committer() (connectors.Committer, error) {
	k, err := s.Sink.Committer()
	return phasedCommitter{k, s.c}, err
}

type phasedWriter struct {
	connectors.Writer
	c phased
}

func (w phasedWriter) Write(b operators.Batch) error {
	w.c.reached(atWrite)
	return w.Writer.Write(b)
}

func (w phasedWriter) Prepare(checkpoint int64, end bool) ([]connectors.Committable, error) {
	w.c.reached(atPrepare)
	return w.Writer.Prepare(checkpoint, end)
}

type phasedCommitter struct {
	connectors.Committer
	c phased
}

func (k phasedCommitter) Check(ctx context.Context, run string) error {
	k.c.reached(atCheck)
	if c, ok := k.Committer.(connectors.Checker); ok {
		return c.Check(ctx, run)
	}
	return nil
}

func (k phasedCommitter) Commit(ctx context.Context, run string, checkpoint int64, all []connectors.Committable) ([]string, error) {
	k.c.reached(atCommit)
	return k.Committer.Commit(ctx, run, checkpoint, all)
}

func (k phasedCommitter) Abort(ctx context.Context, run string, all []connectors.Committable) error {
	k.c.reached(atAbort)
	return k.Committer.Abort(ctx, run, all)
}

// TestCancelInEveryPhase: a run that is cancelled is CANCELED and leaves the earlier output and nothing
// else, wherever it was. Once it publishes it goes on to the end: the new output is there, whole.
func TestCancelInEveryPhase(t *testing.T) {
	for _, at := range []phase{atBind, atBindSink, atDiscover, atOpen, atRead, atWriter, atWrite, atPrepare, atCheck, atCommit} {
		t.Run(string(at), func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "o.csv", "k\n"+strings.Repeat("x\n1\n", 50_000))
			write(t, dir, "one.csv", "before\n")
			if err := os.Mkdir(filepath.Join(dir, "many"), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "many"), "part-0.csv", "before\n")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cat := catalogs(t)
			cat.Connectors["csv"] = phased{cat.Connectors["csv"], func(p phase) {
				if p == at {
					cancel()
				}
			}}
			r, err := tryRun(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT}}, on_error: skip}}
aggregations: {g: {from: o, group_by: [k], measures: {n: COUNT(*)}}}
sinks:
  one: {from: g, csv: {path: one.csv, mode: overwrite}}
  many: {from: o, csv: {path: many, mode: overwrite}}
  bad: {from: o.rejected, csv: {path: bad.csv}}
`, setup{ctx: ctx, cat: &cat, options: map[string]string{"parallelism.default": "2", "runner.source.split-size": "10 kb"}})
			if err != nil {
				t.Fatal(err)
			}
			noLeavings(t, dir)
			noLeavings(t, filepath.Join(dir, "many"))
			_, missing := os.Stat(filepath.Join(dir, "bad.csv"))
			if at == atCheck || at == atCommit {
				if r.State != "FINISHED" || read(t, filepath.Join(dir, "one.csv")) != "k,n\n1,50000\n" || missing != nil {
					t.Fatalf("%s: %q, %v", r.State, read(t, filepath.Join(dir, "one.csv")), missing)
				}
				return
			}
			if r.State != "CANCELED" || read(t, filepath.Join(dir, "one.csv")) != "before\n" || read(t, filepath.Join(dir, "many", "part-0.csv")) != "before\n" || missing == nil {
				t.Fatalf("%s %+v: %q, %v", r.State, r.Failure, read(t, filepath.Join(dir, "one.csv")), missing)
			}
			if parts, _ := filepath.Glob(filepath.Join(dir, "many", "*")); len(parts) != 1 {
				t.Fatalf("%v", parts)
			}
		})
	}
}

// A hanging source has a reader that reacts to nothing until it is let go.
type hanging struct {
	connectors.Component
	hangs chan struct{} // closed when it hangs
	let   chan struct{}
}

func (c hanging) Open(state []byte) (connectors.Source, error) {
	s, err := c.Component.Open(state)
	return hangingSource{s, c}, err
}

type hangingSource struct {
	connectors.Source
	c hanging
}

func (s hangingSource) Reader(t *operators.Task) (connectors.Reader, error) {
	r, err := s.Source.Reader(t)
	return hangingReader{r, s.c}, err
}

type hangingReader struct {
	connectors.Reader
	c hanging
}

func (r hangingReader) Next(context.Context) (operators.Batch, connectors.Status, error) {
	close(r.c.hangs)
	<-r.c.let
	return operators.Batch{}, connectors.End, nil
}

// TestTaskThatDoesNotReact: a run is not held by a task that does not react to its cancellation; it says
// which one that was, and leaves nothing.
func TestTaskThatDoesNotReact(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "o.csv", "k\n1\n")
	write(t, dir, "out.csv", "before\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cat := catalogs(t)
	h := hanging{cat.Connectors["csv"], make(chan struct{}), make(chan struct{})}
	cat.Connectors["csv"] = h
	defer close(h.let)
	go func() {
		<-h.hangs
		cancel()
	}()
	r, err := tryRun(t, filepath.Join(dir, "plan.yaml"), `
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT}}}}
sinks: {out: {from: o, csv: {path: out.csv, mode: overwrite}}}
`, setup{ctx: ctx, cat: &cat, options: map[string]string{"task.cancellation.timeout": "1 ms"}})
	if err != nil || r.State != "CANCELED" {
		t.Fatalf("%v: %s %+v", err, r.State, r.Failure)
	}
	if w := strings.Join(r.Warnings, "\n"); !strings.Contains(w, "Source: o[1]") || !strings.Contains(w, "did not react to its cancellation within 1 ms") {
		t.Fatalf("warnings: %q", w)
	}
	if got := read(t, filepath.Join(dir, "out.csv")); got != "before\n" {
		t.Errorf("the target is %q", got)
	}
	noLeavings(t, dir)
}
