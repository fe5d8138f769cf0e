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

// extra counts the columns of a file that are not declared, and refuses them where that is wanted.
func (b *binder) extra(has []leaf, path string) (int, error) {
	if len(b.declared) == 0 {
		return 0, nil
	}
	declared := make(map[string]bool, len(b.declared))
	for _, f := range b.declared {
		declared[f.Name] = true
	}
	n := 0
	for _, l := range has {
		if declared[l.name] {
			continue
		}
		if n++; b.noExtra {
			return n, mismatch(path, l.name, fmt.Sprintf("column %s of %s is not declared, and `extra_columns: error` refuses such: declare it, or leave the option out", l.name, path))
		}
	}
	return n, nil
}
