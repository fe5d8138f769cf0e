package csv

import (
	"fmt"
	"testing"
)

// TestNoRecords: a file of nothing, or of blank lines, comments or skipped lines alone, has no rows, at any size of
// splits, split or read in order, with a header and without one.
func TestNoRecords(t *testing.T) {
	off := false
	for _, text := range []string{"", "\n", "\r\n", "\n\n\n\n", "\r\n\n\r\n", "\uFEFF", "\uFEFF\n\n", "\n\r\n\n\r\n\n\r\n\n\r\n"} {
		for name, o := range map[string]Options{
			"plain": {}, "renamed": {DuplicateNames: "rename"}, "padded": {Ragged: "pad"}, "skipped": {SkipLines: 1},
			"headless": {Header: &off}, "in order": {Comment: "#"}, "trimmed": {Trim: true}, "all": {Check: "all"},
		} {
			t.Run(fmt.Sprintf("%s %q", name, text), func(t *testing.T) {
				o.Columns = columns(t, "a BIGINT; b STRING")
				_, state, err := bindText(t, o, text)
				if err != nil {
					t.Fatal(err)
				}
				for _, split := range []int64{1, 2, 1 << 20} {
					rows, _, err := readAll(t, state, how{split: split, read: 7})
					if err != nil || len(rows) > 0 {
						t.Errorf("splits of %d: %q, %v", split, rows, err)
					}
				}
			})
		}
	}
}
