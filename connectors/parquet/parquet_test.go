package parquet

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func alloc(t *testing.T) *memory.CheckedAllocator {
	t.Helper()
	a := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { a.AssertSize(t, 0) })
	return a
}

func schemaOf(t *testing.T, list string) expr.Schema {
	t.Helper()
	var s expr.Schema
	for _, f := range strings.Split(list, "; ") {
		name, text, _ := strings.Cut(f, " ")
		typ, err := expr.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Fields = append(s.Fields, expr.Field{Name: name, Type: typ})
	}
	return s
}

const everyType = "b BOOLEAN; i INT; l BIGINT NOT NULL; d DOUBLE; m DECIMAL(9, 2); m18 DECIMAL(18, 4); w DECIMAL(38, 10); w20 DECIMAL(20, 0); " +
	"s STRING; sn STRING NOT NULL; day DATE; t0 TIMESTAMP(0); t3 TIMESTAMP(3); t6 TIMESTAMP(6)" +
	"; c3 TIME(3); c6 TIME(6); l3 TIMESTAMP_LTZ(3); l6 TIMESTAMP_LTZ(6); y BYTES; yn BYTES NOT NULL"

// value is the value of a column in a row, made so that all kinds occur.
func appendValue(b array.Builder, f expr.Field, row int) {
	if !f.Type.NotNull && (row+len(f.Name))%5 == 0 {
		b.AppendNull()
		return
	}
	n := int64(row*row-50) % 1_000_000_000 * int64(1-row%2*2)
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(row%3 == 0)
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Int64Builder:
		if row == 7 && f.Type.Kind == expr.BigInt {
			n = -1 << 63
		}
		if f.Type.Kind == expr.Time {
			n = int64(row) * 7_654_321_001 % 86_400_000_000
			if f.Type.Precision == 3 {
				n -= n % 1000
			}
		}
		b.Append(n)
	case *array.Float64Builder:
		b.Append(float64(n) / 7)
	case *array.Decimal128Builder:
		v := decimal128.FromI64(n)
		if row%4 == 1 {
			v = decimal128.GetScaleMultiplier(f.Type.Precision).Sub(decimal128.FromI64(1))
		}
		if row%4 == 2 {
			v = decimal128.GetScaleMultiplier(f.Type.Precision).Sub(decimal128.FromI64(1)).Negate()
		}
		b.Append(v)
	case *array.BinaryBuilder:
		b.Append([][]byte{{}, {0, 0xff, 0xc3}, []byte("text"), bytes.Repeat([]byte{byte(row)}, 100)}[row%4])
	case *array.StringBuilder:
		b.Append([]string{"", "ä", "plain", strings.Repeat("long ", 20), fmt.Sprint("v", row)}[row%5])
	case *array.Date32Builder:
		b.Append(arrow.Date32([]int32{0, -719162, 2932896, 2932897, 19000000, int32(row)}[row%6]))
	case *array.TimestampBuilder:
		step := int64(1)
		for range 6 - f.Type.Precision {
			step *= 10
		}
		b.Append(arrow.Timestamp((n*1_000_003 + int64(row)*86_400_000_007) / step * step))
	default:
		panic(fmt.Sprintf("%T", b))
	}
}

// record makes rows from..from+n-1; coded gives STRING columns a dictionary.
func record(a memory.Allocator, s expr.Schema, from, n int, coded bool) arrow.Record {
	cols := make([]arrow.Array, len(s.Fields))
	for c, f := range s.Fields {
		b := array.NewBuilder(a, f.Type.Arrow())
		for row := from; row < from+n; row++ {
			appendValue(b, f, row)
		}
		cols[c] = b.NewArray()
		b.Release()
		if coded && f.Type.Kind == expr.String {
			cols[c] = encode(a, cols[c].(*array.String))
		}
	}
	rec := column.NewRecord(s.Fields, cols, int64(n))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

func encode(a memory.Allocator, s *array.String) arrow.Array {
	defer s.Release()
	b := array.NewDictionaryBuilder(a, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	defer b.Release()
	for i := range s.Len() {
		if s.IsNull(i) {
			b.AppendNull()
		} else if err := b.AppendString(s.Value(i)); err != nil {
			panic(err)
		}
	}
	return b.NewArray()
}

func lines(b operators.Batch, s expr.Schema) []string {
	var out []string
	for i := range b.Rows() {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		var l []byte
		for c, f := range s.Fields {
			l = append(column.AppendText(l, b.Rec.Column(c), f.Type, row), '|')
		}
		out = append(out, string(l))
	}
	return out
}

// write writes batches through the sink and gives the published files.
func write(t *testing.T, a memory.Allocator, o Options, s expr.Schema, subtasks int, batches ...operators.Batch) []string {
	t.Helper()
	bound, err := Spec.BindSink(t.Context(), o, s, connectors.Env{Node: "out"})
	if err != nil {
		t.Fatal(err)
	}
	sink, err := Spec.OpenSink(bound.State, s)
	if err != nil {
		t.Fatal(err)
	}
	var all []connectors.Committable
	for sub := range subtasks {
		w, err := sink.Writer(&operators.Task{Ctx: t.Context(), Alloc: a, Subtask: sub, Parallelism: subtasks}, "run", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range batches {
			if i%subtasks == sub {
				if err := w.Write(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		c, err := w.Prepare(0, true)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c...)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := sink.Committer()
	if err != nil {
		t.Fatal(err)
	}
	names, err := c.Commit(t.Context(), "run", 0, all)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// An input is what a test reads with.
type input struct {
	Options
	push  *connectors.Pushdown
	split connectors.SplitOptions
}

// readAll reads all splits, and checks books, origins and places on the way.
func readAll(t *testing.T, a memory.Allocator, in input) ([]string, error) {
	t.Helper()
	state, err := Spec.Bind(t.Context(), in.Options, connectors.Env{Node: "in"})
	if err != nil {
		return nil, err
	}
	src, err := Spec.Open(state)
	if err != nil {
		return nil, err
	}
	s := src.Schema()
	if in.push != nil {
		src.Push(*in.push)
		s = s.Pick(in.push.Columns)
	}
	e, err := src.Enumerator(t.Context(), in.split, nil)
	if err != nil {
		return nil, err
	}
	splits, done, err := e.Discover(t.Context())
	if err != nil || !done {
		t.Fatal(err, done)
	}
	r, err := src.Reader(&operators.Task{Ctx: t.Context(), Alloc: a})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	var got []string
	for len(splits) > 0 {
		r.Add(splits[:1])
		splits = splits[1:]
		for {
			b, status, err := r.Next(t.Context())
			if err != nil {
				return got, err
			}
			if status == connectors.NeedSplit {
				break
			}
			l := lines(b, s)
			got = append(got, l...)
			checkPlace(t, r, b, s, l)
			b.Rec.Release()
		}
	}
	checkBooks(t, r, src.Inventory(), len(got))
	return got, nil
}

func checkPlace(t *testing.T, r connectors.Reader, b operators.Batch, s expr.Schema, l []string) {
	t.Helper()
	if len(s.Fields) == 0 || len(l) == 0 {
		return
	}
	row := int64(b.Rec.NumRows() - 1)
	if b.Sel != nil {
		row = int64(b.Sel[len(b.Sel)-1])
	}
	p, err := r.Locate(t.Context(), b.From, row, s.Fields[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := strings.Cut(l[len(l)-1], "|")
	if !strings.HasPrefix(p.Value, want) || p.Line < 1 {
		t.Errorf("located %+v, want %s", p, want)
	}
}

func checkBooks(t *testing.T, r connectors.Reader, inv connectors.Inventory, rows int) {
	t.Helper()
	var bytes, read, pruned, filtered, wantBytes, wantRows int64
	for _, y := range r.Tally() {
		bytes += y.Bytes
		read += y.Read
		pruned += y.Pruned
		filtered += y.Filtered
		if y.Unread != 0 || y.Rows != y.Read+y.Pruned {
			t.Errorf("not all read: %+v", y)
		}
	}
	for _, f := range inv.Files {
		wantBytes += f.Bytes
		wantRows += f.Rows
	}
	if bytes != wantBytes || read+pruned != wantRows || read-filtered != int64(rows) {
		t.Errorf("read %d bytes of %d, %d rows and pruned %d of %d, %d filtered, %d given out", bytes, wantBytes, read, pruned, wantRows, filtered, rows)
	}
}

func TestRoundTrip(t *testing.T) {
	s := schemaOf(t, everyType)
	for _, c := range []struct {
		name, compression string
		batches           []int
		group             int64
		read, split       int64
	}{
		{"one", "", []int{100}, 0, 0, 0},
		{"groups", "zstd", []int{7, 100, 1, 300}, 50, 0, 1},
		{"small batches", "none", []int{40, 2}, 1000, 64 * 3, 0},
		{"large", "snappy", []int{20000, 20000, 10000}, 30000, 0, 0},
		{"empty", "", nil, 0, 0, 0},
		{"empty batch", "", []int{0}, 0, 0, 0},
	} {
		for _, ext := range []string{".parquet", ""} {
			t.Run(c.name+ext, func(t *testing.T) {
				a := alloc(t)
				path := filepath.Join(t.TempDir(), "out"+ext)
				var batches []operators.Batch
				var want []string
				at := 0
				for i, n := range c.batches {
					b := operators.Batch{Rec: record(a, s, at, n, i%2 == 1)}
					if i == 1 {
						b.Sel = []int32{0, 2, 5}[:min(3, n)]
						if n < 6 {
							b.Sel = b.Sel[:1]
						}
					}
					want = append(want, lines(b, s)...)
					batches = append(batches, b)
					at += n
				}
				names := write(t, a, Options{Path: []string{path}, Compression: c.compression, RowGroupRows: c.group}, s, 1, batches...)
				if len(names) != 1 {
					t.Fatal(names)
				}
				got, err := readAll(t, a, input{Options: Options{Path: []string{path}, Columns: s.Fields}, split: connectors.SplitOptions{SplitBytes: c.split, ReadBytes: c.read}})
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(want) {
					t.Fatalf("%d rows, want %d", len(got), len(want))
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("row %d:\n got %s\nwant %s", i, got[i], want[i])
					}
				}
			})
		}
	}
}

func TestSchema(t *testing.T) {
	s := schemaOf(t, everyType)
	path := filepath.Join(t.TempDir(), "out.parquet")
	write(t, memory.DefaultAllocator, Options{Path: []string{path}}, s, 1)
	state, err := Spec.Bind(t.Context(), Options{Path: []string{path}}, connectors.Env{})
	if err != nil {
		t.Fatal(err)
	}
	src, err := Spec.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(s.String(), "TIMESTAMP(0)", "TIMESTAMP(3)")
	if got := src.Schema().String(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// TestManyTexts has more different texts than a dictionary takes, some before and some after.
func TestManyTexts(t *testing.T) {
	a := alloc(t)
	s := schemaOf(t, "s STRING; n BIGINT")
	path := filepath.Join(t.TempDir(), "x.parquet")
	var batches []operators.Batch
	var want []string
	for at := 0; at < 100_000; at += 10_000 {
		b, n := array.NewStringBuilder(a), array.NewInt64Builder(a)
		for i := at; i < at+10_000; i++ {
			switch {
			case i%17 == 0:
				b.AppendNull()
			case at < 20_000:
				b.Append(fmt.Sprint("few ", i%10))
			default:
				b.Append(fmt.Sprint("text number ", i))
			}
			n.Append(int64(i))
		}
		cols := []arrow.Array{b.NewArray(), n.NewArray()}
		rec := column.NewRecord(s.Fields, cols, 10_000)
		cols[0].Release()
		cols[1].Release()
		b.Release()
		n.Release()
		batches = append(batches, operators.Batch{Rec: rec})
		want = append(want, lines(batches[len(batches)-1], s)...)
	}
	write(t, a, Options{Path: []string{path}, RowGroupRows: 70_000}, s, 1, batches...)
	got, err := readAll(t, a, input{Options: Options{Path: []string{path}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d rows", len(got))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d: %s, want %s", i, got[i], want[i])
		}
	}
}
