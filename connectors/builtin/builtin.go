// Package builtin lists the connectors that come with runner.
package builtin

import (
	"io"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/blackhole"
	"github.com/seed-4b0e9f7c/runner/connectors/csv"
	"github.com/seed-4b0e9f7c/runner/connectors/datagen"
	"github.com/seed-4b0e9f7c/runner/connectors/json"
	"github.com/seed-4b0e9f7c/runner/connectors/parquet"
	"github.com/seed-4b0e9f7c/runner/connectors/print"
)

// Catalog is all of them; print writes to stdout.
func Catalog(stdout io.Writer) (connectors.Catalog, error) {
	return connectors.NewCatalog(
		connectors.Erase(blackhole.Spec),
		connectors.Erase(csv.Spec),
		connectors.Erase(datagen.Spec),
		connectors.Erase(json.Spec),
		connectors.Erase(parquet.Spec),
		connectors.Erase(print.Spec(stdout)),
	)
}
