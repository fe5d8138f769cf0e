package csv

import (
	"strings"
	"testing"
)

// TestExtraColumns: columns that are not declared are counted by file, or refused by name.
func TestExtraColumns(t *testing.T) {
	o := Options{Columns: columns(t, "b BIGINT")}
	for text, want := range map[string]int{"a,b,c\n1,2,3\n": 2, "b\n2\n": 0, "b,b2\n1,2\n": 1} {
		_, state, err := bindText(t, o, text)
		if err != nil {
			t.Fatal(err)
		}
		src, err := openIn(localFS(), state)
		if err != nil {
			t.Fatal(err)
		}
		if got := src.Inventory().Files[0].Extra; got != want {
			t.Errorf("%q: %d columns more, expected %d", text, got, want)
		}
		o := o
		o.ExtraColumns = "error"
		_, _, err = bindText(t, o, text)
		if (err != nil) != (want > 0) || err != nil && (class(err) != "SchemaMismatch" || !strings.Contains(err.Error(), "is not declared")) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
