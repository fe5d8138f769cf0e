package json

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

// TestTinySplitsOfLongLines: the work of reading long lines in splits of a few bytes is in proportion to the file.
func TestTinySplitsOfLongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	text := `{"a":1,"b":"y"}` + "\n" + fmt.Sprintf(`{"a":2,"b":%q}`, long) + "\r\n" + fmt.Sprintf(`{"a":3,"b":%q}`, long) + "\n" + `{"a":4}`
	_, state, err := bindText(t, Options{Columns: cols(t, "a INT; b STRING")}, connectors.Env{}, text)
	if err != nil {
		t.Fatal(err)
	}
	fs := &filestest.Counting{FS: files.Local()}
	src, err := openIn(fs, state)
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	connectortest.InTurns(t, src, connectors.SplitOptions{SplitBytes: 64}, 3, memory.NewGoAllocator(), func(b operators.Batch) {
		rows += b.Rec.NumRows()
		b.Rec.Release()
	})
	if rows != 4 {
		t.Errorf("%d rows, expected 4", rows)
	}
	if most := 4 * int64(len(text)); fs.Read.Load() > most {
		t.Errorf("%d bytes were read of a file of %d, expected at most %d", fs.Read.Load(), len(text), most)
	}
}
