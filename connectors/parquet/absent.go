package parquet

import "fmt"

// nowhere refuses a declared column that no file has: its name is wrong, and its NULLs would hide that.
func (b *binder) nowhere() error {
	if b.first == "" {
		return nil
	}
	for _, f := range b.declared {
		if !b.seen[f.Name] {
			return mismatch(b.first, f.Name, fmt.Sprintf("column %s is in none of the %d files%s; the last one has %s", f.Name, len(b.Files), near(f.Name, b.last), names(b.last)))
		}
	}
	return nil
}

// from is the file that a column is from.
func (b *binder) from(column string) string {
	if path, ok := b.whence[column]; ok {
		return path
	}
	return b.first
}
