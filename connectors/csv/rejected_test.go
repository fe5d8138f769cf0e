package csv

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files/text"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

// rejectsOf reads a source that skips bad rows and gives those, in file order, with the rows that passed.
func rejectsOf(t *testing.T, state []byte, split, read int64, where *expr.Expr) (out []connectors.Reject, passed int) {
	t.Helper()
	src, err := openIn(localFS(), state)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, len(src.Columns))
	for i := range all {
		all[i] = i
	}
	src.Push(connectors.Pushdown{Columns: all, Where: where, Limit: -1, Rejects: true})
	e, err := src.Enumerator(context.Background(), connectors.SplitOptions{SplitBytes: split, ReadBytes: read}, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, _, err := e.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	rd, err := src.Reader(&operators.Task{Ctx: context.Background(), Alloc: alloc})
	if err != nil {
		t.Fatal(err)
	}
	rd.Add(splits)
	for {
		b, st, err := rd.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rd.(connectors.Rejecting).Rejects()...)
		if st != connectors.More {
			break
		}
		if b.Rec != nil {
			passed += b.Rows()
			b.Rec.Release()
		}
	}
	tally := rd.Tally()
	if len(tally) == 1 && tally[0].Rejected != int64(len(out)) {
		t.Fatalf("%d rejects were given out and %d are booked", len(out), tally[0].Rejected)
	}
	slices.SortFunc(out, func(a, b connectors.Reject) int { return cmp.Compare(a.Offset, b.Offset) })
	if len(tally) == 1 {
		for i, s := range tally[0].Sample {
			x := out[i]
			x.Raw = ""
			if s != x || i >= connectors.MostSampled {
				t.Fatalf("sample %d is %+v, expected %+v", i, s, x)
			}
		}
	}
	if err := rd.Close(); err != nil {
		t.Fatal(err)
	}
	return out, passed
}

// messy is a text with good and bad rows, and what is to be said of the bad ones: line, offset, raw.
func messy(rows int, seed uint64) (text string, bad []connectors.Reject) {
	rng := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("id,note,amount\n")
	line := int64(2)
	for i := range rows {
		note := []string{"plain", `"two` + "\n" + `lines"`, `"quo""ted"`, "été"}[rng.IntN(4)]
		row, x := fmt.Sprintf("%d,%s,%d.50", i, note, rng.IntN(1000)), connectors.Reject{}
		within := int64(strings.Count(note, "\n"))
		switch rng.IntN(6) {
		case 0:
			row = fmt.Sprintf("%d,%s,much", i, note)
			x = connectors.Reject{Class: "CastError", Column: 3, Field: "amount", Value: "much", Line: line + within}
		case 1:
			row += ",more"
			x = connectors.Reject{Class: "CsvFormatError", Line: line}
		case 2:
			row = fmt.Sprintf("x%d,%s,1", i, note)
			x = connectors.Reject{Class: "CastError", Column: 1, Field: "id", Value: fmt.Sprintf("x%d", i), Line: line}
		}
		if x.Class != "" {
			x.Offset, x.Raw = int64(b.Len()), row
			bad = append(bad, x)
		}
		b.WriteString(row + "\n")
		line += within + 1
	}
	return b.String(), bad
}

// TestRejects: every record that is left out is handed out once, with its place and text, however the
// file is cut and whichever way it is read.
func TestRejects(t *testing.T) {
	for seed := range uint64(6) {
		text, want := messy(300, seed)
		_, state, err := bindTextSkipping(t, Options{Columns: columns(t, "id BIGINT; note STRING; amount DECIMAL(9, 2)")}, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range []int64{1 << 30, 4096, 100, 7} {
			for _, read := range []int64{0, 50} {
				for _, s := range [][]byte{state, inOrder(t, state)} {
					got, passed := rejectsOf(t, s, split, read, nil)
					if passed != 300-len(want) {
						t.Fatalf("%d rows passed, expected %d", passed, 300-len(want))
					}
					sameRejects(t, got, want)
				}
			}
		}
	}
}

func sameRejects(t *testing.T, got, want []connectors.Reject) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rejects, expected %d", len(got), len(want))
	}
	for i, x := range got {
		if x.Message == "" || x.File == "" {
			t.Fatalf("reject %d: %+v", i, x)
		}
		w := want[i]
		w.Message, w.File, w.Order = x.Message, x.File, x.Order
		if x != w {
			t.Fatalf("reject %d:\n got      %+v\n expected %+v", i, x, w)
		}
	}
}

// TestRejectsOfOtherEncodings: the offset is that of the file, not of the text that was made of it.
func TestRejectsOfOtherEncodings(t *testing.T) {
	text := "id,note\n1,é\nx,é😀ü\n3,ok\ny,é\n"
	units := utf16.Encode([]rune("\uFEFF" + text))
	var wide []byte
	for _, u := range units {
		wide = append(wide, byte(u), byte(u>>8))
	}
	var four, reversed []byte // UTF-32
	for _, r := range "\uFEFF" + text {
		four = binary.LittleEndian.AppendUint32(four, uint32(r))
		reversed = binary.BigEndian.AppendUint32(reversed, uint32(r))
	}
	latin := strings.NewReplacer("é", "\xe9", "ü", "\xfc", "😀", "!").Replace(text)
	for _, c := range []struct {
		encoding, text string
		at             []int64
		raw            string
	}{
		{"utf-16", string(wide), []int64{2 + 2*12, 2 + 2*(12+7+5)}, "x,é😀ü"},
		{"", string(wide), []int64{26, 50}, "x,é😀ü"},
		{"", string(four), []int64{52, 96}, "x,é😀ü"},
		{"utf-32", string(reversed), []int64{52, 96}, "x,é😀ü"},
		{"utf-32be", string(reversed[4:]), []int64{48, 92}, "x,é😀ü"},
		{"windows-1252", latin, []int64{12, 23}, "x,é!ü"},
		{"", text, []int64{13, 13 + 11 + 5}, "x,é😀ü"},
	} {
		_, state, err := bindTextSkipping(t, Options{Columns: columns(t, "id INT; note STRING"), Encoding: c.encoding}, c.text)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := rejectsOf(t, state, 1<<20, 0, nil)
		if len(got) != 2 || got[0].Raw != c.raw || got[0].Offset != c.at[0] || got[1].Offset != c.at[1] || got[1].Line != 5 {
			t.Fatalf("%q: %+v", c.encoding, got)
		}
	}
}

// TestRejectsAreGivenOutOften: a file of nothing but bad rows is not gathered in memory.
func TestRejectsAreGivenOutOften(t *testing.T) {
	_, state, err := bindTextSkipping(t, Options{Columns: columns(t, "id INT")}, "id\n"+strings.Repeat("x\n", 3*text.MostKept))
	if err != nil {
		t.Fatal(err)
	}
	src, err := openIn(localFS(), inOrder(t, state))
	if err != nil {
		t.Fatal(err)
	}
	src.Push(connectors.Pushdown{Columns: []int{0}, Limit: -1, Rejects: true})
	rd, err := src.Reader(&operators.Task{Ctx: context.Background(), Alloc: memory.NewGoAllocator()})
	if err != nil {
		t.Fatal(err)
	}
	e, err := src.Enumerator(context.Background(), connectors.SplitOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, _, err := e.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	rd.Add(splits)
	calls, n := 0, 0
	for {
		_, st, err := rd.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		n += len(rd.(connectors.Rejecting).Rejects())
		if st != connectors.More {
			break
		}
		calls++
	}
	if n != 3*text.MostKept || calls == 0 {
		t.Fatalf("%d rejects in %d calls", n, calls)
	}
}

// TestRawOfBytesThatAreNoText: one U+FFFD for each byte, so that the text can be laid over the bytes.
func TestRawOfBytesThatAreNoText(t *testing.T) {
	_, state, err := bindTextSkipping(t, Options{Columns: columns(t, "id INT; s STRING")}, "id,s\n1,a\xe9\xe8b\n2,ok\n")
	if err != nil {
		t.Fatal(err)
	}
	got, passed := rejectsOf(t, state, 1<<20, 0, nil)
	if passed != 1 || len(got) != 1 || got[0].Raw != "1,a\uFFFD\uFFFDb" || got[0].Class != "CsvFormatError" {
		t.Fatalf("%d passed, %+v", passed, got)
	}
}
