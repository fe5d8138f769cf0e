package builtin

import (
	"bytes"
	"slices"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

func TestCatalog(t *testing.T) {
	c, err := Catalog(&bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	sources := c.Names(connectors.Component.IsSource)
	sinks := c.Names(connectors.Component.IsSink)
	if !slices.Equal(sources, []string{"csv", "datagen", "json", "parquet"}) || !slices.Equal(sinks, []string{"blackhole", "csv", "json", "parquet", "print"}) {
		t.Errorf("sources %v, sinks %v", sources, sinks)
	}
}
