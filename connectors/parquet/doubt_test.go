package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	protocol "github.com/apache/thrift/lib/go/thrift"
	format "github.com/xitongsys/parquet-go/parquet"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// withFooter is a file with another footer; its pages and page indexes stay where they are.
func withFooter(t *testing.T, path string, change func(f *format.FileMetaData)) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := otherFooter(t, data)
	change(f)
	buf := protocol.NewTMemoryBuffer()
	p := protocol.NewTCompactProtocolFactoryConf(nil).GetProtocol(buf)
	if err := f.Write(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	out := append(bytes.Clone(data[:len(data)-8-size]), buf.Bytes()...)
	out = binary.LittleEndian.AppendUint32(out, uint32(buf.Len()))
	return save(t, append(out, "PAR1"...))
}

// TestIgnoredStatistics: what is wrong with statistics is said by column, and the rows are those of a file without any.
func TestIgnoredStatistics(t *testing.T) {
	s, path := prunable(t, 10, usualLimits())
	stats := func(f *format.FileMetaData, column string, change func(g int, x *format.Statistics)) {
		for g, group := range f.RowGroups {
			change(g, group.Columns[s.Index(column)].MetaData.Statistics)
		}
	}
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	for name, c := range map[string]struct {
		where  string
		change func(f *format.FileMetaData)
		pruned int64 // row groups
		want   []string
	}{
		"nothing": {"n > 600", func(*format.FileMetaData) {}, 8, nil},
		"swapped": {"n > 600", func(f *format.FileMetaData) {
			stats(f, "n", func(g int, x *format.Statistics) {
				if g < 3 {
					x.MinValue, x.MaxValue = x.MaxValue, x.MinValue
				}
			})
		}, 5, []string{"statistics of n ignored in 3 row groups (least-above-most): its least is above its most"}},
		"NaN": {"d < -5", func(f *format.FileMetaData) {
			stats(f, "d", func(g int, x *format.Statistics) {
				if g == 8 {
					x.MaxValue = nan
				}
			})
		}, 8, []string{"statistics of d ignored in 1 row group (nan): a bound is NaN, which is in no order with other numbers"}},
		"older form": {"i > 70", func(f *format.FileMetaData) {
			stats(f, "i", func(g int, x *format.Statistics) {
				x.Min, x.Max, x.MinValue, x.MaxValue = x.MinValue, x.MaxValue, nil, nil
			})
		}, 0, []string{"statistics of i ignored in 10 row groups (older-form): they are of the older form alone, and writers compared values for it in different orders"}},
		"no order": {"n > 600", func(f *format.FileMetaData) {
			f.ColumnOrders = nil
			by := "parquet-mr version 1.6.0"
			f.CreatedBy = &by
		}, 0, []string{"statistics ignored in 1 file (order-unknown): the footer does not say by which order values were compared (written by parquet-mr version 1.6.0)"}},
		"cut texts": {"s > 'v89'", func(f *format.FileMetaData) {
			stats(f, "s", func(g int, x *format.Statistics) {
				if g < 2 {
					x.MaxValue = x.MaxValue[:len(x.MaxValue)-1]
				}
			})
		}, 6, []string{"statistics of s ignored in 2 row groups (not-text): a bound is no UTF-8 text, as one is that was cut within a character"}},
		"one bound": {"n = 40 OR i > 70", func(f *format.FileMetaData) {
			stats(f, "n", func(g int, x *format.Statistics) {
				if g == 0 {
					x.MinValue = nil
				}
			})
		}, 7, []string{"statistics of n ignored in 1 row group (one-bound): one of the two bounds is missing"}},
		"NULL and not": {"n > 600", func(f *format.FileMetaData) {
			stats(f, "n", func(g int, x *format.Statistics) {
				if n := int64(10); g == 1 {
					x.NullCount = &n
				}
				if n := int64(11); g == 2 {
					x.NullCount = &n
				}
			})
		}, 7, []string{
			"statistics of n ignored in 1 row group (nulls-above-rows): more values are said to be NULL than there are; the bounds are used",
			"statistics of n ignored in 1 row group (nulls-and-bounds): all values are said to be NULL, and there are bounds of them",
		}},
		"none": {"i > 70", func(f *format.FileMetaData) {
			stats(f, "i", func(_ int, x *format.Statistics) { *x = format.Statistics{} })
		}, 0, []string{"statistics of i ignored in 10 row groups (missing): there are none"}},
		"too short": {"n > 600", func(f *format.FileMetaData) {
			stats(f, "n", func(g int, x *format.Statistics) {
				if g < 3 {
					x.MinValue = []byte{1}
				}
			})
		}, 5, []string{"statistics of n ignored in 3 row groups (misfit): a bound is no value of the type"}},
	} {
		path := withFooter(t, path, c.change)
		push := connectors.Pushdown{Columns: []int{0, 1, 2, 3}, Where: where(t, c.where, s), Limit: -1}
		got, tally := readTally(t, path, push)
		want, _ := readPruned(t, path, push, false)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s", name, firstOther(got, want))
		}
		var said []string
		for _, x := range tally.Pruning.Ignored {
			said = append(said, x.String())
		}
		if !slices.Equal(said, c.want) || tally.Pruning.RowGroups != c.pruned {
			t.Errorf("%s: %d row groups, %s, want %d, %s", name, tally.Pruning.RowGroups, strings.Join(said, "; "), c.pruned, strings.Join(c.want, "; "))
		}
		if p := tally.Pruning; (p.Bytes > 0) != (c.pruned > 0) || p.Judged != 10 && !strings.Contains(fmt.Sprint(said), "order-unknown") {
			t.Errorf("%s: %+v", name, p)
		}
		foreseen := open1(t, Options{Path: []string{path}}).(*source)
		foreseen.Push(push)
		list, err := foreseen.Foresee(t.Context())
		if err != nil || len(list) != 1 || list[0].Pruned != tally.Pruned || list[0].Pruning.RowGroups != tally.Pruning.RowGroups || !slices.Equal(list[0].Pruning.Ignored, tally.Pruning.Ignored) {
			t.Errorf("%s: foreseen are %+v, %v, and were %+v", name, list, err, tally)
		}
		summary, err := Summarize(files.Local(), files.File{Path: path, Abs: path})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range c.want {
			known := slices.ContainsFunc(summary.Ignored, func(i connectors.IgnoredStatistics) bool { return i.String() == x })
			if known == strings.Contains(x, "(missing)") {
				t.Errorf("%s: the summary has %v", name, summary.Ignored)
			}
		}
	}
}

// readTally reads a file with its statistics.
func readTally(t *testing.T, path string, push connectors.Pushdown) ([]string, connectors.Tally) {
	t.Helper()
	out, err := readSkipping(t, bindSkipping(t, path, "", false), push, connectors.SplitOptions{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return out.lines, out.tally
}
