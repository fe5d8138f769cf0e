package csv

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
)

// makeOrders writes about so many bytes of orders.
func makeOrders(b *testing.B, size int, quoted bool) string {
	b.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	countries := []string{"DE", "FR", "US", "GB", "PL", "IT", "ES", "NL", "SE", "NO"}
	states := []string{"PAID", "OPEN", "CANCELLED", "REFUNDED"}
	q := ""
	if quoted {
		q = `"`
	}
	var w bytes.Buffer
	w.Grow(size + 1024)
	w.WriteString("order_id,customer_id,product,country,amount,status,ordered_at\n")
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := 0; w.Len() < size; i++ {
		at = at.Add(time.Duration(rng.IntN(3)) * time.Second)
		fmt.Fprintf(&w, "%d,%d,%sproduct_%d%s,%s%s%s,%d.%02d,%s%s%s,%s\n", i, rng.IntN(1_000_000), q, rng.IntN(500), q,
			q, countries[rng.IntN(len(countries))], q, rng.IntN(1000), rng.IntN(100), q, states[rng.IntN(4)], q, at.Format("2006-01-02 15:04:05"))
	}
	path := filepath.Join(b.TempDir(), "orders.csv")
	if err := os.WriteFile(path, w.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkRead reports GB of file per CPU second.
func BenchmarkRead(b *testing.B) {
	const all = "order_id BIGINT; customer_id BIGINT; product STRING; country STRING; amount DECIMAL(12, 2); status STRING; ordered_at TIMESTAMP(3)"
	for _, quoted := range []bool{false, true} {
		path := makeOrders(b, 64<<20, quoted)
		o := Options{Path: []string{path}, Columns: columns(b, all)}
		state, err := bind(context.Background(), o, connectors.Env{})
		if err != nil {
			b.Fatal(err)
		}
		for name, cols := range map[string][]int{"none": {}, "country,amount": {3, 4}, "customer,amount": {1, 4}, "product": {2}, "ordered_at": {6}, "all": {0, 1, 2, 3, 4, 5, 6}} {
			b.Run(fmt.Sprintf("quoted=%v/%s", quoted, name), func(b *testing.B) {
				size := float64(64 << 20)
				from := connectortest.CPUSeconds()
				for range b.N {
					readOnce(b, state, cols)
				}
				b.ReportMetric(size*float64(b.N)/1e9/(connectortest.CPUSeconds()-from), "GB/CPU-s")
			})
		}
	}
}

func readOnce(b *testing.B, state []byte, cols []int) {
	src, err := openIn(localFS(), state)
	if err != nil {
		b.Fatal(err)
	}
	src.Push(connectors.Pushdown{Columns: cols, Limit: -1})
	connectortest.ReadOnce(b, src)
}
