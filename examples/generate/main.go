// Generate writes the example data anew: go run ./examples/generate [folder].
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-4b0e9f7c/runner/examples/orders"
)

func main() {
	dir := filepath.Join("examples", "data")
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := generate(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(dir string) error {
	files, err := orders.Files(orders.Seed)
	if err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("making the example data: %w", err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			return fmt.Errorf("making the example data: %w", err)
		}
	}
	return nil
}
