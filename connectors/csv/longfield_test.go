package csv

import (
	"fmt"
	"strings"
	"testing"
)

// TestLongQuotedFields: a split may begin anywhere inside a quoted field that is longer than the prober looks at
// first. That its closing quote could be data of an unquoted field proves nothing.
func TestLongQuotedFields(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	for name, text := range map[string]string{
		"first":         "a,b\n1,\"" + long + "\"\n2,y\n",
		"between":       "a,b\n" + strings.Repeat("1,2\n", 5000) + "1,\"" + long + "\"\n" + strings.Repeat("2,y\n", 5000),
		"last":          "a,b\n0,z\n1,\"" + long + "\"",
		"at the start":  "a,b\n\"" + long + "\",2\n3,4\n",
		"with blanks":   "a,b\n1,\"" + strings.Repeat("xxxx xxx\n", 30<<10) + "\"\n2,y\n",
		"several":       "a,b\n" + strings.Repeat("1,\""+long[:40<<10]+"\"\n", 8),
		"stray, behind": "a,b\n" + strings.Repeat("1,\""+long[:40<<10]+"\"\n2,5\"\n", 8),
	} {
		t.Run(name, func(t *testing.T) {
			_, state, err := bindText(t, Options{Columns: columns(t, "a STRING; b STRING")}, text)
			if err != nil {
				t.Fatal(err)
			}
			whole, _, err := readAll(t, state, how{split: 1 << 30})
			if err != nil {
				t.Fatal(err)
			}
			for _, split := range []int64{4 << 10, 5003, 64 << 10} {
				rows, _, err := readAll(t, state, how{split: split})
				if err != nil {
					t.Fatalf("split %d: %v", split, err)
				}
				if fmt.Sprint(rows) != fmt.Sprint(whole) {
					t.Fatalf("split %d: %d rows, expected %d", split, len(rows), len(whole))
				}
			}
		})
	}
}
