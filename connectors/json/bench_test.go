package json

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// makeOrders writes about so many bytes of orders.
func makeOrders(b *testing.B, size int, blank string) string {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var w bytes.Buffer
	w.Grow(size + 1024)
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := 0; w.Len() < size; i++ {
		at = at.Add(time.Duration(rng.IntN(3)) * time.Second)
		fmt.Fprintf(&w, "{\"order_id\":%[1]s%[2]d,%[1]s\"customer_id\":%[1]s%[3]d,%[1]s\"product\":%[1]s\"product-%04[4]d\",%[1]s\"country\":%[1]s\"C%02[5]d-land\",%[1]s\"amount\":%[1]s%[6]d.%02[7]d,%[1]s\"status\":%[1]s\"%[8]s\",%[1]s\"ordered_at\":%[1]s\"%[9]s\"}\n",
			blank, i, rng.IntN(1_000_000), rng.IntN(1000), rng.IntN(50), rng.IntN(1000), rng.IntN(100), []string{"PAID", "PENDING", "CANCELLED", "SHIPPED"}[rng.IntN(4)], at.Format("2006-01-02 15:04:05.000"))
	}
	path := filepath.Join(b.TempDir(), "orders.jsonl")
	if err := os.WriteFile(path, w.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkRead reports GB of file per CPU second.
func BenchmarkRead(b *testing.B) {
	const all = "order_id BIGINT; customer_id BIGINT; product STRING; country STRING; amount DECIMAL(12, 2); status STRING; ordered_at TIMESTAMP(3)"
	for _, blank := range []string{"", " "} {
		path := makeOrders(b, 64<<20, blank)
		state, err := bind(context.Background(), Options{Path: []string{path}, Columns: cols(b, all)}, connectors.Env{})
		if err != nil {
			b.Fatal(err)
		}
		for name, c := range map[string][]int{"none": {}, "country,amount": {3, 4}, "product": {2}, "ordered_at": {6}, "all": {0, 1, 2, 3, 4, 5, 6}} {
			b.Run(fmt.Sprintf("blank=%q/%s", blank, name), func(b *testing.B) {
				from := connectortest.CPUSeconds()
				for range b.N {
					readOnce(b, state, c)
				}
				b.ReportMetric(float64(64<<20)*float64(b.N)/1e9/(connectortest.CPUSeconds()-from), "GB/CPU-s")
			})
		}
	}
}

func readOnce(b *testing.B, state []byte, columns []int) {
	src, err := openIn(files.Local(), state)
	if err != nil {
		b.Fatal(err)
	}
	src.Push(connectors.Pushdown{Columns: columns, Limit: -1})
	connectortest.ReadOnce(b, src)
}
