package json

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// FuzzJSON compares the reader with the oracle: same rows, same books, same first fault, whatever the
// splits and the reads.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		"{\"a\":1}\n{\"a\":2}\n", "{\"a\":1,\"b\":\"x\"}\r\n{\"b\":\"y\",\"a\":2}\n", "{\"a\":{\"b\":[1,2,{\"c\":3}]}}\n{\"a\":5}\n",
		"{\"a\": 1e3, \"b\" : null}\n\n{\"a\":1.50}\n", "{\"a\":\"\\u00e9\\ud83d\\ude00\\ud800\"}\n", "{\"a\":1,\"a\":2}\n{\"\\u0061\":3}\n",
		"\xEF\xBB\xBF{\"a\":true}\n[1]\n", "{\"a\":\"2024-02-29\",\"b\":\"12\"}\n{\"a\":12345678901234567890}\n", "{\"a\":\"\xff\"}\n{\"a\":01}\n", "{",
		"{\"a\":{\"b\":\"long enough to be longer than sixteen bytes \\\" and \\\\\"}}\n{\"a\":[[],{}]}", "{\"b\":false,\"a\":-0.0e-5}\n{\"c\":[1,2]}\n",
	} {
		for k := range uint64(4) {
			f.Add([]byte(s), k*0x9e3779b97f4a7c15, uint16(k*5+1), uint16(k*11+1))
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, split, read uint16) {
		if len(data) > 1024 {
			return
		}
		compare(t, dir, data, seed, int64(split%512)+1, int64(read%256)+1)
	})
}

// compare reads data in all ways that seed says.
func compare(t *testing.T, dir string, data []byte, seed uint64, split, read int64) {
	t.Helper()
	pick := func(n uint64) uint64 {
		v := seed % n
		seed = seed/n ^ seed<<7 ^ 0x5bd1e995
		return v
	}
	o := someOptions(t, pick)
	if err := os.WriteFile(filepath.Join(dir, "x.jsonl"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	state, err := bind(context.Background(), o, connectors.Env{Dir: dir, SkipBadRows: pick(3) == 0})
	if err != nil {
		return // compressed or UTF-16 by its first bytes
	}
	var want oracle
	if err := json.Unmarshal(state, &want.b); err != nil {
		t.Fatal(err)
	}
	if want.b.Files[0].InOrder != "" && !want.b.Array {
		return
	}
	want.cols = []int{}
	for i, c := range o.Columns {
		p, err := c.steps()
		if err != nil {
			t.Fatal(err)
		}
		want.paths = append(want.paths, p)
		if pick(3) > 0 {
			want.cols = append(want.cols, len(o.Columns)-1-i)
		}
	}
	h := how{split: split, read: read, columns: want.cols}
	if o.Columns[0].Type.Kind == expr.BigInt && pick(3) > 0 {
		want.has, want.where = true, 3
		h.where = atLeast(o.Columns[0].Field, want.where)
	}
	if want.b.Array {
		if v, ok := want.array(data); ok {
			agree(t, state, h, v)
		}
		return
	}
	v := want.lines(data)
	agree(t, state, h, v)
	h.read = 0
	agree(t, state, h, v)
	b := want.b
	b.Files = slices.Clone(b.Files)
	b.Files[0].InOrder = "a test says so"
	if state, err = json.Marshal(b); err != nil {
		t.Fatal(err)
	}
	agree(t, state, h, v)
}

func someOptions(t *testing.T, pick func(uint64) uint64) Options {
	t.Helper()
	types := []string{
		"INT", "STRING", "BIGINT", "DECIMAL(6, 2)", "DOUBLE", "TIMESTAMP(3)", "DATE", "BOOLEAN", "DECIMAL(25, 3)",
		"STRING NOT NULL", "BIGINT NOT NULL", "TINYINT", "FLOAT", "SMALLINT",
		"TIME(3)", "TIMESTAMP_LTZ(3)", "ARRAY<TIMESTAMP_LTZ(0)>", "ARRAY<STRING>", "ROW<b STRING, a BIGINT>", "ARRAY<ROW<c INT, d ARRAY<DOUBLE>>>", "ROW<a ROW<b BOOLEAN>, c DATE>", "ARRAY<DECIMAL(20, 1) NOT NULL>",
	}
	paths := []string{"a", "b", "a.b", "a[0]", "a.b[2].c", "a.b[1]", "c", "a.a", "c[1]", "`a.b`", "b[0][0]"}
	o := Options{Path: []string{"x.jsonl"}}
	for i := range pick(5) + 1 {
		typ := types[pick(uint64(len(types)))]
		if i == 0 && pick(2) == 0 {
			typ = "BIGINT"
		}
		if err := o.Columns.SetFields(fmt.Sprintf("c%d", i), []string{"type", "path"}, []string{typ, paths[pick(uint64(len(paths)))]}); err != nil {
			t.Fatal(err)
		}
	}
	o.Zone = "Europe/Berlin"
	o.Check = []string{"used", "used", "all"}[pick(3)]
	o.DuplicateKeys = []string{"error", "last"}[pick(2)]
	o.Format = []string{"lines", "lines", "lines", "array"}[pick(4)]
	return o
}

// array reads a text that is one array; ok is false where it is none, and then the reader says so.
func (o *oracle) array(data []byte) (v verdict, ok bool) {
	text := bytes.TrimPrefix(data, []byte("\uFEFF"))
	var list []json.RawMessage
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) || json.Unmarshal(text, &list) != nil {
		return v, false
	}
	for _, raw := range list {
		// Where an element begins is found by the reader alone; what it says is checked elsewhere.
		if !o.record(&v, raw, 0, 0, false) {
			break
		}
	}
	return v, true
}

// agree reads and compares.
func agree(t *testing.T, state []byte, h how, want verdict) {
	t.Helper()
	got, err := readAll(t, state, h)
	var e *connectors.DataError
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("no data error: %v", err)
	}
	var b bound
	if err := json.Unmarshal(state, &b); err != nil {
		t.Fatal(err)
	}
	switch {
	case e == nil && want.class != "":
		t.Fatalf("no fault, expected %s in line %d; rows %q", want.class, want.line, got.rows)
	case e == nil:
	case e.Kind != want.class || !b.Array && (e.Line != want.line || e.Order != [2]int64{1, want.order}):
		t.Fatalf("fault %v (%s, order %v), expected %q in line %d at byte %d", e, e.Kind, e.Order, want.class, want.line, want.order)
	case e.Column < 1:
		t.Fatalf("fault without a column: %v", e)
	}
	if !slices.Equal(got.rows, want.rows) {
		t.Fatalf("rows:\n got      %q\n expected %q", got.rows, want.rows)
	}
	if e != nil {
		return
	}
	y := got.tally[b.Files[0].Path]
	if y.Bytes != b.Files[0].Bytes || y.Rows != y.Read || y.Read-y.Filtered-y.Rejected != int64(len(want.rows)) || y.Rejected != int64(len(want.rejected)) {
		t.Fatalf("books: %+v for %d rows and %d rejects of %d bytes", y, len(want.rows), len(want.rejected), b.Files[0].Bytes)
	}
	h.rejects = true
	if again, err := readAll(t, state, h); err != nil || len(again.rejects) != len(want.rejected) {
		t.Fatalf("%d rejects, expected %d: %v", len(again.rejects), len(want.rejected), err)
	} else if !b.Array {
		slices.SortFunc(again.rejects, func(a, b connectors.Reject) int { return int(a.Offset - b.Offset) })
		for i, x := range again.rejects {
			if x.Offset != want.rejected[i] || x.Order != [2]int64{1, want.rejected[i]} || x.Column < 1 {
				t.Fatalf("reject %+v, expected one at byte %d", x, want.rejected[i])
			}
		}
	}
}

// TestRandom compares on texts that are mostly right.
func TestRandom(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 7))
		data := []byte(someLines(rng))
		compare(t, dir, data, rng.Uint64(), rng.Int64N(300)+1, rng.Int64N(200)+1)
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, data)
		}
	}
}

func someLines(rng *rand.Rand) string {
	var b strings.Builder
	array := rng.IntN(4) == 0
	if array {
		b.WriteString("[")
	}
	for i := range rng.IntN(12) {
		if array && i > 0 {
			b.WriteString(",")
		}
		b.WriteString(someValue(rng, 0))
		b.WriteString([]string{"\n", "\n", "\r\n", " \n", "\n\n"}[rng.IntN(5)])
	}
	if array {
		b.WriteString("]")
	}
	s := b.String()
	if rng.IntN(3) == 0 && len(s) > 0 {
		i := rng.IntN(len(s))
		s = s[:i] + []string{"", "\"", "\\", "}", ",", "\n", "\xff", "x", "0"}[rng.IntN(9)] + s[i+rng.IntN(2):]
	}
	return s
}

// someValue is a value; at depth 0 mostly an object.
func someValue(rng *rand.Rand, depth int) string {
	blank := []string{"", "", "", " "}[rng.IntN(4)]
	switch n := rng.IntN(10); {
	case depth == 0 && n > 0 || n < 2 && depth < 4:
		var m []string
		for range rng.IntN(5) {
			key := []string{"a", "b", "c", "d", "a.b", "\\u0061"}[rng.IntN(6)]
			m = append(m, fmt.Sprintf("%s\"%s\"%s:%s%s", blank, key, blank, blank, someValue(rng, depth+1)))
		}
		return "{" + strings.Join(m, ",") + blank + "}"
	case n < 4 && depth < 4:
		var m []string
		for range rng.IntN(4) {
			m = append(m, blank+someValue(rng, depth+1))
		}
		return "[" + strings.Join(m, blank+",") + blank + "]"
	}
	return []string{
		"1", "12", "-7", "3.50", "1e2", "0", "99999999999", "1.5e-3", "null", "true", "false", "\"\"", "\"12\"", "\"x\"", "\"2024-02-29\"",
		"\"2024-02-29T11:12:13.5\"", "\"2024-02-29T11:12:13+05:30\"", "\"11:12:13.25\"", "\"quite a long string, longer than two words\"", "\"e\\u00e9\\n\\\"q\\\"\"", "\"\\ud800\"", "\"é\"", "\"yes\"", "128", "9007199254740993",
	}[rng.IntN(25)]
}
