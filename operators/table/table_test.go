package table_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
	"github.com/seed-4b0e9f7c/runner/operators/operatortest"
	"github.com/seed-4b0e9f7c/runner/operators/table"
)

// model is what a table must do, by the text of keys.
type model struct {
	slots map[string]uint32
	keys  []string
}

func (m *model) slot(key string) (slot uint32, fresh bool) {
	if s, ok := m.slots[key]; ok {
		return s, false
	}
	s := uint32(len(m.keys))
	m.slots[key] = s
	m.keys = append(m.keys, key)
	return s, true
}

func (m *model) cut(n int) {
	for _, k := range m.keys[n:] {
		delete(m.slots, k)
	}
	m.keys = m.keys[:n]
}

// TestTableAgainstModel upserts random keys of several schemas in batches whose texts are plain or
// coded, under budgets that run out, and compares slots, values and scans with a map.
func TestTableAgainstModel(t *testing.T) {
	schemas := []string{
		"a BIGINT", "a INT", "a DOUBLE", "a BOOLEAN", "a STRING", "a DATE", "a TIMESTAMP(3)", "a TIME(3)", "a TIMESTAMP_LTZ(6)", "a BYTES", "a DECIMAL(30, 2)", "a DECIMAL(9, 2)",
		"a STRING, b DATE", "a DATE, b STRING, c STRING", "a STRING, b BIGINT, c BOOLEAN", "a DOUBLE, b STRING", "a BIGINT, b BIGINT", "a TINYINT", "a FLOAT, b SMALLINT", "a STRING, b TINYINT",
	}
	for seed, text := range schemas {
		for _, budget := range []int64{-1, 12 << 10, 40 << 10} {
			t.Run(fmt.Sprintf("%s within %d bytes", text, budget), func(t *testing.T) {
				againstModel(t, operatortest.MustSchema(text), rand.New(rand.NewPCG(1, uint64(seed))), budget)
			})
		}
	}
}

func againstModel(t *testing.T, s expr.Schema, r *rand.Rand, budget int64) {
	task := operatortest.NewTask(t, budget)
	tab, err := table.New(s, operators.TableOptions{Words: 2, BytesCol: 1}, task.Memory, task.MaxParallelism, task.Alloc)
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	m := &model{slots: map[string]uint32{}}
	refused := 0
	for round := range 24 {
		spread := []int{3, 50, 4000}[r.IntN(3)]
		rec, err := operatortest.ParseRows(task.Alloc, s, randomRows(s, r, r.IntN(3000), spread))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range operatortest.Batches(task.Alloc, s, rec, 1+r.IntN(1500), round) {
			refused += upsert(t, tab, m, s, b)
			b.Rec.Release()
		}
		rec.Release()
		switch r.IntN(6) {
		case 0:
			compare(t, tab, m, s)
		case 1:
			remove(t, tab, m, r)
		}
	}
	compare(t, tab, m, s)
	if budget > 0 && budget < 20<<10 && refused == 0 && len(s.Fields) > 1 {
		t.Error("the budget never ran out")
	}
}

// upsert compares one batch; after ErrMemory nothing may have changed, and the table is cleared.
func upsert(t *testing.T, tab operators.Table, m *model, s expr.Schema, b operators.Batch) (refused int) {
	t.Helper()
	slots := make([]uint32, b.Rows())
	before := len(m.keys)
	fresh, err := tab.Upsert(b.Rec.Columns(), b.Dict, b.Sel, slots)
	if errors.Is(err, operators.ErrMemory) {
		if tab.Len() != before {
			t.Fatalf("a refused Upsert left %d slots of %d", tab.Len(), before)
		}
		compare(t, tab, m, s)
		tab.Clear()
		m.cut(0)
		return 1
	}
	if err != nil {
		t.Fatal(err)
	}
	keys := canonical(operatortest.FormatRows(s, b.Rec, b.Sel))
	for i, k := range keys {
		want, _ := m.slot(k)
		if slots[i] != want {
			t.Fatalf("row %d with key %s is in slot %d, not %d", i, k, slots[i], want)
		}
		tab.Words(1)[want]++
		tab.Bytes(0).Set(want, []byte(strings.Repeat(k, int(tab.Words(1)[want]%3)+1)))
	}
	if fresh != len(m.keys)-before || tab.Len() != len(m.keys) {
		t.Fatalf("%d fresh and %d in all, not %d and %d", fresh, tab.Len(), len(m.keys)-before, len(m.keys))
	}
	again := make([]uint32, len(slots))
	if err := tab.Find(b.Rec.Columns(), b.Dict, b.Sel, again); err != nil {
		t.Fatal(err)
	}
	for i := range again {
		if again[i] != slots[i] {
			t.Fatalf("Find gives slot %d for row %d, Upsert %d", again[i], i, slots[i])
		}
	}
	return 0
}

// compare scans the table as a whole and by key group.
func compare(t *testing.T, tab operators.Table, m *model, s expr.Schema) {
	t.Helper()
	for _, step := range []int{operatortest.MaxParallelism, 50} {
		seen := map[uint32]bool{}
		for from := 0; from < operatortest.MaxParallelism; from += step {
			err := tab.Scan(from, min(from+step, operatortest.MaxParallelism), func(keys arrow.Record, slots []uint32) error {
				for i, k := range canonical(operatortest.FormatRows(s, keys, nil)) {
					if want, ok := m.slots[k]; !ok || want != slots[i] || seen[slots[i]] {
						return fmt.Errorf("key %s in slot %d, expected %d (seen before: %t)", k, slots[i], want, seen[slots[i]])
					}
					seen[slots[i]] = true
					n := tab.Words(1)[slots[i]]
					if want := strings.Repeat(k, int(n%3)+1); string(tab.Bytes(0).Get(slots[i])) != want {
						return fmt.Errorf("key %s has bytes %q, not %q", k, tab.Bytes(0).Get(slots[i]), want)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(seen) != len(m.keys) {
			t.Fatalf("%d keys scanned in steps of %d groups, not %d", len(seen), step, len(m.keys))
		}
	}
}

func remove(t *testing.T, tab operators.Table, m *model, r *rand.Rand) {
	t.Helper()
	var gone []uint32
	old := m.keys
	m.keys, m.slots = nil, map[string]uint32{}
	for i, k := range old {
		if r.IntN(3) == 0 {
			gone = append(gone, uint32(i))
		} else {
			m.slot(k)
		}
	}
	if err := tab.Delete(gone); err != nil {
		t.Fatal(err)
	}
}

func canonical(lines []string) []string {
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(l, "-0.0", "0.0")
	}
	return lines
}

func randomRows(s expr.Schema, r *rand.Rand, n, spread int) string {
	var b strings.Builder
	for range n {
		for i, f := range s.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(randomValue(f.Type, r, spread))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func randomValue(t expr.Type, r *rand.Rand, spread int) string {
	n := r.IntN(spread)
	if n == 1 {
		return "NULL"
	}
	switch t.Kind {
	case expr.Boolean:
		return fmt.Sprint(n%2 == 0)
	case expr.Double:
		return []string{"NaN", "-0.0", "0.0", fmt.Sprintf("%d.5", n), fmt.Sprintf("-%d.25", n)}[r.IntN(5)]
	case expr.Decimal:
		return fmt.Sprintf("%d.%02d", n, n%100)
	case expr.Date:
		return fmt.Sprintf("%04d-%02d-%02d", 1900+n%150, 1+n%12, 1+n%28)
	case expr.Timestamp:
		return fmt.Sprintf("%04d-%02d-%02d 00:00:%02d.000", 1900+n%150, 1+n%12, 1+n%28, n%60)
	case expr.Time:
		return fmt.Sprintf("%02d:%02d:%02d.%03d", n%24, n%60, n%59, n%1000)
	case expr.TimestampLTZ:
		return fmt.Sprintf("%04d-%02d-%02d 00:00:%02d.000000Z", 1900+n%150, 1+n%12, 1+n%28, n%60)
	case expr.Bytes:
		return base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xff", n%20) + fmt.Sprint(n)))
	case expr.String:
		return `"` + strings.Repeat("x", n%20) + fmt.Sprint(n) + `"`
	case expr.BigInt:
		return fmt.Sprint(int64(n) * []int64{1, 1, 1, -1, 1 << 40}[r.IntN(5)])
	}
	return fmt.Sprint(n)
}

// TestTimers gives slots out in the order of their times, and follows Delete.
func TestTimers(t *testing.T) {
	task := operatortest.NewTask(t, -1)
	s := operatortest.MustSchema("a BIGINT")
	made, err := table.New(s, operators.TableOptions{}, task.Memory, task.MaxParallelism, task.Alloc)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	tab, ok := made.(*table.Table)
	if !ok {
		t.Fatalf("New made a %T", made)
	}
	rec, err := operatortest.ParseRows(task.Alloc, s, "10\n11\n12\n13\n")
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	slots := make([]uint32, 4)
	if _, err := tab.Upsert(rec.Columns(), nil, nil, slots); err != nil {
		t.Fatal(err)
	}
	for _, set := range []struct {
		ms   int64
		slot uint32
	}{{30, 0}, {10, 1}, {20, 2}, {10, 3}, {40, 3}} {
		if err := tab.At(operators.EventTime, set.ms, []uint32{set.slot}); err != nil {
			t.Fatal(err)
		}
	}
	if err := tab.Delete([]uint32{1}); err != nil { // 2 becomes 1, 3 becomes 2
		t.Fatal(err)
	}
	if got := fmt.Sprint(tab.Due(operators.ProcessingTime, 99), tab.Due(operators.EventTime, 20), tab.Due(operators.EventTime, 99)); got != "[] [2 1] [0 2]" {
		t.Errorf("timers are due in the order %s", got)
	}
}
