package csv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/connectors/files/filestest"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// TestTinySplitsOfLongFields: the work of reading a long quoted field in splits of a few bytes is in proportion to
// the file, whatever the field holds and however many readers share the splits.
func TestTinySplitsOfLongFields(t *testing.T) {
	long := 1 << 20
	if testing.Short() {
		long = 300 << 10
	}
	fill := func(s string) string { return strings.Repeat(s, long/len(s)) }
	for name, text := range map[string]string{
		"one word":     "a,b\n1,\"" + fill("x") + "\"\n2,y\n",
		"lines":        "a,b\n1,2\n1,\"" + fill("some words, of a text\nin lines, that, are no records\n") + "\"\n2,y\n",
		"CRLF":         "a,b\r\n1,2\r\n1,\"" + fill("some words\r\n") + "\"\r\n2,y\r\n",
		"many quotes":  "a,b\n1,\"" + fill(`he said ""no"", `) + "\"\n2,y\n",
		"quotes alone": "a,b\n1,\"" + fill(`""`) + "\"\n2,y\n",
		"one column":   "a\n\"" + fill("x") + "\"\ny\n",
		"no quotes":    "a,b\n1," + fill("x") + "\n2,y\n",
		"ragged":       "a,b\n1,2\n" + fill("1,2,3\n4\n\n") + "1,\"\n\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			columns := columns(t, "a STRING; b STRING")
			if name == "one column" {
				columns = columns[:1]
			}
			_, state, err := bindText(t, Options{Columns: columns, Ragged: "pad"}, text)
			if err != nil {
				t.Fatal(err)
			}
			want, _, err := readAll(t, state, how{split: 1 << 30})
			if err != nil {
				t.Fatal(err)
			}
			const split, readers = 64, 3
			got, work := workOf(t, state, split, readers)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%d rows, expected %d", len(got), len(want))
			}
			// A split looks ahead a little, and every reader finds out for itself where it is.
			if most := int64(len(text))*(readers*12+2*lookahead/split) + 8<<20; work > most {
				t.Errorf("%d bytes were read or scanned of a file of %d, expected at most %d", work, len(text), most)
			}
		})
	}
}

// workOf reads a source in splits that some readers take in turn, and gives its rows with the number of bytes that
// were read or scanned.
func workOf(t *testing.T, state []byte, split int64, readers int) (rows []string, work int64) {
	t.Helper()
	fs := &filestest.Counting{FS: files.Local()}
	src, err := openIn(fs, state)
	if err != nil {
		t.Fatal(err)
	}
	scan := src.scan
	src.scan = func(b []byte, blocks int, delimiter byte, m *masks) {
		work += int64(blocks) * block
		scan(b, blocks, delimiter, m)
	}
	connectortest.InTurns(t, src, connectors.SplitOptions{SplitBytes: split}, readers, memory.NewGoAllocator(), func(b operators.Batch) {
		rows = append(rows, rowsOf(b, src.Schema())...)
		b.Rec.Release()
	})
	return rows, work + fs.Read.Load()
}
