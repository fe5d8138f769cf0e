package csv_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/csv"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// A source is bound once; what that found is data, of which any process makes readers.
func Example() {
	dir, err := os.MkdirTemp("", "csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	text := "name,age,town\nBob,31,Oslo\nSam,,\"Stoke-on-Trent, UK\"\n"
	if err := os.WriteFile(filepath.Join(dir, "people.csv"), []byte(text), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	c := connectors.Erase(csv.Spec)
	options := `{"path": ["people.csv"], "columns": [{"name": "town", "type": "STRING"}, {"name": "age", "type": "INT"}]}`
	state, err := c.Bind(context.Background(), []byte(options), connectors.Env{Node: "people", Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(read(c, state))
	// Output:
	// Oslo|31
	// Stoke-on-Trent, UK|NULL
	// <nil>
}

// read prints all rows.
func read(c connectors.Component, state []byte) error {
	ctx := context.Background()
	src, err := c.Open(state)
	if err != nil {
		return err
	}
	e, err := src.Enumerator(ctx, connectors.SplitOptions{}, nil)
	if err != nil {
		return err
	}
	splits, _, err := e.Discover(ctx)
	if err != nil {
		return err
	}
	r, err := src.Reader(&operators.Task{Ctx: ctx, Alloc: memory.NewGoAllocator()})
	if err != nil {
		return err
	}
	r.Add(splits)
	for {
		b, status, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if status != connectors.More {
			return r.Close()
		}
		for i := range b.Rows() {
			fmt.Println(connectortest.Text(b, src.Schema(), i))
		}
		b.Rec.Release()
	}
}
