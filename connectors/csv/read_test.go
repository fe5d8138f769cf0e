package csv

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// cell is a value as text: what the engine holds, not what the file has.
func cell(arr arrow.Array, t expr.Type, row int) string {
	if arr.IsNull(row) {
		return "NULL"
	}
	switch a := arr.(type) {
	case *array.Boolean:
		return fmt.Sprint(a.Value(row))
	case *array.Int32:
		return fmt.Sprint(a.Value(row))
	case *array.Int64:
		if t.Kind == expr.Decimal {
			return string(expr.AppendDecimal(nil, a.Value(row), t.Scale))
		}
		if t.Kind == expr.Time {
			return string(expr.AppendTime(nil, a.Value(row), t.Precision))
		}
		return fmt.Sprint(a.Value(row))
	case *array.Float64:
		if t.Kind == expr.Float {
			return string(expr.AppendFloat(nil, a.Value(row)))
		}
		return string(expr.AppendDouble(nil, a.Value(row)))
	case *array.Decimal128:
		return string(expr.AppendDecimal128(nil, decimal128.Num(a.Value(row)), t.Scale))
	case *array.Date32:
		return string(expr.AppendDate(nil, int32(a.Value(row))))
	case *array.Binary:
		return string(expr.AppendBytes(nil, a.Value(row)))
	case *array.Timestamp:
		if t.Kind == expr.TimestampLTZ {
			return string(expr.AppendTimestampLTZ(nil, int64(a.Value(row)), t.Precision))
		}
		return string(expr.AppendTimestamp(nil, int64(a.Value(row)), t.Precision))
	case *array.String:
		return fmt.Sprintf("%q", a.Value(row))
	case *array.Dictionary:
		return cell(a.Dictionary(), t, a.GetValueIndex(row))
	}
	return fmt.Sprintf("%T", arr)
}

// rowsOf prints the live rows of a batch.
func rowsOf(b operators.Batch, s expr.Schema) []string {
	var out []string
	for i := range b.Rows() {
		r := i
		if b.Sel != nil {
			r = int(b.Sel[i])
		}
		var f []string
		for k, c := range b.Rec.Columns() {
			f = append(f, cell(c, s.Fields[k].Type, r))
		}
		out = append(out, strings.Join(f, "|"))
	}
	return out
}

// sound checks that a batch may be handed to code that looks at all rows of codes and offsets.
func sound(t testing.TB, b operators.Batch) {
	t.Helper()
	for _, c := range b.Rec.Columns() {
		switch a := c.(type) {
		case *array.Dictionary:
			for i := range a.Len() {
				if k := a.GetValueIndex(i); k < 0 || k >= a.Dictionary().Len() {
					t.Fatalf("code %d of %d in row %d", k, a.Dictionary().Len(), i)
				}
			}
		case *array.String:
			for i := range a.Len() {
				_ = a.Value(i)
			}
		}
	}
	for i, r := range b.Sel {
		if r < 0 || int64(r) >= b.Rec.NumRows() || i > 0 && r <= b.Sel[i-1] {
			t.Fatalf("selection %v", b.Sel)
		}
	}
}

// A how is a way to read.
type how struct {
	split, read int64
	scan        scanner
	columns     []int
	where       *expr.Expr
	reach       reach
	plain       bool // no dictionaries

	rejected, first int64 // expected: rows left out, and the offset of the first one
}

// bindText writes files and binds them; names without a path are put in a folder of their own.
func bindText(t testing.TB, o Options, texts ...string) (dir string, state []byte, err error) {
	t.Helper()
	return bindTextAs(t, o, connectors.Env{Node: "in"}, texts...)
}

// bindTextSkipping is bindText for a source whose bad rows are left out.
func bindTextSkipping(t testing.TB, o Options, texts ...string) (dir string, state []byte, err error) {
	t.Helper()
	return bindTextAs(t, o, connectors.Env{Node: "in", SkipBadRows: true}, texts...)
}

func bindTextAs(t testing.TB, o Options, e connectors.Env, texts ...string) (dir string, state []byte, err error) {
	t.Helper()
	dir = t.TempDir()
	for i, s := range texts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%c.csv", 'a'+i)), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if o.Path == nil {
		o.Path = []string{"*.csv"}
	}
	e.Dir = dir
	state, err = bind(context.Background(), o, e)
	return dir, state, err
}

// readAll reads a bound source with one reader per split: every reader sees one split only.
func readAll(t testing.TB, state []byte, h how) (rows []string, tally []connectors.Tally, err error) {
	t.Helper()
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t.(interface {
		Errorf(format string, args ...interface{})
		Helper()
	}), 0)
	src, err := openIn(localFS(), state)
	if err != nil {
		t.Fatal(err)
	}
	if h.scan != nil {
		src.scan = h.scan
	}
	if h.reach != (reach{}) {
		src.reach = h.reach
	}
	if h.columns != nil || h.where != nil {
		src.Push(connectors.Pushdown{Columns: h.columns, Where: h.where, Limit: -1})
	}
	schema := src.Schema().Pick(src.columns)
	books, err := connectortest.EachSplit(t, src, connectors.SplitOptions{SplitBytes: h.split, ReadBytes: h.read}, alloc, func(rd connectors.Reader) error {
		if h.plain {
			set := rd.(*reader).set
			for _, i := range set.Used() {
				set.Column(i).Plain()
			}
		}
		got, err := drain(t, rd, schema)
		rows = append(rows, got...)
		return err
	})
	if err != nil {
		return rows, nil, err
	}
	for _, y := range books {
		tally = append(tally, y)
	}
	sort.Slice(tally, func(i, j int) bool { return tally[i].File < tally[j].File })
	return rows, tally, nil
}

func drain(t testing.TB, rd connectors.Reader, schema expr.Schema) (rows []string, err error) {
	for {
		b, st, err := rd.Next(context.Background())
		if err != nil || st != connectors.More {
			return rows, err
		}
		sound(t, b)
		rows = append(rows, rowsOf(b, schema)...)
		b.Rec.Release()
	}
}

func columns(t testing.TB, list string) connectors.Columns {
	t.Helper()
	var c connectors.Columns
	for _, s := range strings.Split(list, ";") {
		name, typ, _ := strings.Cut(strings.TrimSpace(s), " ")
		if err := c.SetEntry(name, typ); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestQuotedLineBreaks is H06: the rows do not depend on where the file is cut.
func TestQuotedLineBreaks(t *testing.T) {
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "%d,\"ABC\"\"DE\nFG,HIJ\"\n", i)
	}
	off := false
	_, state, err := bindText(t, Options{Columns: columns(t, "n BIGINT; s STRING"), Header: &off}, b.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range []int64{1 << 30, 1 << 20, 65537, 4099, 257} {
		for _, read := range []int64{0, 100} {
			rows, tally, err := readAll(t, state, how{split: split, read: read})
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) != 20000 {
				t.Fatalf("split %d: %d rows", split, len(rows))
			}
			for i, r := range rows {
				if want := fmt.Sprintf("%d|%q", i, "ABC\"DE\nFG,HIJ"); r != want {
					t.Fatalf("split %d, row %d: %s, expected %s", split, i, r, want)
				}
			}
			if tally[0].Bytes != int64(b.Len()) || tally[0].Rows != 20000 {
				t.Fatalf("books: %+v", tally)
			}
		}
	}
}

// TestDictionary: codes keep their meaning while the dictionary grows, and it is given up where most
// values are new.
func TestDictionary(t *testing.T) {
	var b strings.Builder
	b.WriteString("few,many\n")
	const rows = 100000
	for i := range rows {
		fmt.Fprintf(&b, "word %d,text number %d that is longer than a key\n", i/1000, i)
	}
	_, state, err := bindText(t, Options{Columns: columns(t, "few STRING; many STRING")}, b.String())
	if err != nil {
		t.Fatal(err)
	}
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	src, err := openIn(localFS(), state)
	if err != nil {
		t.Fatal(err)
	}
	rd, err := src.Reader(&operators.Task{Ctx: context.Background(), Alloc: alloc})
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	e, err := src.Enumerator(context.Background(), connectors.SplitOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, _, err := e.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	rd.Add(splits)
	var id uint64
	meaning := map[int]string{}
	n, coded := 0, true
	for {
		x, st, err := rd.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if st != connectors.More {
			break
		}
		if id == 0 {
			id = x.Dict[0]
		}
		if x.Dict[0] != id || id == 0 {
			t.Fatalf("dictionary %d became %d", id, x.Dict[0])
		}
		few := x.Rec.Column(0).(*array.Dictionary)
		for i := range few.Len() {
			k := few.GetValueIndex(i)
			v := few.Dictionary().(*array.String).Value(k)
			if old, ok := meaning[k]; ok && old != v {
				t.Fatalf("code %d was %q and is %q", k, old, v)
			}
			meaning[k] = v
		}
		for _, r := range rowsOf(x, src.Schema()) {
			if want := fmt.Sprintf("%q|%q", fmt.Sprintf("word %d", n/1000), fmt.Sprintf("text number %d that is longer than a key", n)); r != want {
				t.Fatalf("row %d is %s", n, r)
			}
			n++
		}
		if len(x.Dict) > 1 && x.Dict[1] == 0 {
			coded = false
		}
		x.Rec.Release()
	}
	if n != rows || coded || len(meaning) > rows/1000+1 {
		t.Fatalf("%d rows, the long column coded to the end: %v, %d codes", n, coded, len(meaning))
	}
}
