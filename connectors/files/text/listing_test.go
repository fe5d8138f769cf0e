package text

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestListing: what is packed is unpacked; what is cut is an error.
func TestListing(t *testing.T) {
	for _, l := range []Listing{nil, {{At: 0, Len: 0, Sum: 1}}, {{At: 7, Len: 300, Sum: 1 << 63}, {At: 8, Len: 1}, {At: 1 << 40, Len: 1 << 20, Sum: 5}}} {
		b, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var got Listing
		if err := json.Unmarshal(b, &got); err != nil || !slices.Equal(got, l) {
			t.Errorf("%v: %v, %v", l, got, err)
		}
	}
	var got Listing
	for _, bad := range []string{`"AAAA"`, `"gA=="`, `7`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}
