package files_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/filestest"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A lineEncoder writes a header and a line a row.
type lineEncoder struct {
	w     io.Writer
	label string
	begun bool
}

func (e *lineEncoder) begin() error {
	if e.begun {
		return nil
	}
	e.begun = true
	_, err := io.WriteString(e.w, "header\n")
	return err
}

func (e *lineEncoder) Write(b operators.Batch) error {
	defer b.Rec.Release()
	if err := e.begin(); err != nil {
		return err
	}
	for range b.Rows() {
		if _, err := io.WriteString(e.w, e.label+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func (e *lineEncoder) Finish() error { return e.begin() }
func (e *lineEncoder) Close() error  { return nil }

func rows(n int) operators.Batch {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range n {
		b.Append(int64(i))
	}
	a := b.NewArray()
	defer a.Release()
	return operators.Batch{Rec: column.NewRecord([]expr.Field{{Name: "n", Type: expr.Of(expr.BigInt)}}, []arrow.Array{a}, int64(n))}
}

// A job writes parts of a run and commits them, step by step.
type job struct {
	sink  connectors.Sink
	run   string
	parts []int // rows of each subtask
	all   []connectors.Committable
}

func newJob(fsys files.FS, target files.Target, run string, parts ...int) *job {
	encode := func(_ *operators.Task, w io.Writer) (files.Encoder, error) {
		return &lineEncoder{w: w, label: run}, nil
	}
	sink := files.NewSink(fsys, target, encode)
	if !target.Folder && len(parts) > 1 {
		sink = files.NewJoinedSink(fsys, target, encode, joinLines)
	}
	return &job{sink: sink, run: run, parts: parts}
}

// joinLines puts the parts one after the other.
func joinLines(parts []files.ReadFile, w io.Writer) error {
	for _, p := range parts {
		if _, err := io.Copy(w, io.NewSectionReader(p, 0, p.Size())); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) write(ctx context.Context) error {
	for sub, n := range j.parts {
		if err := j.writePart(ctx, sub, n); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) writePart(ctx context.Context, sub, n int) (err error) {
	w, err := j.sink.Writer(&operators.Task{Ctx: ctx, Subtask: sub, Alloc: memory.DefaultAllocator}, j.run, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if n > 0 {
		if err := w.Write(rows(n)); err != nil {
			return err
		}
	}
	c, err := w.Prepare(0, true)
	j.all = append(j.all, c...)
	return err
}

func (j *job) commit(ctx context.Context) ([]string, error) {
	c, err := j.sink.Committer()
	if err != nil {
		return nil, err
	}
	return c.Commit(ctx, j.run, 0, j.all)
}

func (j *job) abort(ctx context.Context) error {
	c, err := j.sink.Committer()
	if err != nil {
		return err
	}
	return c.Abort(ctx, j.run, j.all)
}

func bindTarget(t *testing.T, path string, mode files.Mode) files.Target {
	t.Helper()
	target, err := files.BindTarget(files.Local(), path, mode, ".txt", filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// look describes what stands at a path: names and contents, with line ends as /.
func look(t *testing.T, path string) string {
	t.Helper()
	st, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "nothing"
	}
	if err != nil {
		t.Fatal(err)
	}
	if !st.IsDir() {
		return content(t, path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name()+"="+content(t, filepath.Join(path, e.Name())))
		}
	}
	return strings.Join(out, " ")
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.TrimSuffix(string(b), "\n"), "\n", "/")
}

// clean fails where staging is left beside the target, or hidden things in it.
func clean(t *testing.T, path string) {
	t.Helper()
	for _, dir := range []string{filepath.Dir(path), path} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				t.Errorf("%s is left in %s", e.Name(), dir)
			}
		}
	}
}

func TestPublish(t *testing.T) {
	for _, c := range []struct {
		name, path string
		mode       files.Mode
		first      []int // parts of a run before
		parts      []int
		want       string
	}{
		{"file", "out.txt", "", nil, []int{2}, "header/b/b"},
		{"empty file", "out.txt", "", nil, []int{0}, "header"},
		{"file again", "out.txt", files.ModeOverwrite, []int{1}, []int{2}, "header/b/b"},
		{"joined file", "out.txt", "", nil, []int{1, 0, 2}, "header/b/header/b/b"},
		{"joined file again", "out.txt", files.ModeOverwrite, []int{1}, []int{1, 1}, "header/b/header/b"},
		{"joined file, empty parts", "out.txt", "", nil, []int{0, 0, 1}, "header/b"},
		{"folder", "out", "", nil, []int{1, 2}, "part-0-0.txt=header/b part-1-0.txt=header/b/b"},
		{"folder in folders", "x/y/out", "", nil, []int{1}, "part-0-0.txt=header/b"},
		{"folder, empty parts", "out", "", nil, []int{0, 2, 0}, "part-1-0.txt=header/b/b"},
		{"folder, nothing", "out", "", nil, []int{0, 0}, "part-0-0.txt=header"},
		{"folder again", "out", files.ModeOverwrite, []int{1, 1, 1}, []int{1}, "part-0-0.txt=header/b"},
		{"append", "out", files.ModeAppend, []int{1}, []int{1, 1}, "part-a-0-0.txt=header/a part-b-0-0.txt=header/b part-b-1-0.txt=header/b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.path)
			target := bindTarget(t, path, c.mode)
			for run, parts := range map[string][]int{"a": c.first} {
				if parts == nil {
					continue
				}
				j := newJob(files.Local(), target, run, parts...)
				if err := j.write(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := j.commit(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			j := newJob(files.Local(), target, "b", c.parts...)
			before := look(t, path)
			if err := j.write(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := look(t, path); got != before {
				t.Errorf("visible before the commit: %s", got)
			}
			names, err := j.commit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := look(t, path); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			again, err := j.commit(t.Context())
			if err != nil || !slices.Equal(names, again) || len(names) == 0 {
				t.Errorf("a second commit: %v, %v; the first gave %v", again, err, names)
			}
			clean(t, path)
		})
	}
}

// TestCrash breaks a run off at each of its calls to the file system, for good or for that call
// alone. What stands at the target is the old output or the new one; a commit that had begun is
// completed by the next, and anything else is taken back.
func TestCrash(t *testing.T) {
	for _, path := range []string{"out", "out.txt", "joined.txt"} {
		for _, plain := range []bool{false, true} {
			for _, stop := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s plain=%v stop=%v", path, plain, stop), func(t *testing.T) {
					for fail := 1; ; fail++ {
						if crash(t, path, plain, stop, fail) {
							if fail < 15 {
								t.Errorf("a run has only %d calls", fail)
							}
							return
						}
					}
				})
			}
		}
	}
}

// quick is the local file system without waiting for the disk.
func quick() files.FS { return &filestest.Faulty{FS: files.Local(), Loose: true} }

// crash reports whether the run was over before the call that was to fail.
func crash(t *testing.T, name string, plain, stop bool, fail int) (over bool) {
	t.Helper()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), name)
	target := bindTarget(t, path, files.ModeOverwrite)
	parts := []int{1, 2}
	if name == "out.txt" {
		parts = parts[1:]
	}
	before := newJob(quick(), target, "old", parts...)
	if err := errors.Join(before.write(ctx), func() error { _, err := before.commit(ctx); return err }()); err != nil {
		t.Fatal(err)
	}
	old := look(t, path)
	next := strings.ReplaceAll(old, "old", "new")

	faulty := &filestest.Faulty{FS: files.Local(), Fail: fail, Stop: stop, Plain: plain, Loose: true}
	j := newJob(faulty, target, "new", parts...)
	err := j.write(ctx)
	intent := err == nil
	if intent {
		_, err = j.commit(ctx)
	}
	at := fmt.Sprintf("call %d (%s), %v", fail, faulty.Last(), err)
	got := look(t, path)
	if got != old && got != next && !(plain && target.Folder && got == "nothing") {
		t.Errorf("%s: the target is %s", at, got)
	}
	j.sink = newJob(quick(), target, "new", parts...).sink // another process
	if intent {
		if _, err := j.commit(ctx); err != nil {
			t.Errorf("%s: the second commit: %v", at, err)
		}
		if got := look(t, path); got != next {
			t.Errorf("%s: after the second commit the target is %s", at, got)
		}
	} else {
		if err := j.abort(ctx); err != nil {
			t.Errorf("%s: abort: %v", at, err)
		}
		if got := look(t, path); got != old {
			t.Errorf("%s: after abort the target is %s", at, got)
		}
	}
	clean(t, path)
	return faulty.Calls() < fail
}

// TestAbortInTheMiddle takes back a folder that was moved aside.
func TestAbortInTheMiddle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	target := bindTarget(t, path, files.ModeOverwrite)
	old := newJob(quick(), target, "old", 1)
	if err := old.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := old.commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for fail := 1; fail < 80; fail++ {
		faulty := &filestest.Faulty{FS: files.Local(), Fail: fail, Stop: true, Plain: true, Loose: true}
		j := newJob(faulty, target, "new", 1)
		if j.write(t.Context()) == nil {
			_, _ = j.commit(t.Context())
		}
		if err := newJob(quick(), target, "new").abort(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := look(t, path); got != "part-0-0.txt=header/old" && got != "part-0-0.txt=header/new" {
			t.Fatalf("call %d: %s", fail, got)
		}
		clean(t, path)
	}
}

func TestTargets(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("file.txt")
	write("plain")
	write("folder.txt/x")
	write("parts/part-0-0.txt")
	write("parts/_SUCCESS")
	write("mixed/part-0-0.txt")
	write("mixed/report.xlsx")
	write("deep/sub/x")
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("parts", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		mode  files.Mode
		class string
		text  string
	}{
		{"new.txt", "", "", ""},
		{"file.txt", "", files.TargetExists, "mode: overwrite"},
		{"file.txt", files.ModeOverwrite, "", ""},
		{"file.txt", files.ModeAppend, files.InvalidOption, "needs a folder"},
		{"parts", "", files.TargetExists, "mode: append"},
		{"parts", files.ModeOverwrite, "", ""},
		{"parts", files.ModeAppend, "", ""},
		{"mixed", files.ModeOverwrite, files.TargetExists, "report.xlsx"},
		{"mixed", files.ModeAppend, "", ""},
		{"deep", files.ModeOverwrite, files.TargetExists, "it holds sub"},
		{"plain", files.ModeOverwrite, files.InvalidOption, "is a file"},
		{"folder.txt", files.ModeOverwrite, files.InvalidOption, "is a folder"},
		{"file.txt/out", "", files.InvalidOption, "file.txt is a file"},
		{".hidden", "", files.InvalidOption, "skipped by readers"},
		{"dangling", "", files.InvalidOption, "link to nothing"},
		{"link", files.ModeOverwrite, "", ""},
		{"x", "replace", files.InvalidOption, "expected error, overwrite or append"},
		{" ", "", files.InvalidOption, "is none"},
	} {
		target, err := files.BindTarget(files.Local(), c.path, c.mode, ".txt", dir)
		if c.class == "" {
			if err != nil {
				t.Errorf("%s %s: %v", c.path, c.mode, err)
			}
			if c.path == "link" && filepath.Base(target.Path) != "parts" {
				t.Errorf("a link is bound as %s", target.Path)
			}
			continue
		}
		var e *files.Error
		if !errors.As(err, &e) || e.Class() != c.class || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s %s: %v", c.path, c.mode, err)
		}
	}
}

// TestTakenMeanwhile finds a target that came between binding and commit.
func TestTakenMeanwhile(t *testing.T) {
	for _, name := range []string{"out", "out.txt"} {
		path := filepath.Join(t.TempDir(), name)
		target := bindTarget(t, path, files.ModeError)
		j, other := newJob(files.Local(), target, "b", 1), newJob(files.Local(), target, "a", 1)
		if err := errors.Join(j.write(t.Context()), other.write(t.Context())); err != nil {
			t.Fatal(err)
		}
		if _, err := other.commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		theirs := look(t, path)
		var e *files.Error
		if _, err := j.commit(t.Context()); !errors.As(err, &e) || e.Class() != files.TargetExists {
			t.Errorf("%v", err)
		}
		if err := j.abort(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := look(t, path); got != theirs {
			t.Errorf("the other's output is now %s", got)
		}
		clean(t, path)
	}
}

// TestStagedFilesGone never takes an earlier output for what was to be published.
func TestStagedFilesGone(t *testing.T) {
	for _, name := range []string{"out", "out.txt"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		target := bindTarget(t, path, files.ModeOverwrite)
		old, j := newJob(files.Local(), target, "old", 1), newJob(files.Local(), target, "new", 2)
		if err := old.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := old.commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := look(t, path)
		if err := j.write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, ".runner-new")); err != nil {
			t.Fatal(err)
		}
		var e *files.Error
		if _, err := j.commit(t.Context()); !errors.As(err, &e) || e.Class() != files.SinkError {
			t.Errorf("%v", err)
		}
		if got := look(t, path); got != before {
			t.Errorf("the target is now %s", got)
		}
	}
}

// TestClose leaves nothing of a writer that prepared nothing.
func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	j := newJob(files.Local(), bindTarget(t, path, ""), "run", 1)
	w, err := j.sink.Writer(&operators.Task{Ctx: t.Context()}, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(rows(5)), w.Close()); err != nil {
		t.Fatal(err)
	}
	clean(t, path)
	if got := look(t, path); got != "nothing" {
		t.Error(got)
	}
}

// A run that died before its folder held anything of a target, or after, leaves nothing for good.
func TestSweepsEmptyFolders(t *testing.T) {
	dir := t.TempDir()
	me := files.Process()
	f := strings.SplitN(me, ".", 4) // the same number, of a process that started at another time
	f[2] = "1" + f[2]
	dead := strings.Join(f, ".")
	for _, name := range []string{".runner-a", ".runner-b/" + dead, ".runner-c/" + me, ".runner-d/" + dead, ".runner-d/other/work"} {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(path, 0o755)
		if strings.Contains(path, "/lock.") {
			err = errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	j := newJob(quick(), bindTarget(t, filepath.Join(dir, "out.txt"), files.ModeOverwrite), "run", 1)
	if err := j.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := j.commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range left {
		got = append(got, filepath.Base(p))
	}
	if want := []string{".runner-c", ".runner-d", "out.txt"}; !slices.Equal(got, want) {
		t.Errorf("left are %q, expected %q: one is at work, one holds another target", got, want)
	}
}
