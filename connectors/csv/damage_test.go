package csv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
)

func class(err error) string {
	var c interface{ Class() string }
	if !errors.As(err, &c) {
		return "none"
	}
	return c.Class()
}

// TestChanged: a file that is not what it was when the source was bound is an error that names it.
func TestChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		class  string
	}{
		"gone":    {os.Remove, "MissingFile"},
		"shorter": {func(p string) error { return os.Truncate(p, 5) }, "DamagedFile"},
		"longer":  {func(p string) error { return os.WriteFile(p, []byte("a\n1\n2\n3\n"), 0o666) }, "DamagedFile"},
	} {
		dir, state, err := bindText(t, Options{Columns: columns(t, "a INT")}, "a\n1\n2\n")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.change(filepath.Join(dir, "a.csv")); err != nil {
			t.Fatal(err)
		}
		_, _, err = readAll(t, state, how{split: 1 << 20})
		if class(err) != c.class || !strings.Contains(err.Error(), "a.csv") {
			t.Errorf("%s: %s: %v", name, class(err), err)
		}
	}
}

// TestRefused: what comes later, and what cannot be, is refused by name.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a.csv", "b.csv.gz"} {
		if err := os.WriteFile(filepath.Join(dir, n), []byte("a\n1\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for want, o := range map[string]Options{
		"klingon":                   {Path: []string{"a.csv"}, Encoding: "klingon"},
		"does not begin as gzip":    {Path: []string{"b.csv.gz"}, Columns: columns(t, "a INT")},
		"holds the quote character": {Path: []string{"a.csv"}, Columns: columns(t, "a INT"), Delimiter: "\""},
		"belongs to sinks":          {Path: []string{"a.csv"}, Columns: columns(t, "a INT"), Mode: "append"},
		"none.csv":                  {Path: []string{"none.csv"}, Columns: columns(t, "a INT")},
		"*.txt":                     {Path: []string{"*.txt"}, Columns: columns(t, "a INT")},
	} {
		_, err := bind(context.Background(), o, connectors.Env{Node: "in", Dir: dir})
		if err == nil || !strings.Contains(err.Error(), want) || class(err) == "none" {
			t.Errorf("expected %q: %v (%s)", want, err, class(err))
		}
	}
}

// TestHiddenRecords: a split begins inside a quoted field whose text looks like records. That is
// refused where it cannot be told, and never misread.
func TestHiddenRecords(t *testing.T) {
	text := "a,b\n1,\"" + strings.Repeat("7,8\n", 100<<10) + "\"\n2,x\n"
	_, state, err := bindText(t, Options{Columns: columns(t, "a INT; b STRING")}, text)
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := readAll(t, state, how{split: 1 << 20})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, split := range []int64{30000, 300000} {
		_, _, err = readAll(t, state, how{split: split})
		if err == nil || !strings.Contains(err.Error(), "runner.source.split-size") || !strings.Contains(err.Error(), "a.csv:2") {
			t.Errorf("hidden splits of %d: %v", split, err)
		}
	}
	// Before the first anchor nothing is guessed.
	rows, _, err = readAll(t, state, how{split: int64(len(text)) - 200000})
	if err != nil || len(rows) != 2 {
		t.Errorf("a split before the first anchor: %d rows, %v", len(rows), err)
	}
}

// A wide file system has one file that is a header and one endless field.
type wide struct {
	files.FS
	size int64
}

func (w wide) Stat(string) (files.Info, error) {
	return files.Info{Name: "wide.csv", Bytes: w.size, Regular: true}, nil
}
func (w wide) Open(string) (files.ReadFile, error) { return w, nil }
func (w wide) Close() error                        { return nil }
func (w wide) Size() int64                         { return w.size }

func (w wide) ReadAt(b []byte, at int64) (int, error) {
	const head = "a,b\n1,2\n3,\""
	for i := range b {
		b[i] = 'x'
	}
	if at < int64(len(head)) {
		copy(b, head[at:])
	}
	if at+int64(len(b)) > w.size {
		return int(w.size - at), io.EOF
	}
	return len(b), nil
}

// TestEndlessRecord: a record that is too long is an error with its line, whatever follows.
func TestEndlessRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("needs memory for a record of the greatest length")
	}
	fs := wide{files.Local(), 2 * text.MaxRecord}
	state, err := bindIn(context.Background(), fs, Options{Path: []string{"/wide.csv"}, Columns: columns(t, "a INT; b STRING")}, connectors.Env{Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	src, err := openIn(fs, state)
	if err != nil {
		t.Fatal(err)
	}
	rd, err := src.Reader(&operators.Task{Ctx: context.Background(), Alloc: memory.NewGoAllocator()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := text.State{Version: stateVersion, File: 1, End: 100}.Split(src.Files[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	rd.Add([]connectors.Split{s})
	rows, err := drain(t, rd, src.Schema())
	var e *connectors.DataError
	if !errors.As(err, &e) || e.Kind != "CsvFormatError" || e.Line != 3 || !strings.Contains(e.Message, "longer than 64 MiB") || fmt.Sprint(rows) != `[1|"2"]` {
		t.Errorf("%v: %+v", rows, err)
	}
	if err := rd.Close(); err != nil {
		t.Error(err)
	}
}
