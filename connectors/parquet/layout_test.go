package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/xitongsys/parquet-go/writer"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/operators"
)

// TestRowGroups reads files without row groups, and with an empty one between others.
func TestRowGroups(t *testing.T) {
	s := schemaOf(t, "id BIGINT NOT NULL; name STRING")
	for _, groups := range [][]int{{}, {0}, {3, 0, 2}, {0, 0, 1}} {
		var b bytes.Buffer
		e, err := newEncoder(s, &b, compress.Codecs.Snappy, usualLimits(), 100, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, n := range groups {
			if err := e.Write(operators.Batch{Rec: record(memory.DefaultAllocator, s, want, n, false)}); err != nil {
				t.Fatal(err)
			}
			if err := e.writeGroup(); err != nil { // also one without rows
				t.Fatal(err)
			}
			want += n
		}
		if err := e.Finish(); err != nil {
			t.Fatal(err)
		}
		path := save(t, b.Bytes())
		for _, split := range []int64{0, 1} {
			got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}, split: connectors.SplitOptions{SplitBytes: split}})
			if err != nil || len(got) != want {
				t.Errorf("%v: %d rows, %v", groups, len(got), err)
			}
		}
		src := open1(t, Options{Path: []string{path}})
		if src.Schema().String() != s.String() || src.Inventory().Files[0].Rows != int64(want) {
			t.Errorf("%v: %s, %+v", groups, src.Schema(), src.Inventory())
		}
	}
}

// packed is a row whose columns are packed by differences, in one page.
type packed struct {
	All  int64   `parquet:"name=all, type=INT64, encoding=DELTA_BINARY_PACKED, repetitiontype=REQUIRED"`
	Some *int64  `parquet:"name=some, type=INT64, encoding=DELTA_BINARY_PACKED"`
	Int  *int32  `parquet:"name=int, type=INT32, encoding=DELTA_BINARY_PACKED"`
	Text *string `parquet:"name=text, type=BYTE_ARRAY, convertedtype=UTF8, encoding=DELTA_BYTE_ARRAY"`
}

// TestDeltaPages reads them with batches smaller than the page, of its size and larger.
func TestDeltaPages(t *testing.T) {
	var b bytes.Buffer
	w, err := writer.NewParquetWriterFromWriter(&b, new(packed), 1)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range int64(1000) {
		r := packed{All: i}
		line := fmt.Sprint(i, "|")
		if i%3 == 0 {
			r.Some, r.Int, r.Text = ptr(i*i*i-i*1_000_000_007), ptr(int32(i*-77777)), ptr(fmt.Sprint("prefix ", i/100, " ", i))
			line += fmt.Sprint(*r.Some, "|", *r.Int, "|", *r.Text, "|")
		} else {
			line += "NULL|NULL|NULL|"
		}
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
		want = append(want, line)
	}
	if err := w.WriteStop(); err != nil {
		t.Fatal(err)
	}
	path := save(t, b.Bytes())
	for _, batch := range []int64{1, 7, 64, 100, 1000, 5000} {
		got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{path}}, split: connectors.SplitOptions{ReadBytes: batch * bytesPerRow}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("batches of %d: %q …", batch, got[:3])
		}
	}
}

// page makes a page with a header.
func page(body []byte, values int, crc *uint32) []byte {
	number := func(b []byte, v int64) []byte { return binary.AppendVarint(append(b, 0x15), v) }
	b := number(number(number(nil, dataPage), int64(len(body))), int64(len(body)))
	if crc != nil {
		b = number(b, int64(int32(*crc)))
		b = append(b, 0x1c)
	} else {
		b = append(b, 0x2c)
	}
	b = number(number(number(number(b, int64(values)), encodingPlain), encodingRLE), encodingRLE)
	return append(append(b, 0, 0), body...)
}

func TestCheckPages(t *testing.T) {
	body := []byte("12345678")
	good := crc32.ChecksumIEEE(body)
	bad := good + 1
	for _, c := range []struct {
		chunk []byte
		rows  int64
		text  string
	}{
		{page(body, 1, nil), 1, ""},
		{page(body, 1, &good), 1, ""},
		{append(page(body, 1, &good), page(body, 2, &good)...), 3, ""},
		{append(page(body, 1, &good), page(body, 2, &bad)...), 3, "page 1: its checksum does not match"},
		{page(body, 2, nil), 1, "its pages have 2 values, and the row group 1 rows"},
		{page(body, 1, nil), 2, "page 1: a page header cannot be decoded"},
		{page(body, 1, nil)[:20], 1, "are left"},
		{page(body, -1, nil), 1, "its header says -1 values"},
		{nil, 1, "page 0: a page header cannot be decoded"},
		{nil, 0, ""},
		{bytes.Repeat([]byte{0x1c}, 100), 1, "cannot be decoded"},
		{bytes.Repeat([]byte{0xff}, 100), 1, "cannot be decoded"},
	} {
		err := checkPages(c.chunk, c.rows)
		if (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%x: %v, want %q", c.chunk, err, c.text)
		}
	}
}

// TestFlightSummary reads a folder that Spark wrote, and the same rows as CSV.
func TestFlightSummary(t *testing.T) {
	dir := filepath.Join(shared(t), "data", "flight_summary")
	got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{filepath.Join(dir, "parquet", "2010-summary.parquet")}}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "csv", "2010-summary.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(rows)-1 {
		t.Fatalf("%d rows, want %d", len(got), len(rows)-1)
	}
	for i, r := range rows[1:] {
		if got[i] != strings.Join(r, "|")+"|" {
			t.Fatalf("row %d: %s, want %v", i, got[i], r)
		}
	}
}

// TestTPCH reads all tables, which an old writer left without annotations.
func TestTPCH(t *testing.T) {
	dir := filepath.Join(shared(t), "data", "tpch_sf0.01")
	for name, want := range map[string]int{
		"customer": 1500, "lineitem": 60175, "nation": 25, "orders": 15000, "part": 2000, "partsupp": 8000, "region": 5, "supplier": 100,
	} {
		got, err := readAll(t, alloc(t), input{Options: Options{Path: []string{filepath.Join(dir, name+".parquet")}}})
		if err != nil || len(got) != want {
			t.Errorf("%s: %d rows, want %d, %v", name, len(got), want, err)
		}
	}
}
