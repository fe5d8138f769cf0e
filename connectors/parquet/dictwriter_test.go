package parquet

import (
	"math"
	"math/rand/v2"
	"testing"
)

// amounts are sums of money with two digits: some 40,000 different ones in a million.
func amounts(n int) []float64 {
	rnd := rand.New(rand.NewPCG(1, 1))
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Round((60*(rnd.ExpFloat64()+rnd.ExpFloat64())+0.5)*100) / 100
	}
	return v
}

func BenchmarkWordDict(b *testing.B) {
	v := amounts(1 << 20)
	w := &numberWriter[float64]{limits: usualLimits()}
	for b.Loop() {
		w.reset()
		for at := 0; at < len(v); at += w.pageRows {
			w.page = v[at : at+w.pageRows]
			if _, ok := w.code(); !ok {
				b.Fatal("the dictionary is full")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(v)), "ns/value")
}
