package plans

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// FuzzParsePlan holds that no text makes reading panic or find places outside of the file, and that
// what is found is well formed.
func FuzzParsePlan(f *testing.F) {
	for _, name := range []string{"orders.yaml", "orders_parquet.yaml", "orders_bad.yaml"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	scripts, err := filepath.Glob("testdata/scripts/*")
	if err != nil {
		f.Fatal(err)
	}
	command := regexp.MustCompile(`(?ms)^(?:findings|dump|render)[^\n]*\n(.*?)^----$`)
	for _, path := range scripts {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(b), -1) {
			f.Add(m[1])
		}
	}
	known := testKnown()
	f.Fuzz(func(t *testing.T, input string) {
		plan, fs := Parse("p.yaml", []byte(input), map[string]string{"input": "x"}, known)
		inside(t, input, fs)
		for _, x := range fs {
			if x.Rule == "" || x.Message == "" || x.Severity == "" {
				t.Fatalf("a finding without rule, message or severity: %+v", x)
			}
		}
		if plan == nil && !fs.Failed() {
			t.Fatal("neither a plan nor a finding")
		}
		if plan == nil {
			return
		}
		for _, n := range plan.Nodes {
			dumpNode(new(strings.Builder), n)
		}
		plan.Values()
	})
}

// bigPlan is a plan of n transforms in a row, between a source and a sink.
func bigPlan(n int) string {
	var b strings.Builder
	b.WriteString("params: {least: 1}\nsources:\n  t0:\n    csv:\n      path: o.csv\n      columns:\n        id: BIGINT\n        amount: DECIMAL(12, 2)\ntransforms:\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "  t%d:\n    from: t%d\n    where: id > ${least} AND amount < %d.5\n    select:\n      id: id + 1\n      amount: CASE WHEN amount > 10 THEN amount ELSE 0 END\n      x%d: UPPER('a')\n", i, i-1, i, i)
	}
	fmt.Fprintf(&b, "sinks:\n  out:\n    from: t%d\n    csv: {path: out.csv}\n", n)
	return b.String()
}

// BenchmarkParse500 reads a plan of 500 nodes.
func BenchmarkParse500(b *testing.B) {
	text := []byte(bigPlan(498))
	known := testKnown()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, fs := Parse("big.yaml", text, nil, known); len(fs) > 0 {
			b.Fatal(fs[0])
		}
	}
}

// BenchmarkParseOrders reads the README's plan: the cost of a start.
func BenchmarkParseOrders(b *testing.B) {
	text, err := os.ReadFile("orders.yaml")
	if err != nil {
		b.Fatal(err)
	}
	known := testKnown()
	for b.Loop() {
		if _, fs := Parse("orders.yaml", text, nil, known); len(fs) > 0 {
			b.Fatal(fs[0])
		}
	}
}
