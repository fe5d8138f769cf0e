package parquet

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// The schema comes from the file's footer, and its row groups are what it can be split into.
func Example() {
	path := filepath.Join("..", "..", "examples", "data", "orders.parquet")
	state, err := Spec.Bind(context.Background(), Options{Path: []string{path}}, connectors.Env{Node: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	source, err := Spec.Open(state)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range source.Schema().Fields {
		fmt.Println(f.Name, f.Type)
	}
	file := source.Inventory().Files[0]
	fmt.Println(file.Rows, "rows in", file.Units, "row groups")
	// Output:
	// order_id BIGINT NOT NULL
	// customer_id BIGINT
	// product STRING NOT NULL
	// country STRING NOT NULL
	// amount DECIMAL(12, 2) NOT NULL
	// status STRING NOT NULL
	// ordered_at TIMESTAMP(3) NOT NULL
	// 5000 rows in 4 row groups
}
