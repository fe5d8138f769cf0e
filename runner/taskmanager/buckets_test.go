package taskmanager

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/runner/exchange"
	"github.com/seed-4b0e9f7c/runner/runner/jobgraph"
	"github.com/seed-4b0e9f7c/runner/runner/rpc"
)

// reduces is a partial operator.
type reduces struct{ operators.Operator }

func (reduces) Partial() bool { return true }

// Large results of a partial operator are kept in buckets: each row arrives once, in the subpartition of its key group, and each key
// in one bucket, whichever of its producers it comes from.
func TestBuckets(t *testing.T) {
	schema := expr.Schema{Fields: []expr.Field{
		{Name: "k", Type: expr.Of(expr.BigInt)}, {Name: "d", Type: expr.Of(expr.Date)}, {Name: "x", Type: expr.Of(expr.Double)}, {Name: "odd", Type: expr.Of(expr.Bytes)},
		{Name: "t", Type: expr.Of(expr.String)},
	}}
	cases := []struct {
		name    string
		rows    int
		odd     func(row int) string
		buckets bool
	}{
		{"numbers", 40_000, func(int) string { return "" }, true},
		{"few", 9_000, func(int) string { return "" }, false},
		{"few texts", 90_000, func(row int) string { return fmt.Sprint(row) }, false},
		{"texts", 270_000, func(row int) string { return fmt.Sprint(row) }, true},
		{"texts in the end", 70_000, func(row int) string { return fmt.Sprint(row)[:row/40_000] }, true},
	}
	for _, c := range cases {
		for _, subs := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d subpartitions", c.name, subs), func(t *testing.T) {
				alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
				defer alloc.AssertSize(t, 0)
				local := exchange.NewLocal(alloc, t.TempDir(), 1<<30)
				var ids []exchange.ResultID
				for p := range 2 {
					x := &task{d: rpc.DeployTask{Task: rpc.TaskID{Job: "j", Vertex: "v", Subtask: p}}, tm: &TaskManager{cfg: Config{Exchange: local, Now: time.Now}}, ctx: t.Context(), alloc: alloc}
					x.members = []*member{{op: reduces{}}}
					o, err := x.newOutput(rpc.Output{
						Edge: jobgraph.Edge{ID: "e", Exchange: jobgraph.HashBy, Blocking: true, Keys: []int{0}, Schema: schema}, Subpartitions: subs, MaxParallelism: 128,
					})
					if err != nil {
						t.Fatal(err)
					}
					x.inBuckets(o)
					writeRows(t, o, alloc, schema, c.rows, p, c.odd)
					if _, err := o.finish(); err != nil {
						t.Fatal(err)
					}
					o.close()
					ids = append(ids, o.id)
				}
				readBuckets(t, local, ids, schema, subs, c.rows, c.buckets, c.odd)
				if err := local.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// writeRows writes rows in batches of a thousand, some of them with a selection. A producer other than the first has
// another dictionary of its texts for the last of its rows.
func writeRows(t *testing.T, o *output, alloc memory.Allocator, schema expr.Schema, rows, producer int, odd func(int) string) {
	t.Helper()
	first, last := texts(alloc, "t0", "t1", "t2"), texts(alloc, "t0", "t1", "t2", "unused")
	defer first.Release()
	defer last.Release()
	for from := 0; from < rows; from += 1000 {
		k, d, x, s := array.NewInt64Builder(alloc), array.NewDate32Builder(alloc), array.NewFloat64Builder(alloc), array.NewBinaryBuilder(alloc, arrow.BinaryTypes.Binary)
		c, dict := array.NewInt32Builder(alloc), first
		if producer > 0 && from > rows-5000 {
			dict = last
		}
		b := operators.Batch{}
		extra := from / 1000 % 2 // rows that are not selected
		for i := range 1000 {
			for range 1 + extra {
				k.Append(int64(from + i))
				d.Append(arrow.Date32(from + i))
				x.Append(half(from + i))
				s.Append([]byte(odd(from + i)))
				c.Append(int32(from+i) % 3)
			}
			if extra > 0 {
				b.Sel = append(b.Sel, int32(2*i))
			}
		}
		codes := c.NewArray()
		coded := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, codes, dict)
		codes.Release()
		cols := []arrow.Array{k.NewArray(), d.NewArray(), x.NewArray(), s.NewArray(), coded}
		b.Rec = column.NewRecord(schema.Fields, cols, int64(cols[0].Len()))
		for _, builder := range []array.Builder{k, d, x, s, c} {
			builder.Release()
		}
		for _, col := range cols {
			col.Release()
		}
		if err := o.write(b); err != nil {
			t.Fatal(err)
		}
	}
}

// half is a row's number, which many rows have none of.
func half(row int) float64 { return float64(max(0, row-20_000)) / 2 }

func texts(alloc memory.Allocator, list ...string) arrow.Array {
	b := array.NewStringBuilder(alloc)
	defer b.Release()
	b.AppendValues(list, nil)
	return b.NewArray()
}

func readBuckets(t *testing.T, local *exchange.Local, ids []exchange.ResultID, schema expr.Schema, subs, rows int, buckets bool, odd func(int) string) {
	t.Helper()
	hasher := column.NewHasher([]expr.Type{schema.Fields[0].Type})
	seen := make([]int, rows)
	for sub := range subs {
		g, err := local.Open(t.Context(), ids, sub, sub+1)
		if err != nil {
			t.Fatal(err)
		}
		ended := 0
		in := map[int64]int{} // keys and their buckets
		for {
			_, rec, e, err := g.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == exchange.BucketEvent {
				ended++
			}
			if rec == nil {
				continue
			}
			hashes := make([]uint64, rec.NumRows())
			hasher.Hash(rec.Columns()[:1], []uint64{0}, nil, hashes)
			for i, h := range hashes {
				k := rec.Column(0).(*array.Int64).Value(i)
				if was, ok := in[k]; ok && was != ended {
					t.Fatalf("key %d is in buckets %d and %d", k, was, ended)
				}
				in[k] = ended
				seen[k]++
				d, x, s := rec.Column(1).(*array.Date32).Value(i), rec.Column(2).(*array.Float64).Value(i), rec.Column(3).(*array.Binary).Value(i)
				if column.KeyGroup(h, 128)*subs/128 != sub || int64(d) != k || x != half(int(k)) || string(s) != odd(int(k)) {
					t.Fatalf("row %d is %d, %g, %q at subtask %d", k, d, x, s, sub)
				}
				if got, want := rec.Column(4).(*array.Dictionary).ValueStr(i), fmt.Sprint("t", k%3); got != want {
					t.Fatalf("row %d has the text %s, not %s", k, got, want)
				}
			}
			rec.Release()
		}
		if buckets != (ended > 1) {
			t.Errorf("%d buckets", ended)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	for k, n := range seen {
		if n != len(ids) {
			t.Fatalf("row %d arrived %d times", k, n)
		}
	}
}
