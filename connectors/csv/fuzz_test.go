package csv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// An oracle reads a file row by row with scanRecord and the functions of package expr alone.
type oracle struct {
	data  []byte
	b     bound
	cols  []int // wanted
	where int64 // with a filter on column 0: its least value
	has   bool

	rejected int64
	first    int64 // offset of the first row left out
}

// rows are the rows before the first fault, and the fault.
func (o *oracle) rows() (rows []string, err *connectors.DataError) {
	in := &o.b.Files[0]
	at := int(in.Data)
	for at < len(o.data) {
		r := scanRecord(o.data[at:], o.b.Delimiter, true, nil)
		if r.verdict != whole {
			f := structural(r, o.data[at:], int64(at), 1, 0)
			return rows, o.fail(f, r, at, len(r.fields))
		}
		raw := o.data[at : at+r.length]
		if r.blank && in.Fields > 1 {
			at += r.length
			continue
		}
		if len(r.fields) != in.Fields && o.b.Skip {
			o.reject(at)
			at += r.length
			continue
		}
		if len(r.fields) != in.Fields {
			return rows, o.fail(ragged(r, raw, int64(at), 1, in.Fields), r, at, -1)
		}
		row, pass, f, k := o.row(r, raw)
		if f != nil && o.b.Skip {
			o.reject(at)
			at += r.length
			continue
		}
		if f != nil {
			f.file, f.record = 1, int64(at)
			return rows, o.fail(f, r, at, k)
		}
		if pass {
			rows = append(rows, row)
		}
		at += r.length
	}
	return rows, nil
}

func (o *oracle) reject(at int) {
	if o.rejected++; o.rejected == 1 {
		o.first = int64(at)
	}
}

// row is one row as text, or its first fault with the field's place.
func (o *oracle) row(r record, raw []byte) (row string, pass bool, f *fault, k int) {
	texts := make([]string, len(o.b.Columns))
	order := slices.Clone(o.cols)
	if o.b.CheckAll {
		order = order[:0]
		for i := range texts {
			order = append(order, i)
		}
	}
	slices.Sort(order)
	filter := 0
	if o.has {
		order = append([]int{0}, slices.DeleteFunc(order, func(i int) bool { return i == 0 })...)
		if o.b.CheckAll {
			filter = len(order) - 1
		}
	}
	var pass0 bool
	for n, i := range order {
		s := r.fields[i]
		v, null, f := oracleValue(o.b.Columns[i], s.text(raw), s.quoted, o.b.Nulls)
		if f != nil {
			return "", false, f, i
		}
		texts[i] = v
		if i == 0 && o.has {
			var x int64
			_, err := fmt.Sscan(v, &x)
			pass0 = !null && err == nil && x >= o.where
		}
		if o.has && n == filter && !pass0 {
			return "", false, nil, 0
		}
	}
	var out []string
	for _, i := range o.cols {
		out = append(out, texts[i])
	}
	return strings.Join(out, "|"), true, nil, 0
}

func oracleValue(c expr.Field, b []byte, quoted bool, nulls []string) (text string, null bool, f *fault) {
	if !quoted && slices.Contains(nulls, string(b)) {
		if c.Type.NotNull {
			return "", true, nullFault(c, b)
		}
		return "NULL", true, nil
	}
	var s expr.Status
	switch t := c.Type; t.Kind {
	case expr.TinyInt, expr.SmallInt:
		var v int32
		v, s = expr.ParseSmall(b, t.Bits())
		text = fmt.Sprint(v)
	case expr.Float:
		var v float64
		v, s = expr.ParseFloat(b)
		text = string(expr.AppendFloat(nil, v))
	case expr.Int:
		var v int32
		v, s = expr.ParseInt32(b)
		text = fmt.Sprint(v)
	case expr.BigInt:
		var v int64
		v, s = expr.ParseInt64(b)
		text = fmt.Sprint(v)
	case expr.Double:
		var v float64
		v, s = expr.ParseDouble(b)
		text = string(expr.AppendDouble(nil, v))
	case expr.Date:
		var v int32
		v, s = expr.ParseDate(b)
		text = string(expr.AppendDate(nil, v))
	case expr.Timestamp:
		var v int64
		v, s = expr.ParseTimestamp(b, t.Precision)
		text = string(expr.AppendTimestamp(nil, v, t.Precision))
	case expr.Time:
		var v int64
		v, s = expr.ParseTime(b, t.Precision)
		text = string(expr.AppendTime(nil, v, t.Precision))
	case expr.TimestampLTZ:
		var v int64
		utc, _ := expr.LoadZone("")
		v, s = expr.ParseTimestampLTZ(b, t.Precision, utc)
		text = string(expr.AppendTimestampLTZ(nil, v, t.Precision))
	case expr.Bytes:
		var v []byte
		v, s = expr.ParseBytes(b)
		text = string(expr.AppendBytes(nil, v))
	case expr.Boolean:
		var v bool
		v, s = expr.ParseBoolean(b)
		text = fmt.Sprint(v)
	case expr.Decimal:
		if t.Precision <= expr.MaxDecimal64 {
			var v int64
			v, s = expr.ParseDecimal64(b, t.Precision, t.Scale)
			text = string(expr.AppendDecimal(nil, v, t.Scale))
		} else {
			v, st := expr.ParseDecimal128(b, t.Precision, t.Scale)
			s = st
			text = string(expr.AppendDecimal128(nil, v, t.Scale))
		}
	default:
		if !utf8.Valid(b) {
			x := columntext.InvalidText(0, b)
			return "", false, textFault(c, b, x.At)
		}
		text = fmt.Sprintf("%q", b)
	}
	if s != expr.OK {
		return "", false, castFault(c, b, s)
	}
	return text, false, nil
}

// fail gives a fault its place by counting.
func (o *oracle) fail(f *fault, r record, at, k int) *connectors.DataError {
	byteAt := at
	col := 0
	if k >= 0 {
		col = k + 1
		if k < len(r.fields) {
			byteAt = at + r.fields[k].start
			if r.fields[k].quoted {
				byteAt--
			}
		}
	}
	if f.spot >= 0 {
		byteAt = int(f.spot)
	}
	e := &connectors.DataError{
		Kind: f.kind, File: o.b.Files[0].Path, Line: int64(bytes.Count(o.data[:byteAt], []byte{'\n'})) + 1,
		Column: int64(col), Field: f.field, Value: f.value, Wanted: f.wanted, Order: [2]int64{1, int64(at)},
	}
	return e
}

// whereAtLeast is the filter c0 >= least.
func whereAtLeast(c expr.Field, least int64) *expr.Expr {
	e := &expr.Expr{Op: expr.OpCall, Name: ">=", Type: expr.Of(expr.Boolean), Args: []*expr.Expr{
		{Op: expr.OpColumn, Name: c.Name, Col: 0, Type: c.Type},
		{Op: expr.OpLiteral, Type: expr.Of(expr.BigInt).Nullable(false), Value: &expr.Value{Int: least}},
	}}
	return e
}

// FuzzCSV compares the reader with the oracle: same rows, same books, same first fault, whatever the
// splits, the reads and the scanner.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"1,2\n3,4\n", "1,a\r\n2,\"b\nc\"\r\n", "1,\"a\"\"b\"\n\n2,5\" x\n", "1,2024-02-29 00:00:01.5\n,\n", "12345678,1.5\n-1,.5\n9.5,x\n",
		"\"1\",\"\"\n\"2\",\",\"\"\"\n", "1\n\n2\n", "1,2\n3", "\"\n\",\"\n\"\n", "a\rb,1\n", "1,2\r\n3,4\n5,6\r", "2024-01-01,2024-01-01\n2024-01-01,2024-02-30\n",
		"1,\"" + strings.Repeat("x,y\n1,2\n", 20) + "\"\n5,\"6\"\n", "5\",1\n2,\"x\n3\",4\n5,\"6\"\n", "yes,no\n1,0\nT,F\n", "1,\xff\n2,\xc3\xa9\n",
	} {
		for k := range uint64(4) {
			f.Add([]byte(s), k*0x9e3779b97f4a7c15, uint16(k*5+1), uint16(k*11+1))
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, split, read uint16) {
		if len(data) > 1024 || text.Marked(data) != "" {
			return // a file of UTF-16 or UTF-32 by its mark is decoded first, which the oracle does not do
		}
		compare(t, dir, data, seed, int64(split%512)+1, int64(read%256)+1)
	})
}

// compare reads data in all ways that seed says.
func compare(t *testing.T, dir string, data []byte, seed uint64, split, read int64) {
	types := []string{
		"INT", "STRING", "BIGINT", "DECIMAL(6, 2)", "DOUBLE", "TIMESTAMP(3)", "DATE", "BOOLEAN", "DECIMAL(25, 3)",
		"STRING NOT NULL", "TIMESTAMP(6)", "DECIMAL(18, 12)", "BIGINT NOT NULL", "DECIMAL(3, 3)", "TINYINT", "FLOAT", "SMALLINT NOT NULL", "TIME(3)", "TIMESTAMP_LTZ(6)", "BYTES",
	}
	pick := func(n uint64) uint64 {
		v := seed % n
		seed = seed/n ^ seed<<7 ^ 0x5bd1e995
		return v
	}
	first := scanRecord(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")), ',', true, nil)
	o := Options{Path: []string{"x.csv"}, Header: new(bool)}
	for i := range min(max(len(first.fields), 1), 8) {
		typ, err := expr.ParseType(types[pick(uint64(len(types)))])
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && pick(2) == 0 {
			typ = expr.Of(expr.BigInt)
		}
		o.Columns = append(o.Columns, expr.Field{Name: fmt.Sprintf("c%d", i), Type: typ})
	}
	if pick(3) == 0 {
		o.NullValues = []string{"1", "NULL"}
	}
	if pick(4) == 0 {
		o.Check = "all"
	}
	if err := os.WriteFile(filepath.Join(dir, "x.csv"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	state, err := bind(context.Background(), o, connectors.Env{Dir: dir, SkipBadRows: pick(3) == 0})
	if err != nil {
		return // its first record is at fault
	}
	want := oracle{data: data, cols: []int{}}
	if err := json.Unmarshal(state, &want.b); err != nil {
		t.Fatal(err)
	}
	for i := range o.Columns {
		if pick(3) > 0 {
			want.cols = append(want.cols, len(o.Columns)-1-i)
		}
	}
	h := how{split: split, read: read, columns: want.cols}
	if k := o.Columns[0].Type.Kind; k == expr.BigInt && pick(3) > 0 {
		want.has, want.where = true, 3
		h.where = whereAtLeast(o.Columns[0], want.where)
	}
	rows, fails := want.rows()
	h.plain = pick(3) == 0
	h.rejected, h.first = want.rejected, want.first
	agree(t, inOrder(t, state), h, rows, fails, false)
	step := []int64{1, 13, 64, probeStep}[pick(4)]
	for _, h.scan = range []scanner{bestScanner(), scanPortable} {
		for _, near := range []int{probeNear, 16} {
			n := int64(near)
			h.reach = reach{near: near, far: near * 4, back: [3]int64{n / 2, n, n * 2}, step: step, most: n * 4}
			agree(t, state, h, rows, fails, near < probeNear)
		}
	}
}

// inOrder makes a bound source read its files on the complete path.
func inOrder(t *testing.T, state []byte) []byte {
	t.Helper()
	var b bound
	if err := json.Unmarshal(state, &b); err != nil {
		t.Fatal(err)
	}
	for i := range b.Files {
		b.Files[i].InOrder = "a test says so"
	}
	state, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// agree reads and compares. Where a prober sees little it may refuse a file, and never misread it.
func agree(t *testing.T, state []byte, h how, rows []string, fails *connectors.DataError, blind bool) {
	t.Helper()
	got, tally, err := readAll(t, state, h)
	var e *connectors.DataError
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("no data error: %v", err)
	}
	if blind && e != nil && strings.Contains(e.Message, "so long that a split") {
		return
	}
	if (fails == nil) != (e == nil) {
		t.Fatalf("fault: got %v, expected %v", err, fails)
	}
	if e != nil {
		x := *e
		x.Message, x.Cause = "", nil
		if x != *fails {
			t.Fatalf("fault:\n got      %+v\n expected %+v\n (%v)", x, *fails, err)
		}
	}
	if fails != nil && blind {
		return // rows of a split that was begun wrongly are given out before that is known
	}
	if fails != nil && !blind {
		if x := leastFault(t, state, h); x != *fails {
			t.Fatalf("least fault of all splits:\n got      %+v\n expected %+v", x, *fails)
		}
	}
	if !slices.Equal(got, rows) {
		t.Fatalf("rows:\n got      %q\n expected %q", got, rows)
	}
	if fails == nil && len(tally) > 0 {
		var f bound
		if err := json.Unmarshal(state, &f); err != nil {
			t.Fatal(err)
		}
		if tally[0].Bytes != f.Files[0].Bytes || tally[0].Rows != tally[0].Read || tally[0].Read-tally[0].Filtered-tally[0].Rejected != int64(len(rows)) || tally[0].Rejected != h.rejected {
			t.Fatalf("books: %+v for %d rows of %d bytes, %d rejected", tally[0], len(rows), f.Files[0].Bytes, h.rejected)
		}
		if r := tally[0].FirstReject; h.rejected > 0 && (r == nil || r.Order != [2]int64{1, h.first} || r.Line < 1) {
			t.Fatalf("first reject: %+v, expected one at byte %d", r, h.first)
		}
	}
}

// leastFault reads every split by itself and gives the first fault in file order, as a job does.
func leastFault(t *testing.T, state []byte, h how) (least connectors.DataError) {
	t.Helper()
	src, err := openIn(localFS(), state)
	if err != nil {
		t.Fatal(err)
	}
	src.scan, src.reach = h.scan, h.reach
	src.Push(connectors.Pushdown{Columns: h.columns, Where: h.where, Limit: -1})
	_, err = connectortest.EachSplit(t, src, connectors.SplitOptions{SplitBytes: h.split, ReadBytes: h.read}, memory.NewGoAllocator(), func(rd connectors.Reader) error {
		_, err := drain(t, rd, src.Schema().Pick(src.columns))
		var d *connectors.DataError
		if errors.As(err, &d) && (least.Order[0] == 0 || d.Order[1] < least.Order[1]) {
			least = *d
			least.Message, least.Cause = "", nil
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return least
}
