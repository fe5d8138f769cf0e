package json

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
	"github.com/seed-4b0e9f7c/runner/connectors/connectortest"
	"github.com/seed-4b0e9f7c/runner/connectors/files"
)

// TestOnly: the records that one run leaves out are read again, through other columns, however they are cut
// and whichever way the file is read; those that are still bad are left out again, at the same places.
func TestOnly(t *testing.T) {
	lines, array := "", "["
	var rows []string
	var places []int64
	for i := range 120 {
		line := fmt.Sprintf(`{"id":%d,"day":"2024-03-%02d"}`, i, i%28+1)
		switch i % 4 {
		case 1:
			line = fmt.Sprintf(`{"id":%d, "day":"%02d.03.2024","n":"é"}`, i, i%28+1)
			rows = append(rows, fmt.Sprintf("%d|2024-03-%02d", i, i%28+1))
			places = append(places, int64(i+1))
		case 3:
			line = fmt.Sprintf(`{"id":%d, "day":"never"}`, i)
		}
		lines += line + "\r\n"
		if i > 0 {
			array += ","
		}
		array += strings.ReplaceAll(line, ", ", ",\n ")
		array += "\n"
	}
	array += "]"
	first := Options{Columns: cols(t, "id BIGINT; day DATE")}
	second := Options{Columns: cols(t, "id BIGINT; day DATE")}
	if err := second.Formats.SetEntry("day", "dd.MM.yyyy"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"lines": lines, "gzip": zipped(lines), "array": array} {
		t.Run(name, func(t *testing.T) {
			o, o2 := first, second
			if name == "array" {
				o.Format, o2.Format, places = "array", "array", nil
			}
			dir, state, err := bindText(t, o, connectors.Env{SkipBadRows: true}, text)
			if err != nil {
				t.Fatal(err)
			}
			res, err := readAll(t, state, how{split: 100, rejects: true})
			if err != nil || len(res.rejects) != 60 {
				t.Fatalf("%d rejects, %v", len(res.rejects), err)
			}
			var list []connectors.Record
			for _, x := range res.rejects {
				list = append(list, connectors.Record{File: x.File, Offset: x.Offset, Raw: x.Raw})
			}
			if state, err = bind(t.Context(), Options{Path: []string{dir + "/*"}, Columns: o2.Columns, Formats: o2.Formats, Format: o2.Format}, connectors.Env{SkipBadRows: true}); err != nil {
				t.Fatal(err)
			}
			src, err := openIn(files.Local(), state)
			if err != nil {
				t.Fatal(err)
			}
			only, err := src.Only(connectortest.Records(list), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			good, err := src.Only(connectortest.Records(slices.DeleteFunc(slices.Clone(list), func(r connectors.Record) bool { return strings.Contains(r.Raw, "never") })), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			connectortest.Source{
				Open: func(fs files.FS) (connectors.Source, error) { return openIn(fs, good) },
				Rows: rows, Lines: places, Sizes: []int64{1, 50, 200},
			}.Run(t)
			for _, split := range []int64{1, 70, 1 << 20} {
				again, err := readAll(t, only, how{split: split, rejects: true})
				if err != nil || !slices.Equal(again.rows, rows) || len(again.rejects) != 30 {
					t.Fatalf("%d rows, %d rejects, %v", len(again.rows), len(again.rejects), err)
				}
				for _, x := range again.rejects {
					if !slices.Contains(list, connectors.Record{File: x.File, Offset: x.Offset, Raw: x.Raw}) {
						t.Fatalf("%+v is none of those that were left out", x)
					}
				}
			}
			list[7].Raw = strings.Replace(list[7].Raw, "id", "ID", 1)
			if only, err = src.Only(connectortest.Records(list), t.TempDir()); err != nil {
				t.Fatal(err)
			}
			if _, err = readAll(t, only, how{split: 1 << 20}); err == nil || !strings.Contains(err.Error(), "does not stand there any more") {
				t.Errorf("a changed record: %v", err)
			}
			var b bound
			if err := json.Unmarshal(only, &b); err != nil || len(b.Files) != 1 {
				t.Errorf("%v", err)
			}
		})
	}
}
