package parquet

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
)

// TestOnly: the rows that were left out, and no others, are read again as the plan has them now; what is still bad
// comes out again.
func TestOnly(t *testing.T) {
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		l := usualLimits()
		l.pageRows = []int{1 << 15, 50}[seed%2]
		path, rows := messy(t, rnd, 5000, []int64{5000, 700}[seed%2], l)
		declared := schemaOf(t, narrowTypes)
		all := []int{0, 1, 2, 3, 4, 5, 6}
		first, err := readSkipping(t, bindSkipping(t, path, narrowTypes, true), connectors.Pushdown{Columns: all, Limit: -1, Rejects: true}, connectors.SplitOptions{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var records []connectors.Record
		for _, x := range first.rejects {
			records = append(records, connectors.Record{File: x.File, Line: x.Line, Offset: x.Offset, Raw: x.Raw})
		}
		var bad []messyRow
		for _, r := range rows {
			if len(r.bad) > 0 {
				bad = append(bad, r)
			}
		}
		for _, c := range []struct {
			types string // of the corrected plan
			cures []string
			where string
			keep  func(r messyRow) bool
		}{
			{narrowTypes, nil, "", nil},
			{strings.Replace(narrowTypes, "small TINYINT", "small INT", 1), []string{"small"}, "", nil},
			{messyTypes, []string{"small", "price", "day", "tags"}, "", nil},
			{strings.Replace(messyTypes, "must BIGINT NOT NULL", "must BIGINT", 1), []string{"small", "price", "day", "tags"}, "id < 2500", func(r messyRow) bool { return r.id < 2500 }},
		} {
			for _, o := range []connectors.SplitOptions{{}, {SplitBytes: 1}, {ReadBytes: 64 * 19}} {
				state := onlyState(t, bindSkipping(t, path, c.types, true), records)
				push := connectors.Pushdown{Columns: all, Limit: -1, Rejects: true}
				first := []string(nil)
				if c.where != "" {
					push.Where, first = where(t, c.where, schemaOf(t, c.types)), []string{"id"}
				}
				got, err := readSkipping(t, state, push, o, 2)
				if err != nil {
					t.Fatal(err)
				}
				if want := int64(len(bad)); got.tally.Rows != want || got.tally.Read != want || got.tally.Bytes != weightOf(records) {
					t.Errorf("%d rows of %d were read", got.tally.Read, want)
				}
				var now []messyRow
				for _, r := range bad {
					n := r
					n.bad = map[string]string{}
					for name, class := range r.bad {
						if !slices.Contains(c.cures, name) && !(name == "must" && strings.Contains(c.types, "must BIGINT;")) {
							n.bad[name] = class
						}
					}
					now = append(now, n)
				}
				want := judge(now, []string{"id", "small", "price", "note", "must", "day", "tags"}, first, c.keep, declared)
				for i := range want.rejects {
					want.rejects[i].Line = bad[want.rejects[i].Line-1].id + 1
				}
				compareSkips(t, fmt.Sprintf("seed %d, %s, %+v", seed, c.types, o), got, want)
			}
		}
	}
}

func onlyState(t *testing.T, state []byte, records []connectors.Record) []byte {
	t.Helper()
	src, err := Spec.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	only, err := src.(connectors.Replaying).Only(connectortest.Records(records), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return only
}

func weightOf(records []connectors.Record) int64 {
	n := int64(0)
	for _, r := range records {
		n += int64(len(r.Raw))
	}
	return n
}

// TestOnlyOfAnotherFile: rows that are not what they were, or that are not there, are errors, and so are texts that
// are none; without on_error a row that is still bad fails.
func TestOnlyOfAnotherFile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	path, _ := messy(t, rnd, 500, 100, usualLimits())
	other, _ := messy(t, rnd, 500, 100, usualLimits())
	push := connectors.Pushdown{Columns: []int{0, 1}, Limit: -1, Rejects: true}
	first, err := readSkipping(t, bindSkipping(t, path, narrowTypes, true), push, connectors.SplitOptions{}, 1)
	if err != nil || len(first.rejects) < 3 {
		t.Fatal(err, len(first.rejects))
	}
	x := first.rejects[2]
	records := []connectors.Record{{File: x.File, Line: x.Line, Offset: x.Offset, Raw: x.Raw}}

	state := onlyState(t, bindSkipping(t, path, narrowTypes, false), records)
	if _, err := readSkipping(t, state, push, connectors.SplitOptions{}, 1); err == nil || !strings.Contains(err.Error(), "TINYINT") {
		t.Errorf("a row that is still bad: %v", err)
	}
	state = onlyState(t, bindSkipping(t, path, messyTypes, false), records)
	if got, err := readSkipping(t, state, push, connectors.SplitOptions{}, 1); err != nil || len(got.lines) != 1 {
		t.Errorf("%v, %v", got.lines, err)
	}
	data, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	swapped := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(swapped, data, 0o600); err != nil {
		t.Fatal(err)
	}
	records[0].File = filepath.Base(path)
	state = onlyState(t, bindSkipping(t, swapped, messyTypes, true), records)
	want := fmt.Sprintf("row %d, which was left out, is not what it was", x.Line)
	if _, err := readSkipping(t, state, push, connectors.SplitOptions{}, 1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("another file: %v", err)
	}
	src, err := Spec.Open(bindSkipping(t, path, messyTypes, true))
	if err != nil {
		t.Fatal(err)
	}
	good := connectors.Record{File: x.File, Line: x.Line, Raw: x.Raw}
	for _, c := range []struct {
		records []connectors.Record
		want    string
	}{
		{[]connectors.Record{{File: "none.parquet", Line: 1, Raw: "{}"}}, "none of the files"},
		{[]connectors.Record{{File: x.File, Line: 501, Raw: x.Raw}}, "has 500 rows, and row 501"},
		{[]connectors.Record{{File: x.File, Line: 0, Raw: x.Raw}}, "row 0"},
		{[]connectors.Record{{File: x.File, Line: 1, Raw: "1,2"}}, "no JSON object"},
		{[]connectors.Record{{File: x.File, Line: 1, Raw: `{"id":1`}}, "no JSON object"},
		{[]connectors.Record{good, {File: x.File, Line: 1, Raw: `{"id":1}`}}, "other columns"},
		{[]connectors.Record{good, good}, "twice"},
	} {
		if _, err := src.(connectors.Replaying).Only(connectortest.Records(c.records), t.TempDir()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, expected %s", c.records, err, c.want)
		}
	}
	if state, err := src.(connectors.Replaying).Only(connectortest.Records(nil), t.TempDir()); err != nil {
		t.Error(err)
	} else if got, err := readSkipping(t, state, push, connectors.SplitOptions{}, 1); err != nil || len(got.lines) != 0 {
		t.Errorf("no rows: %v, %v", got.lines, err)
	}
}
