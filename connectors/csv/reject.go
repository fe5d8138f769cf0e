package csv

// Where the plan says that bad rows are skipped, a row is bad if a value that is parsed is none of its
// type, or if it has too few or too many fields. Faulty quotes stay failures: behind them nobody knows
// where records begin.

// SkipsBadRows reports whether the source leaves bad rows out, as the plan asked.
func (s *source) SkipsBadRows() bool { return s.Skip }
