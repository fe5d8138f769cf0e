package csv

import (
	"encoding/hex"
	"slices"
	"testing"
)

// TestBzip2: streams one after the other are one text, also empty ones, wherever they stand.
func TestBzip2(t *testing.T) {
	empty, first, second := unhex(t, "425a683917724538509000000000"), unhex(t, "425a6839314159265359633af943000003598000100004200020010800200030c00869b28823278bb9229c2848319d7ca180"),
		unhex(t, "425a683931415926535945333578000001590000100004100010002000219a68334d173c5dc914e1424114ccd5e0")
	o := Options{Columns: columns(t, "n BIGINT; s STRING")}
	for name, c := range map[string]struct {
		data  string
		class string
		rows  []string
	}{
		"one":          {first, "none", []string{`1|"a"`}},
		"two":          {first + second, "none", []string{`1|"a"`, `2|"b"`}},
		"empty first":  {empty + first + second, "none", []string{`1|"a"`, `2|"b"`}},
		"empty within": {first + empty + second + empty, "none", []string{`1|"a"`, `2|"b"`}},
		"nothing":      {empty, "none", nil},
		"cut":          {first[:len(first)-5], "DamagedFile", nil},
		"rubbish":      {first + "rubbish", "DamagedFile", nil},
		"zeros":        {first + "\x00\x00\x00", "DamagedFile", nil},
	} {
		_, state, err := bindText(t, o, c.data)
		var rows []string
		if err == nil {
			rows, _, err = readAll(t, state, how{split: 3})
		}
		if class(err) != c.class || c.class == "none" && !slices.Equal(rows, c.rows) {
			t.Errorf("%s: %q, %s: %v", name, rows, class(err), err)
		}
	}
}

func unhex(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
