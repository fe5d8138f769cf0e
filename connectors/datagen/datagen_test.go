package datagen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"go.uber.org/goleak"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ptr[T any](v T) *T { return &v }

func columns(t *testing.T, text string) connectors.Columns {
	t.Helper()
	var c connectors.Columns
	for _, x := range strings.Split(text, "; ") {
		name, typ, _ := strings.Cut(x, " ")
		if err := c.SetEntry(name, typ); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// everything is a source with every type and kind.
func everything(t *testing.T, rows int64) Options {
	return Options{
		NumberOfRows: &rows, Seed: 7,
		Columns: columns(t, "id BIGINT NOT NULL; small SMALLINT; tiny TINYINT; n INT; any BIGINT; ok BOOLEAN; price DECIMAL(10, 2); wide DECIMAL(38, 4); "+
			"count DECIMAL(20, 3); d DOUBLE; f FLOAT; code STRING; word STRING; country STRING; key INT; day DATE; at TIMESTAMP(6); ts TIMESTAMP(3); label STRING; maybe INT; raw BYTES; clock TIME(0); seen TIMESTAMP_LTZ(3); tick TIMESTAMP_LTZ(0)"),
		Fields: map[string]Field{
			"id": {Kind: sequence, Start: "100"}, "n": {Min: "-5", Max: "5"}, "price": {Min: "0.01", Max: "999.99"},
			"count": {Kind: sequence}, "d": {Min: "-1.5", Max: "1e10"}, "code": {Length: ptr(int64(20))}, "word": {Length: ptr(int64(9)), VarLen: true},
			"country": {Values: []string{"DE", "FR", "US"}, Skew: 1}, "key": {Min: "1", Max: "1000", Skew: 1.2}, "day": {Min: "2020-02-01", Max: "2020-02-29"},
			"ts": {Kind: eventTime, Interval: 20, Disorder: 500}, "label": {Kind: sequence, Start: "-3"}, "maybe": {NullRate: 0.25},
			"raw": {Length: ptr(int64(5))}, "clock": {Min: "08:00:00", Max: "17:59:59"}, "seen": {Min: "2024-03-01 12:00:00+01:00", Max: "2024-03-01 11:00:01Z"},
			"tick": {Kind: eventTime, Interval: 60_000},
		},
	}
}

func boundOf(t *testing.T, o Options) []byte {
	t.Helper()
	state, err := Spec.Bind(t.Context(), o, connectors.Env{Node: "made"})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// rowsOf reads everything with one reader, in the order in which it comes.
func rowsOf(t *testing.T, o Options) []string {
	t.Helper()
	src, err := open(boundOf(t, o), &stopped{})
	if err != nil {
		t.Fatal(err)
	}
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	r := reading(t, src, alloc)
	var rows []string
	for {
		b, st, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if st != connectors.More {
			break
		}
		rows = append(rows, textOf(b, src.Schema())...)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func textOf(b operators.Batch, s expr.Schema) []string {
	defer b.Rec.Release()
	rows := make([]string, b.Rows())
	for i := range rows {
		rows[i] = connectortest.Text(b, s, i)
	}
	return rows
}

// reading is a reader with all splits.
func reading(t *testing.T, src *source, alloc memory.Allocator) connectors.Reader {
	t.Helper()
	e, err := src.Enumerator(t.Context(), connectors.SplitOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, done, err := e.Discover(t.Context())
	if err != nil || !done {
		t.Fatal(done, err)
	}
	r, err := src.Reader(&operators.Task{Ctx: t.Context(), Alloc: alloc})
	if err != nil {
		t.Fatal(err)
	}
	r.Add(splits)
	return r
}

// A stopped clock moves when it is told to.
type stopped struct {
	at   time.Duration
	wait []chan struct{}
	till []time.Duration
}

func (c *stopped) Now() time.Time { return time.Unix(1e9, 0).Add(c.at) }

func (c *stopped) After(d time.Duration) (<-chan struct{}, func()) {
	ch := make(chan struct{})
	c.wait, c.till = append(c.wait, ch), append(c.till, c.at+d)
	return ch, func() {}
}

// next moves to the time that somebody waits for last.
func (c *stopped) next() { c.at = c.till[len(c.till)-1] }

// TestSource runs the tests of every source.
func TestSource(t *testing.T) {
	o := everything(t, 2200)
	kept := map[string]Field{}
	o.Columns = slices.DeleteFunc(o.Columns, func(f expr.Field) bool {
		if !slices.Contains([]string{"id", "price", "wide", "word", "country", "ts", "maybe", "raw"}, f.Name) {
			return true
		}
		kept[f.Name] = o.Fields[f.Name]
		return false
	})
	o.Fields = kept
	rows := rowsOf(t, o)
	lines := make([]int64, len(rows))
	for i := range lines {
		lines[i] = int64(i) + 1
	}
	for _, splits := range []int64{0, 3} {
		o.Splits = splits
		state := boundOf(t, o)
		connectortest.Source{
			Open:  func(files.FS) (connectors.Source, error) { return Spec.Open(state) },
			Rows:  rows,
			Lines: lines, Sizes: []int64{1, 100_000},
		}.Run(t)
	}
}

// TestSplits gives the same rows however they are dealt out, and one seed's rows are not another's.
func TestSplits(t *testing.T) {
	o := everything(t, 3000)
	want := rowsOf(t, o)
	sorted := slices.Sorted(slices.Values(want))
	for _, c := range [][4]int64{{1, 0, 0, 0}, {2, 0, 0, 0}, {5, 0, 0, 100}, {4, 1, 0, 20_000}, {4, 3, 50, 1000}, {9, 2, 5000, 7}, {4, 2, 100, 0}} {
		o.Splits, o.IdleSplits, o.IdleAfter, o.RowsPerSecond = c[0], c[1], c[2], &c[3]
		src, err := open(boundOf(t, o), &stopped{})
		if err != nil {
			t.Fatal(err)
		}
		got := withClock(t, src)
		slices.Sort(got)
		if !slices.Equal(got, sorted) {
			t.Errorf("%v: other rows", c)
		}
	}
	o = everything(t, 3000)
	o.Seed = 8
	if slices.Equal(rowsOf(t, o), want) {
		t.Error("another seed gives the same rows")
	}
}

// withClock reads everything, moving the clock whenever the reader waits.
func withClock(t *testing.T, src *source) []string {
	t.Helper()
	clock := src.clock.(*stopped)
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	r := reading(t, src, alloc)
	var rows []string
	for {
		b, st, err := r.Next(t.Context())
		switch {
		case err != nil:
			t.Fatal(err)
		case st == connectors.More:
			rows = append(rows, textOf(b, src.Schema())...)
		case st == connectors.Idle:
			clock.next()
		case st == connectors.NeedSplit:
			return rows
		}
	}
}

// TestRate gives rows when they are due: none at once, all of them in the time they take.
func TestRate(t *testing.T) {
	clock := &stopped{}
	src, err := open(boundOf(t, Options{Columns: columns(t, "id BIGINT"), RowsPerSecond: ptr(int64(10)), Splits: 3}), clock)
	if err != nil {
		t.Fatal(err)
	}
	r := reading(t, src, memory.DefaultAllocator)
	var given int
	for clock.at < 20*time.Second {
		b, st, err := r.Next(t.Context())
		switch {
		case err != nil:
			t.Fatal(err)
		case st == connectors.More:
			given += b.Rows()
			b.Rec.Release()
		case st == connectors.Idle:
			if want := int(clock.at/(100*time.Millisecond)) + 1; given != want {
				t.Fatalf("%d rows after %s, expected %d", given, clock.at, want)
			}
			clock.next()
		}
	}
	left, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	// Another reader goes on from there at the same rate, whenever it begins.
	clock.at += time.Hour
	next, err := src.Reader(&operators.Task{Alloc: memory.DefaultAllocator})
	if err != nil {
		t.Fatal(err)
	}
	next.Add(left)
	b, st, err := next.Next(t.Context())
	if err != nil || st != connectors.More || b.Rows() != 1 || b.From.Offset != int64(given) {
		t.Fatalf("%+v %v %v", b, st, err)
	}
	b.Rec.Release()
	if _, st, _ = next.Next(t.Context()); st != connectors.Idle {
		t.Errorf("the second row comes at once: %v", st)
	}
}

// TestIdle has a split that falls silent and stays open until the last row is due.
func TestIdle(t *testing.T) {
	clock := &stopped{}
	o := Options{Columns: columns(t, "id BIGINT"), NumberOfRows: ptr(int64(100)), RowsPerSecond: ptr(int64(10)), Splits: 2, IdleSplits: 1, IdleAfter: 3}
	src, err := open(boundOf(t, o), clock)
	if err != nil {
		t.Fatal(err)
	}
	e, err := src.Enumerator(t.Context(), connectors.SplitOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, _, err := e.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if splits[0].Rows != 97 || splits[1].Rows != 3 {
		t.Fatalf("splits of %d and %d rows", splits[0].Rows, splits[1].Rows)
	}
	r, err := src.Reader(&operators.Task{Alloc: memory.DefaultAllocator})
	if err != nil {
		t.Fatal(err)
	}
	r.Add(splits[1:])
	given := 0
	for {
		b, st, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if st == connectors.NeedSplit {
			break
		}
		if st == connectors.Idle {
			clock.next()
			continue
		}
		given += b.Rows()
		b.Rec.Release()
	}
	if given != 3 || clock.at != 9900*time.Millisecond {
		t.Errorf("%d rows, and the end after %s", given, clock.at)
	}
}

// TestValues checks what the options promise about values.
func TestValues(t *testing.T) {
	rows := rowsOf(t, everything(t, 20_000))
	countries, keys, nulls := map[string]int{}, map[string]int{}, 0
	last, disordered := int64(math.MinInt64), false
	for i, row := range rows {
		f := strings.Split(row, "|")
		if f[0] != strconv.Itoa(100+i) || f[8] != fmt.Sprintf("%d.000", i+1) || f[18] != strconv.Itoa(i-3) {
			t.Fatalf("row %d: sequences %s, %s, %s", i, f[0], f[8], f[18])
		}
		between(t, f[3], -5, 5)
		between(t, f[1], -32768, 32767)
		between(t, f[6], 0.01, 999.99)
		between(t, f[9], -1.5, 1e10)
		if len(f[11]) != 20 || len(f[12]) < 1 || len(f[12]) > 9 || f[15] < "2020-02-01" || f[15] > "2020-02-29" || f[16] < "2024" || f[16] > "2025" {
			t.Fatalf("row %d: %s", i, row)
		}
		ts, s := expr.ParseTimestamp([]byte(f[17]), 3)
		base, _ := expr.ParseTimestamp([]byte("2024-01-01 00:00:00"), 3)
		if late := base + int64(i)*20_000 - ts; s != expr.OK || late < 0 || late > 500_000 {
			t.Fatalf("row %d: event time %s is late by %d us", i, f[17], late)
		}
		disordered = disordered || ts < last
		last = max(last, ts)
		if f[21] < "08:00:00" || f[21] > "17:59:59" || f[22] < "2024-03-01 11:00:00.000Z" || f[22] > "2024-03-01 11:00:01.000Z" || len(f[20]) != 8 && len(f[20]) != 5 {
			t.Fatalf("row %d: %s, %s, %s", i, f[20], f[21], f[22])
		}
		countries[f[13]]++
		keys[f[14]]++
		if f[19] == "NULL" {
			nulls++
		}
	}
	// Shares of 1, 1/2 and 1/3, and of 1/k^1.2: far from the borders by many deviations.
	near(t, "DE", countries["DE"], 20_000*6/11)
	near(t, "US", countries["US"], 20_000*2/11)
	near(t, "NULL", nulls, 5000)
	sum := 0.0
	for k := 1.0; k <= 1000; k++ {
		sum += math.Pow(k, -1.2)
	}
	near(t, "key 1", keys["1"], int(20_000/sum))
	near(t, "key 2", keys["2"], int(20_000/sum*math.Pow(2, -1.2)))
	if !disordered || len(countries) != 3 || len(keys) < 200 || keys["0"]+keys["1001"] > 0 {
		t.Error("no disorder, or keys that there are not", disordered, countries, len(keys))
	}
}

func between(t *testing.T, text string, lo, hi float64) {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < lo || v > hi {
		t.Fatalf("%s is not from %g to %g", text, lo, hi)
	}
}

func near(t *testing.T, what string, got, want int) {
	t.Helper()
	if math.Abs(float64(got-want)) > 6*math.Sqrt(float64(want)) {
		t.Errorf("%s: %d, expected about %d", what, got, want)
	}
}

// TestEnds holds how many rows there are.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		o    Options
		rows int64
		rate int64
	}{
		{Options{Columns: columns(t, "a INT")}, math.MaxInt64, 10000},
		{Options{Columns: columns(t, "a INT"), NumberOfRows: ptr(int64(9))}, 9, 0},
		{Options{Columns: columns(t, "a INT"), Fields: map[string]Field{"a": {Kind: sequence, Start: "11", End: "20"}}}, 10, 0},
		{Options{Columns: columns(t, "a INT"), NumberOfRows: ptr(int64(3)), RowsPerSecond: ptr(int64(1)), Fields: map[string]Field{"a": {Kind: sequence, End: "20"}}}, 3, 1},
	} {
		src, err := open(boundOf(t, c.o), wall{})
		if err != nil {
			t.Fatal(err)
		}
		if src.Rows != c.rows || src.Rate != c.rate || src.Bounded() != (c.rows < math.MaxInt64) {
			t.Errorf("%+v: %d rows at %d", c.o, src.Rows, src.Rate)
		}
	}
}

// TestReach fails at the row that a type does not hold, where it was not known before.
func TestReach(t *testing.T) {
	o := Options{Columns: columns(t, "a STRING; t TINYINT"), RowsPerSecond: ptr(int64(0)), Fields: map[string]Field{"t": {Kind: sequence}}}
	src, err := open(boundOf(t, o), wall{})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = reading(t, src, memory.DefaultAllocator).Next(t.Context())
	var data *connectors.DataError
	if !errors.As(err, &data) || data.Class() != "Overflow" || data.Line != 128 || data.Field != "t" {
		t.Errorf("%v", err)
	}
}

// TestOptions refuses what makes no sense, naming the option.
func TestOptions(t *testing.T) {
	one := func(typ string, f Field) Options {
		return Options{Columns: columns(t, "a "+typ), Fields: map[string]Field{"a": f}}
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "columns: there is none"},
		{Options{Columns: columns(t, "a INT"), Fields: map[string]Field{"b": {}}}, "fields.b: there is no column of that name; the columns are a INT"},
		{Options{Columns: columns(t, "a INT"), NumberOfRows: ptr(int64(0))}, "number_of_rows: 0"},
		{Options{Columns: columns(t, "a INT"), RowsPerSecond: ptr(int64(-1))}, "rows_per_second: -1"},
		{Options{Columns: columns(t, "a INT"), Splits: -1}, "splits: -1"},
		{Options{Columns: columns(t, "a INT"), Splits: 2, IdleSplits: 2}, "idle_splits: 2 of 2 splits"},
		{Options{Columns: columns(t, "a INT"), IdleAfter: 2}, "idle_after: no split"},
		{one("INT", Field{Kind: "other"}), "fields.a.kind: other: expected random, sequence or event_time"},
		{one("INT", Field{Min: "x"}), `fields.a.min: "x" is no INT`},
		{one("TINYINT", Field{Max: "128"}), `fields.a.max: "128" is no TINYINT`},
		{one("INT", Field{Min: "2", Max: "1"}), "fields.a.min: it is larger than max"},
		{one("INT", Field{Length: ptr(int64(3))}), "fields.a: length, var_len and values are for STRING, and this is INT"},
		{one("INT", Field{Start: "3"}), "fields.a.start: does nothing in a field of kind random: it belongs to sequence"},
		{one("INT", Field{Kind: sequence, Min: "3"}), "fields.a.min: does nothing in a field of kind sequence"},
		{one("INT", Field{Kind: sequence, Start: "3", End: "2"}), "fields.a.end: 2 comes before start, 3"},
		{one("TINYINT", Field{Kind: sequence, Start: "200"}), "fields.a.start: 200 is outside of TINYINT"},
		{one("TINYINT", Field{Kind: sequence, End: "200"}), "fields.a: TINYINT holds the values of 127 rows"},
		{one("DATE", Field{Kind: sequence}), "fields.a.kind: DATE cannot count"},
		{one("DATE", Field{Kind: eventTime}), "fields.a.kind: event_time takes a TIMESTAMP or TIMESTAMP_LTZ column"},
		{one("TIMESTAMP(3)", Field{Kind: eventTime, Start: "soon"}), `fields.a.start: "soon" is no TIMESTAMP(3)`},
		{one("TIMESTAMP(3)", Field{Kind: eventTime, NullRate: 0.5}), "fields.a.null_rate: does nothing"},
		{one("INT NOT NULL", Field{NullRate: 0.5}), "fields.a.null_rate: a is INT NOT NULL"},
		{one("INT", Field{NullRate: math.NaN()}), "fields.a.null_rate: NaN"},
		{one("BIGINT", Field{Skew: 1}), "fields.a.skew: there are too many values"},
		{one("DOUBLE", Field{Skew: 1}), "fields.a.skew: it orders whole numbers"},
		{one("STRING", Field{Skew: 1}), "fields.a.skew: it orders whole numbers, and values of a STRING; STRING has no values"},
		{one("STRING", Field{Values: []string{"x"}, VarLen: true}), "fields.a.values: length and var_len do nothing beside it"},
		{one("STRING", Field{Length: ptr(int64(0)), VarLen: true}), "fields.a.length: 0 with var_len"},
		{one("STRING", Field{Min: "a"}), "fields.a: min and max: a STRING has"},
		{one("BOOLEAN", Field{Min: "false"}), "fields.a: min and max: a BOOLEAN has no bounds"},
		{one("DECIMAL(20, 0)", Field{Max: "x"}), `fields.a.max: "x" is no DECIMAL(20, 0)`},
		{one("DOUBLE", Field{Min: "-1e308", Max: "1e308"}), "fields.a.max: min and max are further apart"},
		{one("FLOAT", Field{Max: "Infinity"}), "fields.a.max"},
	} {
		_, err := Spec.Bind(t.Context(), c.o, connectors.Env{Node: "made"})
		var classed interface{ Class() string }
		if !errors.As(err, &classed) || classed.Class() != files.InvalidOption || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

// TestZipf compares shares to those that the definition gives, for exponents around 1 too.
func TestZipf(t *testing.T) {
	for _, s := range []float64{0.3, 0.99, 1, 1.01, 2, 20} {
		const n, draws = 50, 200_000
		z := newZipf(n, s)
		counts := make([]int, n+1)
		for i := range int64(draws) {
			r := z.rank(at(stream(3, "x", "value"), i))
			if r < 1 || r > n {
				t.Fatalf("rank %d", r)
			}
			counts[r]++
		}
		sum := 0.0
		for k := 1.0; k <= n; k++ {
			sum += math.Pow(k, -s)
		}
		for k := 1; k <= n; k++ {
			if want := draws / sum * math.Pow(float64(k), -s); math.Abs(float64(counts[k])-want) > 6*math.Sqrt(want)+1 {
				t.Errorf("skew %g: rank %d comes %d times, expected about %.0f", s, k, counts[k], want)
			}
		}
	}
}

// TestDamagedStates gives errors.
func TestDamagedStates(t *testing.T) {
	for _, state := range []string{"", "{", "{}", `{"version": 9}`} {
		if _, err := Spec.Open([]byte(state)); err == nil {
			t.Errorf("the state %q is taken", state)
		}
	}
	src, err := open(boundOf(t, everything(t, 10)), wall{})
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"", "{", "{}", `{"version": 9}`} {
		if state != "" {
			if _, err := src.Enumerator(t.Context(), connectors.SplitOptions{}, []byte(state)); err == nil {
				t.Errorf("the enumerator's state %q is taken", state)
			}
		}
		r, err := src.Reader(&operators.Task{Alloc: memory.DefaultAllocator})
		if err != nil {
			t.Fatal(err)
		}
		r.Add([]connectors.Split{{ID: "x", State: []byte(state)}})
		if _, _, err := r.Next(context.Background()); err == nil {
			t.Errorf("the split's state %q is taken", state)
		}
	}
}

// TestTimes follows the watermarks of two splits, one of which falls silent.
func TestTimes(t *testing.T) {
	clock := &stopped{}
	o := Options{
		Columns: columns(t, "id BIGINT; ts TIMESTAMP(3)"), RowsPerSecond: ptr(int64(10)), Splits: 2, IdleSplits: 1, IdleAfter: 3,
		Fields: map[string]Field{"ts": {Kind: eventTime, Start: "1970-01-01 00:00:10", Interval: 100}, "id": {Kind: sequence}},
	}
	for _, wanted := range [][]int{{0, 1}, {0}} { // also where nobody reads the column
		clock.at = 0
		state, err := Spec.Bind(t.Context(), o, connectors.Env{Node: "made", Watermark: &connectors.Watermark{Column: "ts", DelayMs: 1000, IdleMs: 2000}})
		if err != nil {
			t.Fatal(err)
		}
		src, err := open(state, clock)
		if err != nil {
			t.Fatal(err)
		}
		src.Push(connectors.Pushdown{Columns: wanted, Limit: -1})
		alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
		defer alloc.AssertSize(t, 0)
		r := reading(t, src, alloc)
		var seen []string
		for clock.at < 3100*time.Millisecond {
			b, st, err := r.Next(t.Context())
			switch {
			case err != nil:
				t.Fatal(err)
			case st == connectors.More:
				b.Rec.Release()
			case st == connectors.Idle:
				line := fmt.Sprintf("%d:", clock.at.Milliseconds())
				for _, x := range r.(connectors.Timed).Times() {
					if x.WatermarkMs == connectors.NoWatermark {
						line += " none"
						continue
					}
					line += fmt.Sprintf(" %d", x.WatermarkMs)
					if x.Idle {
						line += " idle"
					}
				}
				seen = append(seen, line)
				clock.next()
			}
		}
		want := []string{"0: 8999 none", "100: 8999 9099", "200: 9199 9099"}
		if !slices.Equal(seen[:3], want) {
			t.Errorf("got %q, want %q", seen[:3], want)
		}
		last := seen[len(seen)-1]
		if last != "3000: 11999 9499 idle" && last != "3100: 12099 9499 idle" {
			t.Errorf("the last times are %s", last)
		}
	}
}

// TestSilence wakes up when a split becomes idle, though no row is ever due again.
func TestSilence(t *testing.T) {
	clock := &stopped{}
	o := Options{Columns: columns(t, "ts TIMESTAMP(3)"), Splits: 2, IdleSplits: 1, Fields: map[string]Field{"ts": {Kind: eventTime}}}
	state, err := Spec.Bind(t.Context(), o, connectors.Env{Node: "made", Watermark: &connectors.Watermark{Column: "ts", IdleMs: 2000}})
	if err != nil {
		t.Fatal(err)
	}
	src, err := open(state, clock)
	if err != nil {
		t.Fatal(err)
	}
	e, err := src.Enumerator(t.Context(), connectors.SplitOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, _, err := e.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Reader(&operators.Task{Alloc: memory.DefaultAllocator})
	if err != nil {
		t.Fatal(err)
	}
	r.Add(splits[1:])
	for _, want := range []bool{false, true} {
		if _, st, err := r.Next(t.Context()); err != nil || st != connectors.Idle {
			t.Fatal(st, err)
		}
		if x := r.(connectors.Timed).Times(); len(x) != 1 || x[0].Idle != want || x[0].WatermarkMs != connectors.NoWatermark || x[0].Split != splits[1].ID {
			t.Fatalf("%+v", x)
		}
		if !want {
			clock.next()
		}
	}
	if r.Wake() != nil || clock.at != 2*time.Second {
		t.Errorf("it wakes up again, or woke after %s", clock.at)
	}
}
