package csv

import (
	"github.com/seed-4b0e9f7c/runner/connectors/files/columntext"
)

// Where the plan says that bad rows are skipped, a row is bad if a value that is parsed is none of its
// type, or if it has too few or too many fields. Faulty quotes stay failures: behind them nobody knows
// where records begin.

// SkipsBadRows reports whether the source leaves bad rows out, as the plan asked.
func (s *source) SkipsBadRows() bool { return s.Skip }

// weed parses a column again without the rows whose field is bad. first is the first of those, and f
// what is wrong with it.
func (r *reader) weed(i, from, rows int, sel []int32, first *columntext.Flaw) (kept []int32, left *columntext.Flaw) {
	c := r.cols[i]
	kept = make([]int32, 0, len(sel))
	for _, row := range sel {
		if row >= first.Row {
			if bad := c.Check(row); bad != nil {
				f := r.flawed(i, bad)
				f.file, f.record, f.row = r.cur.file, r.chunk.offset(from+int(row)), row
				f.text = r.chunk.keptOf(from + int(row))
				r.bad = append(r.bad, f)
				continue
			}
		}
		kept = append(kept, row)
	}
	if r.arrs[i] != nil {
		r.arrs[i].Release()
		r.arrs[i] = nil
	}
	return kept, r.column(i, from, rows, kept)
}
