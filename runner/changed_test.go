package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// A meddler changes a file after its reader gave so many batches.
type meddler struct {
	connectors.Component
	after  int
	change func()
}

func (m *meddler) Open(state []byte) (connectors.Source, error) {
	s, err := m.Component.Open(state)
	return meddledSource{s, m}, err
}

type meddledSource struct {
	connectors.Source
	m *meddler
}

func (s meddledSource) Reader(t *operators.Task) (connectors.Reader, error) {
	r, err := s.Source.Reader(t)
	return &meddledReader{r, s.m, s.m.after}, err
}

type meddledReader struct {
	connectors.Reader
	m    *meddler
	left int
}

func (r *meddledReader) Next(ctx context.Context) (operators.Batch, connectors.Status, error) {
	b, st, err := r.Reader.Next(ctx)
	if st == connectors.More && err == nil {
		if r.left--; r.left == 0 {
			r.m.change()
		}
	}
	return b, st, err
}

// TestFilesChangeWhileTheyAreRead: a file that grows, shrinks, is written again or replaced while the job
// reads it fails the job by name, whenever that is, and nothing is published.
func TestFilesChangeWhileTheyAreRead(t *testing.T) {
	text := "k,s\n" + strings.Repeat("1,some text that takes its room\n", 30000)
	changes := map[string]func(file string, good []byte) error{
		"grown": func(f string, good []byte) error { return os.WriteFile(f, append(good, good...), 0o644) },
		"cut":   func(f string, good []byte) error { return os.Truncate(f, int64(len(good))/2) },
		"other bytes": func(f string, good []byte) error {
			return errors.Join(os.WriteFile(f, []byte(strings.ReplaceAll(string(good), "1,", "2,")), 0o644), touch(f))
		},
		"replaced": func(f string, good []byte) error {
			return errors.Join(os.WriteFile(f+".new", []byte(strings.ReplaceAll(string(good), "1,", "2,")), 0o644), touch(f+".new"), os.Rename(f+".new", f))
		},
	}
	for _, kind := range []string{"csv", "csv.gz", "json", "parquet"} {
		for name, change := range changes {
			for _, after := range []int{0, 1, 2} {
				t.Run(fmt.Sprintf("%s %s after %d", kind, name, after), func(t *testing.T) {
					dir := t.TempDir()
					file := filepath.Join(dir, "o."+kind)
					good := meddled(t, dir, kind, text)
					cat := catalogs(t)
					component, _, _ := strings.Cut(kind, ".")
					meddle := func() {
						if err := change(file, append([]byte(nil), good...)); err != nil {
							t.Error(err)
						}
					}
					if after == 0 {
						cat.Connectors[component] = changingSource{cat.Connectors[component], meddle}
					} else {
						cat.Connectors[component] = &meddler{cat.Connectors[component], after, meddle}
					}
					columns := ", columns: {k: BIGINT, s: STRING}"
					if kind == "parquet" {
						columns = ""
					}
					r := run(t, filepath.Join(dir, "plan.yaml"), fmt.Sprintf(`
sources: {o: {%s: {path: o.%s%s}}}
sinks: {out: {from: o, csv: {path: out}}}
`, component, kind, columns), setup{cat: &cat, options: map[string]string{"runner.source.split-size": "100 kb", "parallelism.default": "1"}})
					if r.State != "FAILED" || r.Failure == nil || r.Failure.RootCause.Class != "DamagedFile" || !strings.HasSuffix(r.Failure.RootCause.File, "o."+kind) {
						t.Fatalf("%s: %+v", r.State, r.Failure)
					}
					if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
						t.Error("a failed run left its target")
					}
					noLeavings(t, dir)
				})
			}
		}
	}
}

// touch makes a file as old as it cannot have been.
func touch(file string) error {
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	return os.Chtimes(file, at, at)
}

// meddled writes the text as a file of a kind, and gives its bytes.
func meddled(t *testing.T, dir, kind, text string) []byte {
	t.Helper()
	switch kind {
	case "csv.gz":
		text = gzipped(t, text)
	case "json", "parquet":
		write(t, dir, "first.csv", text)
		finished(t, run(t, filepath.Join(dir, "make.yaml"), fmt.Sprintf(`
sources: {o: {csv: {path: first.csv, columns: {k: BIGINT, s: STRING}}}}
sinks: {out: {from: o, %s: {path: o.%s}}}
`, kind, kind), setup{}))
		return []byte(read(t, filepath.Join(dir, "o."+kind)))
	}
	write(t, dir, "o."+kind, text)
	return []byte(text)
}
