package builtin_test

import (
	"fmt"
	"testing"

	"github.com/seed-4b0e9f7c/runner/operators/builtin"
)

// TestCatalog names every operator.
func TestCatalog(t *testing.T) {
	c, err := builtin.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.Names()); got != "[aggregate calc distinct limit sort union unnest]" {
		t.Errorf("the operators are %s", got)
	}
	for _, name := range c.Names() {
		if c[name].Summary() == "" || c[name].Options() == nil {
			t.Errorf("%s has no summary or no options", name)
		}
	}
}
