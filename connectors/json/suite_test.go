package json

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-4b0e9f7c/runner/connectors"
)

// shared is the folder of shared test data, which is no part of the repository.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RUNNER_SHARED")
	if dir == "" {
		t.Skip("RUNNER_SHARED is not set: no shared data")
	}
	return filepath.Join(dir, "data")
}

// refusedByChoice are the cases of JSONTestSuite that a parser may accept or refuse and that are refused
// here: their bytes are no UTF-8. The others are accepted.
var refusedByChoice = []string{
	"i_string_UTF-16LE_with_BOM", "i_string_lone_utf8_continuation_byte", "i_string_not_in_unicode_range",
	"i_string_UTF-8_invalid_sequence", "i_string_UTF8_surrogate_U+D800", "i_string_invalid_utf-8", "i_string_iso_latin_1",
	"i_string_overlong_sequence_2_bytes", "i_string_overlong_sequence_6_bytes", "i_string_overlong_sequence_6_bytes_null",
	"i_string_truncated-utf-8", "i_string_utf16BE_no_BOM", "i_string_utf16LE_no_BOM", "i_structure_UTF-8_BOM_empty_object",
}

// TestJSONTestSuite reads each document of the suite as a member of a record, as an element of an array, and,
// where it is on one line, as a line.
func TestJSONTestSuite(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(shared(t), "suites", "JSONTestSuite", "test_parsing", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".json")
		t.Run(name, func(t *testing.T) {
			doc, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			accept := strings.HasPrefix(name, "y_") || strings.HasPrefix(name, "i_")
			for _, r := range refusedByChoice {
				accept = accept && name != r
			}
			o := Options{Columns: cols(t, "v STRING"), Format: "array"}
			same(t, o, "[{\"v\":"+string(doc)+"}]", accept, 1)
			same(t, o, "[{\"w\":"+string(doc)+"}]", accept, 1)
			o.Format = "lines"
			if !bytes.ContainsAny(doc, "\n") {
				same(t, o, "{\"v\":"+string(doc)+"}\n", accept, 1)
				object := bytes.HasPrefix(bytes.TrimLeft(doc, " \t"), []byte("{"))
				if !strings.Contains(name, "UTF-16") && !strings.Contains(name, "BOM") && len(bytes.TrimSpace(doc)) > 0 {
					same(t, o, string(doc)+"\n", accept && object, 1)
				}
			}
		})
	}
}

func same(t *testing.T, o Options, text string, accept bool, rows int) {
	t.Helper()
	_, state, err := bindText(t, o, connectors.Env{}, text)
	if err != nil {
		t.Fatal(err)
	}
	res, err := readAll(t, state, how{split: 1 << 20})
	var e *connectors.DataError
	switch {
	case accept && (err != nil || len(res.rows) != rows):
		t.Errorf("%.100q gave %d rows and %v", text, len(res.rows), err)
	case !accept && (!errors.As(err, &e) || e.Kind != formatError || e.Line < 1 || e.Column < 1):
		t.Errorf("%.100q was accepted or refused without a place: %v", text, err)
	}
}

// TestPublicFiles reads public files of JSON lines and one that is an array, and compares with the standard library.
func TestPublicFiles(t *testing.T) {
	root := shared(t)
	for path, o := range map[string]Options{
		"suites/polars-files/foods1.ndjson": {Columns: cols(t, "category STRING; calories BIGINT; fats_g DOUBLE; sugars_g BIGINT")},
		"suites/polars-files/foods2.ndjson": {Columns: cols(t, "category STRING; calories BIGINT; fats_g DOUBLE; sugars_g BIGINT")},
		"vega/flights-2k.json":              {Columns: cols(t, "date STRING; delay BIGINT; distance BIGINT; origin STRING; destination STRING"), Format: "array"},
	} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		var list []map[string]json.RawMessage
		if o.Format == "array" {
			err = json.Unmarshal(text, &list)
		} else {
			for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
				var m map[string]json.RawMessage
				err = errors.Join(err, json.Unmarshal(line, &m))
				list = append(list, m)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		o.Path = []string{filepath.Join(root, path)}
		_, state, err := bindText(t, o, connectors.Env{})
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range []int64{1 << 20, 50} {
			res, err := readAll(t, state, how{split: split})
			if err != nil || len(res.rows) != len(list) {
				t.Fatalf("%s: %d rows, expected %d: %v", path, len(res.rows), len(list), err)
			}
			for i, row := range res.rows {
				var want []string
				for _, c := range o.Columns {
					s, err := oracleValue(c.Type, list[i][c.Name], false)
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, s)
				}
				if row != strings.Join(want, "|") {
					t.Fatalf("%s, row %d: %s, expected %v", path, i, row, want)
				}
			}
		}
	}
}
