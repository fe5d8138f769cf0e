package parquet

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/filestest"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/column"
)

// sorted is a file whose ids count up, with texts of which each is another one or one of a few.
func sorted(t *testing.T, rows int, groupRows int64, l *limits) string {
	t.Helper()
	s := schemaOf(t, "id BIGINT; text STRING; word STRING; note STRING; big ARRAY<INT>")
	var b []array.Builder
	for _, f := range s.Fields {
		b = append(b, array.NewBuilder(memory.DefaultAllocator, f.Type.Arrow()))
	}
	for i := range rows {
		b[0].(*array.Int64Builder).Append(int64(i))
		b[1].(*array.StringBuilder).Append(fmt.Sprintf("text %d %d", i, i*i))
		b[2].(*array.StringBuilder).Append([]string{"one", "two", "three"}[i%3])
		if i%7 == 0 {
			b[3].AppendNull()
		} else {
			b[3].(*array.StringBuilder).Append(strings.Repeat("n", i%50))
		}
		b[4].(*array.ListBuilder).Append(true)
		b[4].(*array.ListBuilder).ValueBuilder().(*array.Int32Builder).Append(int32(i))
	}
	cols := make([]arrow.Array, len(b))
	for i := range b {
		cols[i] = b[i].NewArray()
	}
	rec := column.NewRecord(s.Fields, cols, int64(rows))
	return save(t, encodeBatches(t, s, "none", l, groupRows, []operators.Batch{{Rec: rec}}))
}

// TestPagesAreNotRead: of columns of a sorted file only the bytes of pages with rows between the bounds are read, and
// the books say how many those are.
func TestPagesAreNotRead(t *testing.T) {
	l := usualLimits()
	l.pageRows = 1000
	path := sorted(t, 200_000, 100_000, l)
	state := bindSkipping(t, path, "", false)
	size := int64(0)
	if i, err := os.Stat(path); err != nil {
		t.Fatal(err)
	} else {
		size = i.Size()
	}
	for _, c := range []struct {
		where   string
		columns []int
		rows    int
		most    int64 // bytes
	}{
		{"", []int{0, 1, 2, 3, 4}, 200_000, size},
		{"", []int{2}, 200_000, size / 10},
		{"id >= 50000 AND id < 50100", []int{0, 1, 2, 3}, 100, 200_000},
		{"id < 10", []int{1}, 10, 200_000},
		{"id = 99999 OR id = 100000 OR id = 60500", []int{1, 0, 3}, 3, 400_000},
		{"id > 199998", []int{2}, 1, 100_000},
		{"id < 0", []int{2}, 0, 0},
		{"id = 70000", []int{4}, 1, 600_000}, // of nested columns all pages are read
	} {
		fs := &filestest.Counting{FS: files.Local()}
		src, err := openIn(fs, state)
		if err != nil {
			t.Fatal(err)
		}
		push := connectors.Pushdown{Columns: c.columns, Limit: -1}
		if c.where != "" {
			push.Where = where(t, c.where, src.Schema())
		}
		src.Push(push)
		var got skipRead
		got.read(t, src, connectors.SplitOptions{}, 1)
		y := got.tally
		if len(got.lines) != c.rows {
			t.Errorf("%s: %d rows", c.where, len(got.lines))
		}
		if y.Bytes != size || y.Bytes != y.ReadBytes+y.UnreadBytes+y.PrunedBytes() || y.UnreadBytes < 0 {
			t.Errorf("%s: the books: %+v", c.where, y)
		}
		if y.ReadBytes > c.most {
			t.Errorf("%s: %d bytes of %d were read", c.where, y.ReadBytes, size)
		}
		if c.where != "" && c.most < size/2 && y.PrunedBytes() == 0 {
			t.Errorf("%s: no bytes were passed over: %+v", c.where, y.Pruning)
		}
		// Beside them there are the footer and the page indexes, and texts that are too many for a dictionary are read anew.
		if read := fs.Read.Load(); read < y.ReadBytes || read > y.ReadBytes+200_000 && c.where != "" {
			t.Errorf("%s: the books have %d bytes, and %d were read", c.where, y.ReadBytes, read)
		}
	}
}

// TestManyTextsBehindGaps: a column whose texts are too many for a dictionary is read anew, without the pages that were
// passed over.
func TestManyTextsBehindGaps(t *testing.T) {
	l := usualLimits()
	l.pageRows = 500
	path := sorted(t, 150_000, 150_000, l)
	push := connectors.Pushdown{Columns: []int{0, 1}, Limit: -1}
	push.Where = where(t, "id >= 1000 AND id < 20000 OR id >= 30000 AND id < 90000 OR id >= 95000 AND id < 149000", schemaOf(t, "id BIGINT"))
	got, tally := readTally(t, path, push)
	want, _ := readPruned(t, path, push, false)
	slices.SortFunc(want, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	slices.SortFunc(got, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	if len(got) != 133_000 || !slices.Equal(got, want) {
		t.Errorf("%d rows of %d: %s", len(got), len(want), firstOther(got, want))
	}
	if tally.Pruning == nil || tally.Pruning.Pages < 50 {
		t.Errorf("%+v", tally.Pruning)
	}
}

// TestWrongPlaces changes each byte of the pages' places: the rows are those of the file, or the file is damaged.
func TestWrongPlaces(t *testing.T) {
	l := usualLimits()
	l.pageRows = 50
	path := sorted(t, 1000, 500, l)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := schemaOf(t, "id BIGINT")
	push := connectors.Pushdown{Columns: []int{0, 1, 3}, Where: where(t, "id >= 120 AND id < 130 OR id > 700", s), Limit: -1}
	want, _ := readPruned(t, path, push, false)
	damaged := 0
	for g, group := range otherFooter(t, good).RowGroups {
		for _, c := range group.Columns {
			for at := *c.OffsetIndexOffset; at < *c.OffsetIndexOffset+int64(*c.OffsetIndexLength); at++ {
				for _, flip := range []byte{1, 2, 0x80} {
					bad := bytes.Clone(good)
					bad[at] ^= flip
					if err := os.WriteFile(path, bad, 0o600); err != nil {
						t.Fatal(err)
					}
					got, err := readSkipping(t, bindSkipping(t, path, "", false), push, connectors.SplitOptions{}, 1)
					var e *connectors.DataError
					switch {
					case errors.As(err, &e) && e.Kind == "DamagedFile" && strings.Contains(e.Message, fmt.Sprintf("row group %d, column ", g)):
						damaged++
					case err != nil:
						t.Fatalf("byte %d: %v", at, err)
					case !slices.Equal(got.lines, want):
						t.Fatalf("byte %d: %s", at, firstOther(got.lines, want))
					}
				}
			}
		}
	}
	if damaged == 0 {
		t.Error("nothing was noticed")
	}
}
