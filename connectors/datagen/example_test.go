package datagen_test

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/datagen"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// Three orders, the same ones every time.
func Example() {
	ctx := context.Background()
	c := connectors.Erase(datagen.Spec)
	options := `{"number_of_rows": 3,
		"columns": [{"name": "id", "type": "BIGINT"}, {"name": "country", "type": "STRING"}, {"name": "ordered_at", "type": "TIMESTAMP(0)"}],
		"fields": {"id": {"kind": "sequence"}, "country": {"values": ["DE", "FR", "US"]}, "ordered_at": {"kind": "event_time", "interval": 60000}}}`
	state, err := c.Bind(ctx, []byte(options), connectors.Env{Node: "orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	src, err := c.Open(state)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := src.Enumerator(ctx, connectors.SplitOptions{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	splits, _, err := e.Discover(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := src.Reader(&operators.Task{Ctx: ctx, Alloc: memory.NewGoAllocator()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	r.Add(splits)
	b, _, err := r.Next(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Rec.Release()
	for row := range b.Rows() {
		fmt.Println(connectortest.Text(b, src.Schema(), row))
	}
	// Output:
	// 1|FR|2024-01-01 00:00:00
	// 2|US|2024-01-01 00:01:00
	// 3|FR|2024-01-01 00:02:00
}
