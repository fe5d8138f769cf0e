package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// A file is replaced whole, and nothing else is left; what is no file is written to and stays.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"one", "and another", ""} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Fatalf("%q %v", b, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
	if err := WriteFile(os.DevNull, []byte("x")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v %v", info, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("f", link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []byte("through a link")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "through a link" {
		t.Errorf("%q %v", b, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if err := WriteFile(dir, nil); err == nil {
		t.Error("a folder was written to")
	}
	if err := WriteFile(filepath.Join(dir, "none", "f"), nil); err == nil {
		t.Error("a file in no folder was written")
	}
	for range 2 {
		if err := Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// What a process was writing when it died is removed by the next; what a living one writes stays.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	me := files.Process()
	// The same number, of a process that started at another time.
	f := strings.SplitN(me, ".", 4)
	f[2] = "1" + f[2]
	dead, alive := tempPrefix+strings.Join(f, ".")+"-17", tempPrefix+me+"-18"
	for _, name := range []string{dead, alive, "f", tempPrefix + "x-19"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "g"), nil); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{alive, tempPrefix + "x-19", "f", "g"}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("left are %q, expected %q", got, want)
	}
	Sweep(filepath.Join(dir, "none"))
}
