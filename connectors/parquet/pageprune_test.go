package parquet

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
)

// TestPrunePages reads random files, in which pages of the columns begin at different rows, with random
// filters: always the rows that reading everything gives, and often fewer are looked at.
func TestPrunePages(t *testing.T) {
	s := schemaOf(t, "a BIGINT; b DOUBLE; c STRING; d DATE NOT NULL")
	pruned := 0
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 31))
		cols := make([]arrow.Array, len(s.Fields))
		rows := 1 + rnd.IntN(1500)
		var numbers []int64
		for c, f := range s.Fields {
			m := &maker{field: f, nulls: []float64{0, 0.02, 0.5, 1}[rnd.IntN(4)], kind: []int{1, 3, 3, 4, 5}[rnd.IntN(5)]}
			b := array.NewBuilder(memory.DefaultAllocator, f.Type.Arrow())
			for row := range rows {
				m.append(b, rnd, row)
				numbers = append(numbers, m.last)
			}
			cols[c] = b.NewArray()
		}
		batch := operators.Batch{Rec: column.NewRecord(s.Fields, cols, int64(rows))}
		l := usualLimits()
		l.pageRows, l.pageBytes = 1+rnd.IntN(300), 1+rnd.IntN(1000)
		path := save(t, encodeBatches(t, s, "snappy", l, int64(1+rnd.IntN(2000)), []operators.Batch{batch}))
		for range 12 {
			text := randomFilter(rnd, numbers)
			push := connectors.Pushdown{Columns: []int{3, 0, 2}, Where: where(t, text, s), Limit: -1}
			got, read := readPruned(t, path, push, true)
			want, all := readPruned(t, path, push, false)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("seed %d, %s: %d rows, want %d", seed, text, len(got), len(want))
			}
			if read < all {
				pruned++
			}
		}
	}
	if pruned < 200 {
		t.Errorf("only %d of 720 filters passed over rows", pruned)
	}
}

func randomFilter(rnd *rand.Rand, numbers []int64) string {
	n := numbers[rnd.IntN(len(numbers))] + rnd.Int64N(3) - 1
	one := func() string {
		op := []string{"=", "<", "<=", ">", ">=", "<>"}[rnd.IntN(6)]
		switch rnd.IntN(7) {
		case 0:
			return fmt.Sprintf("b %s %d", op, n/8)
		case 1:
			return fmt.Sprintf("c %s 'v%x'", op, n)
		case 2:
			return fmt.Sprintf("d %s DATE '%04d-01-01'", op, 1960+rnd.IntN(20))
		case 3:
			return []string{"a", "b", "c"}[rnd.IntN(3)] + []string{" IS NULL", " IS NOT NULL"}[rnd.IntN(2)]
		case 4:
			return fmt.Sprintf("a IN (%d, %d)", n, n+5)
		}
		return fmt.Sprintf("a %s %d", op, n)
	}
	switch rnd.IntN(3) {
	case 0:
		return one() + " AND " + one()
	case 1:
		return one() + " OR " + one()
	}
	return one()
}

// TestDamagedPageIndex gives page indexes that contradict themselves or the row group: they are not used.
func TestDamagedPageIndex(t *testing.T) {
	l := usualLimits()
	l.pageRows = 10
	s, path := prunable(t, 100, l)
	src := open1(t, Options{Path: []string{path}}).(*source)
	src.Push(connectors.Pushdown{Columns: []int{0}, Where: where(t, "n = 400", s), Limit: -1})
	r, err := newReader(src, &operators.Task{Ctx: t.Context(), Alloc: alloc(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.openFile(1); err != nil {
		t.Fatal(err)
	}
	good, err := r.gapsOf(0)
	if err != nil || len(good) != 2 {
		t.Fatal(good, err)
	}
	at := &r.pruner.stats[0][0].index
	was := *at
	for name, change := range map[string]func(){
		"none":             func() { *at = pageIndex{} },
		"past the end":     func() { at.columnAt = 1 << 40 },
		"negative":         func() { at.offsetSize = -1 },
		"cut":              func() { at.columnSize-- },
		"of other columns": func() { at.columnAt, at.columnSize = at.offsetAt, at.offsetSize },
	} {
		change()
		if gaps, err := r.gapsOf(0); err != nil || len(gaps) != 0 {
			t.Errorf("%s: %v, %v", name, gaps, err)
		}
		*at = was
	}
	for _, rows := range []int64{90, 85, 5} { // fewer than the pages begin at
		if pages, err := r.pagesOf(0, r.cols[0], rows); err != nil || pages != nil {
			t.Errorf("%d rows: %v, %v", rows, pages, err)
		}
	}
}
