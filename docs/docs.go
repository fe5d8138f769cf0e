// Package docs makes the reference pages from the declarations that the program itself runs on, so
// that what they say is what it does. The pages lie in docs/reference.
package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/plans"
	"github.com/seed-4b0e9f7c/runner/runner/report"
)

// Renew is the command that makes the pages anew.
const Renew = "make docs"

// A Page is one file of the reference.
type Page struct {
	Name string // "options.md"
	Text []byte
}

// Pages makes all pages, in the order of their names. The same declarations give the same bytes.
func Pages(c connectors.Catalog, o operators.Catalog) ([]Page, error) {
	planSchema, err := plans.Schema(plans.KnownOf(c, o))
	if err != nil {
		return nil, err
	}
	plan, err := planPage(planSchema)
	if err != nil {
		return nil, err
	}
	functions, err := functionsPage()
	if err != nil {
		return nil, err
	}
	return []Page{
		{"connectors.md", connectorsPage(c)},
		{"failures.md", failuresPage()},
		{"functions.md", functions},
		{"options.md", optionsPage()},
		{"plan.md", plan},
		{"plan.schema.json", planSchema},
		{"report.schema.json", report.Schema},
	}, nil
}

// Write writes pages into a folder, which is made where it is missing. Files of other names are left
// alone.
func Write(dir string, pages []Page) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of the reference pages: %w", err)
	}
	for _, p := range pages {
		if err := os.WriteFile(filepath.Join(dir, p.Name), p.Text, 0o644); err != nil {
			return fmt.Errorf("writing a reference page: %w", err)
		}
	}
	return nil
}

// Stale says, a sentence each, which files of a folder are not what the pages are: changed, missing,
// or no page at all.
func Stale(dir string, pages []Page) ([]string, error) {
	var out []string
	want := map[string]bool{}
	for _, p := range pages {
		want[p.Name] = true
		b, err := os.ReadFile(filepath.Join(dir, p.Name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, p.Name+" is missing")
		case err != nil:
			return nil, fmt.Errorf("reading a reference page: %w", err)
		case string(b) != string(p.Text):
			out = append(out, fmt.Sprintf("%s is stale%s", p.Name, firstDifference(b, p.Text)))
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the reference pages: %w", err)
	}
	for _, e := range entries {
		if !want[e.Name()] {
			out = append(out, e.Name()+" is no page: no declaration gives it")
		}
	}
	slices.Sort(out)
	return out, nil
}

// firstDifference names the first line that differs.
func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			return fmt.Sprintf(": line %d is missing: %s", i+1, w[i])
		case i >= len(w):
			return fmt.Sprintf(": line %d is too much: %s", i+1, g[i])
		case g[i] != w[i]:
			return fmt.Sprintf(": line %d is %q and would be %q", i+1, g[i], w[i])
		}
	}
	return ""
}
