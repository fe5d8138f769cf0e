package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	protocol "github.com/apache/thrift/lib/go/thrift"
	"github.com/xitongsys/parquet-go-source/buffer"
	format "github.com/xitongsys/parquet-go/parquet"
	other "github.com/xitongsys/parquet-go/reader"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// A maker makes the values of a column, so that all ways to encode it come up.
type maker struct {
	field expr.Field
	nulls float64
	kind  int // constant, few, many, rising, runs, long or extreme values
	run   int
	last  int64
}

func (m *maker) next(rnd *rand.Rand, row int) int64 {
	switch m.kind {
	case 0:
		return 42
	case 1:
		return rnd.Int64N(5) * 1_000_003
	case 2:
		return rnd.Int64N(1 << 40)
	case 3:
		m.last += rnd.Int64N(3)
		return m.last
	case 4:
		if m.run--; m.run < 0 {
			m.run, m.last = rnd.IntN(100), rnd.Int64N(300)
		}
		return m.last
	}
	return int64(rnd.Uint64())
}

func (m *maker) append(b array.Builder, rnd *rand.Rand, row int) {
	if !m.field.Type.NotNull && rnd.Float64() < m.nulls {
		b.AppendNull()
		return
	}
	n := m.next(rnd, row)
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(n&1 == 0)
	case *array.Int32Builder:
		shift := 64 - m.field.Type.Bits()
		b.Append(int32(n << shift >> shift))
	case *array.Int64Builder:
		if m.field.Type.Kind == expr.Decimal {
			n %= int64(math.Pow10(m.field.Type.Precision))
		}
		b.Append(n)
	case *array.Float64Builder:
		v := float64(n) / 8
		if m.kind >= 5 {
			v = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -1.5, 1e300}[rnd.IntN(7)]
		}
		if m.field.Type.Kind == expr.Float {
			v = float64(float32(v))
		}
		b.Append(v)
	case *array.Decimal128Builder:
		v := decimal128.FromI64(n)
		if m.kind >= 5 {
			v = v.Mul(decimal128.FromI64(int64(math.Pow10(m.field.Type.Precision - 19))))
		}
		b.Append(v)
	case *array.StringBuilder:
		s := fmt.Sprintf("v%x", n)
		switch m.kind {
		case 5:
			s = strings.Repeat("ä€x", rnd.IntN(60)) + s
		case 6:
			s = strings.Repeat(string(rune(0x10ffff)), rnd.IntN(20))
		}
		b.Append(s)
	case *array.Date32Builder:
		b.Append(arrow.Date32(n % 3_000_000))
	case *array.TimestampBuilder:
		step := int64(math.Pow10(6 - m.field.Type.Precision))
		b.Append(arrow.Timestamp(n % (1 << 55) / step * step))
	default:
		panic(fmt.Sprintf("%T", b))
	}
}

// randomBatches are rows of a random schema, as the engine may hand them on: selected, coded, in pieces.
func randomBatches(t *testing.T, a memory.Allocator, rnd *rand.Rand) (expr.Schema, []operators.Batch) {
	t.Helper()
	kinds := []string{"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(9, 2)", "DECIMAL(18, 4)", "DECIMAL(20, 0)", "DECIMAL(38, 10)", "STRING", "STRING", "DATE", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)"}
	var list []string
	var makers []*maker
	for i := range 1 + rnd.IntN(6) {
		text := kinds[rnd.IntN(len(kinds))]
		if rnd.IntN(3) == 0 {
			text += " NOT NULL"
		}
		list = append(list, fmt.Sprintf("c%d %s", i, text))
		makers = append(makers, &maker{nulls: []float64{0, 0.01, 0.5, 0.95, 1}[rnd.IntN(5)], kind: rnd.IntN(7)})
	}
	s := schemaOf(t, strings.Join(list, "; "))
	for i, f := range s.Fields {
		makers[i].field = f
	}
	var batches []operators.Batch
	for range rnd.IntN(5) {
		n := rnd.IntN(400)
		cols := make([]arrow.Array, len(makers))
		for c, m := range makers {
			b := array.NewBuilder(a, m.field.Type.Arrow())
			for row := range n + 1 {
				m.append(b, rnd, row)
			}
			whole := b.NewArray()
			b.Release()
			if m.field.Type.Kind == expr.String && rnd.IntN(2) == 0 {
				whole = encode(a, whole.(*array.String))
			}
			cols[c] = array.NewSlice(whole, 1, int64(n+1)) // an offset, as slices have
			whole.Release()
		}
		b := operators.Batch{Rec: column.NewRecord(s.Fields, cols, int64(n))}
		for _, c := range cols {
			c.Release()
		}
		if rnd.IntN(2) == 0 {
			b.Sel = []int32{}
			for row := range n {
				if rnd.IntN(3) > 0 {
					b.Sel = append(b.Sel, int32(row))
				}
			}
		}
		batches = append(batches, b)
	}
	return s, batches
}

// TestRandomFiles writes random rows with small pages, dictionaries and row groups, and reads them back
// with three implementations; what footer and page index say is held against the rows.
func TestRandomFiles(t *testing.T) {
	for seed := range uint64(150) {
		checkRandomFile(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkRandomFile(t *testing.T, seed uint64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 19))
	a := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer a.AssertSize(t, 0)
	s, batches := randomBatches(t, a, rnd)
	var want []string
	for _, b := range batches {
		want = append(want, lines(b, s)...)
	}
	codec := []string{"none", "snappy", "zstd", "gzip", "lz4_raw"}[rnd.IntN(5)]
	l := &limits{pageRows: 1 + rnd.IntN(200), pageBytes: 1 + rnd.IntN(3000), dictionary: rnd.IntN(2000), mostBytes: 1 + rnd.Int64N(1<<18)}
	data := encodeBatches(t, s, codec, l, int64(1+rnd.IntN(500)), batches)
	path := save(t, data)
	got, err := readAll(t, a, input{Options: Options{Path: []string{path}, Columns: s.Fields}})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "our reader", s, got, want)
	checkPageIndex(t, data, s, want)
	if codec == "lz4_raw" {
		return // which neither of the others knows
	}
	same(t, "the library", s, libraryLines(t, data, s), want)
	if len(want) > 0 { // the other reader does not open files without row groups
		same(t, "the other reader", s, otherLines(t, data, s, len(want)), want)
	}
}

func encodeBatches(t testing.TB, s expr.Schema, compression string, l *limits, groupRows int64, batches []operators.Batch) []byte {
	t.Helper()
	codec, err := sinkState{Compression: compression}.codec()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e, err := newEncoder(s, &b, codec, l, groupRows, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range batches {
		if err := e.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(e.Finish(), e.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func same(t *testing.T, who string, s expr.Schema, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d (%v)", who, len(got), len(want), s.Fields)
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s, row %d of %v:\n got %q\nwant %q", who, i, s.Fields, got[i], want[i])
			return
		}
	}
}

// libraryLines reads a file with the Arrow library.
func libraryLines(t *testing.T, data []byte, s expr.Schema) []string {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var rows []string
	for g := range r.NumRowGroups() {
		group := r.RowGroup(g)
		at := len(rows)
		rows = append(rows, make([]string, group.NumRows())...)
		for c, f := range s.Fields {
			col, err := group.Column(c)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range libraryAny(t, col, int(group.NumRows())) {
				rows[at+i] += foreignText(v, f.Type) + "|"
			}
		}
	}
	return rows
}

func libraryAny(t *testing.T, col file.ColumnChunkReader, n int) []any {
	t.Helper()
	switch r := col.(type) {
	case *file.BooleanColumnChunkReader:
		return anyValues(t, r.ReadBatch, n)
	case *file.Int32ColumnChunkReader:
		return anyValues(t, r.ReadBatch, n)
	case *file.Int64ColumnChunkReader:
		return anyValues(t, r.ReadBatch, n)
	case *file.Float32ColumnChunkReader:
		return anyValues(t, r.ReadBatch, n)
	case *file.Float64ColumnChunkReader:
		return anyValues(t, r.ReadBatch, n)
	case *file.ByteArrayColumnChunkReader:
		return anyValues(t, r.ReadBatch, n)
	case *file.FixedLenByteArrayColumnChunkReader:
		return anyValues(t, r.ReadBatch, n)
	}
	t.Fatalf("%T", col)
	return nil
}

func anyValues[T any](t *testing.T, read func(int64, []T, []int16, []int16) (int64, int, error), n int) []any {
	t.Helper()
	var out []any
	for len(out) < n {
		v, level := make([]T, 1), []int16{1}
		total, got, err := read(1, v, level, nil)
		if err != nil || total != 1 {
			t.Fatal(total, err)
		}
		if got == 0 {
			out = append(out, nil)
			continue
		}
		switch x := any(v[0]).(type) {
		case parquet.ByteArray:
			out = append(out, string(x))
		case parquet.FixedLenByteArray:
			out = append(out, string(x))
		default:
			out = append(out, x)
		}
	}
	return out
}

// otherLines reads a file with the other implementation.
func otherLines(t *testing.T, data []byte, s expr.Schema, n int) []string {
	t.Helper()
	pr, err := other.NewParquetColumnReader(buffer.NewBufferFileFromBytes(data), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pr.ReadStop()
	got := make([]string, n)
	for c, f := range s.Fields {
		values, _, levels, err := pr.ReadColumnByIndex(int64(c), int64(n))
		if err != nil || len(values) != n {
			t.Fatal(f.Name, len(values), err)
		}
		for row, v := range values {
			if !f.Type.NotNull && levels[row] == 0 {
				v = nil
			}
			got[row] += foreignText(v, f.Type) + "|"
		}
	}
	return got
}

// otherFooter reads the footer with the other implementation's structures.
func otherFooter(t *testing.T, data []byte) *format.FileMetaData {
	t.Helper()
	size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	m := format.NewFileMetaData()
	readThrift(t, m, data[len(data)-8-size:len(data)-8])
	return m
}

func readThrift(t *testing.T, to interface {
	Read(context.Context, protocol.TProtocol) error
}, b []byte) {
	t.Helper()
	buf := &protocol.TMemoryBuffer{Buffer: bytes.NewBuffer(b)}
	if err := to.Read(t.Context(), protocol.NewTCompactProtocolFactoryConf(nil).GetProtocol(buf)); err != nil {
		t.Fatal(err)
	}
	if buf.Len() != 0 {
		t.Fatalf("%T: %d bytes are left", to, buf.Len())
	}
}

// checkPageIndex holds the page index and the statistics against the rows.
func checkPageIndex(t *testing.T, data []byte, s expr.Schema, want []string) {
	t.Helper()
	m := otherFooter(t, data)
	row := 0
	for g, group := range m.RowGroups {
		for c, chunk := range group.Columns {
			values := make([]string, group.NumRows)
			for i := range values {
				values[i] = strings.Split(want[row+i], "|")[c]
			}
			ci := format.NewColumnIndex()
			if chunk.ColumnIndexOffset != nil {
				readThrift(t, ci, data[*chunk.ColumnIndexOffset:*chunk.ColumnIndexOffset+int64(*chunk.ColumnIndexLength)])
			}
			oi := format.NewOffsetIndex()
			readThrift(t, oi, data[*chunk.OffsetIndexOffset:*chunk.OffsetIndexOffset+int64(*chunk.OffsetIndexLength)])
			checkPageEntries(t, fmt.Sprintf("row group %d, column %s", g, s.Fields[c].Name), data, s.Fields[c].Type, chunk, ci, oi, values)
			b := checkBounds(t, s.Fields[c].Type, chunk.MetaData.Statistics.MinValue, chunk.MetaData.Statistics.MaxValue, values)
			if n := *chunk.MetaData.Statistics.NullCount; int(n) != b {
				t.Errorf("row group %d, column %s: %d NULLs, want %d", g, s.Fields[c].Name, n, b)
			}
		}
		row += int(group.NumRows)
	}
	if row != len(want) || m.NumRows != int64(row) {
		t.Errorf("%d rows in the footer, %d in row groups, want %d", m.NumRows, row, len(want))
	}
}

func checkPageEntries(t *testing.T, where string, data []byte, typ expr.Type, chunk *format.ColumnChunk, ci *format.ColumnIndex, oi *format.OffsetIndex, values []string) {
	t.Helper()
	at := chunk.MetaData.DataPageOffset
	end := at + chunk.MetaData.TotalCompressedSize
	if d := chunk.MetaData.DictionaryPageOffset; d != nil {
		end = *d + chunk.MetaData.TotalCompressedSize
	}
	hasIndex := chunk.ColumnIndexOffset != nil
	for i, p := range oi.PageLocations {
		if p.Offset != at {
			t.Errorf("%s: page %d begins at %d, want %d", where, i, p.Offset, at)
		}
		h, _, rest, err := nextPage(data[at:end])
		if err != nil || !h.hasCRC || int64(p.CompressedPageSize) != end-at-int64(len(rest)) {
			t.Fatalf("%s: page %d of %d bytes: %+v, %v", where, i, p.CompressedPageSize, h, err)
		}
		rows := values[p.FirstRowIndex : p.FirstRowIndex+int64(h.values)]
		at += int64(p.CompressedPageSize)
		if !hasIndex {
			continue
		}
		var least, most []byte
		if !ci.NullPages[i] {
			least, most = ci.MinValues[i], ci.MaxValues[i]
		}
		if nulls := checkBounds(t, typ, least, most, rows); int(ci.NullCounts[i]) != nulls {
			t.Errorf("%s: page %d has %d NULLs, want %d", where, i, ci.NullCounts[i], nulls)
		}
	}
	if at != end {
		t.Errorf("%s: its pages end at %d, and it ends at %d", where, at, end)
	}
}

// checkBounds holds bounds, nil where there are none, against values, and counts the NULLs.
func checkBounds(t *testing.T, typ expr.Type, least, most []byte, values []string) (nulls int) {
	t.Helper()
	text := func(b []byte) string { return foreignText(physical(typ, b), typ) }
	some := false
	for _, v := range values {
		if v == "NULL" {
			nulls++
			continue
		}
		if v == "NaN" {
			continue
		}
		some = true
		if least == nil || most == nil {
			t.Errorf("%s: there are no bounds, and there is %q", typ, v)
			return nulls
		}
		if compareTexts(typ, text(least), v) > 0 || compareTexts(typ, v, text(most)) > 0 {
			t.Errorf("%s: %q is not within %q and %q", typ, v, text(least), text(most))
		}
	}
	if !some {
		if least != nil || most != nil {
			t.Errorf("%s: there are bounds and no values", typ)
		}
		return nulls
	}
	if (typ.Kind == expr.String || typ.Kind == expr.Bytes) && (len(text(least)) >= maxBytesBound-3 || len(text(most)) >= maxBytesBound-3) {
		return nulls
	}
	for _, b := range []string{text(least), text(most)} {
		if typ.Kind.Storage() == expr.Double && (b == "0.0" || b == "-0.0") {
			continue
		}
		if !slices.Contains(values, b) {
			t.Errorf("%s: bound %q is no value of %q", typ, b, values)
		}
	}
	return nulls
}

// physical is a bound as the other implementations give values.
func physical(typ expr.Type, b []byte) any {
	switch {
	case typ.Kind == expr.Boolean:
		return b[0] != 0
	case typ.Kind == expr.Float:
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	case typ.Kind == expr.Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case typ.Kind == expr.String, typ.Kind == expr.Bytes, typ.Kind == expr.Decimal && typ.Precision > 18:
		return string(b)
	case len(b) == 4:
		return int32(binary.LittleEndian.Uint32(b))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// compareTexts compares values by their texts.
func compareTexts(typ expr.Type, x, y string) int {
	switch typ.Kind {
	case expr.Bytes:
		a, _ := expr.ParseBytes([]byte(x))
		b, _ := expr.ParseBytes([]byte(y))
		return bytes.Compare(a, b)
	case expr.Time:
		return strings.Compare(x, y)
	case expr.TimestampLTZ:
		return compareTexts(expr.TimestampOf(typ.Precision), strings.TrimSuffix(x, "Z"), strings.TrimSuffix(y, "Z"))
	}
	switch typ.Kind.Storage() {
	case expr.String, expr.Boolean:
		return strings.Compare(x, y)
	case expr.Date, expr.Timestamp:
		parse := func(s string) int64 {
			if typ.Kind == expr.Date {
				d, _ := expr.ParseDate([]byte(s))
				return int64(d)
			}
			v, _ := expr.ParseTimestamp([]byte(s), typ.Precision)
			return v
		}
		return int(max(-1, min(1, parse(x)-parse(y))))
	case expr.Double:
		a, _ := expr.ParseDouble([]byte(x))
		b, _ := expr.ParseDouble([]byte(y))
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	}
	a, _ := expr.ParseDecimal128([]byte(x), 38, typ.Scale)
	b, _ := expr.ParseDecimal128([]byte(y), 38, typ.Scale)
	return a.Cmp(b)
}

// TestJoin writes one file by several subtasks, some of them without rows, and reads it back.
func TestJoin(t *testing.T) {
	s := schemaOf(t, everyType)
	for _, subtasks := range []int{1, 2, 3, 7} {
		for _, rows := range [][]int{{0}, {5}, {300, 0, 120, 1, 250}, {0, 0, 40}} {
			a := alloc(t)
			var batches []operators.Batch
			var want []string
			from := 0
			for _, n := range rows {
				b := operators.Batch{Rec: record(a, s, from, n, from%2 == 0)}
				batches = append(batches, b)
				from += n
			}
			for sub := range subtasks {
				for i, b := range batches {
					if i%subtasks == sub {
						want = append(want, lines(b, s)...)
					}
				}
			}
			path := filepath.Join(t.TempDir(), "out.parquet")
			names := write(t, a, Options{Path: []string{path}, RowGroupRows: 100}, s, subtasks, batches...)
			if len(names) != 1 || filepath.Base(names[0]) != "out.parquet" {
				t.Fatal(names)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readAll(t, a, input{Options: Options{Path: []string{path}, Columns: s.Fields}})
			if err != nil {
				t.Fatal(err)
			}
			same(t, "our reader", s, got, want)
			same(t, "the library", s, libraryLines(t, data, s), want)
			if len(want) > 0 {
				same(t, "the other reader", s, otherLines(t, data, s, len(want)), want)
			}
			checkPageIndex(t, data, s, want)
			for i, g := range otherFooter(t, data).RowGroups {
				if g.Ordinal == nil || int(*g.Ordinal) != i {
					t.Errorf("row group %d is numbered %v", i, g.Ordinal)
				}
			}
		}
	}
}

// TestLongValues writes texts longer than pages, dictionaries and bounds: alone in a page, and all there.
func TestLongValues(t *testing.T) {
	s := schemaOf(t, "s STRING; n INT")
	a := alloc(t)
	texts := []string{"", strings.Repeat("x", 3<<20), "a", strings.Repeat("ä", 700_000), strings.Repeat("x", 3<<20), strings.Repeat("\U0010ffff", 100), "a"}
	for _, coded := range []bool{false, true} {
		b := array.NewStringBuilder(a)
		n := array.NewInt32Builder(a)
		for i := range 4 * len(texts) {
			b.Append(texts[i%len(texts)])
			n.Append(int32(i))
		}
		cols := []arrow.Array{b.NewArray(), n.NewArray()}
		b.Release()
		n.Release()
		if coded {
			cols[0] = encode(a, cols[0].(*array.String))
		}
		batch := operators.Batch{Rec: column.NewRecord(s.Fields, cols, int64(4*len(texts)))}
		for _, c := range cols {
			c.Release()
		}
		want := lines(batch, s)
		data := encodeBatches(t, s, "snappy", usualLimits(), 1000, []operators.Batch{batch})
		got, err := readAll(t, a, input{Options: Options{Path: []string{save(t, data)}}})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "our reader", s, got, want)
		same(t, "the other reader", s, otherLines(t, data, s, len(want)), want)
		checkPageIndex(t, data, s, want)
		if size := len(otherFooter(t, data).RowGroups[0].Columns[0].MetaData.Statistics.MaxValue); size > 400 {
			t.Errorf("a bound has %d bytes", size)
		}
	}
}
