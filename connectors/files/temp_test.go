package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// A temporary file holds bytes, and leaves nothing.
func TestTemp(t *testing.T) {
	dir := t.TempDir()
	f, err := files.Temp(dir, "x-*")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("abc"), 2); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := f.ReadAt(b, 2); err != nil || string(b) != "abc" {
		t.Errorf("%q %v", b, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
	if _, err := files.Temp(filepath.Join(dir, "none"), "x"); err == nil {
		t.Error("a file in no folder was opened")
	}
}
