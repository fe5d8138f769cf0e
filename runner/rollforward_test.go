package runner_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

const twoSinks = `
params: {factor: 1}
sources: {o: {csv: {path: o.csv, columns: {k: BIGINT}}}}
transforms: {t: {from: o, select: {k: "k * ${factor}"}}}
sinks: {a: {from: t, csv: {path: a/out.csv, mode: overwrite}}, b: {from: t, json: {path: b/out.jsonl, mode: overwrite}}, c: {from: t, csv: {path: a/parts, mode: overwrite}}}
`

// A sink whose process dies the moment it should publish.
type deadly struct{ connectors.Component }

func (d deadly) OpenSink(state []byte, in expr.Schema) (connectors.Sink, error) {
	s, err := d.Component.OpenSink(state, in)
	return deadlySink{s}, err
}

type deadlySink struct{ connectors.Sink }

func (s deadlySink) Committer() (connectors.Committer, error) {
	c, err := s.Sink.Committer()
	return deadlyCommitter{c}, err
}

type deadlyCommitter struct{ connectors.Committer }

func (deadlyCommitter) Commit(context.Context, string, int64, []connectors.Committable) ([]string, error) {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		return nil, err
	}
	select {} // the kill is on its way
}

// dieIn is what the process does that TestRollForward starts.
func dieIn(t *testing.T, dir string) {
	cat := catalogs(t)
	cat.Connectors["json"] = deadly{cat.Connectors["json"]}
	run(t, filepath.Join(dir, "plan.yaml"), twoSinks, setup{cat: &cat, set: map[string]string{"factor": "2"}})
	t.Fatal("the run went past its own death")
}

// A run that dies between two sinks is finished by the next run beside the same targets, before that
// one does anything itself.
func TestRollForward(t *testing.T) {
	if dir := os.Getenv("RUNNER_TEST_DIE_IN"); dir != "" {
		dieIn(t, dir)
	}
	dir := t.TempDir()
	write(t, dir, "o.csv", "k\n1\n2\n")
	for _, d := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	finished(t, run(t, filepath.Join(dir, "plan.yaml"), twoSinks, setup{}))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "-test.run", "^TestRollForward$")
	c.Env = append(os.Environ(), "RUNNER_TEST_DIE_IN="+dir)
	out, err := c.CombinedOutput()
	var e *exec.ExitError
	if !errors.As(err, &e) || e.Exited() {
		t.Fatalf("%v\n%s", err, out)
	}
	if a, b := read(t, filepath.Join(dir, "a", "out.csv")), read(t, filepath.Join(dir, "b", "out.jsonl")); a != "k\n2\n4\n" || b != "{\"k\":1}\n{\"k\":2}\n" {
		t.Fatalf("the process did not die between its sinks: %q %q", a, b)
	}
	// The next run fails, and has finished the dead one's work all the same.
	r := run(t, filepath.Join(dir, "plan.yaml"), twoSinks, setup{set: map[string]string{"factor": "9223372036854775807"}})
	if r.State != "FAILED" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "finished publishing what run") {
		t.Fatalf("%s %v", r.State, r.Warnings)
	}
	if b := read(t, filepath.Join(dir, "b", "out.jsonl")); b != "{\"k\":2}\n{\"k\":4}\n" {
		t.Errorf("%q", b)
	}
	if c := read(t, filepath.Join(dir, "a", "parts", "part-0-0.csv")); c != "k\n2\n4\n" {
		t.Errorf("%q", c)
	}
	for _, d := range []string{"a", "b"} {
		noLeavings(t, filepath.Join(dir, d))
	}
}
