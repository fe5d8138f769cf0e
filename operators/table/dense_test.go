package table_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// TestKeysThatCeaseToSuit begins with few texts and integers that lie close together, and goes on with keys
// that a dense index cannot hold: below and above the range so far, at the ends of BIGINT, too many texts,
// too many combinations.
func TestKeysThatCeaseToSuit(t *testing.T) {
	row := func(text string, n int64) string { return fmt.Sprintf("%q, %d\n", text, n) }
	for name, next := range map[string]func(r *rand.Rand, round, i int) string{
		"down":  func(r *rand.Rand, round, i int) string { return row(fmt.Sprint(r.IntN(9)), int64(-round*997-i)) },
		"up":    func(r *rand.Rand, round, i int) string { return row(fmt.Sprint(r.IntN(9)), int64(round*997+i)) },
		"far":   func(r *rand.Rand, round, i int) string { return row("a", int64(i-round*round*round*1000)) },
		"least": func(r *rand.Rand, round, i int) string { return row("a", math.MinInt64+int64(r.IntN(50*(12-round)))) },
		"ends": func(r *rand.Rand, round, i int) string {
			return row("a", []int64{math.MinInt64, math.MaxInt64, 0}[(round/4+i%(1+round/4))%3])
		},
		"texts": func(r *rand.Rand, round, i int) string { return row(fmt.Sprint("t", round*7000+i), 1) },
		"nulls": func(r *rand.Rand, round, i int) string {
			return []string{"NULL, NULL\n", "\"\", NULL\n", "NULL, 7\n"}[r.IntN(3)]
		},
		"squares": func(r *rand.Rand, round, i int) string {
			return row(fmt.Sprint(r.IntN(1+round*400)), int64(r.IntN(1+round*400)))
		},
	} {
		for _, budget := range []int64{-1, 300 << 10} {
			t.Run(fmt.Sprintf("%s within %d bytes", name, budget), func(t *testing.T) {
				t.Parallel()
				rows := 1500
				if name == "texts" {
					rows = 7000
				}
				ceaseToSuit(t, next, rows, budget)
			})
		}
	}
}

func ceaseToSuit(t *testing.T, next func(r *rand.Rand, round, i int) string, rows int, budget int64) {
	s := operatortest.MustSchema("a STRING, b BIGINT")
	r := rand.New(rand.NewPCG(7, uint64(budget)))
	task := operatortest.NewTask(t, budget)
	tab, err := table.New(s, operators.TableOptions{Words: 2, BytesCol: 1}, task.Memory, task.MaxParallelism, task.Alloc)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	m := &model{slots: map[string]uint32{}}
	for round := range 12 {
		var text strings.Builder
		for i := range rows {
			text.WriteString(next(r, round, i))
		}
		rec, err := operatortest.ParseRows(task.Alloc, s, text.String())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range operatortest.Batches(task.Alloc, s, rec, 1+r.IntN(1500), round) {
			upsert(t, tab, m, s, b)
			b.Rec.Release()
		}
		rec.Release()
		switch {
		case round%4 == 1:
			remove(t, tab, m, r)
		case round == 6:
			tab.Clear()
			m.cut(0)
		}
		compare(t, tab, m, s)
	}
}

// TestCoded gives keys out with the texts of few kinds as codes of one dictionary, and others plain.
func TestCoded(t *testing.T) {
	for _, c := range []struct {
		rows, texts int
		coded       bool
	}{{40_000, 5, true}, {10, 5, false}, {1000, 1000, false}} {
		t.Run(fmt.Sprintf("%d texts in %d rows", c.texts, c.rows), func(t *testing.T) { coded(t, c.rows, c.texts, c.coded) })
	}
}

func coded(t *testing.T, rows, texts int, wanted bool) {
	task := operatortest.NewTask(t, -1)
	s := operatortest.MustSchema("a INT, b STRING")
	tab, err := table.New(s, operators.TableOptions{}, task.Memory, task.MaxParallelism, task.Alloc)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "%d, %q\n", i/texts, fmt.Sprint("t", i%texts))
	}
	text.WriteString("NULL, NULL\n")
	rec, err := operatortest.ParseRows(task.Alloc, s, text.String())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	if _, err := tab.Upsert(rec.Columns(), nil, nil, make([]uint32, rec.NumRows())); err != nil {
		t.Fatal(err)
	}
	var got []string
	ids := map[uint64]bool{}
	err = table.Coded(tab, func(keys arrow.Record, dict []uint64, slots []uint32) error {
		if len(slots) != int(keys.NumRows()) || len(dict) != 2 || dict[0] != 0 {
			return fmt.Errorf("%d slots and %d keys, with dictionaries %v", len(slots), keys.NumRows(), dict)
		}
		if is := keys.Column(1).DataType().ID() == arrow.DICTIONARY; is != wanted || is != (dict[1] != 0) {
			return fmt.Errorf("the texts are a %s with dictionary %d", keys.Column(1).DataType(), dict[1])
		}
		ids[dict[1]] = true
		got = append(got, operatortest.FormatRows(s, keys, nil)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := operatortest.FormatRows(s, rec, nil); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Error("the keys given out are not those put in")
	}
	if len(ids) != 1 {
		t.Errorf("the batches have the dictionaries %v", ids)
	}
}

// TestForgottenKeys empties a table whose memory is used up, by its keys and by a rare column that was not paid for:
// keys of another kind must find room in it.
func TestForgottenKeys(t *testing.T) {
	const budget = 64 << 10
	task := operatortest.NewTask(t, budget)
	s := operatortest.MustSchema("a STRING, b BIGINT")
	tab, err := table.New(s, operators.TableOptions{Words: 2, Rare: []int{1}}, task.Memory, task.MaxParallelism, task.Alloc)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	upsert := func(text string) error {
		rec, err := operatortest.ParseRows(task.Alloc, s, text)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Release()
		_, err = tab.Upsert(rec.Columns(), nil, nil, make([]uint32, rec.NumRows()))
		return err
	}
	rows := 0
	for err == nil {
		err = upsert(fmt.Sprintf("\"a\", %d\n", rows))
		rows++
	}
	if !errors.Is(err, operators.ErrMemory) || rows < 100 {
		t.Fatalf("%d rows, then %v", rows, err)
	}
	tab.Words(1)[0]++ // owed from now on
	for round := range 3 {
		tab.Clear()
		if err := upsert(fmt.Sprintf("%q, %d\n", strings.Repeat("other", 1000), round*1000)); err != nil {
			t.Fatalf("after Clear: %v", err)
		}
	}
}
