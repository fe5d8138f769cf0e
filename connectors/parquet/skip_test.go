package parquet

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// messyFile has these columns, and a plan declares them as narrow ones, so that some rows are bad.
const (
	messyTypes  = "id BIGINT NOT NULL; small INT; price DECIMAL(9, 2); note STRING; must BIGINT; day STRING; tags ARRAY<INT>"
	narrowTypes = "id BIGINT; small TINYINT; price DECIMAL(6, 2); note STRING; must BIGINT NOT NULL; day DATE; tags ARRAY<TINYINT>"
)

// A messyRow is a row of the file, and which of its columns are bad as they are declared.
type messyRow struct {
	raw  map[string]string // as JSON
	bad  map[string]string // class by column
	line string            // what it reads as, where it is good
	id   int64
}

// messy makes rows and a file of them.
func messy(t *testing.T, rnd *rand.Rand, n int, groupRows int64, l *limits) (path string, rows []messyRow) {
	t.Helper()
	s := schemaOf(t, messyTypes)
	var builders []array.Builder
	for _, f := range s.Fields {
		builders = append(builders, array.NewBuilder(memory.DefaultAllocator, f.Type.Arrow()))
	}
	for i := range n {
		r := messyRow{raw: map[string]string{}, bad: map[string]string{}, id: int64(i)}
		// Often nothing is bad for a while, and then much is.
		often := 60
		if i/97%3 == 2 {
			often = 3
		}
		bad := func() bool { return rnd.IntN(often) == 0 }
		put := func(name, raw, text, class string) {
			r.raw[name] = raw
			if class != "" {
				r.bad[name] = class
			}
			r.line += text + "|"
		}
		builders[0].(*array.Int64Builder).Append(int64(i))
		put("id", fmt.Sprint(i), fmt.Sprint(i), "")
		small, class := int32(rnd.IntN(256)-128), ""
		if bad() {
			small, class = 128+int32(rnd.IntN(1000)), "CastError"
		}
		builders[1].(*array.Int32Builder).Append(small)
		put("small", fmt.Sprint(small), fmt.Sprint(small), class)
		price, class := int64(rnd.IntN(1_000_000)), ""
		if bad() {
			price, class = 1_000_000+int64(rnd.IntN(1_000_000)), "CastError"
		}
		builders[2].(*array.Int64Builder).Append(price)
		text := fmt.Sprintf("%d.%02d", price/100, price%100)
		put("price", text, text, class)
		note, class := []string{"plain", "é", ""}[rnd.IntN(3)], ""
		if bad() {
			note, class = "a\xffb", "CastError"
		}
		builders[3].(*array.StringBuilder).Append(note)
		put("note", `"`+strings.ToValidUTF8(note, "\uFFFD")+`"`, note, class)
		if bad() {
			builders[4].AppendNull()
			put("must", "null", "NULL", "NullViolation")
		} else {
			builders[4].(*array.Int64Builder).Append(int64(-i))
			put("must", fmt.Sprint(-i), fmt.Sprint(-i), "")
		}
		day, class := fmt.Sprintf("2024-01-%02d", 1+rnd.IntN(31)), ""
		if bad() {
			day, class = "yesterday", "CastError"
		}
		builders[5].(*array.StringBuilder).Append(day)
		put("day", `"`+day+`"`, day, class)
		tags, class := builders[6].(*array.ListBuilder), ""
		var all []string
		tags.Append(true)
		for range rnd.IntN(4) {
			v := int32(rnd.IntN(100))
			if bad() {
				v, class = 1000, "CastError"
			}
			tags.ValueBuilder().(*array.Int32Builder).Append(v)
			all = append(all, fmt.Sprint(v))
		}
		put("tags", "["+strings.Join(all, ",")+"]", "["+strings.Join(all, ", ")+"]", class)
		rows = append(rows, r)
	}
	cols := make([]arrow.Array, len(builders))
	for i, b := range builders {
		cols[i] = b.NewArray()
	}
	rec := column.NewRecord(s.Fields, cols, int64(n))
	return save(t, encodeBatches(t, s, "snappy", l, groupRows, []operators.Batch{{Rec: rec}})), rows
}

// A skipRead is what reading a file without its bad rows gave.
type skipRead struct {
	lines   []string
	rejects []connectors.Reject
	tally   connectors.Tally
}

// readSkipping reads a bound source with one reader, or several that get its splits in turn.
func readSkipping(t *testing.T, state []byte, push connectors.Pushdown, o connectors.SplitOptions, readers int) (out skipRead, err error) {
	t.Helper()
	src, err := Spec.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	src.Push(push)
	if err := out.read(t, src.(*source), o, readers); err != nil {
		return out, err
	}
	slices.SortFunc(out.rejects, func(a, b connectors.Reject) int { return cmp.Compare(a.Order[1], b.Order[1]) })
	if y := out.tally; y.Rows != y.Read+y.Pruned || y.Read-y.Filtered-y.Rejected != int64(len(out.lines)) || push.Rejects && y.Rejected != int64(len(out.rejects)) {
		t.Errorf("the books: %+v, %d rows, %d rejects", y, len(out.lines), len(out.rejects))
	}
	return out, nil
}

// read takes all that a source has that was pushed to.
func (out *skipRead) read(t *testing.T, src *source, o connectors.SplitOptions, readers int) error {
	t.Helper()
	e, err := src.Enumerator(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, _, err := e.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer a.AssertSize(t, 0)
	for i := range readers {
		r, err := src.Reader(&operators.Task{Ctx: t.Context(), Alloc: a})
		if err != nil {
			t.Fatal(err)
		}
		for k, s := range splits {
			if k%readers == i {
				r.Add([]connectors.Split{s})
			}
		}
		err = out.take(t, r, src.Schema().Pick(src.columns))
		if cerr := r.Close(); cerr != nil {
			t.Fatal(cerr)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *skipRead) take(t *testing.T, r connectors.Reader, as expr.Schema) error {
	for {
		b, status, err := r.Next(t.Context())
		if err != nil {
			return err
		}
		s.rejects = append(s.rejects, r.(connectors.Rejecting).Rejects()...)
		if status != connectors.More {
			break
		}
		if b.Rec != nil {
			s.lines = append(s.lines, lines(b, as)...)
			b.Rec.Release()
		}
	}
	for _, y := range r.Tally() {
		s.tally.Rows += y.Rows
		s.tally.Read += y.Read
		s.tally.Pruned += y.Pruned
		s.tally.Filtered += y.Filtered
		s.tally.Rejected += y.Rejected
		s.tally.Bytes += y.Bytes
		s.tally.ReadBytes += y.ReadBytes
		s.tally.UnreadBytes += y.UnreadBytes
		if y.Pruning != nil && s.tally.Pruning == nil {
			s.tally.Pruning = &connectors.Pruning{}
		}
		s.tally.Pruning.Add(y.Pruning)
		for _, x := range y.Sample {
			s.tally.Keep(x)
		}
	}
	return nil
}

// bindSkipping binds a source that leaves bad rows out.
func bindSkipping(t *testing.T, path, types string, skip bool) []byte {
	t.Helper()
	o := Options{Path: []string{path}}
	if types != "" {
		o.Columns = schemaOf(t, types).Fields
	}
	state, err := Spec.Bind(t.Context(), o, connectors.Env{Node: "in", SkipBadRows: skip})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestSkip: which rows are left out, with what is said of them, is what the values are, however the file is cut
// and laid out, with and without a filter, and with its page index used.
func TestSkip(t *testing.T) {
	declared := schemaOf(t, narrowTypes)
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		l := usualLimits()
		l.pageRows = []int{1 << 15, 50, 7}[seed%3]
		path, rows := messy(t, rnd, 1000, []int64{1000, 130}[seed%2], l)
		state := bindSkipping(t, path, narrowTypes, true)
		for _, c := range []struct {
			columns string
			where   string
			first   string // columns of the filter
			keep    func(r messyRow) bool
		}{
			{"id small price note must day tags", "", "", nil},
			{"day id", "", "", nil},
			{"id price note", "id >= 300 AND id < 500", "id", func(r messyRow) bool { return r.id >= 300 && r.id < 500 }},
			{"id tags", "small > 0 AND note <> 'plain'", "small note", func(r messyRow) bool {
				return r.raw["small"][0] != '-' && r.raw["small"] != "0" && r.raw["note"] != `"plain"`
			}},
			{"tags id day", "price < 100", "price", func(r messyRow) bool { return len(r.raw["price"]) < 6 }},
			{"id small", "must IS NOT NULL AND day >= DATE '2024-01-15'", "must day", func(r messyRow) bool { return r.raw["day"] >= `"2024-01-15"` }},
			{"id note", "CARDINALITY(tags) > 1", "tags", func(r messyRow) bool { return strings.Contains(r.raw["tags"], ",") }},
		} {
			push := connectors.Pushdown{Limit: -1, Rejects: true}
			for _, name := range strings.Fields(c.columns) {
				push.Columns = append(push.Columns, declared.Index(name))
			}
			if c.where != "" {
				push.Where = where(t, c.where, declared)
			}
			want := judge(rows, strings.Fields(c.columns), strings.Fields(c.first), c.keep, declared)
			for _, o := range []connectors.SplitOptions{{}, {SplitBytes: 1}, {ReadBytes: 64 * 37}} {
				for _, readers := range []int{1, 3} {
					got, err := readSkipping(t, state, push, o, readers)
					if err != nil {
						t.Fatal(err)
					}
					where := fmt.Sprintf("seed %d, %s where %s, %+v", seed, c.columns, c.where, o)
					compareSkips(t, where, got, want)
				}
			}
			push.Rejects = false
			if got, err := readSkipping(t, state, push, connectors.SplitOptions{}, 1); err != nil || got.tally.Rejected != int64(len(want.rejects)) || len(got.rejects) > 0 {
				t.Errorf("without rejects: %+v, %v", got.tally, err)
			}
		}
	}
}

// judge is what reading rows is to give.
func judge(rows []messyRow, columns, first []string, keep func(r messyRow) bool, declared expr.Schema) skipRead {
	var out skipRead
	used := slices.Concat(first, columns)
	slices.SortFunc(used, func(a, b string) int { return cmp.Compare(declared.Index(a), declared.Index(b)) })
	used = slices.Compact(used)
	for i, r := range rows {
		var fault string
		for _, c := range first {
			if fault == "" && r.bad[c] != "" {
				fault = c
			}
		}
		if fault == "" && keep != nil && !keep(r) {
			continue
		}
		for _, c := range used {
			if fault == "" && r.bad[c] != "" {
				fault = c
			}
		}
		if fault == "" {
			cells := strings.Split(r.line, "|")
			line := ""
			for _, c := range columns {
				line += cells[declared.Index(c)] + "|"
			}
			out.lines = append(out.lines, line)
			continue
		}
		var raw []string
		for _, c := range used {
			raw = append(raw, fmt.Sprintf("%q:%s", c, r.raw[c]))
		}
		out.rejects = append(out.rejects, connectors.Reject{
			Class: r.bad[fault], Line: int64(i) + 1, Field: fault, Column: int64(declared.Index(fault)) + 1, Raw: "{" + strings.Join(raw, ",") + "}",
		})
	}
	return out
}

func compareSkips(t *testing.T, where string, got, want skipRead) {
	t.Helper()
	slices.Sort(got.lines)
	slices.Sort(want.lines)
	if !slices.Equal(got.lines, want.lines) {
		t.Fatalf("%s: %d rows, expected %d: %s", where, len(got.lines), len(want.lines), firstOther(got.lines, want.lines))
	}
	if len(got.rejects) != len(want.rejects) {
		t.Fatalf("%s: %d rejects, expected %d", where, len(got.rejects), len(want.rejects))
	}
	for i, x := range got.rejects {
		w := want.rejects[i]
		if x.Message == "" || x.Value == "" || !strings.HasPrefix(x.Message, "row group ") || x.Order != [2]int64{1, w.Line} {
			t.Fatalf("%s: reject %d: %+v", where, i, x)
		}
		if !json.Valid([]byte(x.Raw)) {
			t.Fatalf("%s: reject %d: %s", where, i, x.Raw)
		}
		if x.Class != w.Class || x.Line != w.Line || x.Field != w.Field || x.Column != w.Column || x.Raw != w.Raw {
			t.Fatalf("%s: reject %d:\n got      %+v\n expected %+v", where, i, x, w)
		}
		if i < connectors.MostSampled && (got.tally.Sample[i].Line != x.Line || got.tally.Sample[i].Raw != "") {
			t.Fatalf("%s: sample %d is %+v", where, i, got.tally.Sample[i])
		}
	}
}

// TestSkipWhatTheFileHolds: values that are none of the file's own type are bad rows too, and their texts show
// what stands there.
func TestSkipWhatTheFileHolds(t *testing.T) {
	path := filledFile(t, []schema.Node{
		optionalNode(t, "u", schema.NewIntLogicalType(64, false), parquet.Types.Int64, 0),
		optionalNode(t, "ms", schema.NewTimestampLogicalType(false, schema.TimeUnitMillis), parquet.Types.Int64, 0),
		optionalNode(t, "time", schema.NewTimeLogicalType(false, schema.TimeUnitMillis), parquet.Types.Int32, 0),
		optionalNode(t, "s", schema.StringLogicalType{}, parquet.Types.ByteArray, 0),
		optionalNode(t, "m", schema.NewDecimalLogicalType(4, 1), parquet.Types.Int32, 0),
	},
		[]int64{7, -1, 8, 9, 10, 11}, []int64{1000, 0, 1 << 62, 0, 0, 0}, []int32{0, 0, 0, -5, 0, 0},
		[]parquet.ByteArray{[]byte("a"), []byte("b"), []byte("c"), []byte("d"), []byte("\xc3"), []byte("f")}, []int32{1, 2, 3, 4, 5, 10_000})
	state := bindSkipping(t, path, "u BIGINT; ms TIMESTAMP(3); time TIME(3); s STRING; m DECIMAL(4, 1)", true)
	got, err := readSkipping(t, state, connectors.Pushdown{Columns: []int{0, 1, 2, 3, 4}, Limit: -1, Rejects: true}, connectors.SplitOptions{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`2 u Overflow 18446744073709551615 {"u":18446744073709551615,"ms":"1970-01-01 00:00:00.000","time":"00:00:00.000","s":"b","m":0.2}`,
		`3 ms Overflow 4611686018427387904 ms since 1970 {"u":8,"ms":"4611686018427387904 ms since 1970","time":"00:00:00.000","s":"c","m":0.3}`,
		`4 time Overflow -5 units of the day {"u":9,"ms":"1970-01-01 00:00:00.000","time":"-5 units of the day","s":"d","m":0.4}`,
		`5 s CastError "\xc3" {"u":10,"ms":"1970-01-01 00:00:00.000","time":"00:00:00.000","s":"` + "\uFFFD" + `","m":0.5}`,
		`6 m Overflow 1000.0 {"u":11,"ms":"1970-01-01 00:00:00.000","time":"00:00:00.000","s":"f","m":1000.0}`,
	}
	var lines []string
	for _, x := range got.rejects {
		lines = append(lines, fmt.Sprintf("%d %s %s %s %s", x.Line, x.Field, x.Class, x.Value, x.Raw))
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%s", firstOther(lines, want))
	}
	if len(got.lines) != 1 {
		t.Errorf("%v", got.lines)
	}
}

// filledFile writes values of columns, none of them NULL, with the library's own writer.
func filledFile(t *testing.T, nodes []schema.Node, values ...any) string {
	t.Helper()
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root)
	g := w.AppendRowGroup()
	levels := func(n int) []int16 { return slices.Repeat([]int16{1}, n) }
	for _, v := range values {
		c, err := g.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		switch v := v.(type) {
		case []int32:
			_, err = c.(*file.Int32ColumnChunkWriter).WriteBatch(v, levels(len(v)), nil)
		case []int64:
			_, err = c.(*file.Int64ColumnChunkWriter).WriteBatch(v, levels(len(v)), nil)
		case []parquet.ByteArray:
			_, err = c.(*file.ByteArrayColumnChunkWriter).WriteBatch(v, levels(len(v)), nil)
		}
		if err = errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return save(t, b.Bytes())
}
