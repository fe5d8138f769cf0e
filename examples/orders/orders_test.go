package orders

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommitted holds the data in the repository against a new run of the generator.
func TestCommitted(t *testing.T) {
	files, err := Files(Seed)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "data", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what the generator makes: run go run ./examples/generate", name)
		}
		total += len(want)
	}
	if total > 1<<20 {
		t.Errorf("the example data has %d bytes, more than a megabyte", total)
	}
	bad := strings.Split(string(files["orders_bad.csv"]), "\n")
	if !strings.Contains(bad[BadLine-1], ",twelve,") || strings.Count(string(files["orders_bad.csv"]), "twelve") != 1 {
		t.Errorf("line %d of orders_bad.csv is %q", BadLine, bad[BadLine-1])
	}
}
