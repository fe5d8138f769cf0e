package tidy

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	connectorlist "github.com/seed-4b0e9f7c/runner/connectors/builtin"
	operatorlist "github.com/seed-4b0e9f7c/runner/operators/builtin"

	"github.com/seed-4b0e9f7c/runner/docs"
)

// TestReferencePages holds that the pages of docs/reference, and the schema beside the plans, are what
// the declarations give.
func TestReferencePages(t *testing.T) {
	c, err := connectorlist.Catalog(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o, err := operatorlist.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := docs.Pages(c, o)
	if err != nil {
		t.Fatal(err)
	}
	stale, err := docs.Stale(filepath.Join(root, "docs", "reference"), pages)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if p.Name != "plan.schema.json" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(root, "plans", p.Name))
		if err != nil || !bytes.Equal(b, p.Text) {
			stale = append(stale, "plans/"+p.Name+" is not the page docs/reference/"+p.Name)
		}
	}
	for _, s := range stale {
		t.Errorf("docs/reference: %s", s)
	}
	if len(stale) > 0 {
		t.Errorf("the pages are renewed by: make docs")
	}
}
