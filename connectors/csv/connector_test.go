package csv

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"go.uber.org/goleak"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
	"github.com/seed-4b0e9f7c/runner/operators"
	"github.com/seed-4b0e9f7c/runner/operators/expr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSource runs the tests of every source.
func TestSource(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		a, b := "id,name,amount\n", "amount,id,extra,name\r\n"
		var rows []string
		var lines []int64
		for i := range 150 {
			a += fmt.Sprintf("%d,name %d,%d.5\n", i, i%7, i)
			rows = append(rows, fmt.Sprintf("%d|name %d|%d.50", i, i%7, i))
			lines = append(lines, int64(i+2))
		}
		for i := range 90 {
			b += fmt.Sprintf("%d.25,%d,x,\r\n", i, i)
			rows = append(rows, fmt.Sprintf("%d|NULL|%d.25", i, i))
			lines = append(lines, int64(i+2))
		}
		testSource(t, "id BIGINT; name STRING; amount DECIMAL(12, 2)", rows, lines, a, b, "id,name,amount\n")
	})
	t.Run("quoted", func(t *testing.T) {
		a := "id,\"text\",n\n"
		var rows []string
		var lines []int64
		line := int64(2)
		for i := range 150 {
			text := fmt.Sprintf("%d, \"quoted\"\nand broken %d,", i, i)
			a += fmt.Sprintf("%d,\"%s\",\"%d\"\n", i, strings.ReplaceAll(text, `"`, `""`), i*3)
			rows = append(rows, fmt.Sprintf("%d|%s|%d", i, text, i*3))
			lines = append(lines, line)
			line += 2
		}
		testSource(t, "id BIGINT; text STRING NOT NULL; n INT", rows, lines, a)
	})
}

// testSource tests files of texts; the filter is on the first column, a BIGINT.
func testSource(t *testing.T, declared string, rows []string, lines []int64, texts ...string) {
	testOptions(t, Options{Columns: columns(t, declared)}, rows, lines, texts...)
}

func testOptions(t *testing.T, o Options, rows []string, lines []int64, texts ...string) {
	cols := o.Columns
	_, state, err := bindText(t, o, texts...)
	if err != nil {
		t.Fatal(err)
	}
	connectortest.Source{
		Open: func(fs files.FS) (connectors.Source, error) { return openIn(fs, state) },
		Rows: rows, Lines: lines, Sizes: []int64{13, 100, 1000},
		Where: whereAtLeast(cols[0], 40),
		Passes: func(row string) bool {
			var id int
			_, err := fmt.Sscan(row[:strings.IndexByte(row, '|')], &id)
			return err == nil && id >= 40
		},
	}.Run(t)
}

// TestSink runs the tests of every sink, and reads back what was written.
func TestSink(t *testing.T) {
	in := expr.Schema{Fields: columns(t, "b BOOLEAN; i INT; l BIGINT NOT NULL; d DOUBLE; m DECIMAL(9, 2); w DECIMAL(38, 10); s STRING; day DATE; t TIMESTAMP(3); z STRING NOT NULL; c TIME(3); c6 TIME(6); g TIMESTAMP_LTZ(3); y BYTES")}
	connectortest.Sink{
		Component: connectors.Erase(Spec), In: in, Ext: ".csv", Folders: true,
		Options: func(target, mode string) any { return Options{Path: []string{target}, Mode: mode} },
		Read: func(t *testing.T, names []string, in expr.Schema, alloc memory.Allocator) []string {
			t.Helper()
			o, err := json.Marshal(Options{Path: names, Columns: in.Fields})
			if err != nil {
				t.Fatal(err)
			}
			c := connectors.Erase(Spec)
			state, err := c.Bind(context.Background(), o, connectors.Env{})
			if err != nil {
				t.Fatal(err)
			}
			src, err := c.Open(state)
			if err != nil {
				t.Fatal(err)
			}
			return everyRow(t, src, alloc)
		},
	}.Run(t)
}

func everyRow(t *testing.T, src connectors.Source, alloc memory.Allocator) (rows []string) {
	t.Helper()
	connectortest.InTurns(t, src, connectors.SplitOptions{SplitBytes: 99}, 1, alloc, func(b operators.Batch) {
		for i := range b.Rows() {
			rows = append(rows, connectortest.Text(b, src.Schema(), i))
		}
		b.Rec.Release()
	})
	return rows
}
