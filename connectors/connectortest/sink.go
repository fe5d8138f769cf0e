package connectortest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A Sink is a sink to test.
type Sink struct {
	Component connectors.Component
	// Options are the sink's options for a target and a mode ("" is the default).
	Options func(target, mode string) any
	// Ext is the extension of a target that is one file, ".csv".
	Ext string
	// In is the schema of what is written.
	In expr.Schema
	// Read gives all rows of published files, as [Text] writes them; the files are never empty.
	Read func(t *testing.T, files []string, in expr.Schema, alloc memory.Allocator) []string
	// Folders says that a target may be a folder of parts with one writer each.
	Folders bool
}

// Run runs all tests of a sink.
func (s Sink) Run(t *testing.T) {
	t.Run("round trip", s.roundTrip)
	t.Run("no rows", s.noRows)
	t.Run("abort", s.abort)
	t.Run("close", s.unprepared)
	t.Run("modes", s.modes)
}

// A job is one run that writes to a target.
type job struct {
	t     *testing.T
	sink  connectors.Sink
	alloc *memory.CheckedAllocator
	id    string
	all   []connectors.Committable
}

// bind checks the target and opens the sink.
func (s Sink) bind(dir, target, mode string) (connectors.Sink, error) {
	o, err := json.Marshal(s.Options(target, mode))
	if err != nil {
		return nil, err
	}
	b, err := s.Component.BindSink(context.Background(), o, s.In, connectors.Env{Node: "out", Dir: dir})
	if err != nil {
		return nil, err
	}
	return s.Component.OpenSink(b.State, s.In)
}

func (s Sink) job(t *testing.T, dir, target, mode, id string) *job {
	t.Helper()
	k, err := s.bind(dir, target, mode)
	if err != nil {
		t.Fatal(err)
	}
	a := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { a.AssertSize(t, 0) })
	return &job{t: t, sink: k, alloc: a, id: id}
}

// writer opens a writer.
func (j *job) writer(subtask, parallelism int) connectors.Writer {
	j.t.Helper()
	w, err := j.sink.Writer(&operators.Task{
		Ctx: context.Background(), UID: "out/sink", Subtask: subtask, Parallelism: parallelism, Alloc: j.alloc,
	}, j.id, nil)
	if err != nil {
		j.t.Fatal(err)
	}
	return w
}

// write gives some batches to a writer and notes their rows.
func (j *job) write(w connectors.Writer, batches []operators.Batch, in expr.Schema) (rows []string) {
	j.t.Helper()
	for _, b := range batches {
		for i := range b.Rows() {
			row := i
			if b.Sel != nil {
				row = int(b.Sel[i])
			}
			rows = append(rows, Text(b, in, row))
		}
		if err := w.Write(b); err != nil {
			j.t.Fatal(err)
		}
	}
	return rows
}

// finish prepares and closes a writer.
func (j *job) finish(w connectors.Writer) {
	j.t.Helper()
	c, err := w.Prepare(0, true)
	if err != nil {
		j.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		j.t.Fatal(err)
	}
	j.all = append(j.all, c...)
}

// commit publishes, twice: the second time changes nothing.
func (j *job) commit() []string {
	j.t.Helper()
	var first []string
	for i := range 2 {
		c, err := j.sink.Committer()
		if err != nil {
			j.t.Fatal(err)
		}
		names, err := c.Commit(context.Background(), j.id, 0, j.all)
		if err != nil {
			j.t.Fatal(err)
		}
		if i > 0 && !slices.Equal(names, first) {
			j.t.Fatalf("a second commit gives %q, the first %q", names, first)
		}
		first = names
	}
	return first
}

// visible lists what is in a folder for readers to see.
func visible(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == dir:
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return filepath.SkipDir
			}
		default:
			names = append(names, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// everything lists what is in a folder, hidden or not.
func everything(t *testing.T, dir string) (names []string) {
	t.Helper()
	e, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range e {
		names = append(names, x.Name())
	}
	return names
}

// targets are a file and, where the sink has them, a folder, with the numbers of writers to try.
func (s Sink) targets() map[string][]int {
	m := map[string][]int{"out" + s.Ext: {1}}
	if s.Folders {
		m["out"] = []int{1, 2, 4}
	}
	return m
}

// roundTrip: what was written is read back, in any physical form, and is not there before.
func (s Sink) roundTrip(t *testing.T) {
	for target, counts := range s.targets() {
		for _, n := range counts {
			dir := t.TempDir()
			j := s.job(t, dir, target, "", "run-1")
			var rows []string
			for i := range n {
				w := j.writer(i, n)
				rows = append(rows, j.write(w, Batches(j.alloc, s.In, uint64(i+1)), s.In)...)
				j.finish(w)
			}
			if v := visible(t, dir); len(v) > 0 {
				t.Fatalf("before the commit there is %q", v)
			}
			files := j.commit()
			got := s.Read(t, absolute(dir, files), s.In, j.alloc)
			slices.Sort(got)
			slices.Sort(rows)
			if !slices.Equal(got, rows) {
				t.Fatalf("%s, %d writers: %s", target, n, difference(got, rows))
			}
			if e := everything(t, dir); len(e) != 1 {
				t.Fatalf("after the commit there is %q", e)
			}
			var sum int64
			for _, c := range j.all {
				sum += c.Rows
			}
			if sum != int64(len(rows)) {
				t.Fatalf("%d rows are booked for %d", sum, len(rows))
			}
		}
	}
}

func absolute(dir string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
		if !filepath.IsAbs(n) {
			if abs, err := filepath.Abs(n); err == nil {
				out[i] = abs
			}
			if _, err := os.Stat(out[i]); err != nil {
				out[i] = filepath.Join(dir, n)
			}
		}
	}
	return out
}

// noRows: an empty result is a valid file.
func (s Sink) noRows(t *testing.T) {
	for target := range s.targets() {
		dir := t.TempDir()
		j := s.job(t, dir, target, "", "run-1")
		j.finish(j.writer(0, 1))
		files := j.commit()
		if len(files) == 0 {
			t.Fatalf("%s: nothing was published", target)
		}
		if got := s.Read(t, absolute(dir, files), s.In, j.alloc); len(got) > 0 {
			t.Fatalf("%s: %q came from nothing", target, got)
		}
	}
}

// abort: nothing is left of a run that was prepared and given up.
func (s Sink) abort(t *testing.T) {
	for target, counts := range s.targets() {
		for _, n := range counts {
			dir := t.TempDir()
			j := s.job(t, dir, target, "", "run-1")
			for i := range n {
				w := j.writer(i, n)
				j.write(w, Batches(j.alloc, s.In, 1), s.In)
				j.finish(w)
			}
			j.giveUp()
			if e := everything(t, dir); len(e) > 0 {
				t.Fatalf("%s: after an abort there is %q", target, e)
			}
		}
	}
}

// giveUp aborts, twice.
func (j *job) giveUp() {
	j.t.Helper()
	for range 2 {
		c, err := j.sink.Committer()
		if err == nil {
			err = c.Abort(context.Background(), j.id, j.all)
		}
		if err != nil {
			j.t.Fatal(err)
		}
	}
}

// unprepared: a writer that is closed before it was prepared leaves nothing to see, and after the
// abort nothing at all.
func (s Sink) unprepared(t *testing.T) {
	for target := range s.targets() {
		dir := t.TempDir()
		j := s.job(t, dir, target, "", "run-1")
		w := j.writer(0, 1)
		j.write(w, Batches(j.alloc, s.In, 1), s.In)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if v := visible(t, dir); len(v) > 0 {
			t.Fatalf("%s: a writer closed unprepared leaves %q", target, v)
		}
		j.giveUp()
		if e := everything(t, dir); len(e) > 0 {
			t.Fatalf("%s: after an abort there is %q", target, e)
		}
	}
}

// modes: a target that exists is refused, or replaced, or added to.
func (s Sink) modes(t *testing.T) {
	for target := range s.targets() {
		dir := t.TempDir()
		old := s.fill(t, dir, target, "", 1)
		if _, err := s.bind(dir, target, "error"); err == nil {
			t.Fatalf("%s exists and is not refused", target)
		}
		if target == "out" {
			old = append(old, s.fill(t, dir, target, "append", 2)...)
			s.holds(t, filepath.Join(dir, target), old)
		}
		s.holds(t, filepath.Join(dir, target), old)
		j := s.job(t, dir, target, "overwrite", "run-9")
		w := j.writer(0, 1)
		j.write(w, Batches(j.alloc, s.In, 3), s.In)
		j.finish(w)
		s.holds(t, filepath.Join(dir, target), old)
		j.giveUp()
		s.holds(t, filepath.Join(dir, target), old)
		s.holds(t, filepath.Join(dir, target), s.fill(t, dir, target, "overwrite", 4))
	}
}

// fill writes rows to a target and publishes them.
func (s Sink) fill(t *testing.T, dir, target, mode string, seed uint64) []string {
	t.Helper()
	j := s.job(t, dir, target, mode, "run-"+string(rune('0'+seed)))
	w := j.writer(0, 1)
	rows := j.write(w, Batches(j.alloc, s.In, seed), s.In)
	j.finish(w)
	j.commit()
	return rows
}

// holds checks the rows of a target.
func (s Sink) holds(t *testing.T, path string, rows []string) {
	t.Helper()
	names := []string{path}
	if i, err := os.Stat(path); err == nil && i.IsDir() {
		names = visible(t, path)
	}
	a := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer a.AssertSize(t, 0)
	got := s.Read(t, names, s.In, a)
	want := slices.Clone(rows)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %s", path, difference(got, want))
	}
}
